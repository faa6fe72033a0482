"""A drive with a volatile write cache, for a virtual machine: a plugin of nbdkit, which serves it on a Unix socket.

    nbdkit -U SOCKET python disk.py file=/PATH/OF/IMAGE [delay=SECONDS] [any_order=1] [lies=1]

Kill nbdkit with the machine, and all that was not flushed is gone, as on a power cut. A drive that lies takes flushes and does nothing.
(QEMU's cache=unsafe does not do that for a drive behind a socket, which gets the flushes all the same; nor does nbdkit's cache filter,
of which nothing ever reaches the medium by itself.)
"""

import os
import random
import sys
import threading
import time

API_VERSION = 2

# The unit in which the drive writes, in bytes: half a page of PostgreSQL's, so that a cut can tear one.
BLOCK = 4096


class Write:
    """A block in the cache, which is due on the medium at a time."""

    def __init__(self, number, data, due):
        self.number, self.data, self.due = number, data, due


class Cache:
    """A drive's volatile write cache before its medium, a file descriptor: what is in it and not on the medium is gone when this
    process is killed. A block stays in it for a delay, on average, without flushes; with any_order blocks go to the medium in any
    order, else in that in which they were written."""

    def __init__(self, medium, delay, any_order):
        self.medium, self.delay, self.any_order = medium, delay, any_order
        self.lock = threading.Lock()
        self.dirty = {}  # the newest write of each block that is not on the medium
        self.queue = []  # in the order in which they came

    def read(self, data, offset):
        """Reads whole blocks into data."""
        with self.lock:
            data[:] = os.pread(self.medium, len(data), offset)
            for at in range(0, len(data), BLOCK):
                if write := self.dirty.get((offset + at) // BLOCK):
                    data[at : at + BLOCK] = write.data

    def write(self, data, offset):
        """Writes whole blocks into the cache."""
        now = time.monotonic()
        with self.lock:
            for at in range(0, len(data), BLOCK):
                delay = 2 * random.random() * self.delay if self.any_order else self.delay
                write = Write((offset + at) // BLOCK, bytes(data[at : at + BLOCK]), now + delay)
                self.dirty[write.number] = write
                self.queue.append(write)

    def _put(self, write):
        os.pwrite(self.medium, write.data, write.number * BLOCK)
        if self.dirty.get(write.number) is write:
            del self.dirty[write.number]

    def flush(self):
        """Writes all blocks to the medium, as a host asks that wants them to be safe."""
        with self.lock:
            for write in list(self.dirty.values()):
                self._put(write)
            self.queue.clear()

    def write_out(self, now):
        """Writes the blocks to the medium that are due."""
        with self.lock:
            due = [write for write in self.queue if write.due <= now]
            self.queue = [write for write in self.queue if write.due > now]
            for write in due:
                if not self.any_order or self.dirty.get(write.number) is write:  # else a newer one has taken its place
                    self._put(write)


# What nbdkit calls.

settings = {"file": "", "delay": "2", "any_order": "0", "lies": "0"}
volatile = None  # the Cache


def config(key, value):
    if key not in settings:
        raise ValueError(f"there is no {key}")
    settings[key] = value


def get_ready():
    global volatile
    volatile = Cache(os.open(settings["file"], os.O_RDWR), float(settings["delay"]), settings["any_order"] == "1")


def after_fork():
    def write_out():
        while True:
            time.sleep(0.02)
            try:
                volatile.write_out(time.monotonic())
            except OSError as error:
                print("disk:", error, file=sys.stderr)
                os._exit(1)

    threading.Thread(target=write_out, daemon=True).start()  # here, as threads do not survive a fork


def open(readonly):
    return volatile


def get_size(drive):
    return os.fstat(drive.medium).st_size


def block_size(drive):
    return (BLOCK, BLOCK, 32 << 20)


def pread(drive, data, offset, flags):
    drive.read(data, offset)


def pwrite(drive, data, offset, flags):
    drive.write(data, offset)


def flush(drive, flags):
    """Flushes, also after a write with forced unit access: nbdkit emulates that."""
    if settings["lies"] != "1":
        drive.flush()
