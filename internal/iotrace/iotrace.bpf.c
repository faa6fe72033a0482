//go:build ignore

// The kernel's side of package iotrace: it times each I/O of the drives that are asked for, and counts it in a histogram by what it was
// for. It is compiled by go generate; structures have only the fields that are read, which the loader finds in the running kernel (CO-RE).
//
// An I/O is timed from the moment that it is handed to the block layer to its end, so its time in queues counts. A flush is an empty
// request with which a process waits for the drive's cache; a file system's journal writes with flushes of their own, which are writes.

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/bpf_core_read.h>

char __license[] SEC("license") = "Dual MIT/GPL";

#define OP_MASK 0xff // of bio.bi_opf: the operation, as REQ_OP_MASK
#define OP_READ 0
#define OP_WRITE 1

// The classes of an I/O; their names are in iotrace.go, in this order.
enum class { DATA_READ, DATA_WRITE, DATA_FLUSH, LOG_READ, LOG_WRITE, LOG_FLUSH, OTHER_READ, OTHER_WRITE, OTHER_FLUSH, CLASSES };

// What a process does for a server, as in iotrace_linux.go.
enum work { NOBODY, SESSIONS, LOG, DATA, BACKGROUND };

// Buckets of a histogram of microseconds: those of HdrHistogram with two significant digits.
#define LINEAR 256 // microseconds that have a bucket each
#define HALF 128   // buckets of each power of two above
#define SHIFTS 24  // powers of two
#define BUCKETS (LINEAR + SHIFTS * HALF)
#define MERGED 256 // bios of a request, at most
#define DRIVES 16 // as maxDrives
#define PLACES 65536 // for I/Os under way
#define TRIED 8 // places for one

typedef __u32 dev_type;
typedef __u32 opf_type;

struct super_block { dev_type s_dev; } __attribute__((preserve_access_index));
struct inode { struct super_block *i_sb; unsigned long i_ino; struct { void *first; } i_dentry; } __attribute__((preserve_access_index));
struct dentry { struct dentry *d_parent; struct inode *d_inode; struct { struct { void *next; } d_alias; } d_u; } __attribute__((preserve_access_index));
struct address_space { struct inode *host; } __attribute__((preserve_access_index));
struct page { unsigned long compound_head; struct address_space *mapping; } __attribute__((preserve_access_index));
struct bio_vec { struct page *bv_page; } __attribute__((preserve_access_index));
struct gendisk { int major; int first_minor; } __attribute__((preserve_access_index));
struct block_device { struct gendisk *bd_disk; } __attribute__((preserve_access_index));
struct bvec_iter { unsigned int bi_size; } __attribute__((preserve_access_index));
struct bio {
	struct bio *bi_next;
	struct block_device *bi_bdev;
	opf_type bi_opf;
	struct bvec_iter bi_iter;
	struct bio_vec *bi_io_vec;
} __attribute__((preserve_access_index));
struct request { struct bio *bio; } __attribute__((preserve_access_index));
struct task_struct { int tgid; struct task_struct *real_parent; } __attribute__((preserve_access_index));

struct directory { __u64 inode; __u32 device; __u32 zero; };
struct started { __u64 bio, at, histogram; };

volatile const __u32 drives[DRIVES]; // the numbers of the drives as the kernel keeps them, then zeroes

struct { // of the servers' files: 0 for data, 1 for the log
	__uint(type, BPF_MAP_TYPE_HASH); __uint(max_entries, 65536); __type(key, struct directory); __type(value, __u32);
} directories SEC(".maps");

struct { // enum work of processes; what is SESSIONS of a process is of its children too, if they are not here themselves
	__uint(type, BPF_MAP_TYPE_HASH); __uint(max_entries, 4096); __type(key, __u32); __type(value, __u32);
} processes SEC(".maps");

struct { // I/Os under way, each at one of some places that the address of its bio gives: cheaper than a hash table, which takes locks
	__uint(type, BPF_MAP_TYPE_ARRAY); __uint(max_entries, PLACES); __type(key, __u32); __type(value, struct started);
} ios SEC(".maps");

struct { // of each class of each drive, the sum of nanoseconds, and the counts of each bucket
	__uint(type, BPF_MAP_TYPE_ARRAY); __uint(map_flags, BPF_F_MMAPABLE); __uint(max_entries, DRIVES * CLASSES * (1 + BUCKETS));
	__type(key, __u32); __type(value, __u64);
} histograms SEC(".maps");

static __always_inline __u32 bucket(__u64 micros)
{
	if (micros < LINEAR)
		return micros;
	if (micros >> 31)
		return BUCKETS - 1;
	__u32 v = micros, shift = 1;
	if (v >> 24) { shift += 16; v >>= 16; }
	if (v >> 16) { shift += 8; v >>= 8; }
	if (v >> 12) { shift += 4; v >>= 4; }
	if (v >> 10) { shift += 2; v >>= 2; }
	if (v >> 9) { shift += 1; v >>= 1; }
	return LINEAR + (shift - 1) * HALF + (v >> 1) - HALF;
}

static __always_inline void add(__u32 i, __u64 n)
{
	__u64 *sum = bpf_map_lookup_elem(&histograms, &i);
	if (sum)
		__sync_fetch_and_add(sum, n);
}

