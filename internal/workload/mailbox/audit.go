package mailbox

import (
	"context"
	"database/sql"
	"fmt"
	"iter"
	"path/filepath"

	"ds2/internal/progress"
	"ds2/internal/result"
	"ds2/internal/store"
	"ds2/internal/workload"
	"ds2/schema"
)

// mostNumber bounds the numbers of records that a driver keeps bits for: a key that gives a higher
// one is not this workload's.
const mostNumber = 1 << 34

// heldRecord is a row of the answer for all records. The columns of bits are signed there.
type heldRecord struct {
	Mailbox    int32
	Folder     int16
	Message    int64
	Flags, Sum int32
	Body       sql.RawBytes // of the connection: it is good until the next row
}

// eachRecord calls f with each record of a database and its number: the key alone, or the whole of
// it, which is good until f returns. Aliens have other keys than their numbers give them; first is
// that of one.
func eachRecord(
	ctx context.Context, db *sql.DB, d Dataset, whole bool, f func(n uint64, r *Record),
) (aliens int64, first Key, err error) {
	var r Record
	// Runs insert more than they delete, and a day of a fast one many times what a small database
	// was loaded with.
	most := 100_000_000 + 100*d.Size.CountRecords()
	shape := d.makeShape()
	ask := schema.Question(Name, "records", whole)
	err = store.Each(ctx, db, most, ask, func(held heldRecord) error {
		r.Key = Key{held.Mailbox, held.Folder, held.Message}
		r.Flags = uint32(held.Flags)
		r.Sum = uint32(held.Sum)
		r.Body = held.Body
		if n := shape.NumberOf(r.Message); n < mostNumber && shape.KeyOf(n) == r.Key {
			f(n, &r)
		} else if aliens++; aliens == 1 {
			first = r.Key
		}
		return nil
	})
	return aliens, first, err
}

// readLive adds all records that a database holds, by their keys. A key that is none of this
// workload's is an error: a run would replace and delete what is not ds2's.
func readLive(ctx context.Context, target store.Database, d Dataset, live *Live) error {
	const op = "read the keys of the records"
	found := func(n uint64, _ *Record) { live.AddRecord(n) }
	aliens, first, err := eachRecord(ctx, target.DB(), d, false, found)
	if err != nil {
		return target.Wrap(op, err)
	}
	if aliens > 0 {
		return fmt.Errorf("%s of %s: %d records that ds2 did not write, such as mailbox %d, folder %d, message %d: its key is not of this workload",
			op, target.Label(), aliens, first.Mailbox, first.Folder, first.Message)
	}
	return nil
}

// findings are what an audit counts.
type findings struct {
	Target
	want    *Live // what the driver says; nil: unknown
	found   *Live
	aliens  int64
	checked int64
	damaged []int64 // numbers of the records that are not as they were written
	tell    progress.Tell
}

// Audit asks a database whether its records are exactly those that the driver says, and whether
// each is what its checksum says: of those that the run wrote or, where the whole is asked for, of
// all.
func (w Workload) Audit(
	ctx context.Context,
	target store.Database,
	a workload.Audit,
) ([]result.Check, error) {
	op := "audit " + target.Label()
	info, err := store.ReadInfo(ctx, target.DB())
	if err != nil {
		return nil, target.Wrap(op, err)
	}
	d, err := readDataset(info)
	if err != nil {
		return nil, err
	}
	f := &findings{
		Target: Target{target, w.Engines[target.Engine()], d},
		found:  NewLive(1),
		tell:   a.Tell,
	}
	if run := a.Run; run != nil {
		if n := len(run.Dirs); n != 1 {
			return nil, fmt.Errorf("audit the run: it has %d records, and a mailbox database is driven from one machine",
				n)
		}
		if f.want, err = LoadLive(run.Dirs[0], run.Target); err != nil {
			return nil, err
		}
	}
	read := f.readWritten
	if a.Whole || a.Run == nil {
		read = f.readAll
	}
	if err := read(ctx); err != nil {
		return nil, target.Wrap(op, err)
	}
	checks := f.compareRecords(target.Label())
	if a.Run != nil && result.Passed(checks) && info[infoRecords] != "" {
		if dir, err := filepath.Abs(a.Run.Dirs[0]); err == nil {
			// An auditor may not be allowed to write. Without the note the next run reads the keys.
			_ = store.SetInfo(ctx, target.DB(), infoRecords, fmt.Sprint(a.Run.Target, " ", dir))
		}
	}
	return checks, nil
}

