package load

import (
	"context"
	"errors"
	"fmt"
	"io"

	"ds2/datagen"
	"ds2/internal/store"
	"ds2/schema"
)

// Reset takes a loaded database back to the state after its load: the customers, orders and reorders of runs go, and
// INVENTORY is as the dataset has it.
func Reset(ctx context.Context, s store.Store, tell store.Tell) error {
	resetter, ok := s.(store.Resetter)
	if !ok {
		return fmt.Errorf("reset %s: %s databases cannot be reset", s.Label(), s.Engine())
	}
	info, err := store.ReadInfo(ctx, s.DB())
	if err != nil {
		return s.Wrap("reset "+s.Label(), err)
	}
	if err := info.CheckReady(); err != nil {
		return err
	}
	size, err := info.Size()
	if err != nil {
		return err
	}
	seed, err := info.DataSeed()
	if err != nil {
		return err
	}
	data, err := datagen.New(size, datagen.DefaultWords(), datagen.Options{Seed: seed}) // INVENTORY has no words in it
	if err != nil {
		return err
	}
	statements, err := schema.Statements(s.Engine(), schema.Reset, schema.Params{
		Customers: int64(size.Customers), OrdersPerMonth: int64(size.OrdersPerMonth), Products: int64(size.Products),
	})
	if err != nil {
		return err
	}
	work, err := planReset(ctx, s, size, statements, tell)
	if err != nil {
		return err
	}
	defer work.follow()()
	r, w := io.Pipe()
	written := make(chan struct{})
	go func() {
		defer close(written)
		w.CloseWithError(writeInventory(w, data))
	}()
	err = resetter.Reset(ctx, statements, r, work.begin)
	r.CloseWithError(errors.New("the server takes no more")) // frees the writer where the engine stopped early
	<-written
	return err
}

func writeInventory(w io.Writer, data *datagen.Dataset) error {
	for _, part := range data.Parts() {
		if part.Table == datagen.Inventory {
			if _, err := part.WriteTo(w); err != nil {
				return err
			}
		}
	}
	return nil
}
