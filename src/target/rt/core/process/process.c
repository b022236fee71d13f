// SPDX-License-Identifier: Apache-2.0
/*
 * Interposed process functions: fork, exec, exit, mappings and the name of the executable.
 *
 * fork.  Handlers of pthread_atfork do the work, so that libc's own forks (daemon, forkpty) are
 * noticed too.  The runtime's handlers are registered first, so they run closest to the fork.  The
 * runtime's lock is held during the fork.  The child uses the entry of the session's process table
 * that the parent has prepared.  It forgets all other threads and continues with its own stream 0.
 * The child inherits an open buffer that belongs to the parent, but never touches it.  If a signal
 * handler forks while the encoder works, the child is not recorded.
 *
 * A fork by a bare system call is detected by means of rt_guard, and its child is not recorded.
 *
 * vfork is interposed only to notice its calls (rt/core/thread/identity.c).  The child borrows the
 * parent's memory and thread, and its accesses are recorded as accesses of the parent.  Therefore
 * exec and _exit check whether they run in the recorded process.
 */
#include "rt/core/io/channel.h"
#include "rt/core/layer.h"
#include "rt/core/real.h"
#include "rt/core/tables.h"
#include "raddle/steer.h"

#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/syscall.h>

#define A(p) ((uintptr_t)(p))

void *__raddle_interpose_process(void);
__attribute__((visibility("default"))) void *__raddle_interpose_process(void)
{
	return (void *)__raddle_interpose_process;
}

static pid_t own_pid(void)
{
	return (pid_t)syscall(SYS_getpid);
}

/* fork */

static void fork_prepare(void)
{
	struct rt_thread *t = rt_self();
	struct raddle_session *s = rt.session;

	if (t) {
		uint32_t n = atomic_fetch_add(&s->process_count, 1);
		t->fork_child = n < RADDLE_MAX_PROCESSES ? n : UINT32_MAX;
		if (n < RADDLE_MAX_PROCESSES) {
			s->processes[n].parent = (int32_t)rt.process;
			s->processes[n].fork_index = __atomic_fetch_add(&rt.forks, 1, __ATOMIC_RELAXED);
		} else {
			atomic_fetch_sub(&s->process_count, 1);
		}
		t->fork_prepared = 1;
	}
	rt_lock(&rt.fork_signals);
}

static void fork_event(struct rt_thread *t, pid_t pid)
{
	struct raddle_process *p;

	if (t->fork_child == UINT32_MAX)
		return;
	p = &rt.session->processes[t->fork_child];
	if (pid < 0)
		atomic_store(&p->pid, -1);
	else
		RT_EVENT(t, RADDLE_FORK, RT_Q, RT_T, t->fork_child,
			 (uint64_t)(pid ? pid : atomic_load(&p->pid)));
}

static void fork_parent(void)
{
	uint64_t signals = rt.fork_signals;
	struct rt_thread *t;

	rt_unlock(&signals);
	t = rt_self();
	if (t)
		t->fork_prepared = 0;
	if (t && !t->forking)
		fork_event(t, 0);
}

/* Starts a stream for the child, unless the fork interrupted the encoder. */
static void fork_restart(struct rt_thread *t)
{
	struct raddle_session *s = rt.session;
	uint32_t n = t->fork_child;
	uintptr_t busy = t->busy;

	rt_thread_after_fork(t);
	if (busy || n == UINT32_MAX) {
		t->buffer = &rt_tables.nowhere;
		t->busy = busy;
		t->recording = false;
		rt.session = NULL;
		if (n != UINT32_MAX)
			atomic_store(&s->processes[n].pid, -1);
		return;
	}
	rt.process = n;
	atomic_store(&s->processes[n].threads, 1);
	atomic_store(&s->processes[n].pid, rt.pid);
}

