import os
import tempfile
import time
import unittest

from disk import BLOCK, Cache


def blocks(*values):
    return b"".join(bytes([value]) * BLOCK for value in values)


class TestCache(unittest.TestCase):
    def make_cache(self, any_order):
        """A cache over a separate medium."""
        medium = tempfile.TemporaryFile()
        self.addCleanup(medium.close)
        medium.truncate(16 * BLOCK)
        return Cache(medium.fileno(), 60, any_order)

    def expect(self, why, got, want):
        self.assertTrue(got == want, f"{why}: blocks begin with {got[0]}, want {want[0]}")

    def expect_medium(self, why, cache, want, at):
        self.expect(why, os.pread(cache.medium, len(want), at * BLOCK), want)

    def expect_read(self, why, cache, want, at):
        got = bytearray(len(want))
        cache.read(memoryview(got), at * BLOCK)
        self.expect(why, got, want)

    def test_cache(self):
        for any_order in (False, True):
            cache = self.make_cache(any_order)
            cache.write(blocks(1, 1, 1, 1), 0)
            self.expect_read("the host reads what it wrote", cache, blocks(1, 1, 1, 1), 0)
            self.expect_medium("a cut before the flush", cache, blocks(0, 0, 0, 0), 0)
            cache.flush()
            self.expect_medium("a cut after the flush", cache, blocks(1, 1, 1, 1), 0)
            cache.write(blocks(2), 1 * BLOCK)
            cache.write(blocks(3), 2 * BLOCK)
            cache.write(blocks(4), 1 * BLOCK)
            self.expect_read("the host reads the newest", cache, blocks(4), 1)
            cache.write_out(time.monotonic() - 1)
            self.expect_medium("nothing is due", cache, blocks(1, 1, 1, 1), 0)
            cache.write_out(time.monotonic() + 3600)
            self.expect_medium("all is due", cache, blocks(4, 3), 1)
            self.assertEqual(0, len(cache.dirty) + len(cache.queue), "blocks are left")

    def test_in_order(self):
        """Cuts the power after a part of the writes: what is there is what was written first."""
        cache = self.make_cache(False)
        cache.write(blocks(1), 0)
        cache.write(blocks(2), BLOCK)
        cache.write(blocks(3), 0)
        cache.queue[0].due = cache.queue[1].due = 0
        cache.write_out(time.monotonic())
        self.expect_medium("the first two", cache, blocks(1, 2), 0)


if __name__ == "__main__":
    unittest.main()
