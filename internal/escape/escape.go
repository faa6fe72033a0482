// Package escape makes texts of others safe to show.
package escape

import (
	"strconv"
	"strings"
	"unicode"
)

// Text shows what would be obeyed instead of shown: control characters, which terminals and
// line-wise readers act upon, and the invisible characters that reorder text. Run ids, labels,
// names and what a server says may hold them.
func Text(text string) string { return replace(text, obeyed) }

// Lines is Text of a text of several lines, which may have tabs.
func Lines(text string) string {
	return replace(text, func(r rune) bool { return r != '\n' && r != '\t' && obeyed(r) })
}

// Brief is a text without its middle where it is long: a message that quotes what others wrote has
// no more of it than can be read.
func Brief(text string) string {
	const begin, end = 600, 200
	letters := []rune(text)
	if len(letters) <= begin+end {
		return text
	}
	return string(letters[:begin]) + " … " + string(letters[len(letters)-end:])
}

func obeyed(r rune) bool {
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) ||
		r == unicode.ReplacementChar
}

func replace(text string, escaped func(rune) bool) string {
	var b strings.Builder
	for _, r := range text {
		if !escaped(r) {
			b.WriteRune(r)
			continue
		}
		quoted := strconv.QuoteRuneToASCII(r)
		b.WriteString(quoted[1 : len(quoted)-1])
	}
	return b.String()
}
