package datatable_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"ds2/internal/datatable"
)

func TestRows(t *testing.T) {
	assert.Equal(
		t,
		[][]string{{"deadlock", "1205", ""}, {"full", "1105 9002", "free some space"}},
		datatable.Rows("# a comment\ndeadlock\t1205\nfull\t1105 9002\tfree some space\n", 3),
	)
}
