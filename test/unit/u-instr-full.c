/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares the flavours `full` and `led` with an interpreter, on random programs.  The
 * instrumented code writes pieces: records of straight-line code.  The test decodes them with the
 * site table.  Their loads, stores, copies and fills must be those of the program, in order, with
 * the values that memory contains at that point.  In `led`, a thread must be able to stop before
 * each of these accesses and before calls, but nowhere else.  No test of bounds may fail, since
 * random programs stay within their variables.
 */
#include "raddle/abi.h"
#include "raddle/full.h"
#include "test/unit/instr-program.h"

#include <llvm-c/Support.h>

enum { MAX_PIECES = 4096, ROOM = 1 << 20 };

static struct raddle_self self;

/* ---- rows of the site table that describe pieces ---- */

static const char *rows[MAX_PIECES]; /* the operations of a piece, by its number */
static uint32_t sizes[MAX_PIECES];

static void read_rows(const char *table)
{
	memset(rows, 0, sizeof rows);
	for (const char *line = table; line != NULL && *line != '\0';) {
		unsigned number, function, size;
		int length = 0;

		if (sscanf(line, "P\t%u\t%u\t%u%n", &number, &function, &size, &length) == 3) {
			assert_true(number > 0 && number < MAX_PIECES && rows[number] == NULL);
			rows[number] = line + length;
			sizes[number] = size;
		}
		line = strchr(line, '\n');
		line = line != NULL ? line + 1 : NULL;
	}
}

/* ---- decoding a piece ---- */

struct cursor {
	const char *op;	   /* position in the row */
	const uint8_t *at; /* position in the piece */
	const uint8_t *end;
};

static uint64_t take(struct cursor *c, unsigned bytes)
{
	uint64_t value = 0;

	assert_true(bytes <= 8 && c->at + bytes <= c->end);
	memcpy(&value, c->at, bytes);
	c->at += bytes;
	return value;
}

/* Addresses are stored with 1 added. */
static const void *take_address(struct cursor *c)
{
	return (const void *)(uintptr_t)(take(c, 8) - 1);
}

/* Takes the next value of an operation.  Returns false if there are no more.  Skips marks. */
static bool take_value(struct cursor *c, uint64_t *value, unsigned *bytes)
{
	char *end;

	while (*c->op == '*' || *c->op == '<')
		for (c->op++; *c->op >= '0' && *c->op <= '9'; c->op++)
			;
	if (*c->op == '\t' || *c->op == '\n')
		return false;
	assert_non_null(strchr("ipFC", *c->op));
	*bytes = (unsigned)strtoul(c->op + 1, &end, 10);
	c->op = end;
	*value = take(c, *bytes);
	return true;
}

static uint8_t replayed[ARRAYS][BYTES]; /* memory after the stores in the pieces were repeated */

/* Returns the bytes of the repeated memory that correspond to an address in the program's
 * arrays. */
static uint8_t *replay_at(const void *p, uint64_t size)
{
	for (int a = 0; a < ARRAYS; a++) {
		uintptr_t offset = (uintptr_t)p - (uintptr_t)arrays[a];

		if (offset + size <= (uintptr_t)(element[a] * ELEMENTS))
			return &replayed[a][offset];
	}
	fail_msg("an address of no array");
	return NULL;
}

static void read_access(struct cursor *c, char letter)
{
	const void *p = take_address(c);
	uint64_t value;
	unsigned bytes;

	assert_true(take_value(c, &value, &bytes));
	hear(letter == 'l' ? 'r' : 'w', p, bytes, 0);
	if (letter == 'l')
		assert_memory_equal(replay_at(p, bytes), &value, bytes);
	else
		memcpy(replay_at(p, bytes), &value, bytes);
}

static void read_copy(struct cursor *c)
{
	const void *to = take_address(c), *from;
	uint64_t source = 0, length = 0;
	unsigned bytes;

	assert_true(take_value(c, &source, &bytes) && take_value(c, &length, &bytes));
	from = (const void *)(uintptr_t)source;
	hear('r', from, length, 0);
	hear('w', to, length, 0);
	memmove(replay_at(to, length), replay_at(from, length), length);
}

