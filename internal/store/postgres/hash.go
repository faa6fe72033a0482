package postgres

import (
	"context"
	"encoding/binary"
	"math/bits"
	"strings"

	"ds2/datagen"
)

// RowHash has the server hash columns of a row t, integers and texts, and gives the same hash of
// the columns of a row of the dataset at the same places: audit.RowHasher. It is nil before version
// 14, which has no such function, and where the server's bytes are in another order.
func (s *Store) RowHash(
	ctx context.Context, columns []string, texts func(column string) bool,
) (expression string, hash func([]datagen.Value) int64, err error) {
	const known = "which server hashes alike?"
	var version int
	var found int64
	err = s.db.QueryRowContext(ctx, query("server/hash"), known).Scan(&version, &found)
	if err != nil {
		return "", nil, s.Wrap("ask how the server hashes", err)
	}
	if version < 14 || found != int64(hashBytes([]byte(known))) {
		return "", nil, nil
	}

	var isText []bool
	for _, column := range columns {
		isText = append(isText, texts(column))
	}
	expression = "(hash_record_extended(ROW(t." + strings.Join(columns, ", t.") + "), 0) >> 32)"
	return expression, func(row []datagen.Value) int64 {
		return int64(hashRow(row, isText)) >> 32
	}, nil
}

// hashRow is the server's hash_record_extended with seed 0, in which a NULL counts as 0.
func hashRow(row []datagen.Value, isText []bool) (hash uint64) {
	for i, value := range row {
		element := uint64(0)
		switch {
		case !isText[i]:
			element = hashInt(uint32(value.Int))
		case value.Text != nil:
			element = hashBytes(value.Text)
		}
		hash = hash<<5 - hash + element
	}
	return hash
}

// jenkins is the state of Bob Jenkins' hash of 2006, lookup3, as the server has it.
type jenkins struct{ a, b, c uint32 }

// newJenkins is the state before the first word: the golden ratio, as in lookup3, the length, and
// the seed that PostgreSQL builds in.
func newJenkins(length int) jenkins {
	start := 0x9e3779b9 + uint32(length) + 3923095
	return jenkins{start, start, start}
}

// mixWords mixes the three words: the same step six times, each with another one in the lead.
func (j *jenkins) mixWords() {
	a, b, c := j.a, j.b, j.c
	for _, by := range [...]int{4, 6, 8, 16, 19, 4} {
		mixed := (a - c) ^ bits.RotateLeft32(c, by)
		a, b, c = b, c+b, mixed
	}
	j.a, j.b, j.c = a, b, c
}

// sum is the hash of what was mixed.
func (j *jenkins) sum() uint64 {
	a, b, c := j.a, j.b, j.c
	for _, by := range [...]int{14, 11, 25, 16, 4, 14, 24} {
		mixed := (c ^ b) - bits.RotateLeft32(b, by)
		a, b, c = b, mixed, a
	}
	return uint64(a)<<32 | uint64(b)
}

// hashInt is the hash of an integer of 32 bits or fewer.
func hashInt(v uint32) uint64 {
	j := newJenkins(4)
	j.a += v
	return j.sum()
}

// hashBytes is the hash of a text.
func hashBytes(text []byte) uint64 {
	j := newJenkins(len(text))
	for len(text) >= 12 {
		j.a += binary.LittleEndian.Uint32(text)
		j.b += binary.LittleEndian.Uint32(text[4:])
		j.c += binary.LittleEndian.Uint32(text[8:])
		j.mixWords()
		text = text[12:]
	}
	// What is left fills the words from below, the last one from its second byte on.
	var rest [12]byte
	copy(rest[:], text)
	j.a += binary.LittleEndian.Uint32(rest[:])
	j.b += binary.LittleEndian.Uint32(rest[4:])
	j.c += binary.LittleEndian.Uint32(rest[8:]) << 8
	return j.sum()
}
