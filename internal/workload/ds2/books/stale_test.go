package books

import "testing"

func TestStale(t *testing.T) {
	before := map[int32]int64{1: 10, 2: 20, 3: 0}
	sold := map[int32]int64{1: 2, 3: 1}
	now := map[int32]int64{1: 11, 2: 20, 3: 5} // the first lacks one piece; the third has more than was acknowledged
	if got := stale(before, sold, now); len(got) != 1 || got[0] != 1 {
		t.Errorf("old are %v, want product 1", got)
	}
}
