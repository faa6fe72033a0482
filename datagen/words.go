package datagen

import (
	"bufio"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"fmt"
	"io"
	"regexp"
	"strings"
	"sync"
)

// Words are what the titles of PRODUCTS and the names of its actors are made of, and what users
// search for.
type Words struct {
	Titles [1000]string // a title is two of them
	First  [200]string
	Last   [200]string
}

// maxWord keeps two words and a blank within the 50 characters of TITLE and ACTOR.
const maxWord = 24

//go:embed words.txt
var defaultWords string

// DefaultWords are the kit's own lists.
var DefaultWords = sync.OnceValue(func() *Words {
	w, err := ReadWords(strings.NewReader(defaultWords))
	if err != nil {
		panic("datagen: words.txt: " + err.Error())
	}
	return w
})

// ReadWords reads lists of words from a text file: 1,000 words under the line "[titles]", 200 under
// "[first]" and 200 under "[last]", one a line. Empty lines and lines that begin with # do not
// count. A word has 1 to 24 of the letters, digits and marks of ASCII without comma, quotes or
// blank, at least one letter among them, and stands once in its list.
func ReadWords(r io.Reader) (*Words, error) {
	w := &Words{}
	lists := map[string][]string{
		"[titles]": w.Titles[:], "[first]": w.First[:], "[last]": w.Last[:],
	}
	var name string // of the list being read
	var list []string
	known := map[string]bool{}
	lines := bufio.NewScanner(r)
	number := 0
	invalid := func(format string, args ...any) (*Words, error) {
		return nil, fmt.Errorf("words, line %d: %w", number, fmt.Errorf(format, args...))
	}
	for lines.Scan() {
		number++
		line := strings.TrimSpace(lines.Text())
		switch {
		case line == "" || line[0] == '#':
		case line[0] == '[':
			if len(list) > 0 {
				return invalid("list %s is %d short", name, len(list))
			}
			name = line
			list = lists[name]
			if list == nil {
				return invalid("%s is none of the lists [titles], [first], [last], each once", line)
			}
			delete(lists, name)
			clear(known)
		case name == "":
			return invalid("%q comes before the first of the lists [titles], [first], [last]", line)
		case len(list) == 0:
			return invalid("%q is one too many for list %s", line, name)
		case known[line]:
			return invalid("%q is in list %s twice", line, name)
		case len(line) > maxWord || !wordForm.MatchString(line):
			return invalid("invalid word %q: use 1 to %d ASCII characters without comma, quotes or blanks, at least one of them a letter", line, maxWord)
		default:
			known[line] = true
			list[0], list = line, list[1:]
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read words: %w", err)
	}
	if len(list) > 0 {
		return invalid("list %s is %d short", name, len(list))
	}
	for missing := range lists {
		return invalid("list %s is missing", missing)
	}
	return w, nil
}

// wordForm is ASCII without blanks, commas and quotes, with a letter: what needs no quotes in CSV.
var wordForm = regexp.MustCompile(`^[!#-&(-+\--~]*[A-Za-z][!#-&(-+\--~]*$`)

// Sum is the SHA-256, in hex, of all words in order, each with an LF: what tells two word lists
// apart.
func (w *Words) Sum() string {
	h := sha256.New()
	for _, list := range [][]string{w.Titles[:], w.First[:], w.Last[:]} {
		for _, word := range list {
			fmt.Fprintln(h, word)
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}
