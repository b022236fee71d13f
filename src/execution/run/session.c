// SPDX-License-Identifier: Apache-2.0
/*
 * Creates a session, which is a mapped memfd.  Its buffers take no memory until they are used.  A
 * thread gets the buffer that was freed last, or one that was never used if no buffer is free.  So
 * a program uses few buffers as long as the collector keeps up.
 */
#include "run/session.h"

#include "base/error.h"
#include "raddle/shadow.h"
#include "run/proc.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <linux/futex.h>
#include <unistd.h>

/* The number of buffers of a session.  Chosen by hand: the maximum takes 256 MiB of address space,
 * but only the buffers in use take memory.  With fewer buffers than the minimum, threads would
 * wait for each other's buffers. */
#define BUFFERS_MAX 8192u
#define BUFFERS_MIN 16u
/* The buffers get 1/ADDRESS_SPACE_SHARE of the address space limit; chosen by hand. */
#define ADDRESS_SPACE_SHARE 4

static uint32_t wanted_buffers(void)
{
	struct rlimit limit;
	uint64_t count = BUFFERS_MAX;

	if (!getrlimit(RLIMIT_AS, &limit) && limit.rlim_cur != RLIM_INFINITY)
		count = limit.rlim_cur / ADDRESS_SPACE_SHARE / RADDLE_BUFFER_SIZE;
	if (count > BUFFERS_MAX)
		count = BUFFERS_MAX;
	return count < BUFFERS_MIN ? BUFFERS_MIN : (uint32_t)count;
}

/* Sets the size of the memory file.  A limit on the size of files also applies to memory files,
 * although it is meant for the disk. */
static int set_size(int fd, size_t size)
{
	void (*old)(int) = signal(SIGXFSZ, SIG_IGN);
	struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY}, most;
	int r, saved;

	getrlimit(RLIMIT_FSIZE, &limit);
	most = (struct rlimit){limit.rlim_max, limit.rlim_max};
	setrlimit(RLIMIT_FSIZE, &most);
	r = ftruncate(fd, (off_t)size);
	saved = errno;
	setrlimit(RLIMIT_FSIZE, &limit);
	signal(SIGXFSZ, old);
	errno = saved;
	return r;
}

static int map_buffers(struct run_session *s, uint32_t count, size_t steer_size)
{
	RD_ASSERT(s->fd >= 0 && count >= BUFFERS_MIN && count <= BUFFERS_MAX);
	s->size = RADDLE_SESSION_SIZE(count) + steer_size;
	if (set_size(s->fd, s->size))
		return -1;
	s->shared = mmap(NULL, s->size, PROT_READ | PROT_WRITE, MAP_SHARED, s->fd, 0);
	return s->shared == MAP_FAILED ? -1 : 0;
}

int run_session_open(struct run_session *s, const char *program, size_t steer_size)
{
	uint32_t count = wanted_buffers();

	s->fd = memfd_create("raddle-session", MFD_CLOEXEC);
	if (s->fd < 0)
		return rd_fail_errno("record: cannot create shared memory");
	while (map_buffers(s, count, steer_size)) {
		if (count <= BUFFERS_MIN) {
			close(s->fd);
			return rd_fail_errno("record: cannot map %zu bytes of shared memory", s->size);
		}
		count /= 2;
	}
	s->buffers = count;
	s->faults = s->shadow = 0;
	s->steer = steer_size ? RADDLE_SESSION_SIZE(count) : 0;
	s->world = 0;
	s->shared->magic = RADDLE_SESSION_MAGIC;
	s->shared->version = RADDLE_SESSION_VERSION;
	s->shared->buffer_count = count;
	s->shared->process_count = 1;
	s->shared->collector_pid = getpid();
	s->shared->processes[0].parent = -1;
	s->shared->steer_offset = s->steer;
	s->shared->steer_size = steer_size;
	snprintf(s->shared->program, sizeof s->shared->program, "%s", program);
	return 0;
}

void *run_session_steer(const struct run_session *s)
{
	RD_ASSERT(s->steer < s->size);
	return s->steer ? (char *)s->shared + s->steer : NULL;
}

/* Appends `size` zeroed bytes to the session and stores their offset in *at. */
static int extend(struct run_session *s, size_t size, const char *what, size_t *at)
{
	RD_ASSERT(s->shared != NULL && size > 0);
	size_t offset = (s->size + 63) & ~(size_t)63;
	void *moved;

	if (set_size(s->fd, offset + size))
		return rd_fail_errno("record: cannot create shared memory for %zu bytes of %s", size, what);
	moved = mremap(s->shared, s->size, offset + size, MREMAP_MAYMOVE);
	if (moved == MAP_FAILED)
		return rd_fail_errno("record: cannot map %zu bytes of shared memory", offset + size);
	s->shared = moved;
	s->size = offset + size;
	*at = offset;
	return 0;
}

int run_session_faults(struct run_session *s, size_t size)
{
	int err = extend(s, size, "faults", &s->faults);

	if (!err) {
		s->shared->fault_offset = s->faults;
		s->shared->fault_size = size;
	}
	return err;
}

int run_session_world(struct run_session *s, size_t size)
{
	int err = extend(s, size, "what comes from outside", &s->world);

	if (!err) {
		s->shared->world_offset = s->world;
		s->shared->world_size = size;
	}
	return err;
}

void *run_session_outside(const struct run_session *s)
{
	RD_ASSERT(s->world < s->size);
	return s->world ? (char *)s->shared + s->world : NULL;
}

int run_session_shadow(struct run_session *s)
{
	int err = extend(s, RADDLE_SHADOW_SIZE, "expressions", &s->shadow);

	if (err)
		return err;
	s->shared->shadow_offset = s->shadow;
	s->shared->shadow_size = RADDLE_SHADOW_SIZE;
	((struct raddle_shadow *)((char *)s->shared + s->shadow))->version = RADDLE_SHADOW_VERSION;
	return 0;
}

void run_session_close(struct run_session *s)
{
	munmap(s->shared, s->size);
	close(s->fd);
}

void run_session_kill(const struct run_session *s, pid_t pid)
{
	RD_ASSERT(pid > 1);
	uint32_t count = atomic_load(&s->shared->process_count);

	for (uint32_t i = 1; i < count && i < RADDLE_MAX_PROCESSES; i++) {
		pid_t forked = atomic_load(&s->shared->processes[i].pid);

		if (forked > 1 && run_process_descends(forked, pid))
			kill(forked, SIGKILL);
	}
	kill(pid, SIGKILL);
}

void run_session_stop(struct run_session *s, enum raddle_stop_reason reason)
{
	RD_ASSERT(reason != RADDLE_STOP_NONE);
	uint32_t none = RADDLE_STOP_NONE;

	atomic_compare_exchange_strong(&s->shared->stop_reason, &none, reason);
	atomic_store(&s->shared->state, RADDLE_STOPPED);
	atomic_fetch_add(&s->shared->free_futex, 1);
	syscall(SYS_futex, &s->shared->free_futex, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

const char *run_stop_text(enum raddle_stop_reason reason)
{
	switch (reason) {
	case RADDLE_STOP_NONE: return NULL;
	case RADDLE_STOP_WRITE: return "the trace could not be written";
	case RADDLE_STOP_COLLECTOR: return "raddle record did not respond";
	case RADDLE_STOP_BUFFERS: return "more threads than buffers";
	case RADDLE_STOP_PROCESSES: return "too many processes";
	case RADDLE_STOP_MEMORY: return "no memory inside the program";
	case RADDLE_STOP_LIMIT: return "size limit reached";
	}
	return "unknown reason";
}
