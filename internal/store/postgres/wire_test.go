package postgres

import (
	"encoding/hex"
	"errors"
	"math"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"ds2/internal/localpg/pgtest"
	"ds2/internal/store"
)

func TestPlanOnce(t *testing.T) {
	for _, test := range []struct{ name, parameter, want string }{
		{"by itself", "", "force_generic_plan"},
		{"set by the user", "force_custom_plan", "force_custom_plan"},
	} {
		t.Run(test.name, func(t *testing.T) {
			config, err := pgconn.ParseConfig(pgtest.Database(t))
			if err != nil {
				t.Fatal(err)
			}
			if test.parameter != "" {
				config.RuntimeParams["plan_cache_mode"] = test.parameter
			}
			conn, err := pgconn.ConnectConfig(t.Context(), config)
			if err != nil {
				t.Fatal(err)
			}
			hijacked, err := conn.Hijack()
			if err != nil {
				t.Fatal(err)
			}
			w := newWire(hijacked)
			defer w.close()
			show := Statement{"show", "SELECT current_setting('plan_cache_mode')"}
			if err := w.prepare(t.Context(), planOnce, []Statement{show}); err != nil {
				t.Fatal(err)
			}
			w.begin(&show)
			if err := w.send(t.Context()); err != nil {
				t.Fatal(err)
			}
			row, err := w.row()
			if err != nil || len(row) != 1 || string(row[0]) != test.want {
				t.Errorf("plan_cache_mode is %q (%v), want %s", row, err, test.want)
			}
		})
	}
}

func TestNumeric(t *testing.T) {
	for _, test := range []struct {
		cents store.Cents
		wire  string // digits, weight, sign, places, then the digits: what PostgreSQL's numeric_send gives, but for leading noughts
	}{
		{0, "0001ffff000000020000"},
		{1, "0001ffff000000020064"},
		{99, "0001ffff0000000226ac"},
		{100, "00020000000000020001" + "0000"},
		{12345, "0002000000000002007b" + "1194"},
		{-12345, "0002000040000002007b" + "1194"},
		{1_000_000, "00030001000000020001" + "0000" + "0000"},
		{math.MaxInt64, ""},
		{-math.MaxInt64, ""},
	} {
		wire := appendNumeric(nil, test.cents)
		if got := hex.EncodeToString(wire); test.wire != "" && got != test.wire {
			t.Errorf("%s: got %s, want %s", test.cents, got, test.wire)
		}
		if back, err := parseNumeric(wire); back != test.cents || err != nil {
			t.Errorf("%s read back: %s, %v", test.cents, back, err)
		}
	}
}

func TestParseNumericOfTheServer(t *testing.T) {
	for _, test := range []struct {
		wire string
		want store.Cents
		bad  bool
	}{
		{"0000000000000002", 0, false},             // 0: no digit at all
		{"0001ffff0000000226ac", 99, false},        // 0.99
		{"00010000000000020005", 500, false},       // 5.00: trailing noughts are left out
		{"00010001000000020003", 3_000_000, false}, // 30000.00
		{"0002000000000002001426ac", 2099, false},  // 20.99
		{"00010000c00000000000", 0, true},          // not a number
		{"0001fffe000000080001", 0, true},          // 0.00000001
		{"0002000000000002", 0, true},              // cut short
		{"00", 0, true},
	} {
		wire, err := hex.DecodeString(test.wire)
		if err != nil {
			t.Fatal(err)
		}
		got, err := parseNumeric(wire)
		if got != test.want || errors.Is(err, errShape) != test.bad {
			t.Errorf("%s: got %s, %v", test.wire, got, err)
		}
	}
}

func TestClassify(t *testing.T) {
	for code, want := range map[string]store.Class{
		"40P01": store.Deadlock,
		"40001": store.Serialization,
		"55P03": store.Timeout,
		"57014": store.Timeout,
		"57P01": store.Connection, // pg_terminate_backend, shutdown
		"57P03": store.Connection, // starting up
		"08006": store.Connection,
		"53100": store.Resource, // disk full
		"53300": store.Resource, // too many connections
		"53400": store.Resource, // of the class, not named
		"28P01": store.Config,   // wrong password
		"3D000": store.Config,   // no database
		"42P01": store.Config,   // no table
		"42883": store.Config,   // no function
		"23505": store.Bug,      // unique violation
		"XX000": store.Bug,
		"":      store.Bug,
	} {
		if got, _ := classify(code); got != want {
			t.Errorf("%s: class %s, want %s", code, got, want)
		}
	}
}
