// SPDX-License-Identifier: Apache-2.0
/*
 * Compares the models of functions that parse numbers, read input and write with the library.  Each
 * model and the library function are called with the same random texts as input.  Everything
 * observable must be equal: results, what was stored, where reading ended, errno, and the content
 * of the file. u-rt-model.c tests the expressions.
 */
#include "rt-shadow.h"

#include "rt/shadow/model-input.c"
#include "rt/shadow/model-number.c"
#define character written_character /* each of the two files defines this name */
#include "rt/shadow/model-output.c"
#undef character
#include "rt/shadow/model-string.c"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <cmocka.h>

static uint64_t seed = 1;

static uint64_t draw(uint64_t below)
{
	return shadow_random(&seed) % below;
}

/* Returns the number of calls of each function, as in u-rt-model.c. */
static size_t rounds(void)
{
	const char *wanted = getenv("RADDLE_MODEL_CALLS");

	return wanted ? strtoul(wanted, NULL, 10) : getenv("RADDLE_LONG") ? 20000 : 1500;
}

/* The store can become full, and emptying it takes long, so that is done only when needed. */
static void make_room(void)
{
	const struct raddle_shadow *s = rt_shadow.shared;

	if (!s || s->step_count > RADDLE_SHADOW_STEPS / 2 || s->node_count > RADDLE_SHADOW_NODES / 2 ||
	    s->var_count > RADDLE_SHADOW_VARS / 2 || s->output_count > RADDLE_SHADOW_OUTPUT / 2)
		shadow_start();
}

/* ---- functions that parse numbers ---- */

#define TEXT 24

static char text[TEXT + 1];

/* Makes a text of signs, spaces, prefixes and digits of all bases.  It is often a number followed
 * by something else. */
static void make_text(void)
{
	static const char letters[] = "00123456789789+- \txXabfz,.";
	size_t n = draw(TEXT);

	make_room();
	rt_memory_clear((uintptr_t)text, sizeof text);
	for (size_t i = 0; i < n; i++)
		text[i] = letters[draw(i > 2 && draw(4) ? 13 : sizeof letters - 1)];
	text[n] = 0;
	rt_input_bytes(rt_input(RADDLE_INPUT_STDIN, 0, NULL), 0, text, n);
}

static void test_strto(void **state)
{
	static const int bases[] = {0, 2, 8, 10, 10, 16, 36,
#ifndef __SANITIZE_ADDRESS__ /* its strtol() uses an end pointer that may be unset */
				    1
#endif
	};

	(void)state;
	for (size_t i = 0; i < 2 * rounds(); i++) {
		int base = bases[draw(sizeof bases / sizeof *bases)], error;
		char *end = NULL, *wanted_end = NULL;
		unsigned long got, wanted;

		make_text();
		errno = 0;
		wanted = i % 2 ? strtoul(text, &wanted_end, base)
			       : (unsigned long)strtol(text, &wanted_end, base);
		error = errno;
		errno = 0;
		got = i % 2 ? __raddle_sx_strtoul(text, &end, base)
			    : (unsigned long)__raddle_sx_strtol(text, &end, base);
		assert_int_equal(got, wanted);
		assert_int_equal(errno, error);
		assert_ptr_equal(end, wanted_end);
	}
}

static void test_ato(void **state)
{
	(void)state;
	for (size_t i = 0; i < 2 * rounds(); i++) {
		make_text();
		if (i % 2)
			assert_int_equal(__raddle_sx_atoi(text), atoi(text));
		else
			assert_int_equal(__raddle_sx_atol(text), atol(text));
	}
}

static const char *const formats[] = {"%d",   "%u",  "%i",    "%x",	 "%o",	 "%ld",	  "%lu",
				      "%lx",  "%hd", "%hhd",  "%3d",	 " %d",	 "%*d%d", "%d,%d",
				      "%lld", "%s",  "%5s%d", "x%d%%%d", "%d%n", "%c%d"};

static void test_scanf(void **state)
{
	(void)state;
	for (size_t i = 0; i < rounds(); i++) {
		const char *format = formats[draw(sizeof formats / sizeof *formats)];
		char got[2][TEXT + 8], wanted[2][TEXT + 8];
		int r, w;

		make_text();
		memset(got, 0x55, sizeof got);
		memset(wanted, 0x55, sizeof wanted);
		r = __raddle_sx_sscanf(text, format, got[0], got[1]);
		w = sscanf(text, format, wanted[0], wanted[1]);
		if (r != w || memcmp(got, wanted, sizeof got) != 0)
			fail_msg("sscanf(\"%s\", \"%s\"): %d instead of %d, or something else is stored",
				 text, format, r, w);
		rt_memory_clear((uintptr_t)got, sizeof got);
	}
}

/* ---- functions that read input ---- */

#define CONTENT 4000

struct readers {
	int model_fd, fd;
	FILE *model, *stream;
	char *lines[2];
	size_t sizes[2];
};