static void read_fill(struct cursor *c)
{
	const void *to = take_address(c);
	uint64_t byte = 0, length = 0;
	unsigned bytes;

	assert_true(take_value(c, &byte, &bytes) && take_value(c, &length, &bytes));
	hear('w', to, length, 0);
	if (length != 0)
		memset(replay_at(to, length), (int)byte, length);
}

static void read_op(struct cursor *c)
{
	uint64_t value;
	unsigned bytes;
	char letter = *c->op++;

	while (*c->op >= '0' && *c->op <= '9')
		c->op++;
	if (letter == 'l' || letter == 's')
		read_access(c, letter);
	else if (letter == 'm')
		read_copy(c);
	else if (letter == 'n')
		read_fill(c);
	else
		assert_non_null(strchr("excvbi", letter));
	while (take_value(c, &value, &bytes))
		;
}

/* ---- hooks that receive pieces ---- */

static uint8_t room[ROOM];
static size_t used;
static int open_pieces, stops, bounds, progress;

static void *hook_enter(void)
{
	return &self;
}

static void *hook_piece(void *thread, uint32_t size)
{
	void *p = room + used;

	assert_ptr_equal(thread, &self);
	assert_true(size >= RADDLE_PIECE_HEAD && size <= RADDLE_PIECE_MAX && used + size <= ROOM);
	memset(p, 0, size);
	used += size;
	open_pieces++;
	return p;
}

/* Checks a completed piece: its size is that of its row, and its last byte marks it as complete. */
static void hook_piece_end(const uint8_t *p)
{
	uint32_t head, number;
	struct cursor c;

	memcpy(&head, p, 4);
	assert_true(head & RADDLE_FULL_PIECE);
	number = raddle_piece_number(head);
	assert_true(number < MAX_PIECES && rows[number] != NULL);
	c = (struct cursor){rows[number], p + RADDLE_PIECE_HEAD, p + sizes[number]};
	while (*c.op == '\t') {
		c.op++;
		read_op(&c);
	}
	if (sizes[number] > RADDLE_PIECE_HEAD)
		assert_int_equal(take(&c, 1), 1);
	assert_ptr_equal(c.at, c.end);
	assert_int_equal(--open_pieces, 0);
	used = 0;
}

static void hook_range(void *thread, const void *p, uint32_t site, uint64_t size)
{
	(void)thread;
	(void)site;
	if (size != 0) /* after a copy, real memory has the copied bytes */
		assert_memory_equal(replay_at(p, size), p, size);
}

/* ---- stops, which have another journal ---- */

static struct journal stopped;

static void hook_stop(void *thread, const void *p, uint64_t what)
{
	struct journal kept;

	assert_ptr_equal(thread, &self);
	if (what & RADDLE_STOP_CALLS || RADDLE_ATOMIC_SIZE(what) == 0)
		return;
	kept = heard;
	heard = stopped;
	hear(RADDLE_ATOMIC_WRITES(what) ? 'w' : 'r', p, RADDLE_ATOMIC_SIZE(what), 0);
	stopped = heard;
	heard = kept;
	stops++;
}

/* Tests of bounds are inserted only where the access may leave the variable, but none fails. */
static void hook_within(void *thread, const char *p, uint64_t size, const char *start, uint64_t extent,
			uint32_t site)
{
	assert_ptr_equal(thread, &self);
	assert_true(site != 0 && p >= start && p + size <= start + extent);
	bounds++;
}

/* Some of the loops call functions and end by counting. */
static void hook_progress(void)
{
	progress++;
}

static void *const hooks[HOOK_COUNT] = {
	[HOOK_ENTER] = hook_enter,	[HOOK_PIECE] = hook_piece,	 [HOOK_PIECE_END] = hook_piece_end,
	[HOOK_READ_RANGE] = hook_range, [HOOK_WRITE_RANGE] = hook_range, [HOOK_STOP] = hook_stop,
	[HOOK_WITHIN] = hook_within,	[HOOK_PROGRESS] = hook_progress,
};

static void nothing(void)
{
}

