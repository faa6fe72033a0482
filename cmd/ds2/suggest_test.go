package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestVersion(t *testing.T) {
	version := must(t, "version")
	assert.Equal(t, version, must(t, "--version"))
	assert.Regexp(t, "^ds2 ", version)
}
