package datagen_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/datagen"
	"ds2/internal/fuzztest"
)

func TestDefaultWords(t *testing.T) {
	w := datagen.DefaultWords()
	seen := map[string]bool{}
	for _, list := range [][]string{w.Titles[:], w.First[:], w.Last[:]} {
		for _, word := range list {
			assert.True(t, word == strings.ToUpper(word) && !seen[word],
				"%q is not all upper case, or stands twice", word)
			seen[word] = true
		}
	}
}

// wordsFile is a whole words file of numbered words, with one line replaced.
func wordsFile(old, replacement string) string {
	var b strings.Builder
	for _, list := range []struct {
		name string
		n    int
	}{{"titles", 1000}, {"first", 200}, {"last", 200}} {
		fmt.Fprintf(&b, "\n# a comment\n[%s]\n", list.name)
		for i := range list.n {
			fmt.Fprintf(&b, "%c%d\n", list.name[0], i)
		}
	}
	return strings.Replace(b.String(), old, replacement, 1)
}

func TestReadWords(t *testing.T) {
	w, err := datagen.ReadWords(strings.NewReader(wordsFile("", "")))
	require.NoError(t, err)
	assert.True(
		t,
		w.Titles[999] == "t999" && w.First[0] == "f0" && w.Last[199] == "l199",
		"words %v",
		w,
	)
	assert.NotEqual(t, datagen.DefaultWords().Sum(), w.Sum(), "two word lists have one sum")
	data, err := datagen.New(
		datagen.Size{Customers: 1, OrdersPerMonth: 1, Products: 1001},
		w,
		datagen.Options{},
	)
	require.NoError(t, err)
	var csv bytes.Buffer
	for _, p := range data.Parts() {
		if p.Table == datagen.Products {
			_, err := p.WriteTo(&csv)
			require.NoError(t, err)
		}
	}
	// rand() after srand(1): 1804289383 846930886 1681692777 1714636915 1957747793 424238335.
	first, _, _ := strings.Cut(csv.String(), "\n")
	assert.Equal(t, "1,14,t0 t0,f156 l78,25.99,0,198", first)
	assert.True(
		t,
		strings.Contains(csv.String(), ", 9.99,") && !strings.Contains(csv.String(), ",9.99,"),
		"a price below 10.00 is not five characters wide",
	)
	assert.True(
		t,
		strings.Contains(csv.String(), "\n1001,") && strings.Contains(csv.String(), ",t1 t0,"),
		"the title of product 1001 does not begin with the second word",
	)
}

func TestReadWordsRefuses(t *testing.T) {
	for _, c := range []struct{ old, replacement, want string }{
		{"t7\n", "", "list [titles] is 1 short"},
		{"l7\n", "", "list [last] is 1 short"},
		{"f7\n", "f7\nMORE\n", `line 1207: "f199" is one too many for list [first]`},
		{"t7\n", "t8\n", `"t8" is in list`},
		{"t7\n", "12\n", `invalid word "12"`},
		{"t7\n", "a,b\n", `invalid word "a,b"`},
		{"t7\n", "a b\n", `invalid word "a b"`},
		{"t7\n", "Ä\n", `invalid word "Ä"`},
		{"t7\n", strings.Repeat("a", 25) + "\n", "invalid word"},
		{"[first]", "[names]", "[names] is none of the lists"},
		{"[last]", "[first]", "each once"},
		{"[titles]\n", "", "comes before the first of the lists"},
	} {
		_, err := datagen.ReadWords(strings.NewReader(wordsFile(c.old, c.replacement)))
		assert.ErrorContains(t, err, c.want)
	}
	_, err := datagen.ReadWords(strings.NewReader(""))
	assert.ErrorContains(t, err, "is missing", "no words at all")
}

// What parses has every word.
func FuzzReadWords(f *testing.F) {
	fuzztest.Run(f, func(t testing.TB, text string) {
		w, err := datagen.ReadWords(strings.NewReader(text))
		if err != nil {
			return
		}
		for _, list := range [][]string{w.Titles[:], w.First[:], w.Last[:]} {
			assert.NotContains(t, list, "")
		}
	}, wordsFile("", ""), wordsFile("t7", "#"), "[titles]\nA\n[first]\nB\n[last]\nC\n")
}
