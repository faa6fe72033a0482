package main

import (
	"time"

	"ds2/datagen"
	"ds2/internal/load"
	"ds2/schema"
)

// loadProgress are all who follow a load.
type loadProgress []load.Progress

var _ load.Progress = loadProgress{}

func (all loadProgress) Begin(phase schema.Phase) {
	for _, p := range all {
		p.Begin(phase)
	}
}

func (all loadProgress) Copied(table datagen.Table, rows, bytes int64) {
	for _, p := range all {
		p.Copied(table, rows, bytes)
	}
}

func (all loadProgress) Statement(phase schema.Phase, statement string, ended bool) {
	for _, p := range all {
		p.Statement(phase, statement, ended)
	}
}

func (all loadProgress) Built(statement string, share float64) {
	for _, p := range all {
		p.Built(statement, share)
	}
}

func (all loadProgress) Done(share float64, left time.Duration) {
	for _, p := range all {
		p.Done(share, left)
	}
}
