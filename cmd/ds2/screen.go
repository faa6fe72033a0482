package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"sync"
	"unicode/utf8"

	"golang.org/x/term"

	"ds2/internal/escape"
)

// screen is where all text for people goes. It shows what a terminal would obey, such as what a
// name holds, and on a terminal breaks lines between words at its width, and has colours.
type screen struct {
	w io.Writer

	mu    sync.Mutex
	rest  []byte // of a line that has not ended
	drawn bool   // the terminal's last line is one that is drawn again
}

// screenOn is the screen that w is, or one that writes to w.
func screenOn(w io.Writer) *screen {
	if s, ok := w.(*screen); ok {
		return s
	}
	return &screen{w: w}
}

// terminal is that of the screen; ok is false where it has none.
func (s *screen) terminal() (descriptor int, ok bool) {
	f, ok := s.w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return 0, false
	}
	return int(f.Fd()), true
}

// columns is the width of a terminal; 0 where w goes to none, or it does not know its width.
func columns(w io.Writer) int {
	descriptor, ok := screenOn(w).terminal()
	if !ok {
		return 0
	}
	width, _, _ := term.GetSize(descriptor)
	return max(width, 0)
}

// Write shows the lines that have ended.
func (s *screen) Write(text []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	// A word or an escape sequence may be cut between two writes, so only whole lines are looked
	// at.
	s.rest = append(s.rest, text...)
	end := bytes.LastIndexByte(s.rest, '\n') + 1
	if end == 0 {
		return len(text), nil
	}
	lines := strings.TrimSuffix(string(s.rest[:end]), "\n")
	s.rest = bytes.Clone(s.rest[end:])
	return len(text), s.show(lines, level{})
}

// flush shows what has not ended with its line.
func (s *screen) flush() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.rest) > 0 {
		_ = s.show(string(s.rest), level{}) // the command has ended, and its exit code is known
		s.rest = nil
	}
}

// show writes lines, the first of which begins with the word of a level.
func (s *screen) show(text string, l level) error {
	width := columns(s)
	var out strings.Builder
	if s.drawn {
		// The line comes back below what is written, within a second.
		out.WriteString(redraw)
		s.drawn = false
	}
	for line := range strings.SplitSeq(escape.Lines(text), "\n") {
		for _, part := range brokenLine(line, width) {
			if rest, begins := strings.CutPrefix(part, l.word); begins && l.word != "" &&
				s.coloured() {
				part = l.colour + l.word + uncoloured + rest
				l = level{}
			}
			out.WriteString(part + "\n")
		}
	}
	_, err := io.WriteString(s.w, out.String())
	return err
}

// draw shows a line in place of the one that was drawn before, as much of it as fits.
func (s *screen) draw(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	letters := []rune(escape.Text(line))
	if width := columns(s); width > 0 && len(letters) >= width { // it could not be drawn over
		letters = append(letters[:max(width-2, 0)], '…')
	}
	io.WriteString(s.w, redraw+string(letters)) // what could not be shown is shown again soon
	s.drawn = true
}

// endDrawn ends drawing, and keeps the last line or takes it away.
func (s *screen) endDrawn(keep bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.drawn {
		return
	}
	end := redraw
	if keep {
		end = "\n"
	}
	io.WriteString(s.w, end)
	s.drawn = false
}

// redraw takes what stands in the terminal's line away.
const redraw = "\r\x1b[K"

// brokenLine is a line in parts of at most width columns, unless a word is longer; 0: as it is. The
// parts after the first are indented further.
func brokenLine(line string, width int) (parts []string) {
	indent := strings.Repeat(" ", len(line)-len(strings.TrimLeft(line, " "))+2)
	for width > 0 && utf8.RuneCountInString(line) > width {
		letters := []rune(line)
		begin := len(line) - len(strings.TrimLeft(line, " "))
		if begin > width/2 {
			break
		}
		at := strings.LastIndex(string(letters[begin:width+1]), " ")
		if at < 0 { // a long word stays whole, to be copied
			at = strings.Index(string(letters[begin:]), " ")
		}
		if at < 0 {
			break
		}
		at += begin // blanks are a byte each
		parts = append(parts, strings.TrimRight(line[:at], " "))
		line = indent + strings.TrimLeft(line[at:], " ")
	}
	return append(parts, line)
}

// level is what a line of text is for, by its first word.
type level struct{ word, colour string }

// The levels, and the colours that terminals know best.
var (
	failure = level{"FAILURE", "\x1b[31m"}
	failed  = level{"ds2:", "\x1b[31m"}
	warning = level{"warning", "\x1b[33m"}
	note    = level{"note", "\x1b[2m"}
)

const uncoloured = "\x1b[0m"

// coloured says that the terminal takes colours and its user has nothing against them.
func (s *screen) coloured() bool {
	_, ok := s.terminal()
	// Of Windows' consoles only its Terminal, which sets this variable, is known to take colours.
	windows := runtime.GOOS == "windows" && os.Getenv("WT_SESSION") == ""
	return ok && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && !windows
}

// say shows a text of a level.
func say(w io.Writer, l level, format string, args ...any) {
	s := screenOn(w)
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = s.show(l.word+fmt.Sprintf(format, args...), l) // what cannot be told, cannot be told
}

// warn shows a warning.
func warn(w io.Writer, format string, args ...any) { say(w, warning, ": "+format, args...) }