/* ---- random programs, run with hooks and interpreted ---- */

/* Removes site numbers, which differ between the flavours, and synchronisation, which is not an
 * access. */
static void simplify(struct journal *j)
{
	int kept = 0;

	for (int i = 0; i < j->count; i++) {
		if (j->items[i].kind == 's')
			continue;
		j->items[kept] = j->items[i];
		j->items[kept++].site = 0;
	}
	j->count = kept;
}

static const char *compare(const struct twin *t, bool is_led)
{
	const char *wrong = compare_events(&t->journal, &heard);

	if (!has_same_result(t))
		return "another result";
	if (wrong == NULL && memcmp(replayed, t->memory, sizeof replayed))
		wrong = "the values make another result";
	if (wrong == NULL && is_led)
		wrong = compare_events(&t->journal, &stopped);
	return wrong;
}

struct way {
	const char *name;
	enum raddle_flavour_number flavour;
	bool fast;
};

static const struct way ways[] = {
	{"full, quick", RADDLE_FLAVOUR_FULL, false},
	{"full, fast", RADDLE_FLAVOUR_FULL, true},
	{"led, fast", RADDLE_FLAVOUR_LED, true},
};

static void check_run(struct instr_jit *j, struct program *p, int top, int64_t n, const struct way *way,
		      uint64_t seed)
{
	static struct twin t;
	const char *wrong;

	t = (struct twin){.p = p, .n = n};
	run_nodes(&t, 0, top);
	if (t.journal.full)
		return;
	simplify(&t.journal);
	memset(replayed, 0, sizeof replayed);
	stopped.count = 0;
	used = 0;
	open_pieces = 0;
	run_it(j, n);
	assert_int_equal(open_pieces, 0);
	wrong = compare(&t, way->flavour == RADDLE_FLAVOUR_LED);
	if (wrong != NULL)
		fail_msg("seed %llu, %s, n = %lld: %s\n%s", (unsigned long long)seed, way->name, (long long)n,
			 wrong, text_of(p, top));
}

static void check_program(uint64_t seed, const struct way *way)
{
	static const struct instr_jit_symbol others[] = {{"sync", nothing}};
	struct rd_random r = rd_random_of(seed, 1);
	struct program p = {.count = 0};
	struct instr_jit j = {.options = {.fast = way->fast}};
	int loops[MAX_DEPTH], top = add_nodes(&p, &r, 2 + pick(&r, 4), loops, 0);
	char *text = text_of(&p, top), *table;

	assert_int_equal(instr_jit_open(&j, way->flavour, text), 0);
	assert_int_equal(instr_jit_instrument(&j), 0);
	table = rd_xstrdup(j.u.sites.text.data);
	read_rows(table);
	assert_int_equal(instr_jit_generate(&j), 0);
	instr_jit_load(&j, hooks, others, 1);
	for (int64_t n = 0; n < 8; n += 2)
		check_run(&j, &p, top, n, way, seed);
	instr_jit_close(&j);
	free(table);
	free(text);
}

/* Defines the functions that make faults.  No fault is due in these runs, so the code never calls
 * them. */
static void name_faults(void)
{
	static const char *const names[] = {"__raddle_inject_1",  "__raddle_inject_8",
					    "__raddle_inject_16", "__raddle_inject_32",
					    "__raddle_inject_64", "__raddle_inject_call"};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		LLVMAddSymbol(names[i], (void *)(uintptr_t)nothing);
}

static void pieces_tell_accesses_and_values(void **state)
{
	const char *given = getenv("SEED");
	uint64_t first = given != NULL ? strtoull(given, NULL, 10) : 1;
	uint64_t count = given != NULL ? 1 : getenv("RADDLE_LONG") != NULL ? 150 : 25;

	(void)state;
	name_faults();
	print_message("seeds %llu to %llu\n", (unsigned long long)first,
		      (unsigned long long)(first + count - 1));
	for (uint64_t seed = first; seed < first + count; seed++)
		for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
			check_program(seed, &ways[i]);
	assert_true((stops > 100 && bounds > 100 && progress > 100) || given != NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pieces_tell_accesses_and_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