static void make_file(char *path)
{
	static const char letters[] = "0123456789 -abc\n";
	char content[CONTENT];
	int fd = mkstemp(path);

	for (size_t i = 0; i < CONTENT; i++)
		content[i] = letters[draw(sizeof letters - 1)];
	assert_true(fd >= 0);
	assert_int_equal(write(fd, content, CONTENT), CONTENT);
	close(fd);
}

static void open_readers(struct readers *r, const char *path)
{
	r->model_fd = __raddle_sx_open(path, O_RDONLY);
	r->fd = open(path, O_RDONLY);
	r->model = __raddle_sx_fopen(path, "r");
	r->stream = fopen(path, "r");
	assert_true(r->model_fd >= 0 && r->fd >= 0 && r->model && r->stream);
}

static void close_readers(struct readers *r)
{
	close(r->model_fd);
	close(r->fd);
	fclose(r->model);
	fclose(r->stream);
}

static void assert_input(const char *p, ssize_t n)
{
	for (ssize_t i = 0; i < n; i++)
		assert_int_not_equal(rt_memory_byte((uintptr_t)p + (size_t)i), 0);
}

/* Compares what both have read, and the bytes after that.  All bytes that the model read must be
 * input. */
static void compare_read(const char *got, const char *wanted, ssize_t n)
{
	assert_memory_equal(got, wanted, 64);
	assert_input(got, n);
	rt_memory_clear((uintptr_t)got, 64);
}

static void read_once(struct readers *r, unsigned which)
{
	char got[64] = "", wanted[64] = "";
	size_t n = draw(60) + 1;
	off_t at = (off_t)draw(CONTENT);
	int x = 0, y = 0;
	ssize_t read_n;

	switch (which) {
	case 0:
		read_n = __raddle_sx_read(r->model_fd, got, n);
		assert_int_equal(read_n, read(r->fd, wanted, n));
		compare_read(got, wanted, read_n);
		break;
	case 1:
		read_n = __raddle_sx_pread(r->model_fd, got, n, at);
		assert_int_equal(read_n, pread(r->fd, wanted, n, at));
		compare_read(got, wanted, read_n);
		break;
	case 2:
		read_n = (ssize_t)__raddle_sx_fread(got, 1, n, r->model);
		assert_int_equal(read_n, fread(wanted, 1, n, r->stream));
		compare_read(got, wanted, read_n);
		break;
	case 3:
		assert_int_equal(__raddle_sx_fgets(got, (int)n, r->model) != NULL,
				 fgets(wanted, (int)n, r->stream) != NULL);
		compare_read(got, wanted, (ssize_t)strlen(got));
		break;
	case 4: assert_int_equal(__raddle_sx_getc(r->model), getc(r->stream)); break;
	case 5:
	case 6:
		read_n = which == 5 ? __raddle_sx_getline(&r->lines[0], &r->sizes[0], r->model)
				    : __raddle_sx_getdelim(&r->lines[0], &r->sizes[0], ' ', r->model);
		assert_int_equal(read_n,
				 getdelim(&r->lines[1], &r->sizes[1], which == 5 ? '\n' : ' ', r->stream));
		assert_string_equal(read_n > 0 ? r->lines[0] : "", read_n > 0 ? r->lines[1] : "");
		assert_input(r->lines[0], read_n);
		break;
	default:
		assert_int_equal(__raddle_sx_fscanf(r->model, "%5d", &x), fscanf(r->stream, "%5d", &y));
		assert_int_equal(x, y);
		rt_memory_clear((uintptr_t)&x, sizeof x);
	}
	assert_int_equal(ftello(r->model), ftello(r->stream));
}

static void test_readers(void **state)
{
	char path[] = "/tmp/raddle-model-XXXXXX";
	struct readers r = {0};

	(void)state;
	shadow_start();
	make_file(path);
	open_readers(&r, path);
	for (size_t i = 0; i < 8 * rounds(); i++) {
		const struct raddle_shadow *s = rt_shadow.shared;

		if (s->step_count > 1000 || s->var_count > RADDLE_SHADOW_VARS / 2 ||
		    s->node_count > RADDLE_SHADOW_NODES / 2) {
			close_readers(&r); /* the store no longer knows the descriptors */
			shadow_start();
			open_readers(&r, path);
		}
		read_once(&r, (unsigned)(i % 8));
		if (feof(r.model) || draw(100) == 0) {
			rewind(r.model);
			rewind(r.stream);
			lseek(r.model_fd, 0, SEEK_SET);
			lseek(r.fd, 0, SEEK_SET);
		}
	}
	close_readers(&r);
	free(r.lines[0]);
	free(r.lines[1]);
	unlink(path);
}

static void test_environment(void **state)
{
	(void)state;
	for (size_t i = 0; i < rounds(); i++) {
		const char *name = draw(2) ? "RADDLE_MODEL_TEXT" : "RADDLE_MODEL_NONE", *got;

		make_text();
		if (draw(10) == 0)
			setenv("RADDLE_MODEL_TEXT", text, 1);
		got = __raddle_sx_getenv(name);
		assert_ptr_equal(got, getenv(name));
	}
}

/* ---- functions that write ---- */

struct writers {
	FILE *model, *stream;
	int model_fd, fd;
};

