package main

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// wrong is an error at a place of the file.
func (f *experimentFile) wrong(at *yaml.Node, format string, args ...any) error {
	return usageError("%s:%d:%d: %w", f.path, at.Line, at.Column, fmt.Errorf(format, args...))
}

// syntaxError words what the YAML library finds, which gives a line alone.
func (f *experimentFile) syntaxError(err error) error {
	return usageError("%s: %s", f.path, strings.TrimPrefix(err.Error(), "yaml: "))
}

// entry is a key of a mapping and its value.
type entry struct{ key, value *yaml.Node }

// entries lists a mapping; an empty value has none.
func (f *experimentFile) entries(n *yaml.Node, what string) (all []entry, err error) {
	n = resolved(n)
	if n.Tag == "!!null" {
		return nil, nil
	}
	if n.Kind != yaml.MappingNode {
		return nil, f.wrong(n, "%s must be keys with values", what)
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := resolved(n.Content[i])
		switch {
		case key.Kind != yaml.ScalarNode:
			return nil, f.wrong(key, "a key must be a name")
		case seen[key.Value]:
			return nil, f.wrong(key, "the key %q is given twice", key.Value)
		}
		seen[key.Value] = true
		all = append(all, entry{key, resolved(n.Content[i+1])})
	}
	return all, nil
}

// resolved is what an alias stands for.
func resolved(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

func (f *experimentFile) scalar(key, n *yaml.Node) (*yaml.Node, error) {
	n = resolved(n)
	if n.Kind != yaml.ScalarNode || n.Tag == "!!null" {
		return nil, f.wrong(n, "%s has no value", key.Value)
	}
	return n, nil
}
