package process_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"ds2/internal/process"
)

// TestFind finds this process by its number, name and age, and not by the age of another.
func TestFind(t *testing.T) {
	name, err := os.ReadFile("/proc/self/comm")
	if err != nil {
		t.Fatal(err)
	}
	program := strings.TrimSpace(string(name))
	if pid, err := process.Find(process.Dir, os.Getpid(), program, 0); err != nil || pid != os.Getpid() {
		t.Errorf("found %d, %v; want %d", pid, err, os.Getpid())
	}
	if _, err := process.Find(process.Dir, os.Getpid(), program, 24*time.Hour); err != process.ErrNone {
		t.Errorf("a process a day older: %v", err)
	}
	if _, err := process.Find(process.Dir, os.Getpid(), "another", 0); err != process.ErrNone {
		t.Errorf("another program: %v", err)
	}
}
