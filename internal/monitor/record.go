package monitor

import (
	"context"
	"fmt"
	"math"
	"os"
)

// Record reads how much the record of the run takes that ds2 writes into a directory.
func Record(dir string) Source {
	size := kind{"client_record_bytes", "Size of the files in the record of the run.", ClientRecord, gauge(0)}
	return one("record", size, func(context.Context) (bytes float64, err error) {
		files, err := os.ReadDir(dir)
		if err != nil {
			return math.NaN(), fmt.Errorf("read size of the record: %w", err)
		}
		for _, file := range files {
			if info, err := file.Info(); err == nil { // else it was renamed meanwhile
				bytes += float64(info.Size())
			}
		}
		return bytes, nil
	})
}
