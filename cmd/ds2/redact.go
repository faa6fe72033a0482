package main

import (
	"ds2/internal/escape"
	"regexp"
)

// What may be a password in a text that did not parse as what it should be: in a URL, in libpq's key=value or in
// user:password@host, up to the last @ before a blank.
var passwords = []*regexp.Regexp{
	regexp.MustCompile(`(://[^/@:\s]*:)\S*@`),
	regexp.MustCompile(`(?i)((?:password|pwd)\s*=\s*)(?:\\?'[^']*'|[^\s&;"']+)`),
	regexp.MustCompile(`((?:^|[\s"'=])[^\s"':/@=]+:)(?:[^/\s"]|/[^/\s"])[^\s"]*@`),
}

// redact takes out of a text, before it is printed, what may be a password, and makes the rest safe to show: an error may quote others.
func redact(text string) string {
	for i, p := range passwords {
		with := "${1}***@"
		if i == 1 {
			with = "${1}***"
		}
		text = p.ReplaceAllString(text, with)
	}
	return escape.Lines(text)
}
