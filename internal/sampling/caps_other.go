//go:build !linux

package sampling

import "errors"

// readCaps is for Linux: other systems send NVMe commands in other ways.
func readCaps(string) ([]float64, error) { return nil, errors.ErrUnsupported }
