package result

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Experiment is the summary.json of an experiment: a directory that holds a bench for each
// configuration. What was measured is in the benches.
type Experiment struct {
	Head
	KitVersion   string    `json:"kit_version"`
	ExperimentID string    `json:"experiment_id"`
	Status       Status    `json:"status"`
	Error        string    `json:"error,omitempty"`
	Start        time.Time `json:"start"`
	End          time.Time `json:"end,omitzero"`

	Order string `json:"order"` // OrderRandom or OrderSequence
	Seed  uint64 `json:"seed"`  // of the order and, where nothing else is said, of the runs
	// Least and Most are how many runs of each configuration are to count; fewer than Most where
	// the intervals are within Until before.
	Least int     `json:"runs_least"`
	Most  int     `json:"runs_most"`
	Until float64 `json:"until_pct,omitempty"` // percent points on either side of a difference

	// Subject are the parameters that are meant to differ: the factors, and what the file declares.
	Subject []string `json:"subject,omitempty"`

	Configurations []Configuration `json:"configurations"`
}

// The orders in which an experiment makes its runs.
const (
	// in blocks, in each of which every configuration has one run that counts
	OrderRandom   = "random"
	OrderSequence = "sequence" // all runs of one configuration, then those of the next
)

// Configuration is one of the configurations that an experiment compares.
type Configuration struct {
	Name     string            `json:"name"`
	Dir      string            `json:"dir"` // of its bench, within the experiment's directory
	Labels   map[string]string `json:"labels,omitempty"`
	Settings []Setting         `json:"settings"` // that differ between the configurations

	// Of is the configuration of the file that this one is with values of the file's factors; both
	// are absent where there are none.
	Of      string    `json:"of,omitempty"`
	Factors []Setting `json:"factors,omitempty"`
}

// Setting is a flag of drive or bench, and its value without passwords.
type Setting struct {
	Flag  string `json:"flag"`
	Value string `json:"value"`
}

func (e *Experiment) check() error {
	if !slices.Contains(statuses, e.Status) {
		return fmt.Errorf("unknown status %q", e.Status)
	}
	if len(e.Configurations) == 0 {
		return errors.New("it has no configuration")
	}
	for i, c := range e.Configurations {
		if !filepath.IsLocal(c.Dir) || c.Dir == "." {
			return fmt.Errorf("the directory %q of a configuration does not lie in it", c.Dir)
		}
		same := func(o Configuration) bool { return o.Name == c.Name || o.Dir == c.Dir }
		if slices.ContainsFunc(e.Configurations[:i], same) {
			return fmt.Errorf("it has two configurations %q in %q", c.Name, c.Dir)
		}
	}
	return nil
}

// Disclosures are what a reader of published figures asks of what was tested, by their keys.
var Disclosures = strings.Fields("array firmware raid cache compression file-system price")

// PriceKey is the disclosure that is an amount and its currency, such as "12000 USD".
const PriceKey = "price"

// ParseDisclosure reads KEY=TEXT, and refuses unknown keys and invalid prices. Empty texts are what
// is not stated.
func ParseDisclosure(all []string) (stated map[string]string, err error) {
	stated = map[string]string{}
	for _, one := range all {
		key, text, _ := strings.Cut(one, "=")
		if !slices.Contains(Disclosures, key) {
			return nil, fmt.Errorf("unknown key %q: keys are %s", key,
				strings.Join(Disclosures, ", "))
		}
		if text == "" {
			continue
		}
		if _, _, err := ParsePrice(text); err != nil && key == PriceKey {
			return nil, err
		}
		stated[key] = text
	}
	return stated, nil
}

// priceForm is an amount and its currency. It has no groups of digits: 12.000 and 12,000 are twelve
// to one reader and twelve thousand to another.
var priceForm = regexp.MustCompile(`(?s)^\s*([0-9]+(?:\.[0-9]{1,2})?) \s*(\S.*?)\s*$`)

// ParsePrice reads an amount and its currency.
func ParsePrice(text string) (amount float64, currency string, err error) {
	parts := priceForm.FindStringSubmatch(text)
	if parts != nil {
		amount, err = strconv.ParseFloat(parts[1], 64)
	}
	if err != nil || !(amount > 0) || amount > 1e15 {
		return 0, "", fmt.Errorf("invalid price %q: write an amount without separators and its "+
			"currency, such as 12000 USD", text)
	}
	return amount, parts[2], nil
}

// PerPrice is the result for 1,000 of the price's currency; nil where either is not stated.
func (b Bench) PerPrice() (value *float64, currency string) {
	amount, currency, err := ParsePrice(b.Disclosure[PriceKey])
	if err != nil || b.Figure == nil {
		return nil, ""
	}
	return new(b.Figure.Value / amount * 1000), currency
}
