package tdstest

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"unicode/utf16"
)

// The types of packets: [MS-TDS] 2.2.3.1.1.
const (
	typeBatch     = 0x01
	typeAnswer    = 0x04
	typeAttention = 0x06
	typeLogin     = 0x10
	typePrelogin  = 0x12
)

const (
	headerSize   = 8    // of a packet: [MS-TDS] 2.2.3.1
	endOfMessage = 0x01 // the status of a message's last packet: [MS-TDS] 2.2.3.1.2
	packetSize   = 4096 // which clients begin with
)

// readMessage reads packets up to the last of a message.
func readMessage(r io.Reader) (kind byte, payload []byte, err error) {
	for {
		var header [headerSize]byte
		if _, err := io.ReadFull(r, header[:]); err != nil {
			return 0, nil, err
		}
		size := int(binary.BigEndian.Uint16(header[2:]))
		if size < headerSize {
			return 0, nil, errors.New("packet shorter than its header")
		}
		packet := make([]byte, size-headerSize)
		if _, err := io.ReadFull(r, packet); err != nil {
			return 0, nil, err
		}
		payload = append(payload, packet...)
		if header[1]&endOfMessage != 0 {
			return header[0], payload, nil
		}
	}
}

// cutPackets cuts a message into packets.
func cutPackets(kind byte, payload []byte) (all []byte) {
	const most = packetSize - headerSize
	for id := byte(1); ; id++ {
		n := min(len(payload), most)
		status := byte(0)
		if n == len(payload) {
			status = endOfMessage
		}
		all = append(all, kind, status)
		all = binary.BigEndian.AppendUint16(all, uint16(n+headerSize))
		all = append(all, 0, 0, id, 0)
		all = append(all, payload[:n]...)
		if payload = payload[n:]; len(payload) == 0 {
			return all
		}
	}
}

// answerPrelogin is a PRELOGIN message with a version and an answer to the question for encryption:
// [MS-TDS] 2.2.6.5.
func answerPrelogin(encryption byte) []byte {
	const version, encrypt, terminator = 0x00, 0x01, 0xFF
	const options = 2*5 + 1
	b := []byte{version, 0, options, 0, 6, encrypt, 0, options + 6, 0, 1, terminator}
	return append(b, 15, 0, 0x07, 0xD0, 0, 0, encryption)
}

// Login is what a client asks for in LOGIN7: [MS-TDS] 2.2.6.4.
type Login struct {
	User, Password string
	Database       string
	Token          bool // a token of federated authentication stands in FeatureExt
	MustHave       bool // fDatabase: the login is to fail where the database cannot be had
}

// decodeUCS2 reads text in UCS-2.
func decodeUCS2(b []byte) string {
	units := make([]uint16, len(b)/2)
	_, _ = binary.Decode(b, binary.LittleEndian, units) // there are as many
	return string(utf16.Decode(units))
}

// Text is the ASCII of a request's payload, its statement's among it.
func Text(payload []byte) string { return strings.ReplaceAll(string(payload), "\x00", "") }

// parseLogin reads LOGIN7: [MS-TDS] 2.2.6.4. Its fixed part says where each text begins and how
// many characters it has.
func parseLogin(payload []byte) (Login, error) {
	const (
		optionFlags1 = 24
		optionFlags3 = 27
		user         = 40
		password     = 44
		extension    = 56
		database     = 68
		fixed        = 94
	)
	if len(payload) < fixed {
		return Login{}, errors.New("LOGIN7 is too short")
	}
	field := func(at int) []byte {
		offset := binary.LittleEndian.Uint16(payload[at:])
		length := binary.LittleEndian.Uint16(payload[at+2:])
		return payload[offset:][:2*int(length)]
	}
	secret := slices.Clone(field(password))
	// 2.2.6.4: each byte's halves are exchanged, then it is XORed with 0xA5
	for i, b := range secret {
		b ^= 0xA5
		secret[i] = b<<4 | b>>4
	}
	l := Login{
		User:     decodeUCS2(field(user)),
		Password: decodeUCS2(secret),
		Database: decodeUCS2(field(database)),
	}
	l.MustHave = payload[optionFlags1]&0x40 != 0
	if payload[optionFlags3]&0x10 != 0 { // fExtension
		const fedAuth = 0x02
		at := binary.LittleEndian.Uint32(payload[binary.LittleEndian.Uint16(payload[extension:]):])
		l.Token = payload[at] == fedAuth
	}
	return l, nil
}

// handshakeConn carries a TLS handshake in PRELOGIN packets until it is done: [MS-TDS] 3.3.5.2.
type handshakeConn struct {
	net.Conn
	done    bool
	pending bytes.Buffer
}