static void fork_child(void)
{
	uint64_t signals = rt.fork_signals;
	struct rt_thread *t = (struct rt_thread *)__raddle_self;

	rt_layers_forked();
	rt_guard.alive = RT_PLAIN;
	rt.pid = own_pid();
	rt.copied_pid = 0;
	rt.forks = rt.exited = 0;
	atomic_store(&rt.others, 0); /* only this thread exists in the child */
	atomic_store(&rt.adopted, 0);
	for (size_t i = 0; i < RT_ATOMIC_LOCKS; i++)
		atomic_store_explicit(&rt.atomic_locks[i], 0, memory_order_relaxed);
	if (&t->self != &rt_placeholder && t->recording)
		fork_restart(t);
	else if (&t->self != &rt_placeholder)
		rt_thread_after_fork(t);
	rt_unlock(&signals);
	if (&t->self == &rt_placeholder || !t->recording)
		return;
	RT_EVENT(t, RADDLE_THREAD_START, RT_Q, RT_T, 0, 0, t->stack_low, t->stack_high - t->stack_low,
		 (uint64_t)rt.pid);
	rt_layout(t);
	RT_NOTIFY_ALL(started, t);
}

static pid_t forked(struct rt_thread *t, pid_t pid)
{
	int saved = errno;

	if (t) {
		t->forking = 0;
		if (pid)
			fork_event(t, pid);
	}
	if (pid < 0)
		rt_refused(saved);
	errno = saved;
	return pid;
}

INTERPOSE(pid_t, fork, (void))
{
	struct rt_thread *t = rt_self();

	rt_path_tells();
	RT_NOTIFY(addresses, RADDLE_UNFIT_RESET);
	if (t)
		t->forking = 1;
	return forked(t, REAL(fork)());
}

/* _Fork() runs no handlers.  In a static program, fork() calls this function after it has run the
 * handlers. */
INTERPOSE(pid_t, _Fork, (void))
{
	struct rt_thread *t = rt_self();
	pid_t pid;

	if (!t || t->fork_prepared)
		return REAL(_Fork)();
	RT_NOTIFY(addresses, RADDLE_UNFIT_RESET);
	t->forking = 1;
	fork_prepare();
	pid = REAL(_Fork)();
	if (pid)
		fork_parent();
	else
		fork_child();
	return forked(t, pid);
}

/* exit */

/* Stores the exit status for tools that are not the parent of this process and so cannot wait for
 * it. */
static void say_end(int status)
{
	atomic_store(&rt.session->processes[rt.process].exited, 1 + (uint32_t)status);
}

static void exit_event(int status)
{
	struct rt_thread *t = rt_self();

	if (!t || rt.exited || own_pid() != rt.pid)
		return;
	if (t->recording == RT_LISTENED)
		RT_NOTIFY(exiting, t);
	else
		rt_linger();
	rt.exited = 1;
	say_end((status & 0xff) << 8);
	rt_modules(t);
	RT_NOTIFY(exited, t);
	RT_EVENT(t, RADDLE_EXIT, RT_Q, RT_T, (uint64_t)(uint32_t)status);
}

#define EXIT(name)                                                                                           \
	INTERPOSE(void, name, (int status))                                                                  \
	{                                                                                                    \
		exit_event(status);                                                                          \
		REAL(name)(status);                                                                          \
		__builtin_unreachable();                                                                     \
	}
EXIT(exit)
EXIT(_exit)
EXIT(_Exit)
EXIT(quick_exit)
#undef EXIT

/* Records which thread aborts, and where.  This is the last record of that thread. */
static void abort_event(void)
{
	struct rt_thread *t = rt_self();

	if (!t || own_pid() != rt.pid)
		return;
	say_end(SIGABRT);
	RT_EVENT(t, RADDLE_ABORT, RT_Q, RT_T);
}

INTERPOSE(void, abort, (void))
{
	abort_event();
	REAL(abort)();
	__builtin_unreachable();
}

INTERPOSE(void, __assert_fail, (const char *what, const char *file, unsigned line, const char *function))
{
	abort_event();
	REAL(__assert_fail)(what, file, line, function);
	__builtin_unreachable();
}

/* Called when main() has returned. */
static void on_return(int status, void *unused)
{
	(void)unused;
	exit_event(status);
}

void rt_process_setup(void)
{
	pthread_atfork(fork_prepare, fork_parent, fork_child);
	on_exit(on_return, NULL);
}

