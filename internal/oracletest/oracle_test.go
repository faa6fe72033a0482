package oracletest

import (
	"testing"
)

// TestExamples: the records of the documents are what their files come to.
func TestExamples(t *testing.T) {
	wrong, records := Check("../../docs/examples")
	if records < 3 {
		t.Errorf("%d records were checked", records)
	}
	for _, text := range wrong {
		t.Error(text)
	}
}
