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
	session := s.openSession(t)
	for category := 1; category <= 17; category++ {
		special := int(s.countRows(t, "products WHERE category = %d AND special = 1", category))
		for _, batch := range []int{1, 3, 1000} {
			browse := calls.Browse{Op: calls.OpBrowseByCategory, Batch: batch, Category: category}
			rows, err := session.Browse(t.Context(), &browse)
			require.NoError(t, err)
			assert.Equal(
				t,
				min(batch, special),
				rows,
				"rows of category %d, batch %d",
				category,
				batch,
			)
		}
	}
}

func (s *suite) browseByWords(t *testing.T) {
	session := s.openSession(t)
	titles := s.readCSV(t, "SELECT title FROM products")
	actors := s.readCSV(t, "SELECT actor FROM products")
	word := strings.Fields(titles[0])[0]
	for _, test := range []struct{ name, words string }{
		{"both words", titles[0]},
		{"both words, the other way round", swapCase(titles[0])},
		{"one word twice", word + " " + word},
		{"lower case", strings.ToLower(titles[1])},
		{"an actor", actors[0]},
		{"an actor, the other way round", swapCase(actors[0])},
		{"words of two actors", strings.Fields(actors[0])[0] + " " + strings.Fields(actors[1])[1]},
		{"a word that is there, one that is not", word + " NOSUCHWORD"},
	} {
		for _, batch := range []int{1, 9, 100_000} {
			what := fmt.Sprintf("%s: %q, batch %d", test.name, test.words, batch)
			searched := map[calls.Op][]string{
				calls.OpBrowseByTitle: titles,
				calls.OpBrowseByActor: actors,
			}
			for op, texts := range searched {
				browse := calls.Browse{Op: op, Batch: batch, Text: []byte(test.words)}
				rows, err := session.Browse(t.Context(), &browse)
				require.NoError(t, err)
				want := min(batch, s.countContaining(texts, test.words))
				assert.Equal(t, want, rows, "%s, %s", calls.Operations[op].Name, what)
			}
		}
	}
}

func swapCase(words string) string {
	first, second, _ := strings.Cut(words, " ")
	return second + " " + first
}

// countContaining counts the texts that contain all the words, or the words as a phrase.
func (s *suite) countContaining(texts []string, words string) int {
	wanted := strings.Fields(strings.ToUpper(words))
	if s.engine.phrase {
		wanted = []string{strings.ToUpper(words)}
	}
	n := 0
	for _, text := range texts {
		missing := func(word string) bool { return !strings.Contains(" "+text+" ", " "+word+" ") }
		if !slices.ContainsFunc(wanted, missing) {
			n++
		}
	}
	return n
}

func (s *suite) testPrices(t *testing.T) {
	session := s.openSession(t)
	items := []calls.Item{{Product: 7}, {Product: 10_000}, {Product: 1}, {Product: 7}}
	require.NoError(t, session.Prices(t.Context(), items))
	for _, item := range items {
		want := s.readCSV(t, "SELECT price FROM products WHERE prod_id = %d", item.Product)[0]
		if got := item.Price.String(); !strings.HasPrefix(
			want,
			got,
		) { // SQL Server's money has four places
			t.Errorf("product %d: price %s, want %s", item.Product, got, want)
		}
	}
	missing := []calls.Item{{Product: 1}, {Product: int32(Size.Products + 1)}}
	assert.Error(
		t,
		session.Prices(t.Context(), missing),
		"a product that does not exist has a price",
	)
	assert.NoError(
		t,
		session.Prices(t.Context(), items),
		"after an error that leaves the connection whole",
	)
}
