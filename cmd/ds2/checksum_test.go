package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/texttest"
)

// TestChecksumTest reads a database by several readers at a rate, and its log to the end, before and after a page is
// damaged.
func TestChecksumTest(t *testing.T) {
	t.Parallel()
	server, target := loadedServer(t)
	verify := []string{"verify", "--target", target, "--deep", "--quiet"}
	found := decoded[verification](t, append(verify, "--readers", "8", "--read-rate", "60MB/s", "--output", "json")...)
	require.Len(t, found.DeepChecks, 1)
	c := found.DeepChecks[0]
	assert.True(t, c.Pages*8192 == c.Bytes && float64(c.Bytes)/c.Reading.Seconds <= 66e6,
		"%+v, reading %+v", c, c.Reading)
	assert.True(t, c.Reading.Readers == 8 && c.Reading.Bad == 0, "reading %+v", c.Reading)
	_, err := os.Stat(filepath.Join(server.BinDir(), "pg_waldump")) // fetched servers have none
	l := c.Log
	require.NotNil(t, l)
	assert.True(t, (l.Unread == "") == (err == nil) && (l.Records > 0) == (err == nil) && l.Bad == "", "log %+v", l)
	damage(t, server, target, "products")
	stdout, stderr := ends(t, exitVerdict, append(verify, "--readers", "4")...)
	cells := row(t, stdout, c.Target)
	assert.True(t, len(cells) >= 8 && cells[2] == "1", "of a damaged database: row %q\n%s", cells, stdout)
	texttest.Contains(t, stdout, "Checksum test\n", "log of "+c.Target, "public.products main block 3", "audit FAILED")
	require.Contains(t, stderr, "the database is damaged")
}
