// SPDX-License-Identifier: Apache-2.0
/*
 * Watches the system calls of a copy that may make several runs (rt/steer/reset.c).  In: system calls
 * of the program, of its libraries and of the runtime, except those of rt_bare().  Out: whether the run
 * has changed something that later runs would notice; and the end of the run.
 *
 * A filter of the kernel (seccomp) allows the calls that change only the content of memory, the blocked
 * signals, and the positions of files, all of which are restored.  For all other calls it raises SIGSYS.
 * The handler (rt/steer/trap.c) makes the call and notes what it has changed.  Mappings that a run has
 * made are undone.  Any other change is lasting: the process ends after the run, as if the copy made
 * only one run.
 *
 * Invariants:
 * 1. A call that is unknown here is a lasting change.
 * 2. A copy that may make several runs creates no process and no kernel thread, because these would
 *    inherit the filter.  The run ends before that, and is repeated in a copy without a filter.  While
 *    libc creates one, it blocks SIGSYS, so the functions of libc that do this are interposed.
 */
#include "rt/steer/filter-int.h"
#include "rt/steer/reset-int.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#define PAGE 4096 /* bytes of a page on x86-64 */

/* System calls whose effects are restored or end with the run.  Calls that would show the processor
 * time of earlier runs are missing: getrusage(), times(), and clock_gettime(), which is not a system
 * call for the clocks that show the real time. */
static const uint16_t harmless[] = {
	SYS_futex,
	SYS_sched_yield,
	SYS_rt_sigprocmask,
	SYS_rt_sigreturn,
	SYS_read,
	SYS_write,
	SYS_readv,
	SYS_writev,
	SYS_pread64,
	SYS_pwrite64,
	SYS_lseek,
	SYS_gettimeofday,
	SYS_time,
	SYS_nanosleep,
	SYS_clock_nanosleep,
	SYS_restart_syscall,
	SYS_getpid,
	SYS_gettid,
	SYS_getppid,
	SYS_getuid,
	SYS_geteuid,
	SYS_getgid,
	SYS_getegid,
	SYS_getrandom,
	SYS_uname,
	SYS_sysinfo,
	SYS_fstat,
	SYS_newfstatat,
	SYS_stat,
	SYS_lstat,
	SYS_statx,
	SYS_access,
	SYS_faccessat,
	SYS_faccessat2,
	SYS_readlink,
	SYS_readlinkat,
	SYS_getcwd,
	SYS_poll,
	SYS_ppoll,
	SYS_select,
	SYS_pselect6,
	SYS_getcpu,
	SYS_sched_getaffinity,
	SYS_getrlimit,
	SYS_mincore,
	SYS_clock_getres,
	SYS_getitimer,
	SYS_kill,
	SYS_tkill,
	SYS_tgkill,
};
enum { HARMLESS = sizeof harmless / sizeof *harmless };

/* ---- the filter ---- */

enum { HEAD = 3 }; /* number of instructions before those for `harmless` */

static bool install_filter(void)
{
	struct sock_filter filter[HEAD + HARMLESS + RT_FILTER_END_LENGTH] = {
		RT_FIELD(arch),
		RT_IF_EQUAL(AUDIT_ARCH_X86_64, 0, HARMLESS + RT_FILTER_END_LENGTH),
		RT_FIELD(nr),
	};
	const struct sock_filter end[RT_FILTER_END_LENGTH] = {RT_FILTER_END};

	for (size_t i = 0; i < HARMLESS; i++)
		filter[HEAD + i] = (struct sock_filter)RT_IF_EQUAL(
			harmless[i], (uint8_t)(HARMLESS - i - 1 + RT_FILTER_END_LENGTH - 2), 0);
	__builtin_memcpy(filter + HEAD + HARMLESS, end, sizeof end);
	return rt_filter_install(filter, sizeof filter / sizeof *filter);
}

bool rt_changes_watch(struct rt_changes *c)
{
	c->program_break = (uintptr_t)rt_bare(SYS_brk, 0);
	return !atomic_load(&rt.interruptible) && rt_trap_install() && install_filter();
}

/* ---- what a call changes ---- */

static bool is_made(const struct rt_changes *c, uintptr_t start, size_t length)
{
	for (size_t i = 0; i < c->made_count; i++)
		if (start >= c->made[i].start && start + length <= c->made[i].end && start + length >= start)
			return true;
	return false;
}

