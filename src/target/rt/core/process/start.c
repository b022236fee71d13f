// SPDX-License-Identifier: Apache-2.0
/*
 * Starts the runtime before any constructor of the program or its libraries runs.  Maps the
 * session, removes its environment variable, closes its descriptor, and gives the initial thread
 * its state.  If there is no session, or it cannot be mapped, the program runs in the same way and
 * nothing is recorded.
 */
#include "rt/core/layer.h"
#include "rt/core/real.h"

#include <stddef.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

struct rt rt;
struct rt_guard rt_guard;

/* Removes the variable from the environment; returns the descriptor that it names, or -1. */
static int take_descriptor(char **envp)
{
	static const char name[] = RADDLE_SESSION_ENV "=";
	int fd = -1;
	char **to = envp;

	for (char **from = envp; *from; from++) {
		if (__builtin_strncmp(*from, name, sizeof name - 1)) {
			*to++ = *from;
			continue;
		}
		fd = 0;
		for (const char *p = *from + sizeof name - 1; *p >= '0' && *p <= '9' && fd < 1 << 20; p++)
			fd = fd * 10 + (*p - '0');
	}
	*to = NULL;
	return fd;
}

/* Maps the session at a multiple of the buffer size, so that the start of a buffer can be computed
 * from any address in the buffer. */
static void *map_shared(int fd, size_t size)
{
	size_t more = size + RADDLE_BUFFER_SIZE;
	long room = syscall(SYS_mmap, NULL, more, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0L), p;

	if (room == -1)
		return NULL;
	p = (room + RADDLE_BUFFER_SIZE - 1) & -(long)RADDLE_BUFFER_SIZE;
	if (p != room)
		syscall(SYS_munmap, room, p - room);
	if (room + (long)more > p + (long)size)
		syscall(SYS_munmap, p + (long)size, room + (long)more - p - (long)size);
	p = syscall(SYS_mmap, p, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0L);
	if (p == -1)
		return NULL;
	syscall(SYS_madvise, p, size, MADV_DONTDUMP);
	atomic_fetch_add_explicit(&rt.mapped, size, memory_order_relaxed);
	return (void *)p;
}

/* Returns the size of the header, the buffers and the structures that may follow them. */
static size_t session_size(const struct raddle_session *s)
{
	size_t size = RADDLE_SESSION_SIZE(s->buffer_count);

	if (s->steer_offset + s->steer_size > size)
		size = s->steer_offset + s->steer_size;
	if (s->fault_offset + s->fault_size > size)
		size = s->fault_offset + s->fault_size;
	if (s->shadow_offset + s->shadow_size > size)
		size = s->shadow_offset + s->shadow_size;
	if (s->world_offset + s->world_size > size)
		size = s->world_offset + s->world_size;
	return (size + rt.page - 1) / rt.page * rt.page;
}

static void map_session(int fd)
{
	struct raddle_session *header = map_shared(fd, RADDLE_SESSION_HEADER_SIZE);

	if (!header)
		return;
	if (header->magic == RADDLE_SESSION_MAGIC && header->version == RADDLE_SESSION_VERSION) {
		rt.session = map_shared(fd, session_size(header));
		if (!rt.session) {
			atomic_store(&header->stop_reason, RADDLE_STOP_MEMORY);
			atomic_store(&header->state, RADDLE_STOPPED);
		}
		__builtin_memcpy(rt.program, header->program, sizeof rt.program - 1);
	}
	rt_unmap(header, RADDLE_SESSION_HEADER_SIZE);
}

/* The kernel puts the path of the executable at the very top of the stack. */
static void find_main_stack(struct rt_thread *t, uintptr_t size)
{
	uintptr_t top = getauxval(AT_EXECFN);

	if (!top)
		top = (uintptr_t)__builtin_frame_address(0);
	t->stack_high = (top | (rt.page - 1)) + 1;
	t->stack_low = t->stack_high - size;
}

static uintptr_t main_stack_size(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_STACK, &limit) || limit.rlim_cur > 1u << 30)
		return 1u << 30;
	return limit.rlim_cur;
}

/* Sets the process name that `ps` and the program itself would see without Raddle. */
static void set_name(void)
{
	const char *slash = __builtin_strrchr(rt.program, '/');

	if (slash && slash[1])
		prctl(PR_SET_NAME, slash + 1);
}

static void start_main_thread(void)
{
	uintptr_t size = main_stack_size();
	struct rt_thread *t = rt_thread_new(size);

	if (!t)
		return;
	find_main_stack(t, size);
	t->number = t->parent = t->index = 0;
	rt_handle_add((uint64_t)pthread_self(), 0);
	rt_thread_begin(t);
	if (t->recording)
		rt_layout(t);
}

static void start(int argc, char **argv, char **envp)
{
	int fd = take_descriptor(envp);
	int saved = errno;

	(void)argc;
	rt.arguments = (uintptr_t)argv;
	rt_placeholder_setup();
	rt_real_resolve();
	if (fd >= 0)
		fd = rt_serve(fd);
	syscall(SYS_madvise, &rt_guard, sizeof rt_guard, MADV_WIPEONFORK);
	rt_guard.alive = RT_PLAIN;
	rt.page = getauxval(AT_PAGESZ);
	rt.pid = (pid_t)syscall(SYS_getpid);
	rt_protect_redzones();
	rt_clock_setup();
	if (fd >= 0) {
		map_session(fd);
		syscall(SYS_close, fd);
		set_name();
	}
	if (pthread_key_create(&rt.key, rt_thread_end_key))
		rt.session = NULL;
	if (rt.session) {
		atomic_store(&rt.session->processes[0].threads, 1);
		atomic_store(&rt.session->processes[0].pid, rt.pid);
	}
	rt_layers_setup();
	start_main_thread();
	rt_process_setup();
	atomic_store_explicit(&rt.ready, 1, memory_order_release);
	errno = saved;
}

__attribute__((section(".preinit_array"), used, retain)) static void (*const start_first)(int, char **,
											  char **) = start;
