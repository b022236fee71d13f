// SPDX-License-Identifier: Apache-2.0
/*
 * Models of functions that read standard input, files or the environment.  The bytes that they read
 * become bytes of an input at some offset.  The input is found by the descriptor.
 *
 * When a file is opened, its identity is stored for the descriptor.  Calls without a model here may
 * close the descriptor and reuse its number, so each read checks that the descriptor still refers
 * to the same file.  If a descriptor has no offset, because it refers to a pipe for example, the
 * bytes read so far are counted.
 */
#include "rt/shadow/model.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

RT_EXPORT ssize_t __raddle_sx_read(int fd, void *p, size_t n);
RT_EXPORT ssize_t __raddle_sx_pread(int fd, void *p, size_t n, off_t offset);
RT_EXPORT size_t __raddle_sx_fread(void *p, size_t size, size_t n, FILE *f);
RT_EXPORT char *__raddle_sx_fgets(char *s, int n, FILE *f);
RT_EXPORT int __raddle_sx_getc(FILE *f);
RT_EXPORT int __raddle_sx_getchar(void);
RT_EXPORT ssize_t __raddle_sx_getdelim(char **line, size_t *size, int end, FILE *f);
RT_EXPORT ssize_t __raddle_sx_getline(char **line, size_t *size, FILE *f);
RT_EXPORT char *__raddle_sx_getenv(const char *name);
RT_EXPORT int __raddle_sx_open(const char *path, int flags, ...);
RT_EXPORT FILE *__raddle_sx_fopen(const char *path, const char *mode);
RT_EXPORT int __raddle_sx_fscanf(FILE *f, const char *format, ...);
RT_EXPORT int __raddle_sx_scanf(const char *format, ...);

/* Files of the system are not treated as input, since a user would not change them. */
static bool is_system_file(const char *path)
{
	static const char *const directories[] = {"/proc/", "/sys/",   "/dev/", "/usr/",
						  "/lib/",  "/lib64/", "/etc/", "/run/"};

	for (size_t i = 0; i < sizeof directories / sizeof *directories; i++)
		if (!strncmp(path, directories[i], strlen(directories[i])))
			return true;
	return false;
}

static void forget(int fd)
{
	if (fd >= 0 && fd < RT_SHADOW_DESCRIPTORS)
		__builtin_memset(&rt_shadow.descriptors[fd], 0, sizeof *rt_shadow.descriptors);
}

void rt_files_opened(int fd, const char *path)
{
	struct stat st;

	forget(fd);
	if (fd < 0 || fd >= RT_SHADOW_DESCRIPTORS)
		return;
	if (!rt_shadow_is_on() || is_system_file(path) || fstat(fd, &st) || !S_ISREG(st.st_mode))
		return;
	rt_shadow_enter();
	rt_shadow.descriptors[fd].input = rt_input(RADDLE_INPUT_FILE, 0, path) + 1;
	rt_shadow.descriptors[fd].device = st.st_dev;
	rt_shadow.descriptors[fd].inode = st.st_ino;
	rt_shadow_leave();
}

static bool is_same_file(int fd)
{
	int saved = errno;
	struct stat st;
	bool same = !fstat(fd, &st) && st.st_dev == rt_shadow.descriptors[fd].device &&
		    st.st_ino == rt_shadow.descriptors[fd].inode;

	errno = saved;
	return same;
}

/* Returns the input of a descriptor, or UINT32_MAX if it is not an input. */
static uint32_t input_of(int fd)
{
	if (!rt_shadow_is_on() || fd < 0 || fd >= RT_SHADOW_DESCRIPTORS)
		return UINT32_MAX;
	if (rt_shadow.descriptors[fd].input && !is_same_file(fd))
		forget(fd);
	if (fd == STDIN_FILENO && !rt_shadow.descriptors[fd].input)
		return rt_input(RADDLE_INPUT_STDIN, 0, NULL);
	return rt_shadow.descriptors[fd].input - 1;
}

