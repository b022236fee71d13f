/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares instrumented code with a slow, obvious reference.  Random programs with loops,
 * branches, copies and synchronisation are instrumented and run, and an interpreter computes what
 * they access.  A segment is what a thread does between two operations.  In every segment, the
 * hooks must report exactly the bytes that are read and written, even if the optimiser has merged
 * hooks, moved them out of loops or removed them.  The program must compute the same results as
 * without hooks.
 */
#include "test/unit/instr-program.h"

/* ---- hooks that report accesses ---- */

static uint32_t site_count, called;

static void hear_access(char kind, const void *p, uint64_t size, uint64_t site)
{
	assert_true(site >= 1 && site <= site_count);
	hear(kind, p, size, site);
}

static void *hook_enter(void)
{
	return &heard;
}

static void *hook_stack(void *self)
{
	return self;
}

static void hook_call(void *self, void *top, uint32_t site)
{
	(void)self;
	(void)top;
	assert_true(site >= 1 && site <= site_count);
	called = site;
}

static void hook_return(void *self, void *top)
{
	(void)self;
	(void)top;
}

#define SIZED(bytes)                                                                                         \
	static void hook_read##bytes(void *self, void *p, uint32_t site)                                     \
	{                                                                                                    \
		(void)self;                                                                                  \
		hear_access('r', p, bytes, site);                                                            \
	}                                                                                                    \
	static void hook_write##bytes(void *self, void *p, uint32_t site)                                    \
	{                                                                                                    \
		(void)self;                                                                                  \
		hear_access('w', p, bytes, site);                                                            \
	}                                                                                                    \
	static void hook_update##bytes(void *self, void *p, uint32_t site, uint32_t write)                   \
	{                                                                                                    \
		(void)self;                                                                                  \
		hear_access('r', p, bytes, site);                                                            \
		hear_access('w', p, bytes, write);                                                           \
	}
SIZED(1)
SIZED(2)
SIZED(4)
SIZED(8)
SIZED(16)

static void hook_read_two(void *self, char *p, uint64_t sites, uint32_t size)
{
	(void)self;
	hear_access('r', p, size, (uint32_t)sites);
	hear_access('r', p + size, size, sites >> 32);
}

static void hook_write_two(void *self, char *p, uint64_t sites, uint32_t size)
{
	(void)self;
	hear_access('w', p, size, (uint32_t)sites);
	hear_access('w', p + size, size, sites >> 32);
}

static void hook_update_two(void *self, char *p, uint64_t low, uint64_t high, uint32_t size)
{
	(void)self;
	hear_access('r', p, size, (uint32_t)low);
	hear_access('r', p + size, size, (uint32_t)high);
	hear_access('w', p, size, low >> 32);
	hear_access('w', p + size, size, high >> 32);
}

static void hook_read_range(void *self, void *p, uint32_t site, uint64_t size)
{
	(void)self;
	hear_access('r', p, size, site);
}

static void hook_write_range(void *self, void *p, uint32_t site, uint64_t size)
{
	(void)self;
	hear_access('w', p, size, site);
}

static void hear_stride(char kind, char *p, uint32_t site, uint64_t count, int64_t by)
{
	int64_t distance = by >> 8;

	for (uint64_t i = 0; i < count; i++)
		hear_access(kind, p + (int64_t)i * distance, by & 255, site);
}

static void hook_read_stride(void *self, char *p, uint32_t site, uint64_t count, int64_t by)
{
	(void)self;
	hear_stride('r', p, site, count, by);
}

static void hook_write_stride(void *self, char *p, uint32_t site, uint64_t count, int64_t by)
{
	(void)self;
	hear_stride('w', p, site, count, by);
}

static void segment_ends(void)
{
	note(&heard, (struct event){'s', 0, 0, 0, (int)called});
}

