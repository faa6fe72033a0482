package sampling

import (
	"os"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// adminCommand is struct nvme_admin_cmd of linux/nvme_ioctl.h.
type adminCommand struct {
	opcode, flags   uint8
	_               uint16
	namespace       uint32
	_               [4]uint32
	address         uint64
	_               uint32
	bytes           uint32
	cdw10           uint32
	_               [5]uint32
	timeout, result uint32
}

const (
	nvmeAdmin  = 0xC0484E41 // NVME_IOCTL_ADMIN_CMD
	getLogPage = 0x02
	capsPage   = 0xD0
)

// readCaps asks a drive for the log page of its limits.
func readCaps(drive string) ([]float64, error) {
	device, err := os.Open("/dev/" + drive)
	if err != nil {
		return nil, err
	}
	defer device.Close()
	page := make([]byte, capsBytes)
	command := adminCommand{
		opcode:    getLogPage,
		namespace: 1,
		address:   uint64(uintptr(unsafe.Pointer(&page[0]))),
		bytes:     capsBytes,
		cdw10:     capsPage | (capsBytes/4-1)<<16,
	}
	_, _, errno := unix.Syscall(
		unix.SYS_IOCTL, device.Fd(), nvmeAdmin, uintptr(unsafe.Pointer(&command)))
	runtime.KeepAlive(page)
	if errno != 0 {
		return nil, errno
	}
	return decodeCaps(page)
}