// readAll reads all records whole, in the order in which the server gives them.
func (f *findings) readAll(ctx context.Context) (err error) {
	check := f.checkEach()
	f.aliens, _, err = eachRecord(ctx, f.Store.DB(), f.Dataset, true, func(n uint64, r *Record) {
		f.found.AddRecord(n)
		check(n, r)
	})
	return err
}

// checkEach is what checks a record, and tells how many have been.
func (f *findings) checkEach() func(n uint64, r *Record) {
	told := f.tellEach("audit ")
	return func(n uint64, r *Record) {
		if r.CheckSum() != nil {
			f.damaged = append(f.damaged, int64(n))
		}
		f.checked++
		told()
	}
}

// readWritten reads the keys of all records, and the records that the run wrote.
func (f *findings) readWritten(ctx context.Context) (err error) {
	told := f.tellEach("read the keys of ")
	found := func(n uint64, _ *Record) {
		f.found.AddRecord(n)
		told()
	}
	if f.aliens, _, err = eachRecord(ctx, f.Store.DB(), f.Dataset, false, found); err != nil {
		return err
	}
	written := func(yield func(n uint64) bool) {
		for n := range f.found.EndOfNumbers() {
			if f.found.HasRecord(n) && (f.want.WasWritten(n) || f.want.InDoubt(n)) && !yield(n) {
				return
			}
		}
	}
	return eachOf(ctx, f.Target, written, f.checkEach())
}

// eachOf calls f with those of some records that a database holds; f keeps nothing of them. They
// are read as users read them, by one statement: texts of keys would fill the server's caches of
// plans.
func eachOf(
	ctx context.Context,
	t Target,
	some iter.Seq[uint64],
	f func(n uint64, r *Record),
) error {
	session, err := t.Engine.ConnectUser(ctx, t.Store)
	if err != nil {
		return err
	}
	defer session.Close(ctx)
	step := Step{Op: Read}
	shape := t.Dataset.makeShape()
	for n := range some {
		step.Record.Key = shape.KeyOf(n)
		if err := session.Transact(ctx, &step, false); err != nil {
			return err
		}
		if step.Found {
			f(n, &step.Record)
		}
	}
	return nil
}

// compareRecords compares what was found with what the driver says.
func (f *findings) compareRecords(target string) []result.Check {
	var all []result.Check
	add := func(name string, passed bool, expected, found any) {
		all = append(all, result.NewCheck(target, name, passed, expected, found))
	}
	none := func(name string, numbers []int64) {
		add(name, len(numbers) == 0, 0, result.Named("numbers", numbers))
	}
	add("records with a key that ds2 did not make", f.aliens == 0, 0, f.aliens)
	records := f.found.CountRecords()
	if f.want == nil {
		const format = "%d after the load, more or fewer after runs"
		loaded := fmt.Sprintf(format, f.Dataset.Size.CountRecords())
		add("records", records > 0, loaded, records)
	} else {
		var extra, missing []int64
		for n := range max(f.want.EndOfNumbers(), f.found.EndOfNumbers()) {
			switch want, found := f.want.HasRecord(n), f.found.HasRecord(n); {
			case f.want.InDoubt(n) || want == found:
			case want:
				missing = append(missing, int64(n))
			default:
				extra = append(extra, int64(n))
			}
		}
		add("records", len(missing)+len(extra) == 0, f.want.CountRecords(), records)
		none("records that are missing", missing)
		none("records that should not be there", extra)
	}
	none(fmt.Sprintf("damaged records, of %d read", f.checked), f.damaged)
	return all
}

// toldEvery is how many records are told of at once.
const toldEvery = 64

// tellEach is called for each record, and tells how many bytes of them have been dealt with.
func (f *findings) tellEach(doing string) func() {
	size := f.Dataset.Size
	records := 0
	tell := f.tell.Adder(doing+f.Store.Label(), size.TotalBytes())
	return func() {
		if records++; records%toldEvery == 0 {
			tell(toldEvery * size.TotalBytes() / size.CountRecords())
		}
	}
}
