/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The real functions that interposed ones call (rt/common/resolve.h).
 *
 *	INTERPOSE(int, sem_post, (sem_t *sem)) { ... REAL(sem_post)(sem); ... }
 */
#ifndef RT_REAL_H
#define RT_REAL_H

#include "rt/common/resolve.h"
#include "rt/core/rt.h"
#include "rt/core/tables.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <mqueue.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

/* Functions that no C header declares. */
struct nothrow;
__sighandler_t bsd_signal(int number, __sighandler_t handler);
ssize_t __read_chk(int fd, void *to, size_t size, size_t room);
ssize_t __recv_chk(int fd, void *to, size_t size, size_t room, int flags);
ssize_t __recvfrom_chk(int fd, void *to, size_t size, size_t room, int flags, __SOCKADDR_ARG from,
		       socklen_t *length);
int __poll_chk(struct pollfd *fds, nfds_t count, int time, size_t room);
int __vfprintf_chk(FILE *stream, int flag, const char *format, va_list ap);
int __fprintf_chk(FILE *stream, int flag, const char *format, ...);
int __vdprintf_chk(int fd, int flag, const char *format, va_list ap);
int __dprintf_chk(int fd, int flag, const char *format, ...);
int __isoc99_vfscanf(FILE *stream, const char *format, va_list ap);
int __isoc99_fscanf(FILE *stream, const char *format, ...);
char *__fgets_chk(char *to, size_t room, int size, FILE *stream);
size_t __fread_chk(void *to, size_t room, size_t size, size_t count, FILE *stream);
ssize_t __readlink_chk(const char *path, char *out, size_t size, size_t room);
_Noreturn void __assert_fail(const char *what, const char *file, unsigned line, const char *function);
int __cxa_guard_acquire(void *guard);
void __cxa_guard_release(void *guard);
void __cxa_guard_abort(void *guard);
void *_ZSt17current_exceptionv(void *result);
void _ZNSt15__exception_ptr13exception_ptrC1EPv(void *self, void *exception);
void *_Znwm(size_t size);
void *_Znam(size_t size);
void *_ZnwmRKSt9nothrow_t(size_t size, const struct nothrow *);
void *_ZnamRKSt9nothrow_t(size_t size, const struct nothrow *);
void *_ZnwmSt11align_val_t(size_t size, size_t align);
void *_ZnamSt11align_val_t(size_t size, size_t align);
void *_ZnwmSt11align_val_tRKSt9nothrow_t(size_t size, size_t align, const struct nothrow *);
void *_ZnamSt11align_val_tRKSt9nothrow_t(size_t size, size_t align, const struct nothrow *);
void _ZdlPv(void *p);
void _ZdaPv(void *p);
void _ZdlPvm(void *p, size_t size);
void _ZdaPvm(void *p, size_t size);
void _ZdlPvRKSt9nothrow_t(void *p, const struct nothrow *);
void _ZdaPvRKSt9nothrow_t(void *p, const struct nothrow *);
void _ZdlPvSt11align_val_t(void *p, size_t align);
void _ZdaPvSt11align_val_t(void *p, size_t align);
void _ZdlPvmSt11align_val_t(void *p, size_t size, size_t align);
void _ZdaPvmSt11align_val_t(void *p, size_t size, size_t align);
void _ZdlPvSt11align_val_tRKSt9nothrow_t(void *p, size_t align, const struct nothrow *);
void _ZdaPvSt11align_val_tRKSt9nothrow_t(void *p, size_t align, const struct nothrow *);

#ifdef RADDLE_STATIC
#define LIBC_INTERPOSED(group, name) extern __typeof__(name) __real_##name;
#include "raddle/libc.inc"
#define REAL(name) __real_##name
static inline void rt_real_resolve(void)
{
}
static inline bool rt_has_own_allocator(void)
{
	return false;
}
static inline bool rt_is_allocator(const void *code)
{
	(void)code;
	return false;
}
static inline bool rt_is_early(const void *p)
{
	(void)p;
	return false;
}
static inline size_t rt_early_size(const void *p)
{
	(void)p;
	return 0;
}
#else
struct rt_real {
	_Atomic uint32_t resolved;
	bool own_allocator; /* true if malloc() is not libc's */
	/* The address and size of the allocator's library, if it is only an allocator. */
	uintptr_t allocator, allocator_size;
#define LIBC_INTERPOSED(group, name) __typeof__(name) *name;
#include "raddle/libc.inc"
};
extern struct rt_real rt_real;
void rt_real_resolve_all(void);

/* For functions that may be called before the runtime's constructor. */
static inline void rt_real_resolve(void)
{
	if (RT_UNLIKELY(!atomic_load_explicit(&rt_real.resolved, memory_order_acquire)))
		rt_real_resolve_all();
}

static inline struct rt_real *rt_real_get(void)
{
	rt_real_resolve();
	return &rt_real;
}
#define REAL(name) (rt_real_get()->name)

/* Returns true if the program uses jemalloc, tcmalloc or another allocator that is not libc's. */
static inline bool rt_has_own_allocator(void)
{
	return RT_UNLIKELY(rt_real.own_allocator);
}

/* Returns true if `code` is an address in the library of the program's own allocator.  The locks
 * of the allocator are not part of the program's synchronisation. */
static inline bool rt_is_allocator(const void *code)
{
	return (uintptr_t)code - rt_real.allocator < rt_real.allocator_size;
}

/* Returns true if the runtime allocated the block while it looked up the real functions
 * (rt/core/real.c).  No allocator manages such blocks. */
static inline bool rt_is_early(const void *p)
{
	return (uintptr_t)p - (uintptr_t)rt_tables.early.bytes < sizeof rt_tables.early.bytes;
}

static inline size_t rt_early_size(const void *p)
{
	return ((const size_t *)p)[-1];
}
#endif

#endif
