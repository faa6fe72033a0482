package runs

import (
	"time"

	"ds2/internal/result"
)

// Asked is the run as its record begins with it: with what its plan says.
func (o Options) Asked() result.Spec {
	w, spec := o.Plan.Workload(), o.Spec
	spec.Workload, spec.Words = w.Name(), w.Words()
	spec.Engine, spec.Size = o.Targets[0].Engine(), o.Plan.Size()
	spec.Targets = nil
	for _, target := range o.Targets {
		spec.Targets = append(spec.Targets, target.Label())
	}
	o.Plan.Describe(&spec)
	return spec
}

func (o Options) summary() result.Summary {
	happened := result.Happened{Status: result.Running, Start: time.Now(), Device: o.Device}
	return result.Summary{Spec: o.Asked(), Happened: happened}
}
