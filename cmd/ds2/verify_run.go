package main

import "github.com/spf13/pflag"

// How a database is looked at after a run.
const (
	verifyNone  = "none"
	verifyAudit = "audit"
	verifyDeep  = "deep"
)

// verifyFlag is --verify.
type verifyFlag string

func (f *verifyFlag) add(flags *pflag.FlagSet) {
	flags.Var(oneOf((*string)(f), verifyAudit, verifyDeep, verifyNone), "verify",
		"check after the run: audit, that the database holds what the run recorded; deep, which first reads every page and has the server check it; or none")
}
