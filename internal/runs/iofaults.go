package runs

import (
	"context"
	"fmt"
	"time"
)

// mostFaults is how many lines a record has of what a server noted of failed I/Os.
const mostFaults = 5

// watchFaults has the targets look for failed and very slow I/Os from now on. Its end gives a warning for each.
func (r *Run) watchFaults(ctx context.Context) (end func(ctx context.Context) []string) {
	var all []func(ctx context.Context) []string
	for _, target := range r.options.Targets {
		look := target.Can().IOFaults
		if look == nil {
			continue
		}
		since, err := look(ctx)
		if err != nil {
			r.log.Info("I/O errors are not looked for", "target", target.Label(), "error", err)
			continue
		}
		all = append(all, func(ctx context.Context) (warnings []string) {
			found, err := since(ctx)
			if err != nil {
				return []string{fmt.Sprintf("whether %s noted I/O errors in the run is not known: %v", target.Label(), err)}
			}
			for i, fault := range found {
				if i == mostFaults {
					return append(warnings, fmt.Sprintf("%s noted %d I/O errors more", target.Label(), len(found)-i))
				}
				warnings = append(warnings, fmt.Sprintf("%s noted in the run: %s", target.Label(), fault))
			}
			return warnings
		})
	}
	return func(ctx context.Context) (warnings []string) {
		ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
		defer cancel()
		for _, end := range all {
			warnings = append(warnings, end(ctx)...)
		}
		return warnings
	}
}
