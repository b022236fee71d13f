/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests how much memory library functions read and write, according to instrumented code.  The
 * code calls the real functions.  The test compares the ranges that the hooks report with those
 * that the functions are known to access.  The test's hooks measure strings as the runtime does
 * (raddle/abi.h).
 */
#include "test/unit/instr-jit.h"

#include <unistd.h>

enum { ROOM = 64 };

static char p[ROOM], q[ROOM], heard[256];

static void note(char kind, const void *address, uint64_t size)
{
	const char *at = address;
	bool in_p = at >= p && at < p + ROOM, in_q = at >= q && at < q + ROOM;
	size_t n = strlen(heard);

	if (size == 0 || (!in_p && !in_q))
		return;
	snprintf(heard + n, sizeof heard - n, "%s%c%c+%d:%llu", n ? " " : "", kind, in_p ? 'p' : 'q',
		 (int)(at - (in_p ? p : q)), (unsigned long long)size);
}

/* Returns the length of the string including its end, but at most `max`. */
static uint64_t length(const char *s, uint64_t max)
{
	uint64_t n = 0;

	while (n < max && s[n] != '\0')
		n++;
	return n < max ? n + 1 : max;
}

static void read_range(void *self, const void *at, uint32_t site, uint64_t size)
{
	(void)self;
	(void)site;
	note('r', at, size);
}

static void write_range(void *self, const void *at, uint32_t site, uint64_t size)
{
	(void)self;
	(void)site;
	note('w', at, size);
}

static void read_string(void *self, const char *at, uint32_t site, uint64_t max)
{
	(void)self;
	(void)site;
	note('r', at, max != 0 ? length(at, max) : 0);
}

static void write_string(void *self, const char *at, uint32_t site, uint64_t max)
{
	(void)self;
	(void)site;
	note('w', at, max != 0 ? length(at, max) : 0);
}

/* Reports the bytes up to the first one that differs, or to the end. */
static void read_common(void *self, const char *at, const char *other, uint32_t site, uint64_t max)
{
	uint64_t n = 0;

	(void)self;
	(void)site;
	while (n < max && at[n] == other[n] && at[n] != '\0')
		n++;
	note('r', at, n < max ? n + 1 : max);
}

static void write_copied(void *self, const char *at, const char *from, uint32_t site, uint64_t max)
{
	(void)self;
	(void)site;
	note('w', at, length(from, max));
}

static void write_appended(void *self, const char *at, const char *from, uint32_t site, uint64_t max)
{
	(void)self;
	(void)site;
	note('w', at + strlen(at), length(from, max));
}

static uint64_t readable(const char *at, uint32_t is_string, uint64_t size)
{
	(void)is_string;
	return at != NULL ? size : 0;
}

static void *nothing(void)
{
	return heard;
}

static void *const hooks[HOOK_COUNT] = {
	[HOOK_ENTER] = nothing,
	[HOOK_STACK] = nothing,
	[HOOK_CALL] = nothing,
	[HOOK_RETURN] = nothing,
	[HOOK_READ_RANGE] = read_range,
	[HOOK_WRITE_RANGE] = write_range,
	[HOOK_READ_STRING] = read_string,
	[HOOK_WRITE_STRING] = write_string,
	[HOOK_READ_COMMON] = read_common,
	[HOOK_WRITE_COPIED] = write_copied,
	[HOOK_WRITE_APPENDED] = write_appended,
	[HOOK_READABLE] = readable,
};

/* ---- one call of a library function ---- */

struct one {
	/* the call may use %p, %q, %n, the stream %s and the descriptor %e */
	const char *declaration, *call;
	const char *p, *q; /* contents before the call */
	uint64_t n;
	const char *expected;
};

static const char constants[] =
	"@d = private constant [3 x i8] c\"%d\\00\"\n@s = private constant [3 x i8] c\"%s\\00\"\n"
	"@two = private constant [5 x i8] c\"%d%s\\00\"\n"
	"@three = private constant [5 x i8] c\"%.3s\\00\"\n"
	"@five = private constant [4 x i8] c\"%5s\\00\"\n";

