package monitor

import (
	"context"
	"math"
)

// Scrub are the counters of scans in the background, all together: their requests, the bytes that these read, and the
// bytes that came from drives and not from the kernel's cache, NaN where that is unknown.
func Scrub(read func() (requests, bytes, device float64)) Source {
	kinds := []kind{
		{"scrub_requests_total", "Requests that the background scans of the databases made.", ScrubReads, nil},
		{"scrub_read_bytes_total", "Bytes that the background scans of the databases read.", ScrubReadBytes, nil},
		{"scrub_device_bytes_total", "Bytes that the background scans read from drives and not from a cache.",
			ScrubDeviceBytes, nil},
	}
	return itemSource("background scan", "", "", []string{""}, kinds, func(context.Context) (readings, error) {
		requests, bytes, device := read()
		return readings{"": {requests, bytes, device}}, nil
	})
}

// scrubbed is what scans in the background had drives read, in requests and bytes a second. A request that the kernel
// served from its cache did not reach them, as far as that is known.
func (d Drives) scrubbed() (requests, bytes float64) {
	requests, bytes = d.mean(ScrubReads), d.mean(ScrubReadBytes)
	if device := d.Counters.Mean(ScrubDeviceBytes, d.From, d.To); !math.IsNaN(device) && bytes > 0 {
		requests, bytes = requests*device/bytes, device
	}
	return requests, bytes
}
