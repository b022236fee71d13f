// SPDX-License-Identifier: Apache-2.0
/*
 * Starts the runtime before any constructor runs.  The tool's memory is mapped, its descriptor is
 * closed, and its variable is removed from the environment.  Without a tool, or if the memory is
 * invalid, all gates stay closed.
 */
#include "raddle/session.h"
#include "rt/track/track.h"

#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct track_process track;

/* The array consists of whole pages, since the tool's memory is mapped over it. */
_Alignas(4096) volatile uint8_t __raddle_track_flags[RADDLE_TRACK_GATES];

void *__raddle_interpose_process(void);
__attribute__((visibility("default"))) void *__raddle_interpose_process(void)
{
	return (void *)__raddle_interpose_process;
}

void *__raddle_interpose_memory(void);
__attribute__((visibility("default"))) void *__raddle_interpose_memory(void)
{
	return (void *)__raddle_interpose_memory;
}

/* Removes the variable from the environment in place.  Returns the descriptor, or -1. */
static int take_descriptor(char **envp)
{
	static const char name[] = RADDLE_SESSION_ENV "=";
	int fd = -1;
	char **to = envp;

	for (char **from = envp; *from; from++) {
		const char *p = *from + sizeof name - 1;

		if (__builtin_strncmp(*from, name, sizeof name - 1)) {
			*to++ = *from;
			continue;
		}
		for (fd = 0; *p >= '0' && *p <= '9' && fd < 1 << 20; p++)
			fd = fd * 10 + (*p - '0');
	}
	*to = NULL;
	return fd;
}

static bool map_shared(int fd)
{
	struct stat st;
	struct raddle_track *s;

	if (fstat(fd, &st) || (uint64_t)st.st_size < RADDLE_TRACK_SIZE(1))
		return false;
	s = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (s == MAP_FAILED)
		return false;
	if (s->magic != RADDLE_TRACK_MAGIC || s->version != RADDLE_TRACK_VERSION || !s->event_count ||
	    s->event_count > RADDLE_TRACK_EVENTS || s->gate_count > RADDLE_TRACK_GATES ||
	    (uint64_t)st.st_size < RADDLE_TRACK_SIZE(s->event_count) ||
	    mmap((void *)__raddle_track_flags, RADDLE_TRACK_GATES, PROT_READ | PROT_WRITE,
		 MAP_SHARED | MAP_FIXED, fd, RADDLE_TRACK_FLAGS_AT) == MAP_FAILED) {
		munmap(s, (size_t)st.st_size);
		return false;
	}
	track.events = (void *)((char *)s + RADDLE_TRACK_EVENTS_AT);
	track.event_count = s->event_count;
	track.groups = (void *)((char *)s + RADDLE_TRACK_GROUPS_AT);
	track.gate_count = s->gate_count;
	track.budget = s->budget;
	track.shared = s;
	return true;
}

/* No gate is open in the child of a fork, because the child gets flags of its own, which are all
 * 0. */
static void forked(void)
{
	track.shared = NULL;
	mmap((void *)__raddle_track_flags, sizeof __raddle_track_flags, PROT_READ,
	     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

static void start(int argc, char **argv, char **envp)
{
	int fd = take_descriptor(envp), saved = errno;

	(void)argc;
	(void)argv;
	if (fd >= 0) {
		bool mapped = map_shared(fd);

		close(fd);
		if (mapped && !pthread_atfork(NULL, NULL, forked)) {
			track_thread(); /* the initial thread is number 0 */
			track_fail_open();
			if (track.shared->watch)
				track_watch_open();
			atomic_store(&track.shared->pid, (uint32_t)getpid());
		} else if (mapped) {
			forked();
		}
	}
	errno = saved;
}

__attribute__((section(".preinit_array"), used, retain)) static void (*const start_first)(int, char **,
											  char **) = start;
