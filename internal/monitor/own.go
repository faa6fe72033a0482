package monitor

import (
	"context"
	"fmt"
	"os"
)

// Record reads how much the record of the run takes that ds2 writes into a directory.
func Record(dir string) Source {
	size := []kind{{"client_record_bytes", "Size of the files in the record of the run.", ClientRecord, gauge(0)}}
	return single("record", "", "", "", size, func(context.Context) ([]float64, error) {
		files, err := os.ReadDir(dir)
		if err != nil {
			return nil, fmt.Errorf("read size of the record: %w", err)
		}
		bytes := 0.0
		for _, file := range files {
			if info, err := file.Info(); err == nil { // else it was renamed meanwhile
				bytes += float64(info.Size())
			}
		}
		return []float64{bytes}, nil
	})
}

// Scrub are the counters of scans in the background, all together: their requests, the bytes that these read, and the
// bytes that came from drives and not from the kernel's cache, NaN where that is unknown.
func Scrub(read func() (requests, bytes, device float64)) Source {
	kinds := []kind{
		{"scrub_requests_total", "Requests that the background scans of the databases made.", ScrubReads, nil},
		{"scrub_read_bytes_total", "Bytes that the background scans of the databases read.", ScrubReadBytes, nil},
		{"scrub_device_bytes_total", "Bytes that the background scans read from drives and not from a cache.",
			ScrubDeviceBytes, nil},
	}
	return single("background scan", "", "", "", kinds, func(context.Context) ([]float64, error) {
		requests, bytes, device := read()
		return []float64{requests, bytes, device}, nil
	})
}