/* Makes the call.  The stream and the descriptor have ten bytes to read. */
static void check(const struct one *one)
{
	struct instr_jit j = {.options = {.fast = false}};
	struct rd_buf text = RD_BUF_INIT;
	void (*f)(char *, char *, uint64_t, FILE *, int);
	FILE *stream = tmpfile();
	int ends[2];

	assert_non_null(stream);
	fputs("abcd\nefgh\n", stream);
	rewind(stream);
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(write(ends[1], "0123456789", 10), 10);
	rd_buf_addf(&text,
		    "%sdeclare %s\ndefine void @f(ptr %%p, ptr %%q, i64 %%n, ptr %%s, i32 %%e) {\n  %s\n  "
		    "ret void\n}\n",
		    constants, one->declaration, one->call);
	assert_int_equal(instr_jit_open(&j, RADDLE_FLAVOUR_RECORD, text.data), 0);
	assert_int_equal(instr_jit_instrument(&j), 0);
	assert_int_equal(instr_jit_generate(&j), 0);
	instr_jit_load(&j, hooks, NULL, 0);
	*(void **)&f = instr_jit_find(&j, "f");
	memset(p, 0, sizeof p);
	memset(q, 0, sizeof q);
	strcpy(p, one->p);
	strcpy(q, one->q);
	heard[0] = '\0';
	f(p, q, one->n, stream, ends[0]);
	if (strcmp(heard, one->expected) != 0)
		fail_msg("%s with \"%s\", \"%s\", %d: %s instead of %s", one->call, one->p, one->q,
			 (int)one->n, heard, one->expected);
	instr_jit_close(&j);
	rd_buf_release(&text);
	fclose(stream);
	close(ends[0]);
	close(ends[1]);
}

static void check_all(const struct one *all, size_t count)
{
	for (size_t i = 0; i < count; i++)
		check(&all[i]);
}

#define CHECK_ALL(table) check_all(table, sizeof table / sizeof *table)

/* ---- functions that read and write strings ---- */

static void strings_are_read_with_their_ends(void **state)
{
	static const struct one all[] = {
		{"i64 @strlen(ptr)", "%r = call i64 @strlen(ptr %p)", "hello", "", 0, "rp+0:6"},
		{"i64 @strlen(ptr)", "%r = call i64 @strlen(ptr %p)", "", "", 0, "rp+0:1"},
		{"i64 @strnlen(ptr, i64)", "%r = call i64 @strnlen(ptr %p, i64 %n)", "hello", "", 3,
		 "rp+0:3"},
		{"i64 @strnlen(ptr, i64)", "%r = call i64 @strnlen(ptr %p, i64 %n)", "hello", "", 9,
		 "rp+0:6"},
		{"ptr @strchr(ptr, i32)", "%r = call ptr @strchr(ptr %p, i32 108)", "hello", "", 0, "rp+0:3"},
		{"ptr @strchr(ptr, i32)", "%r = call ptr @strchr(ptr %p, i32 120)", "hello", "", 0, "rp+0:6"},
		{"ptr @memchr(ptr, i32, i64)", "%r = call ptr @memchr(ptr %p, i32 108, i64 %n)", "hello", "",
		 9, "rp+0:3"},
		{"ptr @memchr(ptr, i32, i64)", "%r = call ptr @memchr(ptr %p, i32 120, i64 %n)", "hello", "",
		 9, "rp+0:9"},
	};

	(void)state;
	CHECK_ALL(all);
}

static void comparisons_read_up_to_the_difference(void **state)
{
	static const struct one all[] = {
		{"i32 @strcmp(ptr, ptr)", "%r = call i32 @strcmp(ptr %p, ptr %q)", "hello", "help", 0,
		 "rp+0:4 rq+0:4"},
		{"i32 @strcmp(ptr, ptr)", "%r = call i32 @strcmp(ptr %p, ptr %q)", "hello", "hello", 0,
		 "rp+0:6 rq+0:6"},
		{"i32 @strcmp(ptr, ptr)", "%r = call i32 @strcmp(ptr %p, ptr %q)", "", "hello", 0,
		 "rp+0:1 rq+0:1"},
		{"i32 @strncmp(ptr, ptr, i64)", "%r = call i32 @strncmp(ptr %p, ptr %q, i64 %n)", "hello",
		 "help", 2, "rp+0:2 rq+0:2"},
		{"i32 @strncmp(ptr, ptr, i64)", "%r = call i32 @strncmp(ptr %p, ptr %q, i64 %n)", "hello",
		 "help", 0, ""},
	};

	(void)state;
	CHECK_ALL(all);
}

