// SPDX-License-Identifier: Apache-2.0
/*
 * Records how threads are ordered by stdio streams on pipes, sockets and the like.  In: calls that
 * write to or read from a stream, or print to a descriptor.  Out: the channel events that write()
 * and read() on its descriptor would cause (channel.c), since libc's internal calls of them cannot
 * be interposed.
 *
 * libc decides when a buffer is written, so each call that may write is treated as a send.  This
 * can hide a race but invents none.  Functions that always write to standard output are left out,
 * because no thread of the process reads that.  Whether a stream leads to a channel is determined
 * once, since most streams lead to files and are written byte by byte.
 */
#include <features.h>
#undef __USE_EXTERN_INLINES /* because this file defines getline() */

#include "rt/core/io/channel.h"
#include "rt/core/layer.h"
#include "rt/core/real.h"
#include "rt/core/tables.h"

#include <stdarg.h>

void rt_member_stdio(void);
void rt_member_stdio(void)
{
}

static _Atomic uint64_t *place_of(const FILE *stream)
{
	return &rt_tables.streams[rt_channel_mix((uintptr_t)stream, 2) % RT_STREAMS];
}

static bool is_channel(FILE *stream, int fd)
{
	uint64_t asked = (uintptr_t)stream << 16 | ((uint64_t)fd & 0x7fff) << 1;
	_Atomic uint64_t *place = place_of(stream);
	uint64_t found = atomic_load_explicit(place, memory_order_relaxed);

	if (found >> 1 != asked >> 1) {
		found = asked | (rt_channel_is(fd) ? 1 : 0);
		atomic_store_explicit(place, found, memory_order_relaxed);
	}
	return found & 1;
}

/* Returns the stream's descriptor if it refers to a channel that another thread could use, or
 * -1. */
static int channel_of(FILE *stream)
{
	int saved = errno, fd = -1;

	if (stream && atomic_load_explicit(&rt.others, memory_order_relaxed))
		fd = fileno_unlocked(stream);
	if (fd >= 0 && !is_channel(stream, fd))
		fd = -1;
	errno = saved;
	return fd;
}

static void writes(FILE *stream)
{
	int fd = channel_of(stream);

	if (fd >= 0)
		rt_channel_sends(fd);
}

/* Reports a read.  It is called whatever the result, since end of file is a message too. */
static void has_read(FILE *stream)
{
	int fd = channel_of(stream);

	if (fd >= 0)
		rt_channel_receives(fd);
}

/* ---- writing ---- */

#define WRITES(type, name, parameters, stream, arguments)                                                    \
	INTERPOSE(type, name, parameters)                                                                    \
	{                                                                                                    \
		type r;                                                                                      \
                                                                                                             \
		writes(stream);                                                                              \
		r = REAL(name) arguments;                                                                    \
		RT_NOTIFY(moved);                                                                            \
		return r;                                                                                    \
	}

/* Defines a variadic function.  It executes the statement BEFORE, then passes its arguments on to
 * the real function REAL_NAME, which takes a va_list. */
#define VARIADIC(name, parameters, before, real_name, arguments)                                             \
	INTERPOSE(int, name, parameters)                                                                     \
	{                                                                                                    \
		va_list ap;                                                                                  \
		int r;                                                                                       \
                                                                                                             \
		before;                                                                                      \
		va_start(ap, format);                                                                        \
		r = REAL(real_name) arguments;                                                               \
		va_end(ap);                                                                                  \
		RT_NOTIFY(moved);                                                                            \
		return r;                                                                                    \
	}

WRITES(int, fputs, (const char *restrict text, FILE *restrict stream), stream, (text, stream))
WRITES(int, fputc, (int byte, FILE *stream), stream, (byte, stream))
WRITES(int, putc, (int byte, FILE *stream), stream, (byte, stream))
WRITES(size_t, fwrite, (const void *restrict from, size_t size, size_t count, FILE *restrict stream), stream,
       (from, size, count, stream))
WRITES(int, vfprintf, (FILE *restrict stream, const char *restrict format, va_list ap), stream,
       (stream, format, ap))
WRITES(int, __vfprintf_chk, (FILE *restrict stream, int flag, const char *restrict format, va_list ap),
       stream, (stream, flag, format, ap))