static __always_inline void count(struct started *s)
{
	__u64 took = bpf_ktime_get_ns() - s->at;
	add(s->histogram, took);
	add(s->histogram + 1 + bucket(took / 1000), 1);
}

// place says whose directory a file's is: 0 for data, 1 for the log; nil for another's.
static __always_inline __u32 *place(struct dentry *d)
{
	struct directory dir = {};
	dir.device = BPF_CORE_READ(d, d_parent, d_inode, i_sb, s_dev);
	dir.inode = BPF_CORE_READ(d, d_parent, d_inode, i_ino);
	return bpf_map_lookup_elem(&directories, &dir);
}

// carried is the file whose pages a bio carries, by its first page; nil where they are no file's, as in direct I/O.
static __always_inline struct dentry *carried(struct bio *bio)
{
	struct bio_vec *pages = bio->bi_io_vec; // which copies of a bio share, as device mapper and MD make them; their bi_vcnt is 0
	if (!pages)
		return 0;
	struct page *page = pages->bv_page;
	unsigned long head = BPF_CORE_READ(page, compound_head);
	if (head & 1)
		page = (struct page *)(head - 1);
	unsigned long mapping = (unsigned long)BPF_CORE_READ(page, mapping);
	if (!mapping || mapping & 3) // of no file
		return 0;
	void *first = BPF_CORE_READ((struct address_space *)mapping, host, i_dentry.first);
	if (!first)
		return 0;
	return (struct dentry *)(first - bpf_core_field_offset(struct dentry, d_u.d_alias));
}

static __always_inline __u32 work(void)
{
	__u32 id = bpf_get_current_pid_tgid() >> 32;
	__u32 *work = bpf_map_lookup_elem(&processes, &id);
	if (!work) {
		struct task_struct *task = (struct task_struct *)bpf_get_current_task();
		id = BPF_CORE_READ(task, real_parent, tgid);
		work = bpf_map_lookup_elem(&processes, &id);
	}
	return work ? *work : NOBODY;
}

// flush is the class of a flush. Sessions flush the log only: files of data are flushed by the checkpointer.
static __always_inline __u32 flush(void)
{
	switch (work()) {
	case SESSIONS:
	case LOG:
		return LOG_FLUSH;
	case DATA:
		return DATA_FLUSH;
	}
	return OTHER_FLUSH;
}

// transfer is the class of a read or write: by the directory of the file, and where a bio carries no file's pages, by the process.
static __always_inline __u32 transfer(struct bio *bio, __u32 op)
{
	struct dentry *file = carried(bio);
	__u32 *where = file ? place(file) : 0;
	if (where && *where == 1)
		return op == OP_READ ? LOG_READ : LOG_WRITE;
	if (op == OP_WRITE)
		return where || (!file && work() == DATA) ? DATA_WRITE : OTHER_WRITE;
	return (where || !file) && work() == SESSIONS ? DATA_READ : OTHER_READ;
}

static __always_inline struct started *under_way(__u64 bio, __u32 i)
{
	__u32 half;
	asm volatile("%0 = %1" : "=w"(half) : "w"((__u32)bio)); // to the kernel this is a number; it lets nobody reckon with an address
	__u32 at = (half * 0x9e3779b9 >> 16) + i & PLACES - 1;
	return bpf_map_lookup_elem(&ios, &at);
}

static __always_inline void begin(__u64 bio, __u32 histogram)
{
	struct started *s = 0;
	for (int i = 0; i < TRIED; i++) {
		s = under_way(bio, i);
		if (!s)
			return;
		if (s->bio == bio || !__sync_val_compare_and_swap(&s->bio, 0, bio))
			break;
	}
	s->bio = bio; // where all places are taken, the last one's I/O goes
	s->histogram = histogram;
	s->at = bpf_ktime_get_ns();
}

SEC("tp_btf/block_bio_queue")
int BPF_PROG(queued, struct bio *bio)
{
	__u32 op = bio->bi_opf & OP_MASK;
	if (op > OP_WRITE) // discards and the like
		return 0;
	struct gendisk *disk = bio->bi_bdev->bd_disk;
	__u32 dev = disk->major << 20 | disk->first_minor;
	for (__u32 i = 0; i < DRIVES && drives[i]; i++) {
		if (drives[i] == dev) {
			__u32 class = bio->bi_iter.bi_size ? transfer(bio, op) : flush();
			begin((__u64)bio, (i * CLASSES + class) * (1 + BUCKETS));
			break;
		}
	}
	return 0;
}

static __always_inline void end(__u64 bio)
{
	for (int i = 0; i < TRIED; i++) {
		struct started *s = under_way(bio, i);
		if (s && s->bio == bio) {
			count(s);
			__sync_lock_test_and_set(&s->bio, 0);
			break;
		}
	}
}

// Drivers with queues end requests, of which each carries some bios; the others, such as those of LVM and MD, end bios.
SEC("tp_btf/block_rq_complete")
int BPF_PROG(request_ended, struct request *request)
{
	struct bio *bio = request->bio;
	for (int i = 0; i < MERGED && bio; i++) {
		end((__u64)bio);
		bio = bio->bi_next;
	}
	return 0;
}

SEC("tp_btf/block_bio_complete")
int BPF_PROG(bio_ended, void *queue, struct bio *bio)
{
	end((__u64)bio);
	return 0;
}
