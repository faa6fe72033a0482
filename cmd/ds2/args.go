package main

import (
	"regexp"
	"strings"
	"unsafe"
)

// secret matches the passwords in an argument: in a URL's user part, which ends at the last @ before a slash, or in its
// options.
var secret = regexp.MustCompile(`://[^/@:]*:([^/]*)@|(?i:password|pwd)=([^&;\s]*)`)

// takeArgs copies the arguments and writes over the passwords in the originals: the system shows the memory that those
// lie in to everybody, as the process's title.
func takeArgs(args []string) []string {
	own := make([]string, len(args))
	for i, arg := range args {
		own[i] = strings.Clone(arg)
		for _, match := range secret.FindAllStringSubmatchIndex(own[i], -1) {
			for _, group := range [][]int{match[2:4], match[4:6]} {
				if group[0] >= 0 && group[0] < group[1] {
					text := unsafe.Slice(unsafe.StringData(arg), len(arg))
					copy(text[group[0]:group[1]], strings.Repeat("*", group[1]-group[0]))
				}
			}
		}
	}
	return own
}