/* Notes a new mapping.  The kernel often puts it directly before the last one. */
static void note_made(struct rt_changes *c, uintptr_t start, size_t length)
{
	uintptr_t end = (start + length + PAGE - 1) & -(uintptr_t)PAGE;

	for (size_t i = 0; i < c->made_count; i++) {
		struct rt_range *r = &c->made[i];

		if (start <= r->end && end >= r->start) {
			r->start = start < r->start ? start : r->start;
			r->end = end > r->end ? end : r->end;
			return;
		}
	}
	if (c->made_count < RT_RESET_MADE)
		c->made[c->made_count++] = (struct rt_range){start, end};
	else
		c->lasting = true;
}

static bool has_failed(long result)
{
	return (unsigned long)result > -4096ul;
}

static long map(struct rt_changes *c, const long *a)
{
	bool replaces = a[3] & (MAP_FIXED | MAP_FIXED_NOREPLACE);
	bool fine = !replaces || is_made(c, (uintptr_t)a[0], (size_t)a[1]);
	long result;

	if (!fine || a[3] & (MAP_GROWSDOWN | MAP_LOCKED))
		c->lasting = true;
	result = rt_bare_call(SYS_mmap, a);
	if (!has_failed(result) && !replaces)
		note_made(c, (uintptr_t)result, (size_t)a[1]);
	return result;
}

static long remap(struct rt_changes *c, const long *a)
{
	bool fine = is_made(c, (uintptr_t)a[0], (size_t)a[1]) && !(a[3] & ~MREMAP_MAYMOVE);
	long result = rt_bare_call(SYS_mremap, a);

	if (!fine)
		c->lasting = true;
	else if (!has_failed(result))
		note_made(c, (uintptr_t)result, (size_t)a[2]);
	return result;
}

static long move_break(struct rt_changes *c, const long *a)
{
	if (a[0] && (uintptr_t)a[0] < c->program_break)
		c->lasting = true;
	return rt_bare_call(SYS_brk, a);
}

static long advise(struct rt_changes *c, const long *a)
{
	bool cleared = false;

	if (!is_made(c, (uintptr_t)a[0], (size_t)a[1]) &&
	    (a[2] != MADV_DONTNEED ||
	     !rt_pages_empty(&rt_reset()->pages, (uintptr_t)a[0], (size_t)a[1], &cleared)))
		c->lasting = true;
	return cleared ? 0 : rt_bare_call(SYS_madvise, a);
}

static bool only_asks(long number, const long *a)
{
	switch (number) {
	case SYS_munmap:
	case SYS_mprotect: return is_made(&rt_reset()->changes, (uintptr_t)a[0], (size_t)a[1]);
	case SYS_ioctl: return a[1] == TCGETS;
	case SYS_fcntl: return a[1] == F_GETFL || a[1] == F_GETFD;
	case SYS_prlimit64: return !a[2];
	case SYS_rt_sigaction: return !a[1];
	case SYS_exit_group: return true;
	default: return false;
	}
}

static bool creates(long number)
{
	return number == SYS_clone || number == SYS_clone3 || number == SYS_fork || number == SYS_vfork ||
	       number == SYS_execve || number == SYS_execveat;
}

long rt_changes_call(long number, const long *arguments)
{
	struct rt_changes *c = &rt_reset()->changes;

	switch (number) {
	case SYS_mmap: return map(c, arguments);
	case SYS_mremap: return remap(c, arguments);
	case SYS_brk: return move_break(c, arguments);
	case SYS_madvise: return advise(c, arguments);
	case SYS_exit_group: rt_reset_end((uint32_t)arguments[0]); break;
	default: break;
	}
	if (creates(number))
		rt_context_refuse(RADDLE_UNFIT_RESET);
	if (!only_asks(number, arguments))
		c->lasting = true;
	return rt_bare_call(number, arguments);
}

/* Returns true if a blocked signal is pending, which a later run would get. */
static bool is_signalled(void)
{
	uint64_t pending = 0;

	return rt_bare(SYS_rt_sigpending, (long)&pending, sizeof pending) || pending;
}

bool rt_changes_undo(struct rt_changes *c)
{
	if (c->lasting || is_signalled() ||
	    (uintptr_t)rt_bare(SYS_brk, (long)c->program_break) != c->program_break)
		return false;
	for (size_t i = 0; i < c->made_count; i++)
		if (rt_bare(SYS_munmap, (long)c->made[i].start, (long)(c->made[i].end - c->made[i].start)))
			return false;
	c->made_count = 0;
	return true;
}