/* exec */

/* If the caller is a forked child, the steered process is ended too. */
void rt_trap_leaves(void)
{
	struct raddle_steer *s = rt.trapped ? rt_steer_memory() : NULL;

	if (!rt.trapped)
		return;
	if (s)
		atomic_store(&s->unfit, RADDLE_UNFIT_EXEC);
	if (own_pid() != rt.trapped)
		syscall(SYS_kill, rt.trapped, SIGKILL);
	syscall(SYS_exit_group, 0);
}

/* Stores the path of the program that replaces this one, for messages of the collector.  That
 * program is not recorded.  The path is "" if the exec failed. */
static void name_successor(const char *path)
{
	char *to = rt.session->successor;
	size_t i = 0;

	for (; path[i] && i + 1 < RADDLE_SUCCESSOR_SIZE; i++)
		to[i] = path[i];
	to[i] = 0;
}

static void exec_event(const char *path)
{
	struct rt_thread *t = rt_self();
	int saved = errno;

	rt_trap_leaves();
	if (t && own_pid() == rt.pid) {
		rt_text(t, RADDLE_EXEC, path ? path : "");
		if (!rt.process)
			name_successor(path ? path : "?");
	}
	errno = saved;
}

/* Called when an exec function returns, which it does only on failure. */
static int not_replaced(int r)
{
	int saved = errno;

	if (rt_self() && own_pid() == rt.pid && !rt.process)
		name_successor("");
	errno = saved;
	return r;
}

INTERPOSE(int, execve, (const char *path, char *const argv[], char *const envp[]))
{
	exec_event(path);
	return not_replaced(REAL(execve)(path, argv, envp));
}

INTERPOSE(int, execv, (const char *path, char *const argv[]))
{
	exec_event(path);
	return not_replaced(REAL(execv)(path, argv));
}

INTERPOSE(int, execvp, (const char *file, char *const argv[]))
{
	exec_event(file);
	return not_replaced(REAL(execvp)(file, argv));
}

INTERPOSE(int, execvpe, (const char *file, char *const argv[], char *const envp[]))
{
	exec_event(file);
	return not_replaced(REAL(execvpe)(file, argv, envp));
}

INTERPOSE(int, fexecve, (int fd, char *const argv[], char *const envp[]))
{
	exec_event("(descriptor)");
	return not_replaced(REAL(fexecve)(fd, argv, envp));
}

INTERPOSE(int, execveat, (int fd, const char *path, char *const argv[], char *const envp[], int flags))
{
	exec_event(path);
	return not_replaced(REAL(execveat)(fd, path, argv, envp, flags));
}

/* Returns the number of arguments including argv[0].  execl(), execlp() and execle() count their
 * arguments and then copy them. */
static size_t count_arguments(va_list ap)
{
	size_t count = 1;

	while (va_arg(ap, char *))
		count++;
	return count;
}

#define COLLECT(first)                                                                                       \
	va_list ap;                                                                                          \
	size_t count;                                                                                        \
	va_start(ap, first);                                                                                 \
	count = first ? count_arguments(ap) : 0;                                                             \
	va_end(ap);                                                                                          \
	char *argv[count + 1];                                                                               \
	argv[0] = (char *)first;                                                                             \
	va_start(ap, first);                                                                                 \
	for (size_t i = 1; i <= count; i++)                                                                  \
	argv[i] = va_arg(ap, char *)

INTERPOSE(int, execl, (const char *path, const char *first, ...))
{
	COLLECT(first);
	va_end(ap);
	exec_event(path);
	return not_replaced(REAL(execv)(path, argv));
}

INTERPOSE(int, execlp, (const char *file, const char *first, ...))
{
	COLLECT(first);
	va_end(ap);
	exec_event(file);
	return not_replaced(REAL(execvp)(file, argv));
}

INTERPOSE(int, execle, (const char *path, const char *first, ...))
{
	char *const *envp;

	COLLECT(first);
	envp = va_arg(ap, char *const *);
	va_end(ap);
	exec_event(path);
	return not_replaced(REAL(execve)(path, argv, envp));
}

