package main

import (
	"io"

	"ds2/internal/store"
)

// scrubView shows how far a scrub is: one progress for reading pages, another for checking what they say. A nil one shows nothing.
type scrubView struct {
	w        io.Writer
	last     store.ScrubProgress
	progress *progress
}

func newScrubView(quiet bool, w io.Writer) *scrubView {
	if quiet {
		return nil
	}
	return &scrubView{w: w}
}

func (v *scrubView) tell(p store.ScrubProgress) {
	if v == nil {
		return
	}
	if v.progress == nil || p.Doing != v.last.Doing || p.Done < v.last.Done { // the next pass, or the next target
		v.stop()
		v.progress = startProgress(v.w, p.Doing+" every page", p.Total)
		v.last.Done = 0
	}
	v.progress.Add(p.Done - v.last.Done)
	v.last = p
}

func (v *scrubView) stop() {
	if v != nil {
		v.progress.Stop()
	}
}
