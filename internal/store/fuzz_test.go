package store

import "testing"

func FuzzParseHolder(f *testing.F) {
	for _, text := range []string{"ds2 bench 4711 20261121T041500Z host", "psql", "ds2", "ds2 x y z w", "ds2 drive -1 20261121T041500Z \x00"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		h, ok := ParseHolder(text)
		if again, same := ParseHolder(h.Text(1 << 20)); ok && h.Host != "" && (!same || !again.is(h)) {
			t.Errorf("%q is %+v and then %+v", text, h, again)
		}
	})
}