/* Called when bytes were read from a descriptor.  The offset is negative if it is unknown. */
void rt_files_read(int fd, const void *p, size_t size, int64_t offset)
{
	uint32_t input;

	if (!rt_shadow_is_on() || fd < 0 || fd >= RT_SHADOW_DESCRIPTORS)
		return;
	rt_shadow_enter();
	input = input_of(fd);
	if (input == UINT32_MAX)
		rt_memory_clear((uintptr_t)p, size);
	else
		rt_input_bytes(input, offset >= 0 ? (uint64_t)offset : rt_shadow.descriptors[fd].consumed, p,
			       size);
	rt_shadow.descriptors[fd].consumed += size;
	rt_shadow_leave();
}

/* ---- descriptors ---- */

RT_EXPORT ssize_t __raddle_sx_read(int fd, void *p, size_t n)
{
	off_t offset = rt_shadow_is_on() ? lseek(fd, 0, SEEK_CUR) : -1;
	ssize_t r = read(fd, p, n);

	if (r > 0)
		rt_files_read(fd, p, (size_t)r, offset);
	rt_shadow_result((const void *)__raddle_sx_read, 0);
	return r;
}

RT_EXPORT ssize_t __raddle_sx_pread(int fd, void *p, size_t n, off_t offset)
{
	ssize_t r = pread(fd, p, n, offset);

	if (r > 0)
		rt_files_read(fd, p, (size_t)r, offset);
	rt_shadow_result((const void *)__raddle_sx_pread, 0);
	return r;
}

RT_EXPORT int __raddle_sx_open(const char *path, int flags, ...)
{
	va_list arguments;
	mode_t mode = 0;
	int fd;

	va_start(arguments, flags);
	if (flags & (O_CREAT | O_TMPFILE))
		mode = va_arg(arguments, mode_t);
	va_end(arguments);
	fd = open(path, flags, mode);
	if (fd >= 0 && (flags & O_ACCMODE) == O_RDONLY)
		rt_files_opened(fd, path);
	else
		forget(fd);
	rt_shadow_result((const void *)__raddle_sx_open, 0);
	return fd;
}

/* ---- streams ---- */

static int64_t offset_of(FILE *f)
{
	return rt_shadow_is_on() ? ftello(f) : -1;
}

RT_EXPORT FILE *__raddle_sx_fopen(const char *path, const char *mode)
{
	FILE *f = fopen(path, mode);

	if (f && mode[0] == 'r' && !strchr(mode, '+'))
		rt_files_opened(fileno(f), path);
	else if (f)
		forget(fileno(f));
	rt_shadow_result((const void *)__raddle_sx_fopen, 0);
	return f;
}

RT_EXPORT size_t __raddle_sx_fread(void *p, size_t size, size_t n, FILE *f)
{
	int64_t offset = offset_of(f);
	size_t r = fread(p, size, n, f);

	if (r)
		rt_files_read(fileno(f), p, r * size, offset);
	rt_shadow_result((const void *)__raddle_sx_fread, 0);
	return r;
}

RT_EXPORT char *__raddle_sx_fgets(char *s, int n, FILE *f)
{
	int64_t offset = offset_of(f);
	char *r = fgets(s, n, f);

	if (r) {
		rt_files_read(fileno(f), s, strlen(s), offset);
		__raddle_shadow_filled(s + strlen(s), 0, 1);
	}
	rt_shadow_result((const void *)__raddle_sx_fgets, 0);
	return r;
}

static int character(const void *model, FILE *f)
{
	int64_t offset = offset_of(f);
	int c = getc(f);
	uint8_t byte = (uint8_t)c;
	uint32_t e = 0;

	if (c != EOF && rt_shadow_is_on()) {
		rt_files_read(fileno(f), &byte, 1, offset);
		rt_shadow_enter();
		e = rt_memory_byte((uintptr_t)&byte);
		e = e ? rt_expr_zext(e, 32) : 0;
		rt_memory_clear((uintptr_t)&byte, 1);
		rt_shadow_leave();
	}
	rt_shadow_result(model, e);
	return c;
}

