package result

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Block is a part of a record that is a workload's own: JSON that no other room reads.
type Block json.RawMessage

// NewBlock is the block of a value that JSON can hold.
func NewBlock(v any) Block {
	text, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("a block of a record: %v", err)) // a fault of the workload's, whatever the values
	}
	return text
}

// Into reads the block into v, and refuses numbers that cannot have been measured. An empty one leaves v as it is.
func (b Block) Into(v any) error {
	if len(b) == 0 {
		return nil
	}
	if err := decode(b, v); err != nil {
		return fmt.Errorf("read the workload's part of the record: %w", err)
	}
	return nil
}

func (b Block) MarshalJSON() ([]byte, error) { return json.RawMessage(b).MarshalJSON() }

// UnmarshalJSON keeps the block without blanks, so that it can be compared.
func (b *Block) UnmarshalJSON(text []byte) error {
	var compact bytes.Buffer
	if err := json.Compact(&compact, text); err != nil {
		return err
	}
	*b = compact.Bytes()
	return nil
}

// Said is a parameter in words.
type Said struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}
