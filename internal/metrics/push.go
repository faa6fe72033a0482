package metrics

import (
	"context"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/push"

	"ds2/internal/outside"
)

// Push hands the collectors' figures to a Pushgateway at a URL, as those of job ds2 and the run: for runs that are over
// before Prometheus has scraped them. They stay there until someone deletes them.
func Push(ctx context.Context, url, runID string, all ...prometheus.Collector) error {
	p := push.New(url, "ds2").Grouping("run", runID)
	for _, c := range all {
		p.Collector(c)
	}
	ctx, cancel := outside.Within(ctx, outside.Answer)
	defer cancel()
	if err := outside.Err(ctx, p.PushContext(ctx)); err != nil {
		return fmt.Errorf("push metrics: %w", err)
	}
	return nil
}
