// Package mailbox is the workload of a mailbox store: records of a page each are inserted, deleted,
// replaced and read by random keys in a fixed mix, a share of the commits lazy, and what counts is
// the reads and writes a second that the drives of the data do within limits on their latency. It
// has the I/O profile and the method of Microsoft's Jetstress, not its engine: no figure of it is a
// Jetstress or ESRP result. The facts and their sources are in mailbox/WORKLOAD.md, what differs
// and why in docs/howto/mailbox.md. Calls on an engine are in the rooms below; this one knows no
// database driver.
package mailbox

import (
	"context"
	"errors"
	"fmt"

	"ds2/internal/conclude"
	"ds2/internal/result"
	"ds2/internal/store"
	"ds2/internal/workload"
)

// Name is that of the workload in databases and records.
const Name = "mailbox"

// Workload is the mailbox store.
type Workload struct {
	Engines map[string]Engine // that it may run on, by name
}

var (
	_ workload.Workload  = Workload{}
	_ workload.Exporter  = Workload{}
	_ conclude.Concluder = Workload{}
	_ workload.PerTarget = Dataset{}
	_ workload.Plan      = (*Plan)(nil)
	_ workload.Targeted  = (*Plan)(nil)
	_ workload.Warming   = (*Plan)(nil)
	_ workload.Teller    = (*Run)(nil)
)

// Name is that of the workload.
func (Workload) Name() string { return Name }

// Words are those of transactions, of which the I/Os of the drives count.
func (Workload) Words() result.Words {
	return result.Words{
		Cycle: "transaction", Cycles: "transactions", Rate: "TPM", Unit: result.IOPS,
	}
}

// Operations are those on mailboxes, by Op.
func (Workload) Operations() []workload.Operation { return operations }

// Counts are none: what happened is in the numbers of transactions and operations.
func (Workload) Counts() []string { return nil }

// Counters are the workload's own for Prometheus.
func (Workload) Counters() []workload.Counter {
	return []workload.Counter{{
		Name: "mailbox_operations_total", Help: "Operations on mailboxes that were acknowledged.",
	}}
}

// Mark has nothing to read: a run keeps what its audit asks for in its record.
func (Workload) Mark(context.Context, store.Database, bool) (result.Marks, error) {
	return result.Marks{}, nil
}

// The names in store.Info besides those of every workload.
const (
	infoMailboxes    = "mailboxes"
	infoMailboxBytes = "mailbox_bytes"
	infoSeed         = "record_seed"
	infoProfile      = "profile"
)

// readDataset is what ds2_info says was loaded to the end.
func readDataset(info store.Info) (d Dataset, err error) {
	if err := info.CheckReady(); err != nil {
		return d, err
	}
	mailboxes, err1 := info.Number(infoMailboxes)
	bytes, err2 := info.Number(infoMailboxBytes)
	seed, err3 := info.Number(infoSeed)
	if err := errors.Join(err1, err2, err3); err != nil {
		return d, err
	}
	d = Dataset{
		Size:    Size{int(mailboxes), int64(bytes)},
		Seed:    seed,
		Profile: info[infoProfile],
	}
	if err := d.Size.CheckSize(); err != nil {
		return d, fmt.Errorf("read table ds2_info: %w", err)
	}
	return d, nil
}
