package main

import (
	"encoding/json"
	"io"
)

// printJSON writes v as every command writes its result in JSON.
func printJSON[T any](w io.Writer, v T) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
