// Command disk is a drive with a volatile write cache, for a virtual machine: it serves a file by
// the NBD protocol (https://github.com/NetworkBlockDevice/nbd/blob/master/doc/proto.md) on a Unix
// socket. Kill it with the machine, and all that was not flushed is gone, as on a power cut. It can
// lie about flushes. (QEMU's cache=unsafe does not do that for an NBD server, which gets the
// flushes all the same.)
package main

import (
	"bufio"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"time"
)

func main() {
	socket := flag.String("socket", "", "Unix socket to serve on")
	file := flag.String("file", "", "the medium")
	delay := flag.Duration(
		"delay",
		2*time.Second,
		"how long a block stays in the cache, without flushes",
	)
	anyOrder := flag.Bool(
		"any-order",
		false,
		"write blocks to the medium in any order, after up to twice the delay",
	)
	lies := flag.Bool("lies", false, "acknowledge flushes without flushing")
	flag.Parse()
	if err := serve(*socket, *file, *delay, *anyOrder, *lies); err != nil {
		fmt.Fprintln(os.Stderr, "disk:", err)
		os.Exit(1)
	}
}

// serve serves the one client there is to its end.
func serve(socket, file string, delay time.Duration, anyOrder, lies bool) error {
	medium, err := os.OpenFile(file, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer medium.Close()
	info, err := medium.Stat()
	if err != nil {
		return err
	}
	if info.Size()%block != 0 {
		return fmt.Errorf("%s is not a multiple of %d bytes long", file, block)
	}
	listener, err := net.Listen("unix", socket)
	if err != nil {
		return err
	}
	defer listener.Close()
	conn, err := listener.Accept()
	if err != nil {
		return err
	}
	defer conn.Close()
	c := newCache(medium, delay, anyOrder)
	go func() {
		for now := range time.Tick(20 * time.Millisecond) {
			if err := c.WriteOut(now); err != nil {
				fmt.Fprintln(os.Stderr, "disk:", err)
				os.Exit(1)
			}
		}
	}()
	s := session{
		lies: lies,
		in:   bufio.NewReaderSize(conn, 1<<20),
		out:  bufio.NewWriterSize(conn, 1<<20),
	}
	if err := s.agree(info.Size()); err != nil {
		return fmt.Errorf("negotiate: %w", err)
	}
	return s.transmit(c)
}

type session struct {
	in   *bufio.Reader
	out  *bufio.Writer
	lies bool
}

// The protocol's numbers.
const (
	magicOption  = 0x49484156454F5054
	magicReply   = 0x3e889045565a9
	magicRequest = 0x25609513
	magicAnswer  = 0x67446698

	optGo                           = 7
	repAck, repInfo, repUnsupported = 1, 3, 1<<31 + 1

	cmdRead, cmdWrite, cmdDisconnect, cmdFlush = 0, 1, 2, 3
	flagFUA                                    = 1

	// has flags, sends flushes, sends forced unit access
	transmission = 1<<0 | 1<<2 | 1<<3
)

// put writes values. An error stays in s.out, and Flush has it.
func (s *session) put(values ...any) {
	for _, v := range values {
		binary.Write(s.out, binary.BigEndian, v)
	}
}

// agree agrees with the client on the one export there is, by the option that QEMU asks for.
func (s *session) agree(size int64) error {
	s.put([]byte("NBDMAGIC"), uint64(magicOption), uint16(3))
	if err := s.out.Flush(); err != nil {
		return err
	}
	if _, err := s.in.Discard(4); err != nil { // the client's flags
		return err
	}
	for {
		var head struct {
			Magic          uint64
			Option, Length uint32
		}
		if err := binary.Read(s.in, binary.BigEndian, &head); err != nil {
			return err
		}
		if head.Magic != magicOption || head.Length > 64<<10 {
			return errors.New("the client does not speak NBD")
		}
		if _, err := io.CopyN(io.Discard, s.in, int64(head.Length)); err != nil {
			return err
		}
		answer := func(kind uint32, data ...any) {
			length := uint32(0)
			for _, d := range data {
				length += uint32(binary.Size(d))
			}
			s.put(uint64(magicReply), head.Option, kind, length)
			s.put(data...)
		}
		if head.Option == optGo {
			answer(repInfo, uint16(0), uint64(size), uint16(transmission))
			answer(repInfo, uint16(3), uint32(block), uint32(block), uint32(32<<20))
			answer(repAck)
			return s.out.Flush()
		}
		answer(repUnsupported)
		if err := s.out.Flush(); err != nil {
			return err
		}
	}
}

// transmit serves reads, writes and flushes until the client is gone.
func (s *session) transmit(c *Cache) error {
	var data []byte
	for {
		var request struct {
			Magic       uint32
			Flags, Type uint16
			Cookie      uint64
			Offset      uint64
			Length      uint32
		}
		if err := binary.Read(s.in, binary.BigEndian, &request); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		if request.Magic != magicRequest || request.Length > 64<<20 {
			return errors.New("an invalid request")
		}
		data = slices.Grow(data[:0], int(request.Length))[:request.Length]
		var err error
		switch request.Type {
		case cmdRead:
			_, err = c.ReadAt(data, int64(request.Offset))
		case cmdWrite:
			if _, err := io.ReadFull(s.in, data); err != nil {
				return err
			}
			if _, err = c.WriteAt(
				data,
				int64(request.Offset),
			); err == nil && request.Flags&flagFUA != 0 &&
				!s.lies {
				err = c.Flush()
			}
		case cmdFlush:
			if !s.lies {
				err = c.Flush()
			}
		case cmdDisconnect:
			return c.Flush()
		default:
			err = fmt.Errorf("no command %d", request.Type)
		}
		result := uint32(0)
		if err != nil {
			fmt.Fprintln(os.Stderr, "disk:", err)
			result = 5 // EIO
		}
		s.put(uint32(magicAnswer), result, request.Cookie)
		if request.Type == cmdRead && result == 0 {
			s.out.Write(data)
		}
		if s.in.Buffered() == 0 || s.out.Buffered() > 256<<10 {
			if err := s.out.Flush(); err != nil {
				return err
			}
		}
	}
}