static void copies_write_what_they_read(void **state)
{
	static const struct one all[] = {
		{"ptr @strcpy(ptr, ptr)", "%r = call ptr @strcpy(ptr %p, ptr %q)", "", "abc", 0,
		 "rq+0:4 wp+0:4"},
		/* the rest of the destination is padded */
		{"ptr @strncpy(ptr, ptr, i64)", "%r = call ptr @strncpy(ptr %p, ptr %q, i64 %n)", "", "abc",
		 8, "rq+0:4 wp+0:8"},
		{"ptr @strncpy(ptr, ptr, i64)", "%r = call ptr @strncpy(ptr %p, ptr %q, i64 %n)", "", "abc",
		 2, "rq+0:2 wp+0:2"},
		{"ptr @strcat(ptr, ptr)", "%r = call ptr @strcat(ptr %p, ptr %q)", "ab", "cde", 0,
		 "rq+0:4 rp+0:3 wp+2:4"},
		{"ptr @memcpy(ptr, ptr, i64)", "%r = call ptr @memcpy(ptr %p, ptr %q, i64 %n)", "", "abc", 5,
		 "rq+0:5 wp+0:5"},
	};

	(void)state;
	CHECK_ALL(all);
}

/* ---- lengths that depend on the result ---- */

static void results_tell_how_much_was_written(void **state)
{
	static const struct one all[] = {
		{"i64 @read(i32, ptr, i64)", "%r = call i64 @read(i32 %e, ptr %p, i64 %n)", "", "", 4,
		 "wp+0:4"},
		{"i64 @read(i32, ptr, i64)", "%r = call i64 @read(i32 %e, ptr %p, i64 %n)", "", "", 40,
		 "wp+0:10"},
		{"i64 @read(i32, ptr, i64)", "%r = call i64 @read(i32 -1, ptr %p, i64 %n)", "", "", 4, ""},
		{"i64 @fread(ptr, i64, i64, ptr)", "%r = call i64 @fread(ptr %p, i64 3, i64 %n, ptr %s)", "",
		 "", 2, "wp+0:6"},
		{"i64 @fread(ptr, i64, i64, ptr)", "%r = call i64 @fread(ptr %p, i64 3, i64 %n, ptr %s)", "",
		 "", 9, "wp+0:9"},
		{"ptr @fgets(ptr, i32, ptr)", "%r = call ptr @fgets(ptr %p, i32 20, ptr %s)", "", "", 0,
		 "wp+0:6"},
		{"ptr @fgets(ptr, i32, ptr)", "%r = call ptr @fgets(ptr %p, i32 3, ptr %s)", "", "", 0,
		 "wp+0:3"},
	};

	(void)state;
	CHECK_ALL(all);
}

/* ---- lengths that depend on a format ---- */

static void formats_tell_what_is_read_and_written(void **state)
{
	static const struct one all[] = {
		{"i32 @sprintf(ptr, ptr, ...)",
		 "%r = call i32 (ptr, ptr, ...) @sprintf(ptr %p, ptr @s, ptr %q)", "", "abc", 0,
		 "rq+0:4 wp+0:4"},
		{"i32 @sprintf(ptr, ptr, ...)",
		 "%r = call i32 (ptr, ptr, ...) @sprintf(ptr %p, ptr @three, ptr %q)", "", "abcdef", 0,
		 "rq+0:3 wp+0:4"},
		{"i32 @sprintf(ptr, ptr, ...)",
		 "%r = call i32 (ptr, ptr, ...) @sprintf(ptr %p, ptr @s, ptr null)", "", "", 0, "wp+0:7"},
		{"i32 @snprintf(ptr, i64, ptr, ...)",
		 "%r = call i32 (ptr, i64, ptr, ...) @snprintf(ptr %p, i64 %n, ptr @s, ptr %q)", "", "abcdef",
		 4, "rq+0:7 wp+0:4"},
		{"i32 @sscanf(ptr, ptr, ...)",
		 "%r = call i32 (ptr, ptr, ...) @sscanf(ptr %p, ptr @d, ptr %q)", "42", "", 0,
		 "rp+0:3 wq+0:4"},
		{"i32 @sscanf(ptr, ptr, ...)",
		 "%r = call i32 (ptr, ptr, ...) @sscanf(ptr %p, ptr @d, ptr %q)", "x", "", 0, "rp+0:2"},
		{"i32 @sscanf(ptr, ptr, ...)",
		 "%r = call i32 (ptr, ptr, ...) @sscanf(ptr %p, ptr @five, ptr %q)", "abcdefgh", "", 0,
		 "rp+0:9 wq+0:6"},
	};

	(void)state;
	CHECK_ALL(all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(strings_are_read_with_their_ends),
		cmocka_unit_test(comparisons_read_up_to_the_difference),
		cmocka_unit_test(copies_write_what_they_read),
		cmocka_unit_test(results_tell_how_much_was_written),
		cmocka_unit_test(formats_tell_what_is_read_and_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