static int print_once(const struct writers *w, unsigned which, const char *format)
{
	long a = (long)draw(UINT64_MAX);
	unsigned b = (unsigned)draw(UINT32_MAX);

	if (which == 0)
		return __raddle_sx_fprintf(w->model, format, a, text, b, 'x') -
		       fprintf(w->stream, format, a, text, b, 'x');
	if (which == 1)
		return __raddle_sx_dprintf(w->model_fd, format, a, text, b, 'x') -
		       dprintf(w->fd, format, a, text, b, 'x');
	return __raddle_sx_printf(format, a, text, b, 'x') - fprintf(w->stream, format, a, text, b, 'x');
}

/* Returns the difference between the two results.  The model writes to standard output. */
static int write_once(const struct writers *w, unsigned which)
{
	static const char *const prints[] = {"%ld|%s|%u%c\n", "%lx %-9s %08x%c", "%+20ld%.3s%o%c%%",
					     "%#lx%24s%u%5c"};
	int c = (int)draw(256);
	size_t n = strlen(text);

	switch (which) {
	case 0:
	case 1:
	case 2: return print_once(w, which, prints[draw(4)]);
	case 3: return (__raddle_sx_fputs(text, w->model) < 0) - (fputs(text, w->stream) < 0);
	case 4: return (__raddle_sx_puts(text) < 0) - (fprintf(w->stream, "%s\n", text) < 0);
	case 5: return __raddle_sx_putc(c, w->model) - putc(c, w->stream);
	case 6: return __raddle_sx_putchar(c) - putc(c, w->stream);
	case 7: return (int)__raddle_sx_fwrite(text, 1, n, w->model) - (int)fwrite(text, 1, n, w->stream);
	default: return (int)(__raddle_sx_write(w->model_fd, text, n) - write(w->fd, text, n));
	}
}

/* Compares the two files, and truncates them. */
static bool is_same(int a, int b)
{
	static char content[2][1 << 16];
	ssize_t n = pread(a, content[0], sizeof content[0], 0);
	bool same = n == pread(b, content[1], sizeof content[1], 0) &&
		    memcmp(content[0], content[1], n > 0 ? (size_t)n : 0) == 0;

	return same && !ftruncate(a, 0) && !ftruncate(b, 0) && !lseek(a, 0, SEEK_SET) &&
	       !lseek(b, 0, SEEK_SET);
}

static void test_writers(void **state)
{
	int files[4], out;
	struct writers w;
	bool right = true;

	(void)state;
	for (int i = 0; i < 4; i++)
		assert_true((files[i] = memfd_create("written", MFD_CLOEXEC)) >= 0);
	fflush(stdout);
	out = dup(STDOUT_FILENO);
	dup2(files[0], STDOUT_FILENO);
	w = (struct writers){stdout, fdopen(files[1], "w"), files[2], files[3]};
	for (size_t i = 0; i < 9 * rounds() && right; i++) {
		make_text();
		right = write_once(&w, (unsigned)(i % 9)) == 0;
		if (right && i % 90 == 89) {
			fflush(stdout);
			fflush(w.stream);
			right = is_same(files[0], files[1]) && is_same(files[2], files[3]);
		}
	}
	fflush(stdout);
	dup2(out, STDOUT_FILENO);
	close(out);
	fclose(w.stream);
	assert_true(right);
}

/* ---- descriptors whose numbers are used again ---- */

static bool reads_input(int fd)
{
	char byte = 0;

	return __raddle_sx_read(fd, &byte, 1) == 1 && rt_memory_byte((uintptr_t)&byte) != 0;
}

/* Opens a file as input and closes it.  Returns the number of its descriptor. */
static int open_and_close(const char *path)
{
	int fd = __raddle_sx_open(path, O_RDONLY);

	assert_true(reads_input(fd));
	close(fd);
	return fd;
}

static void test_used_again(void **state)
{
	char path[] = "/tmp/u-model-XXXXXX";
	int fd = mkstemp(path), ends[2], numbers[2];
	FILE *f;

	(void)state;
	make_room();
	assert_int_equal(write(fd, "abc", 3), 3);
	close(fd);
	numbers[0] = open_and_close(path);
	assert_int_equal(pipe(ends), 0);
	numbers[1] = ends[0];
	assert_int_equal(write(ends[1], "abc", 3), 3);
	assert_int_equal(numbers[0], numbers[1]);
	assert_false(reads_input(ends[0]));
	close(ends[0]);
	close(ends[1]);
	numbers[0] = open_and_close(path);
	fd = __raddle_sx_open(path, O_RDWR);
	assert_int_equal(numbers[0], fd);
	assert_false(reads_input(fd));
	close(fd);
	numbers[0] = open_and_close(path);
	f = __raddle_sx_fopen(path, "r+");
	assert_int_equal(numbers[0], fileno(f));
	assert_false(reads_input(fileno(f)));
	fclose(f);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_strto),	    cmocka_unit_test(test_ato),
		cmocka_unit_test(test_scanf),	    cmocka_unit_test(test_readers),
		cmocka_unit_test(test_environment), cmocka_unit_test(test_writers),
		cmocka_unit_test(test_used_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
