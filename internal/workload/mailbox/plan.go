package mailbox

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"ds2/internal/store"
	"ds2/internal/workload"
)

// Request is what is asked of runs, before anything is known of their databases.
type Request struct {
	Profile    string  // empty: that for which the databases were loaded
	Mix        Mix     // without Lazy; none: the profile's
	Lazy       int     // percent; -1: the profile's
	PerMailbox float64 // IOPS; 0: there is no target
	Headroom   float64 // percent by which the target is raised
	Closed     bool    // users work as fast as they can, also where there is a target
}

// CheckRequest refuses what can be met on no database. Errors begin with the name of the parameter.
func (r Request) CheckRequest() error {
	if r.Profile != "" {
		if _, err := FindProfile(r.Profile); err != nil {
			return fmt.Errorf("mailbox-profile: %w", err)
		}
	}
	switch {
	case r.Lazy < -1 || r.Lazy > 100:
		return fmt.Errorf("lazy is %d: it must be 0 to 100 percent", r.Lazy)
	case !(r.PerMailbox >= 0) || r.PerMailbox > 1e6:
		return fmt.Errorf("iops-per-mailbox is %g: it must be 0 to 1000000", r.PerMailbox)
	case !(r.Headroom >= 0) || r.Headroom > 1000 || r.Headroom > 0 && r.PerMailbox == 0:
		return fmt.Errorf("headroom is %g: it must be 0 to 1000 percent, and needs --iops-per-mailbox",
			r.Headroom)
	}
	return nil
}

// applyTo are those of runs on databases that were loaded for a profile.
func (r Request) applyTo(loaded string) (Parameters, error) {
	p, err := FindProfile(cmp.Or(r.Profile, loaded))
	if err != nil {
		return p, err
	}
	if r.Mix != (Mix{}) {
		r.Mix.Lazy = p.Lazy
		p.Mix = r.Mix
	}
	if r.Lazy >= 0 {
		p.Lazy = r.Lazy
	}
	return p, p.Mix.CheckShares()
}

// NewPlan has users work as requested on databases, of which ds2_info says infos. What they cannot
// serve is a *workload.Refusal.
func NewPlan(
	ctx context.Context,
	engines map[string]Engine,
	targets []store.Database,
	infos []store.Info,
	r Request,
) (*Plan, error) {
	p := &Plan{Request: r}
	for i, s := range targets {
		engine, ok := engines[s.Engine()]
		if !ok {
			return nil, workload.Refuse("target: workload %s does not run on %s", Name, s.Engine())
		}
		d, err := readDataset(infos[i])
		if err != nil {
			return nil, fmt.Errorf("look at %s: %w", s.Label(), err)
		}
		p.Targets = append(p.Targets, Target{s, engine, d})
		if first := p.Targets[0].Dataset; d.Size != first.Size || d.Profile != first.Profile {
			return nil, workload.Refuse("target: %s holds %s for %s and %s %s for %s: targets driven together must be alike",
				targets[0].Label(), first, first.Profile, s.Label(), d, d.Profile)
		}
	}
	var err error
	if p.Parameters, err = r.applyTo(p.Targets[0].Dataset.Profile); err != nil {
		return nil, workload.Refuse("mailbox-profile: %w", err)
	}
	for _, t := range p.Targets {
		if err := t.Engine.CheckParameters(ctx, t.Store, p.Parameters); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// warmWithin is how long Jetstress waits for latencies that are level.
const warmWithin = 10 * time.Minute

// WarmWithin has runs wait as Jetstress does.
func (p *Plan) WarmWithin() time.Duration { return warmWithin }

// TargetIOPS is the IOPS that all mailboxes take together; 0: none were named. A run of a closed
// loop does not pace it.
func (p *Plan) TargetIOPS() (iops float64, paced bool) {
	mailboxes := p.Targets[0].Dataset.Size.Mailboxes * len(p.Targets)
	return p.PerMailbox * (1 + p.Headroom/100) * float64(mailboxes), !p.Closed
}
