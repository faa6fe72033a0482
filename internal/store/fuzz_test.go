package store

import (
	"testing"

	"ds2/internal/fuzztest"
)

func FuzzParseHolder(f *testing.F) {
	fuzztest.Run(f, func(t testing.TB, text string) {
		h, ok := ParseHolder(text)
		if again, same := ParseHolder(h.Text(1 << 20)); ok && h.Host != "" &&
			(!same || !again.sameProcess(h)) {
			t.Errorf("%q is %+v and then %+v", text, h, again)
		}
	}, "ds2 bench 4711 20261121T041500Z host", "psql", "ds2", "ds2 x y z w", "ds2 drive -1 20261121T041500Z \x00")
}
