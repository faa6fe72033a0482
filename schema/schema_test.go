package schema

import (
	"strings"
	"testing"
)

func TestEveryPhaseOfEveryEngine(t *testing.T) {
	p := Params{Database: "ds2", Customers: 20_000, OrdersPerMonth: 1_000, Products: 10_000}
	for _, engine := range Engines() {
		names := map[string]bool{}
		for _, phase := range append(Phases, Drop) {
			statements, err := Statements(engine, phase, p)
			if err != nil {
				t.Fatalf("%s %s: %v", engine, phase, err)
			}
			if len(statements) == 0 {
				t.Errorf("%s %s: no statement", engine, phase)
			}
			script, _ := SQL(engine, phase, p)
			for i, s := range statements {
				if !strings.Contains(script, s.SQL) {
					t.Errorf("%s %s: load would run what the script does not show:\n%s", engine, phase, s.SQL)
				}
				if phase != Database && phase != Drop && names[s.Name()] {
					t.Errorf("%s %s: a second statement is named %q: a resumed load would leave it out", engine, phase, s.Name())
				}
				names[s.Name()] = true
				if i > 0 && s.Step != statements[i-1].Step && s.Step != statements[i-1].Step+1 {
					t.Errorf("%s %s: step %d follows step %d", engine, phase, s.Step, statements[i-1].Step)
				}
			}
		}
	}
}

func TestPostgresPlacement(t *testing.T) {
	p := Params{Database: `d"s`, DataTablespace: "fast", IndexTablespace: `i"x`}
	for phase, want := range map[Phase]string{
		Database: `CREATE DATABASE "d""s" TEMPLATE`,
		Tables:   `WITH (fillfactor = 85, autovacuum_enabled = false) TABLESPACE "fast";`,
		Indexes:  `ON customers (username) TABLESPACE "i""x";`,
	} {
		script, err := SQL("postgres", phase, p)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(script, want) {
			t.Errorf("%s: %q is not in\n%s", phase, want, script)
		}
	}
}

func TestUnknownEngineAndPhase(t *testing.T) {
	if _, err := SQL("oracle", Tables, Params{}); err == nil || !strings.Contains(err.Error(), "postgres") {
		t.Errorf("unknown engine: error %v does not name the known ones", err)
	}
	if _, err := SQL("postgres", "finish", Params{}); err == nil || !strings.Contains(err.Error(), "procedures") {
		t.Errorf("unknown phase: error %v does not name the known ones", err)
	}
}