// Read gives the bytes of TLS without the packets around them; a packet may hold more than is asked
// for.
func (c *handshakeConn) Read(b []byte) (int, error) {
	if c.done {
		return c.Conn.Read(b)
	}
	if c.pending.Len() == 0 {
		_, payload, err := readMessage(c.Conn)
		if err != nil {
			return 0, err
		}
		c.pending.Write(payload)
	}
	return c.pending.Read(b)
}

// Write puts what TLS sends into packets of PRELOGIN.
func (c *handshakeConn) Write(b []byte) (int, error) {
	if c.done {
		return c.Conn.Write(b)
	}
	if _, err := c.Conn.Write(cutPackets(typePrelogin, b)); err != nil {
		return 0, err
	}
	return len(b), nil
}

// Tokens of a server's answer: [MS-TDS] 2.2.7. Each function gives one token's bytes; an answer is
// some of them in a row.

// The status bits of DONE: [MS-TDS] 2.2.7.6.
const (
	DoneFinal     = 0x0000
	DoneMore      = 0x0001
	DoneError     = 0x0002
	DoneAttention = 0x0020
)

// Error is the token ERROR: [MS-TDS] 2.2.7.10. A class of 20 or more closes the connection.
func Error(number int32, state, class byte, message string) []byte {
	return messageToken(0xAA, number, state, class, message)
}

// Info is the token INFO: [MS-TDS] 2.2.7.13.
func Info(number int32, state byte, message string) []byte {
	return messageToken(0xAB, number, state, 0, message)
}

// messageToken is ERROR or INFO, which differ in the first byte: number, state, class, text,
// server, procedure, line.
func messageToken(token byte, number int32, state, class byte, message string) []byte {
	text := UCS2(message)
	b := binary.LittleEndian.AppendUint32(nil, uint32(number))
	b = binary.LittleEndian.AppendUint16(append(b, state, class), uint16(len(text)/2))
	noProcedure := shortText("")
	line := []byte{1, 0, 0, 0}
	return prefixSize(token, b, text, shortText("SERVER"), noProcedure, line)
}

// Database is the token ENVCHANGE of type 1, into another database: [MS-TDS] 2.2.7.9.
func Database(now, before string) []byte {
	return prefixSize(0xE3, []byte{1}, shortText(now), shortText(before))
}

// LoginAck is the token LOGINACK of SQL Server 2019: [MS-TDS] 2.2.7.14.
func LoginAck() []byte {
	sqlTDS74 := []byte{1, 0x74, 0x00, 0x00, 0x04}
	version := []byte{15, 0, 0x07, 0xD0}
	return prefixSize(0xAD, sqlTDS74, shortText("Microsoft SQL Server"), version)
}

// What SQL Server answers a login with, in the words of sys.messages.
var (
	LoginFailed = Error(18456, 1, 14, "Login failed for user 'user'.")
	InMaster    = Answer(Database("master", "master"), LoginAck())

	// The login goes on in the default database, because go-mssqldb does not set fDatabase:
	// [MS-TDS] 2.2.6.4.
	FallsBack = Decision{Answer: Answer(
		Error(4063, 1, 11, `Cannot open database "DS2" that was requested by the login. `+
			`Using the user default database "master" instead.`), InMaster, Done(DoneFinal))}
	NoDatabase = Refuse(
		Error(4060, 1, 11, `Cannot open database "DS2" requested by the login. The login failed.`),
		LoginFailed)
)

// Done is the token DONE: [MS-TDS] 2.2.7.6.
func Done(status uint16) []byte {
	b := binary.LittleEndian.AppendUint16([]byte{0xFD}, status)
	return append(b, make([]byte, 2+8)...) // no command, no rows
}

// Failed is an answer of tokens that ends with an error.
func Failed(tokens ...[]byte) []byte { return append(Answer(tokens...), Done(DoneError)...) }

// Answer joins tokens.
func Answer(tokens ...[]byte) []byte { return slices.Concat(tokens...) }

// prefixSize is a token with the length of what follows as two bytes.
func prefixSize(token byte, parts ...[]byte) []byte {
	data := slices.Concat(parts...)
	return append(binary.LittleEndian.AppendUint16([]byte{token}, uint16(len(data))), data...)
}

// shortText is a B_VARCHAR: [MS-TDS] 2.2.5.1.2.
func shortText(text string) []byte {
	b := UCS2(text)
	return append([]byte{byte(len(b) / 2)}, b...)
}

// UCS2 is a text as the protocol has it: [MS-TDS] 2.2.5.1.2.
func UCS2(text string) []byte {
	b, _ := binary.Append(nil, binary.LittleEndian, utf16.Encode([]rune(text)))
	return b
}
