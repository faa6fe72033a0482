/* Put before the C library by LD_PRELOAD, it makes a program's files lie on a drive that takes 5 ms for a read and 20 ms
   for a flush, while the file WHILE is there. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static void delay(int milliseconds) {
	if (access(WHILE, F_OK) == 0)
		usleep(1000 * milliseconds);
}

ssize_t pread(int file, void *buffer, size_t size, off_t at) {
	delay(5);
	return ((ssize_t (*)(int, void *, size_t, off_t))dlsym(RTLD_NEXT, "pread"))(file, buffer, size, at);
}

ssize_t preadv(int file, const struct iovec *buffers, int n, off_t at) {
	delay(5);
	return ((ssize_t (*)(int, const struct iovec *, int, off_t))dlsym(RTLD_NEXT, "preadv"))(file, buffers, n, at);
}

int fdatasync(int file) {
	delay(20);
	return ((int (*)(int))dlsym(RTLD_NEXT, "fdatasync"))(file);
}