/* Mappings. */

static void *mapped(void *p, size_t size)
{
	struct rt_thread *t = p != MAP_FAILED ? rt_self() : NULL;

	if (p == MAP_FAILED)
		rt_refused(errno);
	if (t) {
		RT_NOTIFY(forget, t, A(p), size);
		rt_forget(t, A(p), size);
		RT_EVENT(t, RADDLE_ALLOC, RT_Q, A(p), size, RADDLE_ALLOC_MMAP);
	}
	return p;
}

static void unmapped(const void *p, size_t size)
{
	struct rt_thread *t = rt_self();

	if (t) {
		RT_NOTIFY(forget, t, A(p), size);
		RT_EVENT(t, RADDLE_UNMAP, RT_Q, A(p), size);
	}
}

INTERPOSE(void *, mmap, (void *at, size_t size, int protection, int flags, int fd, off_t offset))
{
	return mapped(REAL(mmap)(at, size, protection, flags, fd, offset), size);
}

INTERPOSE(void *, mmap64, (void *at, size_t size, int protection, int flags, int fd, off64_t offset))
{
	return mapped(REAL(mmap64)(at, size, protection, flags, fd, offset), size);
}

INTERPOSE(int, munmap, (void *p, size_t size))
{
	int r;

	unmapped(p, size);
	r = REAL(munmap)(p, size);
	if (r)
		mapped(p, size);
	return r;
}

INTERPOSE(void *, mremap, (void *old, size_t old_size, size_t size, int flags, ...))
{
	void *at, *p;
	va_list ap;

	va_start(ap, flags);
	at = flags & MREMAP_FIXED ? va_arg(ap, void *) : NULL;
	va_end(ap);
	unmapped(old, old_size);
	p = REAL(mremap)(old, old_size, size, flags, at);
	if (p == MAP_FAILED)
		mapped(old, old_size);
	return mapped(p, size);
}

/* readlink() of /proc/self/exe returns the program that the user named, not the flavour made from
 * it. */

static bool is_own_link(const char *path)
{
	char own[32] = "/proc/";
	char digits[12];
	size_t n = 0, at = 6;

	if (!rt.program[0])
		return false;
	if (!__builtin_strcmp(path, "/proc/self/exe") || !__builtin_strcmp(path, "/proc/thread-self/exe"))
		return true;
	for (uint32_t pid = (uint32_t)rt.pid; pid; pid /= 10)
		digits[n++] = (char)('0' + pid % 10);
	while (n)
		own[at++] = digits[--n];
	__builtin_memcpy(own + at, "/exe", 5);
	return !__builtin_strcmp(path, own);
}

static ssize_t copy_program(char *out, size_t size)
{
	size_t length = __builtin_strlen(rt.program);

	length = length < size ? length : size;
	__builtin_memcpy(out, rt.program, length);
	return (ssize_t)length;
}

INTERPOSE(ssize_t, readlink, (const char *restrict path, char *restrict out, size_t size))
{
	if (size && is_own_link(path))
		return copy_program(out, size);
	return REAL(readlink)(path, out, size);
}

INTERPOSE(ssize_t, __readlink_chk, (const char *restrict path, char *restrict out, size_t size, size_t room))
{
	if (size && size <= room && is_own_link(path))
		return copy_program(out, size);
	return REAL(__readlink_chk)(path, out, size, room);
}

INTERPOSE(ssize_t, readlinkat, (int fd, const char *restrict path, char *restrict out, size_t size))
{
	if (size && is_own_link(path))
		return copy_program(out, size);
	return REAL(readlinkat)(fd, path, out, size);
}

/* The environment and the arguments at the top of the stack differ in size and address from run to
 * run.  So the event FRAMES stores the address just below them.  The distance of a stack frame from
 * that address is the same in each run. */
void rt_layout(struct rt_thread *t)
{
	if (rt.arguments > t->stack_low && rt.arguments < t->stack_high)
		RT_EVENT(t, RADDLE_FRAMES, rt.arguments);
	rt_modules_forget(); /* a forked process records all modules again, in its own trace */
	rt_modules(t);
}
