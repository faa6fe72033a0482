package main

import (
	"strings"
	"testing"

	"ds2/internal/report"
)

// TestOneCallPath: runs whose users called by different ways are not compared unless told, and each page names the way.
func TestOneCallPath(t *testing.T) {
	configuration := func(name, experiment, calls string) report.Configuration {
		c := report.Configuration{Name: name}
		c.Experiment = experiment
		c.Setup.Engine, c.Setup.Parameters.Calls = "sqlserver", calls
		return c
	}
	for _, c := range []struct {
		why     string
		a, b    report.Configuration
		refused bool
	}{
		{"alike", configuration("a", "", "wire"), configuration("b", "", "wire"), false},
		{"by different ways", configuration("a", "", "wire"), configuration("b", "", "driver"), true},
		{"as an experiment planned", configuration("a", "x", "wire"), configuration("b", "x", "driver"), false},
		{"of two experiments", configuration("a", "x", "wire"), configuration("b", "y", "driver"), true},
		{"with an engine that has one way", configuration("a", "", "wire"), report.Configuration{Name: "b"}, false},
	} {
		err := report.OneCallPath([]report.Configuration{c.a, c.b})
		if (err != nil) != c.refused {
			t.Errorf("%s: %v", c.why, err)
		}
	}
}

// TestExperimental: help, preflight and record say what is yet to be proven of SQL Server; its calls are go-mssqldb's unless told.
func TestExperimental(t *testing.T) {
	const proof = "experimental: not yet run on Microsoft's server"
	if proofs["sqlserver"] != proof || proofs["postgres"] != "" {
		t.Errorf("proofs %v", proofs)
	}
	for _, command := range []string{"drive", "preflight", "load"} {
		if code, out, _ := execute(t, command, "--help"); code != 0 || !strings.Contains(out, proof) {
			t.Errorf("help of %s: exit %d, without %q", command, code, proof)
		}
	}
}
