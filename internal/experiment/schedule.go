package experiment

import (
	"fmt"
	"sync"
	"time"
)

// Schedule says where a bench stands, and when it will end. How long restores and audits take it learns from those that were
// made last. Its methods may be called from several goroutines, also on a nil Schedule, which knows nothing.
type Schedule struct {
	Settle time.Duration // before each run
	Length time.Duration // of a run, from its idle time to the end of its cooldown

	mu             sync.Mutex
	number, of     int // of the run that counts next
	stage          benchStage
	began          time.Time     // the stage
	restore, after time.Duration // what those took that were made last; 0: none was
}

// benchStage is a part of a run of a bench, in the order in which they come.
type benchStage int

const (
	stageRestore benchStage = iota
	stageSettle
	stageRun // with the audit that follows it
)

// begin notes that a stage begins, of a run that will be the number of those that count if nothing is wrong with it.
func (s *Schedule) begin(stage benchStage, number, of int) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.leave()
	s.stage, s.number, s.of, s.began = stage, number, of, time.Now()
}

// end notes that the run has ended.
func (s *Schedule) end() {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.leave()
	s.began = time.Time{}
}

// leave learns from the stage that ends now.
func (s *Schedule) leave() {
	if s.began.IsZero() {
		return
	}
	took := time.Since(s.began)
	switch s.stage {
	case stageRestore:
		s.restore = took
	case stageRun: // with what follows it
		s.after = max(took-s.Length, 0)
	}
}

// Left is how long the bench still takes if no run has to be repeated. Whole says that nothing is missing in it: that a restore and an
// audit have been made.
func (s *Schedule) Left() (left time.Duration, whole bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	elapsed := time.Duration(0)
	if !s.began.IsZero() {
		elapsed = time.Since(s.began)
	}
	stages := map[benchStage]time.Duration{stageRestore: s.restore, stageSettle: s.Settle, stageRun: s.Length + s.after}
	if !s.began.IsZero() {
		left = max(stages[s.stage]-elapsed, 0)
		for stage := s.stage + 1; stage <= stageRun; stage++ {
			left += stages[stage]
		}
	}
	left += time.Duration(max(s.of-s.number, 0)) * (s.restore + s.Settle + s.Length + s.after)
	lastRun := s.number >= s.of
	return left, (s.restore > 0 || lastRun && s.stage > stageRestore) && s.after > 0
}

// String is where the bench stands, in words: "run 1 of 3; the bench ends in about 1h12m0s, at 14:05".
func (s *Schedule) String() string {
	if s == nil {
		return ""
	}
	left, whole := s.Left()
	s.mu.Lock()
	defer s.mu.Unlock()
	more := ""
	if !whole {
		more = " and what restoring and auditing take"
	}
	return fmt.Sprintf("run %d of %d; the bench ends in about %s%s, at %s", s.number, s.of, left.Round(time.Second), more, time.Now().Add(left).Format("15:04"))
}
