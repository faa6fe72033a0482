package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/datagen"
	"ds2/internal/measure"
	"ds2/internal/report"
	"ds2/internal/store/sqlserver/servertest"
	"ds2/internal/texttest"
)

// TestOneCallPath: runs whose users called by different ways are not compared unless told, and each page names the way.
func TestOneCallPath(t *testing.T) {
	configuration := func(experiment, calls string) (c report.Configuration) {
		c.Experiment, c.Setup.Engine, c.Setup.Parameters.Calls = experiment, "sqlserver", calls
		return c
	}
	for _, c := range []struct {
		why     string
		a, b    report.Configuration
		refused bool
	}{
		{"alike", configuration("", "wire"), configuration("", "wire"), false},
		{"by different ways", configuration("", "wire"), configuration("", "driver"), true},
		{"as an experiment planned", configuration("x", "wire"), configuration("x", "driver"), false},
		{"of two experiments", configuration("x", "wire"), configuration("y", "driver"), true},
		{"with an engine that has one way", configuration("", "wire"), report.Configuration{}, false},
	} {
		err := report.OneCallPath([]report.Configuration{c.a, c.b})
		assert.Equal(t, c.refused, err != nil, "%s: %v", c.why, err)
	}
}

// TestExperimental: help, preflight and record say what is yet to be proven of SQL Server; its calls are go-mssqldb's
// unless told.
func TestExperimental(t *testing.T) {
	const proof = "experimental: not yet run on Microsoft's server"
	assert.True(t, proofs["sqlserver"] == proof && proofs["postgres"] == "", "proofs %v", proofs)
	for _, command := range []string{"drive", "preflight", "load"} {
		assert.Contains(t, texttest.Flat(must(t, command, "--help")), proof)
	}
}

// TestCallPathsAgree plays the orders of one seed by both ways of calling SQL Server, each on a database of its own:
// the databases then hold the same, and as much was counted and timed.
func TestCallPathsAgree(t *testing.T) {
	const orders = 1000
	size, err := datagen.ParseSize("1MB")
	require.NoError(t, err)
	type played struct {
		hashes map[string]string
		counts measure.Counts
		timed  []int64
	}
	play := func(calls string) (p played) {
		target := servertest.Database(t)
		must(t, "load", "--size", "1MB", "--target", target)
		stores, err := targetFlags{target: target, calls: calls}.open()
		require.NoError(t, err)
		defer closeStores(stores)
		p.counts, p.timed = playOrders(t, stores[0], size, orders)
		p.hashes = contentHashes(t, stores[0].DB())
		return p
	}
	driver, wire := play("driver"), play("wire")
	assert.Equal(t, driver, wire)
	assert.EqualValues(t, orders, driver.counts.Orders)
}
