package monitor

import (
	"context"
	"math"
)

// BackgroundCounts is what readers beside the users have read so far, all together.
type BackgroundCounts struct {
	Requests, Bytes float64
	Device          float64 // bytes that came from drives and not from the kernel's cache; NaN: nobody knows
}

// Scrub are the counters of scans in the background.
func Scrub(read func() BackgroundCounts) Source {
	return background("background scan", read, []Figure{
		{Name: "scrub_requests_total", Help: "Requests that the background scans of the databases made."},
		{Name: "scrub_read_bytes_total", Help: "Bytes that the background scans of the databases read."},
		{Name: "scrub_device_bytes_total", Help: "Bytes that the background scans read from drives and not from a cache."},
	}, ScrubReads, ScrubReadBytes, ScrubDeviceBytes)
}

// Copies are the counters of readers of the log.
func Copies(read func() BackgroundCounts) Source {
	return background("readers of the log", read, []Figure{
		{Name: "copies_messages_total", Help: "Messages with parts of the log that its readers received, in place of copies."},
		{Name: "copies_read_bytes_total", Help: "Bytes of the log that its readers received, in place of copies."},
		{Name: "copies_device_bytes_total", Help: "Bytes of the log that the server read from drives for its readers."},
	}, "", CopiesReadBytes, CopiesDeviceBytes)
}

// background makes a source of counts; a column without a name is left out.
func background(name string, read func() BackgroundCounts, figures []Figure, columns ...string) Source {
	src := Source{Name: name, Figures: figures, Read: func(_ context.Context, values []float64) error {
		c := read()
		values[0], values[1], values[2] = c.Requests, c.Bytes, c.Device
		return nil
	}}
	for i, column := range columns {
		if column != "" {
			src.Columns = append(src.Columns, Column{column, 0, rate(i)})
		}
	}
	return src
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
