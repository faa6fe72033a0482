package devicetest

import (
	"context"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
	"github.com/stretchr/testify/require"
)

// Slow is a drive each of whose reads and writes takes a time of its own, however many are under way: the kernel counts them as
// it counts those of any drive. Its image is a file of a file system that waits.
type Slow struct {
	Drive
	read, write atomic.Int64 // nanoseconds
}

// Delay has each read and each write or flush from now on take as long.
func (s *Slow) Delay(read, write time.Duration) {
	s.read.Store(int64(read))
	s.write.Store(int64(write))
}

// MountSlow makes a slow drive of so many bytes, which lie in a directory on another drive or in memory, with a file system. It is
// fast until Delay.
func MountSlow(t *testing.T, on string, bytes int64) *Slow {
	t.Helper()
	under, err := os.MkdirTemp(on, "ds2-slow-")
	if err != nil {
		t.Skip("there is no room for a drive: ", err)
	}
	t.Cleanup(func() { os.RemoveAll(under) })
	medium, err := os.Create(filepath.Join(under, "medium"))
	require.NoError(t, err)
	t.Cleanup(func() { medium.Close() })
	require.NoError(t, medium.Truncate(bytes))
	s := &Slow{}
	waits := filepath.Join(under, "waits")
	require.NoError(t, os.Mkdir(waits, 0o755))
	root := &directory{image: &image{slow: s, medium: medium, bytes: bytes}}
	server, err := fs.Mount(waits, root, &fs.Options{MountOptions: fuse.MountOptions{DirectMountStrict: true, MaxBackground: 256, ExtraCapabilities: fuse.CAP_ASYNC_DIO, FsName: "ds2-slow"}})
	if err != nil {
		t.Skip("no file system of one's own can be mounted: ", err)
	}
	t.Cleanup(func() {
		if err := server.Unmount(); err != nil {
			t.Error(err)
		}
		server.Wait()
	})
	s.Drive = mount(t, under, filepath.Join(waits, imageName), "--direct-io=on")
	t.Cleanup(func() { s.Delay(0, 0) }) // before it is unmounted
	return s
}

const imageName = "image"

// directory holds the image.
type directory struct {
	fs.Inode
	image *image
}

func (d *directory) OnAdd(ctx context.Context) {
	d.AddChild(imageName, d.NewPersistentInode(ctx, d.image, fs.StableAttr{Mode: syscall.S_IFREG}), false)
}

// image is the file that waits.
type image struct {
	fs.Inode
	slow   *Slow
	medium *os.File
	bytes  int64
}

var (
	_ fs.NodeOpener    = (*image)(nil)
	_ fs.NodeReader    = (*image)(nil)
	_ fs.NodeWriter    = (*image)(nil)
	_ fs.NodeFsyncer   = (*image)(nil)
	_ fs.NodeGetattrer = (*image)(nil)
	_ fs.NodeSetattrer = (*image)(nil)
)

func (i *image) Open(context.Context, uint32) (fs.FileHandle, uint32, syscall.Errno) {
	return nil, fuse.FOPEN_DIRECT_IO, 0
}

func (i *image) Getattr(_ context.Context, _ fs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	out.Mode, out.Size = 0o600, uint64(i.bytes)
	return 0
}

func (i *image) Setattr(ctx context.Context, f fs.FileHandle, _ *fuse.SetAttrIn, out *fuse.AttrOut) syscall.Errno {
	return i.Getattr(ctx, f, out)
}

func (i *image) Read(_ context.Context, _ fs.FileHandle, data []byte, at int64) (fuse.ReadResult, syscall.Errno) {
	end := time.Now().Add(time.Duration(i.slow.read.Load()))
	n, err := i.medium.ReadAt(data, at)
	time.Sleep(time.Until(end))
	if n == 0 && err != nil {
		return nil, syscall.EIO
	}
	return fuse.ReadResultData(data[:n]), 0
}

func (i *image) Write(_ context.Context, _ fs.FileHandle, data []byte, at int64) (uint32, syscall.Errno) {
	end := time.Now().Add(time.Duration(i.slow.write.Load()))
	n, err := i.medium.WriteAt(data, at)
	time.Sleep(time.Until(end))
	if err != nil {
		return uint32(n), syscall.EIO
	}
	return uint32(n), 0
}

func (i *image) Fsync(context.Context, fs.FileHandle, uint32) syscall.Errno {
	time.Sleep(time.Duration(i.slow.write.Load()))
	return 0
}
