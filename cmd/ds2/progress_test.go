package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestBytesText(t *testing.T) {
	for n, want := range map[int64]string{
		0:                 "0 bytes",
		999:               "999 bytes",
		1000:              "1.0 kB",
		999_949:           "999.9 kB",
		999_950:           "1.0 MB", // not 1000.0 kB
		13_421_772_800:    "13.4 GB",
		2_000_000_000_000: "2.0 TB",
		9e18:              "9000000.0 TB", // no unit beyond
	} {
		assert.Equal(t, want, bytesText(n), "bytesText(%d)", n)
	}
}
