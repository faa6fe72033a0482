package mailbox

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"ds2/internal/workload"
)

// The operations, by their places.
const (
	Read workload.Op = iota
	Insert
	Replace
	Delete
)

var operations = []workload.Operation{
	Read:    {Name: "read"},
	Insert:  {Name: "insert"},
	Replace: {Name: "replace"},
	Delete:  {Name: "delete"},
}

// Mix is what share of the operations is of each kind, and how many of the transactions commit
// lazily, in percent.
type Mix struct {
	Insert  int `json:"insert_percent"`
	Delete  int `json:"delete_percent"`
	Replace int `json:"replace_percent"`
	Read    int `json:"read_percent"`
	Lazy    int `json:"lazy_commit_percent"`
}

// CheckShares is an error where the shares are not those of a whole.
func (m Mix) CheckShares() error {
	shares := fmt.Sprintf("inserts %d, deletes %d, replaces %d, reads %d",
		m.Insert, m.Delete, m.Replace, m.Read)
	switch sum := m.Insert + m.Delete + m.Replace + m.Read; {
	case min(m.Insert, m.Delete, m.Replace, m.Read) < 0:
		return fmt.Errorf("the mix has a negative share: %s", shares)
	case sum != 100:
		return fmt.Errorf("the mix adds up to %d %%, not 100: %s", sum, shares)
	}
	return nil
}

// DrawOperation draws the next operation.
func (m Mix) DrawOperation(r *rand.Rand) workload.Op {
	switch p := r.IntN(100); {
	case p < m.Insert:
		return Insert
	case p < m.Insert+m.Delete:
		return Delete
	case p < m.Insert+m.Delete+m.Replace:
		return Replace
	default:
		return Read
	}
}

// DrawLazy draws whether the transaction commits lazily.
func (m Mix) DrawLazy(r *rand.Rand) bool { return r.IntN(100) < m.Lazy }

// profiles are the mixes of versions of Exchange's engine that have a source (mailbox/WORKLOAD.md
// section 1); the first is the default.
var profiles = []Parameters{
	{Profile: "exchange2007sp1", Mix: Mix{Insert: 40, Delete: 30, Replace: 5, Read: 25, Lazy: 55}},
	{Profile: "exchange2007", Mix: Mix{Insert: 25, Delete: 10, Replace: 50, Read: 15, Lazy: 80}},
	{Profile: "exchange2013", Mix: Mix{Insert: 40, Delete: 20, Replace: 5, Read: 35, Lazy: 70}},
}

// ProfileNames are the names that FindProfile knows.
func ProfileNames() []string {
	var names []string
	for _, p := range profiles {
		names = append(names, p.Profile)
	}
	return names
}

// FindProfile is the profile of that name, or an error that lists all.
func FindProfile(name string) (Parameters, error) {
	for _, p := range profiles {
		if p.Profile == name {
			return p, nil
		}
	}
	known := strings.Join(ProfileNames(), ", ")
	return Parameters{}, fmt.Errorf("unknown profile %q; known: %s", name, known)
}
