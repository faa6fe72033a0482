package main

import (
	"fmt"
	"slices"
	"strings"
)

// choice is the value of a flag that takes one of a few words.
type choice struct {
	value *string
	of    []string
}

// oneOf makes value a choice of the given words, the first of which is the default.
func oneOf(value *string, of ...string) choice {
	*value = of[0]
	return choice{value, of}
}

func (c choice) String() string {
	if c.value == nil { // pflag asks a zero value for its default
		return ""
	}
	return *c.value
}

func (c choice) Type() string { return strings.Join(c.of, "|") }

func (c choice) Set(text string) error {
	if !slices.Contains(c.of, text) {
		last := len(c.of) - 1
		return fmt.Errorf("invalid value %q: use %s or %s", text, strings.Join(c.of[:last], ", "), c.of[last])
	}
	*c.value = text
	return nil
}
