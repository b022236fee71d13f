// SPDX-License-Identifier: Apache-2.0
/*
 * Probes of the kernel and the processor.  Each feature except Intel PT is used once: a counter is
 * read after a watched write, and a child is traced and continued.  errno shows whether the kernel
 * refuses a feature or lacks it.
 */
#include "doctor/probe-int.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/name.h"
#include "base/process.h"

#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* The maximum number of watchpoints to try.  Arm has up to 16, and x86 has 4. */
enum { WATCHPOINTS_MAX = 16 };

/* Tests memory files.  The session that a recorded program shares with `raddle record` is such a
 * file. */
void doctor_memfd(struct doctor_item *item)
{
	int fd = memfd_create("raddle-doctor", MFD_CLOEXEC);
	void *p = MAP_FAILED;

	if (fd >= 0 && ftruncate(fd, 1 << 20) == 0)
		p = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p != MAP_FAILED) {
		*(volatile char *)p = 1;
		munmap(p, 1 << 20);
		item->found = rd_xstrdup("shared memory files work");
	} else {
		item->found = rd_xasprintf("no shared memory files: %s", strerror(errno));
		doctor_conclude(item, DOCTOR_MISSING,
				"Recorded programs send their events to raddle record through one.",
				"Allow memfd_create in the container's seccomp profile.");
	}
	if (fd >= 0)
		close(fd);
}

static int open_event(struct perf_event_attr *attr)
{
	attr->size = sizeof *attr;
	attr->exclude_kernel = 1;
	attr->exclude_hv = 1;
	return (int)syscall(SYS_perf_event_open, attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static int watch(volatile uint64_t *address)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_BREAKPOINT,
		.bp_type = HW_BREAKPOINT_W,
		.bp_addr = (uintptr_t)address,
		.bp_len = HW_BREAKPOINT_LEN_8,
	};

	return open_event(&attr);
}

/* Returns the number of watchpoints that can be set at once.  Sets *works to true if a write was
 * noticed. */
static int count_watchpoints(bool *works)
{
	static volatile uint64_t watched[WATCHPOINTS_MAX];
	int fds[WATCHPOINTS_MAX], n = 0, error;
	uint64_t hits = 0;

	while (n < WATCHPOINTS_MAX && (fds[n] = watch(&watched[n])) >= 0)
		n++;
	error = errno;
	if (n) {
		watched[0] = 1;
		*works = read(fds[0], &hits, sizeof hits) == (ssize_t)sizeof hits && hits == 1;
	}
	for (int i = 0; i < n; i++)
		close(fds[i]);
	errno = error;
	return n;
}

static const char *paranoid(void)
{
	static char value[16] = RD_UNKNOWN;
	struct rd_buf b = RD_BUF_INIT;

	if (rd_file_read("/proc/sys/kernel/perf_event_paranoid", &b) == 0 && b.length < sizeof value) {
		b.data[strcspn(b.data, "\n")] = '\0';
		memcpy(value, b.data, strlen(b.data) + 1);
	}
	rd_buf_release(&b);
	return value;
}

static bool refused(int error)
{
	return error == EACCES || error == EPERM;
}

static const char allow_perf[] =
	"sysctl kernel.perf_event_paranoid=2 (in a container: allow perf_event_open).";

void doctor_watchpoints(struct doctor_item *item)
{
	bool works = false;
	int n = count_watchpoints(&works), error = errno;

	if (n && works) {
		item->found = rd_xasprintf("%d at once, through perf events", n);
		return;
	}
	item->found = n ? rd_xstrdup("they can be set, but do not count")
			: rd_xasprintf("none: %s (perf_event_paranoid is %s)", strerror(error), paranoid());
	doctor_conclude(item, DOCTOR_MISSING,
			"Failure sketches will use instrumentation: slower, same result.",
			refused(error) ? allow_perf : "Nothing can be done on this machine.");
}

void doctor_counters(struct doctor_item *item)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_INSTRUCTIONS};
	int fd = open_event(&attr), error = errno;
	uint64_t count = 0;

	if (fd >= 0) {
		if (read(fd, &count, sizeof count) != (ssize_t)sizeof count)
			count = 0;
		close(fd);
		error = ENODEV;
	}
	if (count) {
		item->found =
			rd_xasprintf("instructions are counted (perf_event_paranoid is %s)", paranoid());
		return;
	}
	item->found = rd_xasprintf("no hardware counters (perf_event_paranoid is %s)", paranoid());
	doctor_conclude(item, DOCTOR_LIMITED, "Measurements use CPU time instead of instruction counts.",
			refused(error) ? allow_perf : "In a virtual machine: give it a virtual PMU.");
}

void doctor_intel_pt(struct doctor_item *item)
{
	if (access("/sys/bus/event_source/devices/intel_pt/type", R_OK) == 0) {
		item->found = rd_xstrdup("the processor can trace branches");
		doctor_conclude(
			item, DOCTOR_LIMITED,
			"Raddle does not use it yet: failure sketches use instrumentation, with the same "
			"result.",
			"Nothing to do.");
		return;
	}
	item->found = rd_xstrdup("not on this processor or virtual machine");
	doctor_conclude(item, DOCTOR_MISSING, "Nothing is lost: failure sketches use instrumentation.",
			"Nothing to do.");
}

static const char *yama(void)
{
	struct rd_buf b = RD_BUF_INIT;
	const char *scope = "absent";

	if (rd_file_read("/proc/sys/kernel/yama/ptrace_scope", &b) == 0)
		scope = b.data[0] == '0' ? "0" : b.data[0] == '1' ? "1" : b.data[0] == '2' ? "2" : "3";
	rd_buf_release(&b);
	return scope;
}

/* Seizes a waiting child as a debugger would.  Returns false and sets errno if that is refused. */
static bool can_trace_child(void)
{
	pid_t child = fork();
	int error, status;
	bool traced;

	if (child < 0)
		return false;
	if (child == 0)
		for (;;)
			pause();
	traced = ptrace(PTRACE_SEIZE, child, NULL, NULL) == 0;
	error = errno;
	if (traced) {
		traced = ptrace(PTRACE_INTERRUPT, child, NULL, NULL) == 0 &&
			 waitpid(child, &status, 0) == child && WIFSTOPPED(status) &&
			 ptrace(PTRACE_CONT, child, NULL, NULL) == 0;
		error = errno;
	}
	kill(child, SIGKILL);
	rd_reap(child, NULL);
	errno = error;
	return traced;
}

void doctor_ptrace(struct doctor_item *item)
{
	if (can_trace_child()) {
		item->found = rd_xasprintf("child processes can be traced (Yama's ptrace_scope: %s)", yama());
		return;
	}
	item->found = rd_xasprintf("refused: %s (Yama's ptrace_scope: %s)", strerror(errno), yama());
	doctor_conclude(item, DOCTOR_MISSING, "Debuggers do not work here; cc and record do.",
			"In a container: --cap-add=SYS_PTRACE; else sysctl kernel.yama.ptrace_scope=1.");
}