#define HOOK_SIZED(n)                                                                                        \
	[HOOK_READ##n] = hook_read##n, [HOOK_WRITE##n] = hook_write##n, [HOOK_UPDATE##n] = hook_update##n

static void *const hooks[HOOK_COUNT] = {
	[HOOK_ENTER] = hook_enter,
	[HOOK_STACK] = hook_stack,
	[HOOK_CALL] = hook_call,
	[HOOK_RETURN] = hook_return,
	HOOK_SIZED(1),
	HOOK_SIZED(2),
	HOOK_SIZED(4),
	HOOK_SIZED(8),
	HOOK_SIZED(16),
	[HOOK_READ_TWO] = hook_read_two,
	[HOOK_WRITE_TWO] = hook_write_two,
	[HOOK_UPDATE_TWO] = hook_update_two,
	[HOOK_READ_RANGE] = hook_read_range,
	[HOOK_WRITE_RANGE] = hook_write_range,
	[HOOK_READ_STRIDE] = hook_read_stride,
	[HOOK_WRITE_STRIDE] = hook_write_stride,
};

/* ---- comparison of the bytes accessed in each segment ---- */

enum { IS_READ = 1, IS_WRITTEN = 2, IS_READ_FIRST = 4 };

/* Marks the bytes accessed in the segment that begins at event `from`.  Returns the beginning of
 * the next one. */
static int segment(const struct journal *j, int from, uint8_t bytes[ARRAYS][BYTES])
{
	int i;

	memset(bytes, 0, ARRAYS * BYTES);
	for (i = from; i < j->count && j->items[i].kind != 's'; i++) {
		const struct event *e = &j->items[i];

		for (int k = e->offset; k < e->offset + e->size; k++) {
			uint8_t *byte = &bytes[e->array][k];

			if (e->kind == 'r')
				*byte |= IS_READ | (*byte == 0 ? IS_READ_FIRST : 0);
			else
				*byte |= IS_WRITTEN;
		}
	}
	return i + 1;
}

static bool is_covered(uint8_t truth, uint8_t reported, bool in_order)
{
	bool read = truth & (in_order ? IS_READ_FIRST : IS_READ);

	if ((truth & IS_WRITTEN) != (reported & IS_WRITTEN) || (reported & IS_READ & ~truth))
		return false;
	return !read || reported & (in_order ? IS_READ : IS_READ | IS_WRITTEN);
}

/* Describes what is wrong with the reported bytes.  Returns NULL if nothing is. */
static const char *compare_segments(const struct journal *truth, const struct journal *reported,
				    bool in_order)
{
	static uint8_t a[ARRAYS][BYTES], b[ARRAYS][BYTES];
	static char what[96];
	int x = 0, y = 0;

	for (int number = 0; x <= truth->count; number++) {
		if (y > reported->count)
			return "too few segments";
		x = segment(truth, x, a);
		y = segment(reported, y, b);
		for (int i = 0; i < ARRAYS; i++)
			for (int k = 0; k < BYTES; k++)
				if (!is_covered(a[i][k], b[i][k], in_order)) {
					snprintf(what, sizeof what,
						 "segment %d, A%d + %d: is %d, reported as %d", number, i, k,
						 a[i][k], b[i][k]);
					return what;
				}
	}
	return y <= reported->count ? "too many segments" : NULL;
}

/* ---- one program, instrumented in all ways ---- */

struct way {
	const char *name;
	bool fast, keep_redundant;
};

static const struct way ways[] = {
	{"quick, every access", false, true},
	{"quick", false, false},
	{"fast, every access", true, true},
	{"fast", true, false},
};

static const char *compare_run(const struct twin *t, const struct way *way)
{
	if (!has_same_result(t))
		return "another result";
	if (way->keep_redundant)
		return compare_events(&t->journal, &heard);
	return compare_segments(&t->journal, &heard, !way->fast);
}

static void check_run(struct instr_jit *j, struct program *p, int top, int64_t n, const struct way *way,
		      uint64_t seed)
{
	static struct twin t;
	const char *wrong;

	t = (struct twin){.p = p, .n = n};
	run_nodes(&t, 0, top);
	if (t.journal.full)
		return;
	run_it(j, n);
	wrong = compare_run(&t, way);
	if (wrong != NULL)
		fail_msg("seed %llu, %s, n = %lld: %s\n%s", (unsigned long long)seed, way->name, (long long)n,
			 wrong, text_of(p, top));
}

static void check_program(uint64_t seed)
{
	static const struct instr_jit_symbol others[] = {{"sync", segment_ends}};
	struct rd_random r = rd_random_of(seed, 1);
	struct program p = {.count = 0};
	int loops[MAX_DEPTH], top = add_nodes(&p, &r, 2 + pick(&r, 4), loops, 0);
	char *text = text_of(&p, top);

	for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
		struct instr_jit j = {
			.options = {.fast = ways[i].fast, .keep_redundant = ways[i].keep_redundant}};

		if (i == 0 && seed % 4 != 0) /* this way differs little from the next one */
			continue;
		assert_int_equal(instr_jit_open(&j, RADDLE_FLAVOUR_RECORD, text), 0);
		assert_int_equal(instr_jit_instrument(&j), 0);
		site_count = j.u.sites.count;
		assert_int_equal(instr_jit_generate(&j), 0);
		instr_jit_load(&j, hooks, others, 1);
		for (int64_t n = 0; n < 8; n += 1 + (int64_t)(seed % 3))
			check_run(&j, &p, top, n, &ways[i], seed);
		instr_jit_close(&j);
	}
	free(text);
}

static void hooks_report_what_programs_access(void **state)
{
	const char *given = getenv("SEED");
	uint64_t first = given != NULL ? strtoull(given, NULL, 10) : 1;
	uint64_t count = given != NULL ? 1 : getenv("RADDLE_LONG") != NULL ? 200 : 60;

	(void)state;
	print_message("seeds %llu to %llu\n", (unsigned long long)first,
		      (unsigned long long)(first + count - 1));
	for (uint64_t seed = first; seed < first + count; seed++)
		check_program(seed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hooks_report_what_programs_access),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
