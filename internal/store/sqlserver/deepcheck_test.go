package sqlserver

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"ds2/internal/store"
)

// TestDamageOf has rows as DBCC CHECKDB is known to give them: its documentation leaves
// TABLERESULTS out.
func TestDamageOf(t *testing.T) {
	for _, c := range []struct {
		why  string
		row  map[string]string
		want store.Damage
		bad  bool
	}{
		{
			"a page that fails its checksum",
			map[string]string{
				"Error": "8939", "Level": "16", "MessageText": "Table error: page (1:153).",
				"ObjectId": "245575913", "IndexId": "1", "File": "1", "Page": "153",
			},
			store.Damage{
				Object: "245575913", Place: "index 1 page 1:153",
				Found: "Table error: page (1:153). (error 8939)",
			},
			true,
		},
		{
			"a fault of the whole database",
			map[string]string{
				"Error": "8998", "Level": "16", "MessageText": "Page errors on the GAM.", "ObjectId": "", "Page": "",
			},
			store.Damage{Found: "Page errors on the GAM. (error 8998)"},
			true,
		},
		{
			"a fault of a table as such",
			map[string]string{
				"Error": "8990", "Level": "16", "MessageText": "2 errors.", "ObjectId": "7", "Page": "0",
			},
			store.Damage{Object: "7", Found: "2 errors. (error 8990)"},
			true,
		},
		{
			"information",
			map[string]string{"Error": "2593", "Level": "10", "MessageText": "There are 3 rows."},
			store.Damage{},
			false,
		},
	} {
		got, bad := damageOf(c.row)
		assert.Equal(t, c.want, got, c.why)
		assert.Equal(t, c.bad, bad, c.why)
	}
	assert.Equal(
		t,
		"database",
		(&Store{}).objectName(t.Context(), nil, ""),
		"of a fault of the whole database",
	)
}
