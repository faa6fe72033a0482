package durability

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"

	"ds2/internal/store"
)

func TestJournal(t *testing.T) {
	path := filepath.Join(t.TempDir(), File)
	j, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	const users, each = 8, 5000 // more than the buffer holds
	var wg sync.WaitGroup
	for user := range users {
		wg.Go(func() {
			p := store.Purchase{CustomerID: int64(user), Items: make([]store.Item, 3), Total: 1099}
			for i := range each {
				j.Acknowledged(user%2, int64(user*each+i), &p)
			}
		})
	}
	wg.Wait()
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	seen := map[int64]purchase{}
	for target := range 2 {
		all, err := read(path, target)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range all {
			seen[p.Order] = p
		}
	}
	if len(seen) != users*each {
		t.Errorf("%d orders, want %d", len(seen), users*each)
	}
	if got, want := seen[3*each+7], (purchase{Order: 3*each + 7, Customer: 3, Total: 1099, Lines: 3, Target: 1}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestJournalCutShort(t *testing.T) {
	path := filepath.Join(t.TempDir(), File)
	if err := os.WriteFile(path, make([]byte, size+1), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := read(path, 0); err == nil || !strings.Contains(err.Error(), "read journal") {
		t.Errorf("a journal cut short is read with %v: nothing may be missing from it", err)
	}
}

func TestComparison(t *testing.T) {
	a, b, c := purchase{Order: 5, Customer: 1, Total: 100, Lines: 2}, purchase{Order: 6, Customer: 2, Total: 200, Lines: 1}, purchase{Order: 9, Customer: 3, Total: 300, Lines: 4}
	short, other := b, b
	short.Lines, other.Customer = 0, 7
	for _, x := range []struct {
		why          string
		told, held   []purchase
		lost, untold []int64
	}{
		{"all there", []purchase{a, b, c}, []purchase{a, b, c}, nil, nil},
		{"nothing at all", nil, nil, nil, nil},
		{"the last is lost", []purchase{a, b, c}, []purchase{a, b}, []int64{9}, nil},
		{"one between is lost", []purchase{a, b, c}, []purchase{a, c}, []int64{6}, nil},
		{"one in doubt is there", []purchase{a, c}, []purchase{a, b, c}, nil, []int64{6}},
		{"one is there without its lines", []purchase{a, b}, []purchase{a, short}, []int64{6}, []int64{6}},
		{"one is lost and its number given again", []purchase{a, b, other}, []purchase{a, other}, []int64{6}, nil},
		{"the same, and the first one was kept", []purchase{a, other, b}, []purchase{a, other}, []int64{6}, nil},
	} {
		t.Run(x.why, func(t *testing.T) {
			got := comparison{acknowledged: x.told}
			for _, p := range x.held {
				got.next(p)
			}
			for _, p := range got.acknowledged {
				got.lost = append(got.lost, p.Order)
			}
			if !reflect.DeepEqual(got.lost, x.lost) || !reflect.DeepEqual(got.untold, x.untold) {
				t.Errorf("lost %v, untold %v; want %v, %v", got.lost, got.untold, x.lost, x.untold)
			}
		})
	}
}

func TestNamed(t *testing.T) {
	for want, orders := range map[string][]int64{
		"0":                                   nil,
		"1: orders 12001":                     {12001},
		"2: orders 12001-12002":               {12002, 12001},
		"6: orders 12001, 12003-12005, 12009": {12009, 12001, 12003, 12004, 12004, 12005}, // one number was given twice
	} {
		if got := named(orders); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
