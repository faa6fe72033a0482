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

func (c choice) Type() string { return strings.TrimPrefix(strings.Join(c.of, "|"), "|") }

func (c choice) Set(text string) error {
	if !slices.Contains(c.of, text) {
		words := slices.DeleteFunc(slices.Clone(c.of), func(word string) bool { return word == "" })
		last := len(words) - 1
		return fmt.Errorf("invalid value %q: use %s or %s", text, strings.Join(words[:last], ", "), words[last])
	}
	*c.value = text
	return nil
}
