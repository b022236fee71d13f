// SPDX-License-Identifier: Apache-2.0
/*
 * Restores the memory of a copy of a frozen program.  In: the private memory of the frozen program,
 * as it is mapped before the first copy is made.  Out: a copy whose memory is again as it was when
 * it was forked.
 *
 * A copy shares its pages with the frozen program until it writes to them.  The kernel then gives it
 * a page of its own, and reports this page as mapped by only one process (/proc/self/pagemap).  So
 * the pages that runs have changed can be found without any preparation.  The frozen program never
 * runs, so it still has their original content.
 *
 * Runs of a program change mostly the same pages.  A page that was changed once is restored after
 * each later run, whether it has changed again or not.  The first change of any other page is a page
 * fault.  So pages are examined only if the process has had page faults since they were last
 * examined.
 *
 * Invariants:
 * 1. Before memory is restored, mappings that the run has made are removed (rt/steer/changes.c).
 * 2. The code here runs on the stack in struct rt_reset, and calls no function of libc.
 */
#include "rt/steer/expect-int.h"
#include "rt/steer/reset-int.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/rseq.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#define PAGE 4096	/* bytes of a page on x86-64 */
#define READ_PAGES 4096 /* number of pages about which the kernel is asked at once; chosen by hand */
#define FETCHED 64	/* number of pages that are read from the frozen program at once; chosen by hand */
#define STACK_MOST (64ul << 20) /* bytes; a higher limit of the initial stack is not supported */

/* Bits of an entry of /proc/self/pagemap. */
#define IS_PRESENT (1ull << 63)
#define IS_SWAPPED (1ull << 62)
#define IS_FILE (1ull << 61)
#define IS_EXCLUSIVE (1ull << 56)

/* ---- the list of mappings ---- */

static size_t pages_of(const struct rt_range *r)
{
	return (r->end - r->start) / PAGE;
}

static void add_range(struct rt_pages *p, uintptr_t start, uintptr_t end)
{
	if (start >= end)
		return;
	if (p->range_count < RT_RESET_RANGES)
		p->ranges[p->range_count] = (struct rt_range){start, end};
	p->range_count++;
}

/* Adds the parts of a range that lie in none of the `holes`. */
static void add_without(struct rt_pages *p, struct rt_range r, const struct rt_range *holes, size_t count)
{
	if (!count) {
		add_range(p, r.start, r.end);
	} else if (holes->end <= r.start || holes->start >= r.end) {
		add_without(p, r, holes + 1, count - 1);
	} else {
		add_without(p, (struct rt_range){r.start, holes->start}, holes + 1, count - 1);
		add_without(p, (struct rt_range){holes->end, r.end}, holes + 1, count - 1);
	}
}

static bool is_initial_stack(const struct rt_range *r)
{
	return rt.arguments >= r->start && rt.arguments < r->end;
}

static uint64_t limit_of(int what)
{
	struct rlimit limit = {0};

	rt_bare(SYS_getrlimit, what, (long)&limit);
	return limit.rlim_cur;
}

/* The initial stack grows without a system call.  So its range includes the addresses into which it may
 * grow. */
static void extend_stack(struct rt_range *r)
{
	uint64_t limit = limit_of(RLIMIT_STACK);

	if (r->end - limit < r->start)
		r->start = (r->end - limit) & -(uintptr_t)PAGE;
}

static bool add_line(const char *line, uintptr_t pages)
{
	struct rt_pages *p = (struct rt_pages *)pages;
	struct rt_range holes[] = {{(uintptr_t)rt_reset(), (uintptr_t)(rt_reset() + 1)},
				   {(uintptr_t)p->saved, (uintptr_t)p->saved + p->size}};
	struct rt_range r = {.start = rt_expect_bound(&line)};

	r.end = rt_expect_bound(&line);
	if (!line[0] || line[1] != 'w' || line[3] != 'p')
		return false;
	holes[0].end = (holes[0].end + PAGE - 1) & -(uintptr_t)PAGE;
	if (is_initial_stack(&r))
		extend_stack(&r);
	add_without(p, r, holes, sizeof holes / sizeof *holes);
	return p->range_count > RT_RESET_RANGES;
}

/* Returns the memory to which the kernel writes when it moves the thread to another processor (rseq). */
static struct rt_range find_kept(void)
{
	uintptr_t start = rt_steering()->idle.fs + (uintptr_t)__rseq_offset;

	return (struct rt_range){start, __rseq_size ? start + sizeof(struct rseq) : start};
}

