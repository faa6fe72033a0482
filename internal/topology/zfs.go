package topology

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"

	"ds2/internal/outside"
)

// zfsDevices are the block devices, named as in /sys/class/block, on which the pool of a ZFS
// dataset has its data and its intent log.
func zfsDevices(dataset string) ([]string, error) {
	pool, _, _ := strings.Cut(dataset, "/")
	ctx, cancel := outside.Within(context.Background(), outside.Answer)
	defer cancel()
	list := exec.CommandContext(ctx, "zpool", "list", "-v", "-H", "-P", "-L", pool)
	rows, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("list the devices of the ZFS pool %s: %w", pool, err)
	}
	return parsePool(string(rows)), nil
}

// parsePool reads the devices out of rows of zpool list: the pool, its virtual devices and, by
// their paths, what these are made of. Caches and spares hold no data.
func parsePool(rows string) (devices []string) {
	aside := false
	for row := range strings.Lines(rows) {
		name, _, _ := strings.Cut(strings.TrimSpace(row), "\t")
		switch {
		case name == "cache" || name == "spare" || name == "spares":
			aside = true
		case name == "logs" || name == "special" || name == "dedup":
			aside = false
		case strings.HasPrefix(name, "/") && !aside:
			devices = append(devices, filepath.Base(name))
		}
	}
	return devices
}
