// SPDX-License-Identifier: Apache-2.0
/*
 * Starts the runtime before any constructor runs.  The agent's memory is mapped, its descriptor is
 * closed, and its variable is removed from the environment.  Without an agent, or if the memory is
 * invalid, the program stays dormant.
 */
#include "rt/guard/real.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>

struct guard guard = {.free = guard_free_slowly};
struct guard_alive guard_alive;

/* The arrays of flags and regions consist of whole pages, since the agent's memory is mapped over
 * them. */
_Alignas(4096) volatile uint8_t __raddle_guard_flags[RADDLE_GUARDS];
_Alignas(4096) uint8_t __raddle_guard_regions[RADDLE_GUARDS];
volatile uint8_t __raddle_guard_tracking;

void *__raddle_interpose_process(void);
__attribute__((visibility("default"))) void *__raddle_interpose_process(void)
{
	return (void *)__raddle_interpose_process;
}

void *guard_map(size_t size)
{
	long p = REAL(syscall)(SYS_mmap, NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			       0L);

	return p == -1 ? NULL : (void *)p;
}

uint64_t guard_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void guard_dormant(void)
{
	__builtin_memset((void *)__raddle_guard_flags, 0, guard.guard_count);
	__builtin_memset(__raddle_guard_regions, 0, sizeof __raddle_guard_regions);
}

/* Removes the agent's variable from the environment in place.  Returns the descriptor, or -1. */
static int take_descriptor(char **envp)
{
	static const char name[] = RADDLE_GUARD_ENV "=", off[] = RADDLE_GUARD_OFF "=";
	int fd = -1;
	bool is_off = false;
	char **to = envp;

	for (char **from = envp; *from; from++) {
		const char *p = *from + sizeof name - 1;

		if (!__builtin_strncmp(*from, off, sizeof off - 1))
			is_off = (*from)[sizeof off - 1] && (*from)[sizeof off - 1] != '0';
		if (__builtin_strncmp(*from, name, sizeof name - 1)) {
			*to++ = *from;
			continue;
		}
		for (fd = 0; *p >= '0' && *p <= '9' && fd < 1 << 20; p++)
			fd = fd * 10 + (*p - '0');
	}
	*to = NULL;
	if (is_off && fd >= 0) {
		REAL(syscall)(SYS_close, fd);
		return -1;
	}
	return fd;
}

static void *map_shared(int fd, void *at, size_t size, long offset)
{
	long p = REAL(syscall)(SYS_mmap, at, size, PROT_READ | PROT_WRITE, MAP_SHARED | (at ? MAP_FIXED : 0),
			       fd, offset);

	return p == -1 ? NULL : (void *)p;
}

/* Finds the regions of guards in the agent's memory, if the agent has stored them there. */
static void find_places(struct raddle_guard *s, uint64_t size)
{
	uint32_t count = s->place_count;

	if (!count || size < RADDLE_GUARD_WHOLE_SIZE(guard.pair_count, count))
		return;
	guard.first = (void *)((char *)s + RADDLE_GUARD_FIRST_AT(guard.pair_count));
	guard.places = (void *)((char *)s + RADDLE_GUARD_PLACES_AT(guard.pair_count));
	guard.place_count = count;
}

/* Maps the agent's memory.  Returns false if it is invalid. */
static bool map_session(int fd)
{
	struct stat st;
	struct raddle_guard *s;
	uint32_t pairs;

	if (fstat(fd, &st) || (uint64_t)st.st_size < RADDLE_GUARD_SIZE(0))
		return false;
	s = map_shared(fd, NULL, (size_t)st.st_size, 0);
	if (!s)
		return false;
	pairs = s->pair_count;
	if (s->magic != RADDLE_GUARD_MAGIC || s->version != RADDLE_GUARD_VERSION ||
	    pairs > RADDLE_GUARD_PAIRS || s->guard_count > RADDLE_GUARDS ||
	    (uint64_t)st.st_size < RADDLE_GUARD_SIZE(pairs) ||
	    !map_shared(fd, (void *)__raddle_guard_flags, RADDLE_GUARDS, RADDLE_GUARD_FLAGS_AT) ||
	    !map_shared(fd, __raddle_guard_regions, RADDLE_GUARDS, RADDLE_GUARD_REGIONS_AT)) {
		REAL(syscall)(SYS_munmap, s, (size_t)st.st_size);
		return false;
	}
	guard.pair_count = pairs;
	guard.guard_count = s->guard_count;
	guard.left = (uint8_t *)s + RADDLE_GUARD_LEFT_AT;
	guard.seen = (void *)((char *)s + RADDLE_GUARD_SEEN_AT);
	guard.starts = (void *)((char *)s + RADDLE_GUARD_STARTS_AT);
	guard.lists = (void *)((char *)s + RADDLE_GUARD_LISTS_AT);
	guard.pairs = (void *)((char *)s + RADDLE_GUARD_PAIRS_AT(pairs));
	find_places(s, (uint64_t)st.st_size);
	guard.session = s;
	return true;
}

/* No guard is active in the child of a fork, because the child gets flags of its own, which are all
 * 0. */
static void forked(void)
{
	guard_alive.value = 0;
	guard_track(false);
	guard.session = NULL;
	REAL(syscall)
	(SYS_mmap, __raddle_guard_flags, sizeof __raddle_guard_flags, PROT_READ | PROT_WRITE,
	 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0L);
	REAL(syscall)
	(SYS_mmap, __raddle_guard_regions, sizeof __raddle_guard_regions, PROT_READ | PROT_WRITE,
	 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0L);
}

static void start(int argc, char **argv, char **envp)
{
	int fd = take_descriptor(envp), saved = errno;

	(void)argc;
	(void)argv;
	guard_resolve();
	guard_direct();
	if (fd >= 0) {
		bool mapped = map_session(fd);

		REAL(syscall)(SYS_close, fd);
		if (mapped && !pthread_atfork(NULL, NULL, forked)) {
			REAL(syscall)(SYS_madvise, &guard_alive, sizeof guard_alive, MADV_WIPEONFORK);
			guard_alive.value = 1;
			guard_self(); /* the initial thread is number 1 */
			if (atomic_load(&guard.session->watch))
				guard_watch_open();
			atomic_store(&guard.session->pid, (uint32_t)syscall(SYS_getpid));
		} else {
			guard.session = NULL;
			forked();
		}
	}
	errno = saved;
}

__attribute__((section(".preinit_array"), used, retain)) static void (*const start_first)(int, char **,
											  char **) = start;