/* If the address space is limited, the program may need all of it. */
bool rt_pages_fit(void)
{
	return limit_of(RLIMIT_AS) == RLIM_INFINITY && limit_of(RLIMIT_STACK) <= STACK_MOST;
}

bool rt_pages_list(struct rt_pages *p)
{
	size_t saved = (size_t)RT_RESET_PAGES * PAGE, flags = READ_PAGES * sizeof *p->flags, total = 0;

	p->size = saved + flags + RT_RESET_SPACE / 8;
	p->saved = rt_map(p->size);
	if (!p->saved)
		return false;
	p->flags = (uint64_t *)(void *)(p->saved + saved);
	p->known = (uint8_t *)p->saved + saved + flags;
	p->origin = (pid_t)rt_bare(SYS_getpid, 0);
	p->kept = find_kept();
	/* a system may let only processes that the program names read its memory */
	rt_bare(SYS_prctl, PR_SET_PTRACER, (long)PR_SET_PTRACER_ANY);
	if (rt_maps_any(add_line, (uintptr_t)p, true))
		return false;
	for (size_t i = 0; i < p->range_count; i++)
		total += pages_of(&p->ranges[i]);
	return total <= RT_RESET_SPACE;
}

/* The kernel may replace small pages by a large one in the background.  Then a write to a page that was
 * unchanged before would cause no page fault.  So this is disabled. */
bool rt_pages_begin(void)
{
	return !rt_bare(SYS_prctl, PR_SET_THP_DISABLE, 1);
}

/* ---- bytes ---- */

/* memcpy() and memset() of libc might be called through memory that is being restored. */
static void copy(uintptr_t to, const char *from, size_t length)
{
	__asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(length) : : "memory");
}

static void fill(uintptr_t at, size_t length)
{
	__asm__ volatile("rep stosb" : "+D"(at), "+c"(length) : "a"(0) : "memory");
}

/* ---- finding pages that have changed ---- */

static uint64_t count_faults(void)
{
	struct rusage usage = {0};

	rt_bare(SYS_getrusage, RUSAGE_SELF, (long)&usage);
	return (uint64_t)usage.ru_minflt + (uint64_t)usage.ru_majflt;
}

/* Returns true if the process has written to the page. */
static bool has_changed(uint64_t flags)
{
	return flags & IS_SWAPPED || ((flags & IS_PRESENT) && (flags & IS_EXCLUSIVE) && !(flags & IS_FILE));
}

/* Adds the page with this number among all pages of `ranges`.  Returns false if there is no room. */
static bool add_page(struct rt_pages *p, uintptr_t page, size_t number)
{
	uint8_t bit = (uint8_t)(1u << number % 8);

	if (p->known[number / 8] & bit)
		return true;
	if (p->changed_count == RT_RESET_PAGES)
		return false;
	p->known[number / 8] |= bit;
	p->changed[p->changed_count++] = page;
	return true;
}

/* Returns true if there is a page of memory, whether the process has written to it or not. */
static bool has_content(uint64_t flags)
{
	return flags & IS_SWAPPED || ((flags & IS_PRESENT) && !(flags & IS_FILE));
}

/* Adds the pages of a range that `is` returns true for.  `number` is that of the first page. */
static bool examine_range(struct rt_pages *p, long fd, const struct rt_range *r, size_t number,
			  bool (*is)(uint64_t flags))
{
	size_t count = pages_of(r);

	for (size_t at = 0; at < count; at += READ_PAGES) {
		size_t n = count - at < READ_PAGES ? count - at : READ_PAGES;
		uintptr_t first = r->start + at * PAGE;

		if (rt_bare(SYS_pread64, fd, (long)p->flags, (long)(n * sizeof *p->flags),
			    (long)(first / PAGE * sizeof *p->flags)) != (long)(n * sizeof *p->flags))
			return false;
		for (size_t i = 0; i < n; i++)
			if (p->flags[i] && is(p->flags[i]) && !add_page(p, first + i * PAGE, number + at + i))
				return false;
	}
	return true;
}

static uintptr_t greater(uintptr_t a, uintptr_t b)
{
	return a > b ? a : b;
}

static uintptr_t lesser(uintptr_t a, uintptr_t b)
{
	return a < b ? a : b;
}

