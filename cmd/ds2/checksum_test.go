package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
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
	if c.Pages*8192 != c.Bytes || c.Reading.Readers != 8 || c.Reading.Bad != 0 || float64(c.Bytes)/c.Reading.Seconds > 66e6 {
		t.Errorf("%+v, reading %+v", c, c.Reading)
	}
	_, err := os.Stat(filepath.Join(server.BinDir(), "pg_waldump")) // fetched servers have none
	if l := c.Log; l == nil || (l.Unread == "") != (err == nil) || (l.Records > 0) != (err == nil) || l.Bad != "" {
		t.Errorf("log %+v", c.Log)
	}
	damage(t, server, target, "products")
	code, stdout, stderr := execute(t, append(verify, "--readers", "4")...)
	row := ""
	for line := range strings.SplitSeq(stdout, "\n") {
		if strings.Contains(line, c.Target+" ") && row == "" {
			row = strings.Join(strings.Fields(line), " ")
		}
	}
	if fields := strings.Fields(row); code != exitVerdict || len(fields) < 8 || fields[2] != "1" || !strings.Contains(stdout, "Checksum test\n") || !strings.Contains(stdout, "log of "+c.Target) {
		t.Errorf("of a damaged database: exit %d, row %q\n%s\n%s", code, row, stdout, stderr)
	}
	require.Contains(t, stdout, "public.products main block 3")
	require.Contains(t, stdout, "audit FAILED")
	require.Contains(t, stderr, "the database is damaged")
}