WRITES(int, fflush, (FILE * stream), stream, (stream))
WRITES(int, fputs_unlocked, (const char *restrict text, FILE *restrict stream), stream, (text, stream))
WRITES(int, fputc_unlocked, (int byte, FILE *stream), stream, (byte, stream))
WRITES(int, putc_unlocked, (int byte, FILE *stream), stream, (byte, stream))
WRITES(size_t, fwrite_unlocked, (const void *restrict from, size_t size, size_t count, FILE *restrict stream),
       stream, (from, size, count, stream))
WRITES(int, fflush_unlocked, (FILE * stream), stream, (stream))
WRITES(int, __overflow, (FILE * stream, int byte), stream, (stream, byte))

VARIADIC(fprintf, (FILE *restrict stream, const char *restrict format, ...), writes(stream), vfprintf,
	 (stream, format, ap))
VARIADIC(__fprintf_chk, (FILE *restrict stream, int flag, const char *restrict format, ...), writes(stream),
	 __vfprintf_chk, (stream, flag, format, ap))

/* The following functions write to the descriptor before they return. */

INTERPOSE(int, vdprintf, (int fd, const char *restrict format, va_list ap))
{
	rt_channel_sends(fd);
	return REAL(vdprintf)(fd, format, ap);
}

INTERPOSE(int, __vdprintf_chk, (int fd, int flag, const char *restrict format, va_list ap))
{
	rt_channel_sends(fd);
	return REAL(__vdprintf_chk)(fd, flag, format, ap);
}

VARIADIC(dprintf, (int fd, const char *restrict format, ...), rt_channel_sends(fd), vdprintf,
	 (fd, format, ap))
VARIADIC(__dprintf_chk, (int fd, int flag, const char *restrict format, ...), rt_channel_sends(fd),
	 __vdprintf_chk, (fd, flag, format, ap))

/* Removes the stream from the cache, since a later stream may have the same address. */
INTERPOSE(int, fclose, (FILE * stream))
{
	int r;

	writes(stream);
	atomic_store_explicit(place_of(stream), 0, memory_order_relaxed);
	r = REAL(fclose)(stream);
	RT_NOTIFY(moved);
	return r;
}

/* ---- reading ---- */

#define READS(type, name, parameters, stream, arguments)                                                     \
	INTERPOSE(type, name, parameters)                                                                    \
	{                                                                                                    \
		type r = REAL(name) arguments;                                                               \
                                                                                                             \
		has_read(stream);                                                                            \
		return r;                                                                                    \
	}

READS(char *, fgets, (char *restrict to, int size, FILE *restrict stream), stream, (to, size, stream))
READS(char *, __fgets_chk, (char *restrict to, size_t room, int size, FILE *restrict stream), stream,
      (to, room, size, stream))
READS(int, fgetc, (FILE * stream), stream, (stream))
READS(int, getc, (FILE * stream), stream, (stream))
READS(size_t, fread, (void *restrict to, size_t size, size_t count, FILE *restrict stream), stream,
      (to, size, count, stream))
READS(size_t, __fread_chk, (void *restrict to, size_t room, size_t size, size_t count, FILE *restrict stream),
      stream, (to, room, size, count, stream))
READS(char *, fgets_unlocked, (char *restrict to, int size, FILE *restrict stream), stream,
      (to, size, stream))
READS(int, fgetc_unlocked, (FILE * stream), stream, (stream))
READS(int, getc_unlocked, (FILE * stream), stream, (stream))
READS(size_t, fread_unlocked, (void *restrict to, size_t size, size_t count, FILE *restrict stream), stream,
      (to, size, count, stream))
READS(int, __uflow, (FILE * stream), stream, (stream))
READS(ssize_t, getline, (char **restrict line, size_t *restrict size, FILE *restrict stream), stream,
      (line, size, stream))
READS(ssize_t, getdelim, (char **restrict line, size_t *restrict size, int end, FILE *restrict stream),
      stream, (line, size, end, stream))
READS(ssize_t, __getdelim, (char **restrict line, size_t *restrict size, int end, FILE *restrict stream),
      stream, (line, size, end, stream))
READS(int, __isoc99_vfscanf, (FILE *restrict stream, const char *restrict format, va_list ap), stream,
      (stream, format, ap))

INTERPOSE(int, __isoc99_fscanf, (FILE *restrict stream, const char *restrict format, ...))
{
	va_list ap;
	int r;

	va_start(ap, format);
	r = REAL(__isoc99_vfscanf)(stream, format, ap);
	va_end(ap);
	has_read(stream);
	return r;
}
