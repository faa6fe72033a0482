package result

import (
	"encoding/json"
	"fmt"
)

// NewBlock is the JSON of a part of a record that is a workload's own, and that no other room reads.
func NewBlock(v any) json.RawMessage {
	text, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("a block of a record: %v", err)) // a fault of the workload's, whatever the values
	}
	return text
}

// ReadBlock reads such a part into v, and refuses numbers that cannot have been measured. An empty one leaves v as it
// is.
func ReadBlock(b json.RawMessage, v any) error {
	if len(b) == 0 {
		return nil
	}
	if err := decode(b, v); err != nil {
		return fmt.Errorf("read the workload's part of the record: %w", err)
	}
	return nil
}

// Said is a parameter in words.
type Said struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}
