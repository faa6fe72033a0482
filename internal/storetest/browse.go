package storetest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/workload/ds2/calls"
)

func (s *suite) browseByCategory(t *testing.T) {
	session := s.connect(t)
	for category := 1; category <= 17; category++ {
		special := int(s.one(t, fmt.Sprintf("SELECT COUNT(*) FROM products WHERE category = %d AND special = 1", category)))
		for _, batch := range []int{1, 3, 1000} {
			rows, err := session.BrowseByCategory(t.Context(), batch, category)
			require.NoError(t, err)
			equal(t, fmt.Sprintf("rows of category %d, batch %d", category, batch), rows, min(batch, special))
		}
	}
}

func (s *suite) browseByWords(t *testing.T) {
	session := s.connect(t)
	titles := s.csv(t, "SELECT title FROM products")
	actors := s.csv(t, "SELECT actor FROM products")
	for _, test := range []struct {
		name, words string
	}{
		{"both words", titles[0]},
		{"both words, the other way round", swap(titles[0])},
		{"one word twice", strings.Fields(titles[0])[0] + " " + strings.Fields(titles[0])[0]},
		{"lower case", strings.ToLower(titles[1])},
		{"an actor", actors[0]},
		{"an actor, the other way round", swap(actors[0])},
		{"words of two actors", strings.Fields(actors[0])[0] + " " + strings.Fields(actors[1])[1]},
		{"a word that is there, one that is not", strings.Fields(titles[0])[0] + " NOSUCHWORD"},
	} {
		for _, batch := range []int{1, 9, 100_000} {
			rows, err := session.BrowseByTitle(t.Context(), batch, []byte(test.words))
			require.NoError(t, err)
			equal(t, fmt.Sprintf("by title, %s: %q, batch %d", test.name, test.words, batch), rows, min(batch, s.containing(titles, test.words)))
			if rows, err = session.BrowseByActor(t.Context(), batch, []byte(test.words)); err != nil {
				t.Fatal(err)
			}
			equal(t, fmt.Sprintf("by actor, %s: %q, batch %d", test.name, test.words, batch), rows, min(batch, s.containing(actors, test.words)))
		}
	}
}

func swap(words string) string {
	first, second, _ := strings.Cut(words, " ")
	return second + " " + first
}

// containing counts the texts that contain all the words, or the words as a phrase.
func (s *suite) containing(texts []string, words string) int {
	wanted := strings.Fields(strings.ToUpper(words))
	if s.engine.Phrase {
		wanted = []string{strings.ToUpper(words)}
	}
	n := 0
	for _, text := range texts {
		if !slices.ContainsFunc(wanted, func(word string) bool { return !strings.Contains(" "+text+" ", " "+word+" ") }) {
			n++
		}
	}
	return n
}

func (s *suite) prices(t *testing.T) {
	session := s.connect(t)
	items := []calls.Item{{Product: 7}, {Product: 10_000}, {Product: 1}, {Product: 7}}
	require.NoError(t, session.Prices(t.Context(), items))
	for _, item := range items {
		want := s.csv(t, fmt.Sprintf("SELECT price FROM products WHERE prod_id = %d", item.Product))[0]
		if got := item.Price.String(); !strings.HasPrefix(want, got) { // SQL Server's money has four places
			t.Errorf("product %d: price %s, want %s", item.Product, got, want)
		}
	}
	if err := session.Prices(t.Context(), []calls.Item{{Product: 1}, {Product: int32(Size.Products + 1)}}); err == nil {
		t.Error("a product that does not exist has a price")
	}
	assert.NoError(t, session.Prices(t.Context(), items), "after an error that leaves the connection whole")
}
