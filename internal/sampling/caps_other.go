//go:build !linux

package sampling

import "errors"

func readCaps(string) ([]float64, error) { return nil, errors.ErrUnsupported }
