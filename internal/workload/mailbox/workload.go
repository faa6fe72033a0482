package mailbox

import (
	"context"
	"fmt"
	"strconv"

	"ds2/internal/result"
	"ds2/internal/store"
	"ds2/internal/workload"
)

// Name is the workload's name.
const Name = "mailbox"

// Workload is the mailbox store.
type Workload struct{}

var _ workload.Workload = Workload{}

// Name is "mailbox".
func (Workload) Name() string { return Name }

// Operations are those of the mix, and the transaction of several.
func (Workload) Operations() []workload.Operation { return operations }

// Mark has nothing to read: a run keeps what its audit asks for in its record.
func (Workload) Mark(context.Context, store.Store) (result.Marks, error) { return result.Marks{}, nil }

// The names in store.Info besides those of every workload.
const (
	infoMailboxes    = "mailboxes"
	infoMailboxBytes = "mailbox_bytes"
	infoSeed         = "record_seed"
	infoProfile      = "profile"
)

// ReadDatabase is what ds2_info says of a database: its records, its size and the name of the profile it was loaded for.
func ReadDatabase(info store.Info) (Shape, Size, string, error) {
	var numbers [3]uint64
	for i, name := range []string{infoMailboxes, infoMailboxBytes, infoSeed} {
		var err error
		if numbers[i], err = strconv.ParseUint(info[name], 10, 64); err != nil {
			return Shape{}, Size{}, "", fmt.Errorf("read table ds2_info: %s is %q, not a number", name, info[name])
		}
	}
	size := Size{int(numbers[0]), int64(numbers[1])}
	if err := size.Check(); err != nil {
		return Shape{}, Size{}, "", fmt.Errorf("read table ds2_info: %w", err)
	}
	return Shape{size.Mailboxes, numbers[2]}, size, info[infoProfile], nil
}
