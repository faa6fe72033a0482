package monitor

import (
	"context"
	"fmt"
	"os"
)

// Record reads how much the record of the run takes that ds2 writes into a directory.
func Record(dir string) Source {
	return Source{
		Name:    "record",
		Figures: []Figure{{Name: "client_record_bytes", Help: "Size of the files in the record of the run."}},
		Columns: []Column{{ClientRecord, gauge(0)}},
		Read: func(_ context.Context, values []float64) error {
			files, err := os.ReadDir(dir)
			if err != nil {
				return fmt.Errorf("read size of the record: %w", err)
			}
			values[0] = 0
			for _, file := range files {
				if info, err := file.Info(); err == nil { // else it was renamed meanwhile
					values[0] += float64(info.Size())
				}
			}
			return nil
		},
	}
}