/* Adds the pages between two addresses that `is` returns true for. */
static bool examine(struct rt_pages *p, uintptr_t start, uintptr_t end, bool (*is)(uint64_t flags))
{
	long fd = rt_bare(SYS_openat, AT_FDCWD, (long)"/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	bool fine = fd >= 0;

	for (size_t i = 0, number = 0; i < p->range_count && fine; number += pages_of(&p->ranges[i++])) {
		struct rt_range r = {greater(start, p->ranges[i].start), lesser(end, p->ranges[i].end)};

		if (r.start < r.end)
			fine = examine_range(p, fd, &r, number + (r.start - p->ranges[i].start) / PAGE, is);
	}
	if (fd >= 0)
		rt_bare(SYS_close, fd);
	return fine;
}

/* Returns true if the addresses lie in one mapping that is restored. */
static bool is_listed(const struct rt_pages *p, uintptr_t start, uintptr_t end)
{
	for (size_t i = 0; i < p->range_count; i++)
		if (start >= p->ranges[i].start && end <= p->ranges[i].end)
			return true;
	return false;
}

/* Clears those pages of the range that are in `changed`.  If the process has had no page fault
 * since its run began, no other page of the range has content; otherwise returns false.  Clearing pages
 * takes less time than the page faults at their next use would take. */
static bool clear(const struct rt_pages *p, uintptr_t start, uintptr_t end)
{
	if (count_faults() != p->faults)
		return false;
	for (size_t i = 0; i < p->changed_count; i++)
		if (p->changed[i] >= start && p->changed[i] < end)
			fill(p->changed[i], PAGE);
	return true;
}

/* Pages of the range that have content are about to lose it, so they count as changed.  The other pages
 * have no content in the frozen program either, so they need not be restored. */
bool rt_pages_empty(struct rt_pages *p, uintptr_t start, size_t length, bool *cleared)
{
	uintptr_t end = start + ((length + PAGE - 1) & -(size_t)PAGE);

	for (size_t i = 0; i < p->emptied_count; i++)
		if (start >= p->emptied[i].start && end <= p->emptied[i].end) {
			*cleared = clear(p, start, end);
			return true;
		}
	if (start % PAGE || end < start || p->emptied_count == RT_RESET_EMPTIED ||
	    !is_listed(p, start, end) || !examine(p, start, end, has_content))
		return false;
	p->emptied[p->emptied_count++] = (struct rt_range){start, end};
	return true;
}

/* ---- restoring ---- */

/* Reads the content that `count` pages have in the frozen program: those in `changed` from index `first`
 * on.  Returns how many could be read. */
static size_t fetch_some(struct rt_pages *p, size_t first, size_t count)
{
	struct iovec to = {p->saved + first * PAGE, count * PAGE}, from[FETCHED];
	long n;

	for (size_t i = 0; i < count; i++)
		from[i] = (struct iovec){(void *)p->changed[first + i], PAGE};
	n = rt_bare(SYS_process_vm_readv, p->origin, (long)&to, 1, (long)from, (long)count);
	return n > 0 ? (size_t)n / PAGE : 0;
}

/* Reads the original content of the pages in `changed` from index `first` on.  A page into which the
 * initial stack has grown does not exist in the frozen program; its original content is zero. */
static bool fetch(struct rt_pages *p, size_t first)
{
	while (first < p->changed_count) {
		size_t left = p->changed_count - first, count = left < FETCHED ? left : FETCHED,
		       n = fetch_some(p, first, count);
		uintptr_t next = first + n < p->changed_count ? p->changed[first + n] : 0;

		if (n < count && !(next < rt.arguments && next + STACK_MOST > rt.arguments))
			return false;
		first += n < count ? n + 1 : n;
	}
	return true;
}

static void restore_page(uintptr_t page, const char *content, const struct rt_range *kept)
{
	if (kept->start >= kept->end || kept->start >= page + PAGE || kept->end <= page) {
		copy(page, content, PAGE);
		return;
	}
	if (kept->start > page)
		copy(page, content, kept->start - page);
	if (kept->end < page + PAGE)
		copy(kept->end, content + (kept->end - page), page + PAGE - kept->end);
}

bool rt_pages_restore(struct rt_pages *p)
{
	if (count_faults() != p->faults && !examine(p, 0, UINTPTR_MAX, has_changed))
		return false;
	if (!fetch(p, p->saved_count))
		return false;
	p->saved_count = p->changed_count;
	for (size_t i = 0; i < p->changed_count; i++)
		restore_page(p->changed[i], p->saved + i * PAGE, &p->kept);
	p->faults = count_faults();
	return true;
}