RT_EXPORT int __raddle_sx_getc(FILE *f)
{
	return character((const void *)__raddle_sx_getc, f);
}

RT_EXPORT int __raddle_sx_getchar(void)
{
	return character((const void *)__raddle_sx_getchar, stdin);
}

static ssize_t delimited(char **line, size_t *size, int end, FILE *f)
{
	int64_t offset = offset_of(f);
	ssize_t n = getdelim(line, size, end, f);

	if (n > 0) {
		rt_files_read(fileno(f), *line, (size_t)n, offset);
		__raddle_shadow_filled(*line + n, 0, 1);
	}
	return n;
}

RT_EXPORT ssize_t __raddle_sx_getdelim(char **line, size_t *size, int end, FILE *f)
{
	ssize_t n = delimited(line, size, end, f);

	rt_shadow_result((const void *)__raddle_sx_getdelim, 0);
	return n;
}

RT_EXPORT ssize_t __raddle_sx_getline(char **line, size_t *size, FILE *f)
{
	ssize_t n = delimited(line, size, '\n', f);

	rt_shadow_result((const void *)__raddle_sx_getline, 0);
	return n;
}

/* ---- formats ---- */

/* Reads the scanned text once more from the stream's file, and scans it again to find the
 * expressions. */
static void scanned(FILE *f, int64_t from, struct rt_scan *x, va_list arguments)
{
	char *text = rt_shadow.scanned;
	int64_t to = ftello(f);
	ssize_t n;

	if (from < 0 || to <= from || to - from > RT_SHADOW_SCANNED) {
		rt_path_lose(RADDLE_LOST_CALL);
		return;
	}
	n = pread(fileno(f), text, (size_t)(to - from), from);
	if (n != to - from)
		return;
	text[n] = 0;
	rt_files_read(fileno(f), text, (size_t)n, from);
	x->text = text;
	rt_shadow_enter();
	rt_model_scan(x, arguments);
	rt_memory_clear((uintptr_t)text, sizeof rt_shadow.scanned);
	rt_shadow_leave();
}

/* `arguments` and `again` contain the same arguments, because a va_list can be walked only once. */
static int scan_stream(FILE *f, const char *format, va_list arguments, va_list again)
{
	int64_t from = offset_of(f);
	int r = vfscanf(f, format, arguments);

	if (r > 0 && rt_shadow_is_on())
		scanned(f, from, &(struct rt_scan){NULL, format, r}, again);
	return r;
}

#define SCAN(f, format, r)                                                                                   \
	do {                                                                                                 \
		va_list arguments, again;                                                                    \
		va_start(arguments, format);                                                                 \
		va_copy(again, arguments);                                                                   \
		(r) = scan_stream(f, format, arguments, again);                                              \
		va_end(again);                                                                               \
		va_end(arguments);                                                                           \
	} while (0)

RT_EXPORT int __raddle_sx_fscanf(FILE *f, const char *format, ...)
{
	int r;

	SCAN(f, format, r);
	rt_shadow_result((const void *)__raddle_sx_fscanf, 0);
	return r;
}

RT_EXPORT int __raddle_sx_scanf(const char *format, ...)
{
	int r;

	SCAN(stdin, format, r);
	rt_shadow_result((const void *)__raddle_sx_scanf, 0);
	return r;
}

/* ---- the environment ---- */

RT_EXPORT char *__raddle_sx_getenv(const char *name)
{
	char *value = getenv(name);

	if (value && rt_shadow_is_on()) {
		rt_shadow_enter();
		rt_input_bytes(rt_input(RADDLE_INPUT_ENV, 0, name), 0, value, strlen(value));
		rt_shadow_leave();
	}
	rt_shadow_result((const void *)__raddle_sx_getenv, 0);
	return value;
}
