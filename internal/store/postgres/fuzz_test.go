package postgres

import (
	"bytes"
	"errors"
	"io"
	"net"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"

	"ds2/internal/fuzztest"
)

// FuzzAnswer has a server answer three calls with anything: no row is one of a fourth.
func FuzzAnswer(f *testing.F) {
	encode := func(messages ...pgproto3.BackendMessage) (b []byte) {
		for _, m := range messages {
			b, _ = m.Encode(b)
		}
		return b
	}
	row := &pgproto3.DataRow{Values: [][]byte{{0, 0, 0, 7}, appendNumeric(nil, 1299), nil}}
	bound, complete := &pgproto3.BindComplete{}, &pgproto3.CommandComplete{CommandTag: []byte("SELECT 1")}
	ready := &pgproto3.ReadyForQuery{TxStatus: 'I'}
	refused := &pgproto3.ErrorResponse{Severity: "ERROR", Code: "40001", Message: "no"}
	conn, _ := net.Pipe() // for its address, in errors
	fuzztest.Run(f, func(t testing.TB, answer []byte) {
		w := Conn{watch: newWatch(conn), front: newFrontend(bytes.NewReader(answer), io.Discard), sent: 3}
		w.front.SetMaxBodyLen(4 << 10) // memory for what is announced and never comes would take most of the time
		for {
			_, row, err := w.Row()
			if err != nil || row == nil {
				return
			}
			if w.completed >= w.sent {
				t.Errorf("a row of call %d of %d", w.completed+1, w.sent)
				return
			}
			for _, value := range row {
				ParseNumeric(value)
			}
		}
	}, encode(bound, row, row, complete, bound, complete, bound, row, complete, ready),
		encode(bound, complete, complete, complete, row, ready),
		encode(&pgproto3.NoticeResponse{Message: "on"}, refused, ready))
}

// TestRowOfNoCall has a server send a row after the last call's end.
func TestRowOfNoCall(t *testing.T) {
	var answer []byte
	answer, _ = (&pgproto3.CommandComplete{CommandTag: []byte("SELECT 0")}).Encode(answer)
	answer, _ = (&pgproto3.DataRow{}).Encode(answer)
	w := Conn{front: newFrontend(bytes.NewReader(answer), io.Discard), sent: 1}
	if _, row, err := w.Row(); !errors.Is(err, errShape) || !w.broken {
		t.Errorf("row %v, %v", row, err)
	}
}
