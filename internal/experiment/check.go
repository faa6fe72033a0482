package experiment

import (
	"context"
	"errors"
	"fmt"
	"time"

	"ds2/datagen"
	"ds2/internal/store"
)

// CheckTarget looks whether a database is fit to be driven: reached, loaded to the end, of the size asked for where one
// is, and made of these words. It returns the size that it holds, and the seed of its rows.
func CheckTarget(ctx context.Context, target store.Store, want *datagen.Size, words *datagen.Words) (size datagen.Size, seed uint64, err error) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	info, err := store.ReadInfo(ctx, target.DB())
	if err != nil {
		return size, 0, target.Wrap("look at "+target.Label(), err)
	}
	if err := info.CheckReady(); err != nil {
		return size, 0, fmt.Errorf("look at %s: %w", target.Label(), err)
	}
	if size, err = info.Size(); err != nil {
		return size, 0, err
	}
	if seed, err = info.DataSeed(); err != nil {
		return size, 0, err
	}
	if want != nil && *want != size {
		return size, seed, fmt.Errorf("look at %s: it holds a dataset of size %s, not %s; leave out the size, or load the one you want with ds2 load",
			target.Label(), size, *want)
	}
	if sum, ok := info[store.InfoWords]; ok && sum != words.Sum() {
		return size, seed, fmt.Errorf("look at %s: %w", target.Label(), ErrWords)
	}
	return size, seed, nil
}

// ErrWords says that titles and actors of a database are of other words than users would search for.
var ErrWords = errors.New("its titles and actors are made of other words than these; give the file it was loaded with by --words")
