package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Wrong usage of generate and sizes exits 2, names the flag, and touches nothing.
func TestGenerateUsage(t *testing.T) {
	dir := t.TempDir()
	held := filepath.Join(dir, "held")
	require.NoError(t, os.Mkdir(held, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(held, "prod.csv"), nil, 0o644))
	out := filepath.Join(dir, "new")
	for _, c := range []struct{ args, want string }{
		{"generate", "--out is missing"},
		{"generate --out " + out, "--size is missing"},
		{"generate --size 3XB --out " + out, `--size: invalid size "3XB"`},
		{"generate --size 2TB --out " + out, "column CUSTOMERS.CUSTOMERID would reach 4000000000"},
		{"generate --rows customers=1 --out " + out, `--rows: "customers=1" is not the three numbers`},
		{"generate --size S --rows customers=1,orders-per-month=1,products=1 --out " + out, "--size and --rows exclude each other"},
		{"generate --size S --lines cr --out " + out, `--lines: invalid value "cr"`},
		{"generate --size S --compress lzma --out " + out, `--compress: invalid compression "lzma"`},
		{"generate --size S --checksum md5 --out " + out, `--checksum: invalid checksum "md5"`},
		{"generate --size S --data-seed -1 --out " + out, "--data-seed"},
		{"generate --size S --tables users --out " + out, `--tables: unknown table "users"`},
		{"generate --size S --shard 4/3 --out " + out, `--shard: invalid shard "4/3"`},
		{"generate --size S --parallel 0 --out " + out, "--parallel is 0"},
		{"generate --size S --words " + out + " --out " + out, "--words: open "},
		{"generate --size S --out " + held, "--out: directory " + held + " holds prod.csv, which no manifest accounts for"},
		{"generate --size S --out " + filepath.Join(held, "prod.csv"), "--out: read directory"},
		{"generate --size S --part us_cust", "--part NAME and the argument - belong together"},
		{"generate --size S --out " + out + " -", "--part NAME and the argument - belong together"},
		{"generate --size S --part us_cust --out " + out + " -", "--part and --out exclude each other"},
		{"generate --size S --part users -", `--part: unknown file "users"`},
		{"generate --size S --part us_cust --shard 1/2 -", "--part excludes --tables, --shard and --resume"},
		{"generate --size S extra", `unexpected argument "extra"`},
		{"generate --verify " + held + " --size S", "--verify stands alone"},
		{"generate --verify " + held, "it has no manifest.json"},
		{"generate --verify " + out, "--verify: open directory"},
		{"sizes 5", `sizes: invalid size "5"`},
		{"sizes --output xml", `--output: invalid value "xml"`},
	} {
		code, stdout, stderr := execute(t, strings.Fields(c.args)...)
		if code != exitUsage || !strings.Contains(stderr, c.want) || strings.Count(stderr, "\n") != 1 || stdout != "" {
			t.Errorf("ds2 %s: exit %d, stderr %q, want exit 2 and one line with %q", c.args, code, stderr, c.want)
		}
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("a directory was made")
	}
}
