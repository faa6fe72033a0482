package sqlserver

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/fuzztest"
	"ds2/internal/store/sqlserver/tdstest"
)

// FuzzAnswer has a server answer a call with any tokens.
func FuzzAnswer(f *testing.F) {
	recorded, err := filepath.Glob("../../workload/ds2/sqlserver/testdata/exchange/*.bin")
	if err != nil || len(recorded) == 0 {
		f.Fatalf("no recorded answers, %v", err)
	}
	examples := [][]byte{
		tdstest.Failed(tdstest.Info(1, 1, "on"), tdstest.Error(1205, 51, 13, "Deadlock.")),
		idAnswer(nil, []byte{0xD2, 0, 4, 9, 0, 0, 0}, tdstest.Done(tdstest.DoneFinal)),
	}
	for _, path := range recorded {
		text, err := os.ReadFile(path)
		require.NoError(f, err)
		examples = append(examples, text)
	}
	fuzztest.Run(f, func(t testing.TB, tokens []byte) {
		var a answer
		for _, columns := range []int{1, 4, 7} {
			a.read(tokens, columns, func(values []Value) error {
				assert.Equal(t, columns, len(values), "a row")
				return nil
			})
		}
	}, examples...)
}
