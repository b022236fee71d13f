// SPDX-License-Identifier: Apache-2.0
/*
 * Watchpoints of the processor: the first locations that statements of the slice access get one each, and
 * then every access to them is an event, also of code that has no gates: libraries, assembler.  The system
 * may refuse them; gates work without.
 *
 * The events are opened before any other thread exists, so that all inherit them; moving one to an address
 * reaches them all.  A hit is a SIGTRAP in the thread that made the access, behind it.  Hits are dear, so a
 * location has a budget.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "rt/track/track.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>

enum { MARK = 0x52616474, HITS_MAX = 64, HIGH_DESCRIPTOR = 900, LOCATIONS = 256, STACK_NEAR = 8 << 20 };

static struct slot {
	int event;
	_Atomic uint64_t address;
	uint64_t length;
	_Atomic uint32_t hits;
} slots[RADDLE_TRACK_SLOTS];
static uint32_t slot_count;

/* Locations that were met, those without a watchpoint too. */
static _Atomic uint64_t met[LOCATIONS];
static _Atomic uint32_t met_count;
static struct sigaction before;

static struct perf_event_attr attributes(uint64_t address, uint64_t length, uint32_t slot)
{
	struct perf_event_attr a = {.type = PERF_TYPE_BREAKPOINT, .size = sizeof a};

	a.bp_type = HW_BREAKPOINT_RW;
	a.bp_addr = address;
	a.bp_len = length;
	a.sample_period = 1;
	a.disabled = 1;
	a.exclude_kernel = a.exclude_hv = 1;
	a.sigtrap = a.remove_on_exec = 1;
	a.inherit = a.inherit_thread = 1;
	a.sig_data = (uint64_t)MARK << 8 | slot;
	return a;
}

/* By the kernel, whose accesses do not trap. */
static uint64_t look_at(uint64_t address, uint64_t length)
{
	uint64_t value = 0;
	struct iovec to = {&value, length}, from = {(void *)(uintptr_t)address, length};

	syscall(SYS_process_vm_readv, syscall(SYS_getpid), &to, 1L, &from, 1L, 0L);
	return value;
}

static void note_hit(struct slot *s, const ucontext_t *context)
{
	uint64_t token, address = atomic_load(&s->address);
	struct raddle_track_event *e = track_event(RADDLE_TRACK_HARDWARE, &token);

	e->address = address;
	e->size = (uint8_t)s->length;
	e->value = look_at(address, s->length);
	e->what = RADDLE_TRACK_READ;
	e->state = RADDLE_TRACK_DONE;
#ifdef __x86_64__
	e->more = track_place((uint64_t)context->uc_mcontext.gregs[REG_RIP] - 1);
#else
	(void)context;
#endif
	track_complete(e, token);
	atomic_fetch_add(&track.shared->hits, 1);
	if (atomic_fetch_add(&s->hits, 1) + 1 >= HITS_MAX)
		ioctl(s->event, PERF_EVENT_IOC_DISABLE, 0);
}

static void trapped(int number, siginfo_t *info, void *context)
{
	uint64_t data;

	__builtin_memcpy(&data, (const char *)info + 24,
			 sizeof data); /* where the kernel puts attr.sig_data */
	if (info->si_code == 6 /* TRAP_PERF */ && data >> 8 == MARK && (data & 255) < slot_count) {
		int saved = errno;

		if (track.shared)
			note_hit(&slots[data & 255], context);
		errno = saved;
	} else if (before.sa_flags & SA_SIGINFO) {
		before.sa_sigaction(number, info, context);
	} else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) {
		before.sa_handler(number);
	} else {
		sigaction(SIGTRAP, &before, NULL);
		raise(SIGTRAP);
	}
}

static bool open_slot(uint32_t i)
{
	static uint64_t nothing;
	struct perf_event_attr a = attributes((uintptr_t)&nothing, 8, i);
	long fd = syscall(SYS_perf_event_open, &a, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	int high;

	if (fd < 0)
		return false;
	/* The program finds the numbers free that it would find free without us. */
	high = fcntl((int)fd, F_DUPFD_CLOEXEC, HIGH_DESCRIPTOR);
	if (high >= 0) {
		close((int)fd);
		fd = high;
	}
	slots[i].event = (int)fd;
	return true;
}

void track_watch_open(void)
{
	struct sigaction action = {.sa_sigaction = trapped, .sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK};

	if (sigaction(SIGTRAP, &action, &before))
		return;
	while (slot_count < RADDLE_TRACK_SLOTS && open_slot(slot_count))
		slot_count++;
	atomic_store(&track.shared->no_watch, !slot_count);
}

/* The location's number in the order of first accesses; LOCATIONS: it was met before, or there are too many.
 */
static uint32_t meet(uint64_t location)
{
	uint32_t count = atomic_load(&met_count);

	for (uint32_t i = 0; i < count && i < LOCATIONS; i++)
		if (atomic_load(&met[i]) == location)
			return LOCATIONS;
	count = atomic_fetch_add(&met_count, 1);
	if (count >= LOCATIONS) {
		atomic_store(&met_count, LOCATIONS);
		return LOCATIONS;
	}
	atomic_store(&met[count], location);
	return count;
}

static void arm(uint32_t i, uint64_t address, uint32_t size)
{
	uint64_t length = size >= 8 && !(address & 7)	? 8
			  : size >= 4 && !(address & 3) ? 4
			  : size >= 2 && !(address & 1) ? 2
							: 1;
	struct perf_event_attr a = attributes(address, length, i);
	uint64_t none = 0;

	if (!atomic_compare_exchange_strong(&slots[i].address, &none, address))
		return;
	slots[i].length = length;
	a.disabled = 0;
	if (!ioctl(slots[i].event, PERF_EVENT_IOC_MODIFY_ATTRIBUTES, &a) &&
	    !ioctl(slots[i].event, PERF_EVENT_IOC_ENABLE, 0))
		atomic_fetch_add(&track.shared->watched, 1);
}

void track_watch(const void *address, uint32_t size)
{
	uint64_t location = (uintptr_t)address, here = (uintptr_t)__builtin_frame_address(0);
	uint64_t away = location > here ? location - here : here - location;
	uint32_t skipped = track.shared->turn * RADDLE_TRACK_SLOTS, number;

	if (!slot_count || !location || away < STACK_NEAR)
		return;
	number = meet(location);
	if (number < LOCATIONS && number >= skipped && number - skipped < slot_count)
		arm(number - skipped, location, size);
}
