// Package tpcbtest is the transaction of TPC-B on PostgreSQL, as an example of how a workload is added and as the proof
// that it takes no edit of any other room. Only tests know it: ds2 does not have it.
package tpcbtest

import (
	"context"
	"embed"
	"fmt"
	"strconv"

	"ds2/datagen"
	"ds2/internal/result"
	"ds2/internal/store"
	"ds2/internal/workload"
	"ds2/schema"
)

var (
	_ workload.Workload = Workload{}
	_ workload.Exporter = Workload{}
	_ workload.Dataset  = Dataset{}
	_ workload.Plan     = (*Plan)(nil)
)

const Name = "tpcb"

// Workload is TPC-B.
type Workload struct{}

func (Workload) Name() string { return Name }

func (Workload) Words() result.Words {
	return result.Words{
		Cycle: "transfer", Cycles: "transfers", Rate: "TPM", Unit: "TPM",
		Added:   []result.CountWords{{Count: counts[withdrawals], Words: "withdrawals"}},
		InDoubt: []result.CountWords{{Count: counts[inDoubt], Words: "transfers"}},
	}
}

// post is the one operation: it changes the balances of an account, a teller and a branch, and adds to the history.
const post workload.Op = 0

var operations = []workload.Operation{post: {Name: "post"}}

func (Workload) Operations() []workload.Operation { return operations }

// The places of the counts.
const (
	withdrawals = iota // transfers of less than 0 that were acknowledged
	paidIn             // the sum of those of more
	paidOut            // and that of withdrawals, as a number above 0: counts only grow
	inDoubt            // transfers whose commit was cut off
)

var counts = []string{
	withdrawals: "withdrawals",
	paidIn:      "paid_in",
	paidOut:     "paid_out",
	inDoubt:     "in_doubt_transfers",
}

func (Workload) Counts() []string { return counts }

func (Workload) Counters() []workload.Counter {
	return []workload.Counter{
		{Name: "tpcb_operations_total", Help: "Transfers that were acknowledged."},
		{Name: "tpcb_withdrawals_total", Help: "Transfers of less than 0.", Count: counts[withdrawals]},
	}
}

// The marks of a database.
const (
	markRows = "history_rows"
	markIn   = "history_paid_in"
	markOut  = "history_paid_out"
)

func (Workload) Mark(ctx context.Context, target store.Database, _ bool) (result.Marks, error) {
	const query = "SELECT count(*), COALESCE(sum(greatest(delta, 0)), 0), -COALESCE(sum(least(delta, 0)), 0)" +
		" FROM tpcb_history"
	var rows, in, out int64
	err := target.DB().QueryRowContext(ctx, query).Scan(&rows, &in, &out)
	m := result.Marks{markRows: rows, markIn: in, markOut: out}
	return m, target.Wrap("read the history of "+target.Label(), err)
}

// Audit asks whether accounts, tellers, branches and the history come to the same sum and, where a run is known,
// whether its transfers are the rows that were added.
func (w Workload) Audit(ctx context.Context, target store.Database, a workload.Audit) ([]result.Check, error) {
	now, err := w.Mark(ctx, target, true)
	if err != nil {
		return nil, err
	}
	var checks []result.Check
	add := func(name string, least, most, found int64) {
		expected := fmt.Sprint(least)
		if most > least {
			expected = fmt.Sprintf("%d to %d", least, most)
		}
		checks = append(checks, result.NewCheck(target.Label(), name, least <= found && found <= most, expected, found))
	}
	for _, table := range []datagen.Table{accounts, tellers, branches} {
		var sum int64
		query := fmt.Sprintf("SELECT COALESCE(sum(balance), 0) FROM %s", table)
		if err := target.DB().QueryRowContext(ctx, query).Scan(&sum); err != nil {
			return nil, target.Wrap("audit "+target.Label(), err)
		}
		want := now[markIn] - now[markOut]
		add(fmt.Sprintf("balances of %s", table), want, want, sum)
	}
	if r := a.Run; r != nil {
		after := now
		if r.After != nil {
			after = r.After
		}
		done, doubt := r.Counts.Orders, r.Counts.Of(counts[inDoubt])
		add("transfers of the run", done, done+doubt, after[markRows]-r.Before[markRows])
		if doubt == 0 {
			in, out := r.Counts.Of(counts[paidIn]), r.Counts.Of(counts[paidOut])
			add("paid in by the run", in, in, after[markIn]-r.Before[markIn])
			add("paid out by the run", out, out, after[markOut]-r.Before[markOut])
		}
	}
	return checks, nil
}

// The tables that are filled, by their rows a branch as TPC-B has them.
const (
	branches datagen.Table = "tpcb_branches"
	tellers  datagen.Table = "tpcb_tellers"
	accounts datagen.Table = "tpcb_accounts"

	tellersOfBranch  = 10
	accountsOfBranch = 100_000
)

// Dataset is a bank of n branches.
type Dataset struct {
	Branches int `json:"branches"`
}

func (d Dataset) String() string { return fmt.Sprintf("%d branches", d.Branches) }

const infoBranches = "branches"

func (d Dataset) Info() store.Info {
	return store.Info{store.InfoWorkload: Name, store.InfoSize: d.String(), infoBranches: fmt.Sprint(d.Branches)}
}

func readDataset(info store.Info) (d Dataset, err error) {
	if d.Branches, err = strconv.Atoi(info[infoBranches]); err == nil && d.Branches < 1 {
		err = strconv.ErrRange
	}
	if err != nil {
		const format = "read table ds2_info: %s is %q, not a number of branches: %w"
		return d, fmt.Errorf(format, infoBranches, info[infoBranches], err)
	}
	return d, nil
}

func (Dataset) SignatureColumns() map[string]string {
	return map[string]string{
		string(branches): "bid", string(tellers): "tid", string(accounts): "aid", "tpcb_history": "delta",
	}
}

// files are the workload's statements, by engine and phase.
//
//go:embed postgres/*.sql
var files embed.FS

// accountBytes is what an account takes with its place in the index.
const accountBytes = 160

func (d Dataset) Params(p schema.Params) schema.Params {
	p.Workload, p.Files, p.Bytes = Name, files, int64(d.Branches)*accountsOfBranch*accountBytes
	p.Layout.Uses = schema.Features{Owners: true}
	return p
}

// Parts are the branches and the tellers, and the accounts of each branch.
func (d Dataset) Parts(string) []datagen.Part {
	part := func(table datagen.Table, from, rows, ofBranch int) datagen.Part {
		return datagen.Part{
			Table: table, File: string(table), Rows: int64(rows), Bytes: int64(rows) * rowBytes,
			Open: func() datagen.Rows { return &balances{n: from, end: from + rows, ofBranch: ofBranch} },
		}
	}
	parts := []datagen.Part{
		part(branches, 0, d.Branches, 1),
		part(tellers, 0, d.Branches*tellersOfBranch, tellersOfBranch),
	}
	for b := range d.Branches {
		parts = append(parts, part(accounts, b*accountsOfBranch, accountsOfBranch, accountsOfBranch))
	}
	return parts
}

// rowBytes is about what a row is.
const rowBytes = 12

// balances are rows from a number on, each with its number, its branch, a balance of 0 and no filler.
type balances struct {
	n, end, ofBranch int
	row              [4]datagen.Value
}

// Next is of datagen.Rows.
func (b *balances) Next() []datagen.Value {
	if b.n == b.end {
		return nil
	}
	b.n++
	b.row = [4]datagen.Value{{Int: int64(b.n)}, {Int: int64((b.n-1)/b.ofBranch + 1)}, {}, {Text: []byte{}}}
	return b.row[:]
}
