// SPDX-License-Identifier: Apache-2.0
/*
 * Unit tests of the table of library functions, raddle/libc.inc: all rows of a function are
 * together, no fact occurs twice, and facts of different kinds do not contradict each other.
 */
#include "base/alloc.h"
#include "base/map.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

enum kind {
	INTERPOSED,
	QUIET,
	WAITS,
	RANGE,
	FORMAT,
	REACHES,
	POINTERS,
	VARIES,
	STATE,
	STREAM,
	FILES,
	EMITS,
	BYTES,
	PROCESS,
	RAW,
	SIZE,
	ACT,
	COMPLAINS,
};

/* A row of the table: the first word after the name, and all words as text. */
static const struct fact {
	enum kind kind;
	const char *name, *word, *text;
} facts[] = {
#define LIBC_INTERPOSED(group, name) {INTERPOSED, #name, #group, ""},
#define LIBC_QUIET(name) {QUIET, name, "", ""},
#define LIBC_WAITS(name) {WAITS, name, "", ""},
#define LIBC_RANGE(name, argument, direction, length, a, b)                                                  \
	{RANGE, name, #length, #argument " " #direction " " #length},
#define LIBC_FORMAT(name, way, argument) {FORMAT, name, #way, ""},
#define LIBC_REACHES(name, way, argument) {REACHES, name, #way, ""},
#define LIBC_POINTERS(name, role, subject, effects) {POINTERS, name, #role, effects},
#define LIBC_VARIES(name, of) {VARIES, name, #of, ""},
#define LIBC_STATE(name, state) {STATE, name, #state, ""},
#define LIBC_STREAM(name, argument) {STREAM, name, #argument, ""},
#define LIBC_FILE(name, way, argument) {FILES, name, #way, ""},
#define LIBC_EMITS(name) {EMITS, name, "", ""},
#define LIBC_BYTES(name) {BYTES, name, "", ""},
#define LIBC_PROCESS(name) {PROCESS, name, "", ""},
#define LIBC_RAW(name) {RAW, name, "", ""},
#define LIBC_SIZE(name, argument, what) {SIZE, name, #what, #argument},
#define LIBC_ACT(name, act, result, error) {ACT, name, #act, ""},
#define LIBC_COMPLAINS(name) {COMPLAINS, name, "", ""},
#include "raddle/libc.inc"
};
#define FACTS (sizeof facts / sizeof *facts)

/* Whether there is a fact of this kind about the function, with this word (NULL: any word). */
static bool has(const char *name, enum kind kind, const char *word)
{
	for (size_t i = 0; i < FACTS; i++)
		if (facts[i].kind == kind && strcmp(facts[i].name, name) == 0 &&
		    (!word || strcmp(facts[i].word, word) == 0))
			return true;
	return false;
}

static void a_function_stands_together(void **state)
{
	struct rd_names seen = RD_NAMES_INIT;
	uint32_t number;

	(void)state;
	for (size_t i = 0; i < FACTS; i++) {
		if (i && strcmp(facts[i].name, facts[i - 1].name) == 0)
			continue;
		if (rd_names_find(&seen, facts[i].name, strlen(facts[i].name), &number))
			fail_msg("%s is in the table twice", facts[i].name);
		rd_names_put(&seen, facts[i].name, strlen(facts[i].name));
	}
	assert_true(seen.count > 1000);
	rd_names_release(&seen);
}

static void no_fact_stands_twice(void **state)
{
	(void)state;
	for (size_t i = 0; i < FACTS; i++)
		for (size_t k = i + 1; k < FACTS && strcmp(facts[i].name, facts[k].name) == 0; k++)
			if (facts[i].kind == facts[k].kind && strcmp(facts[i].word, facts[k].word) == 0 &&
			    strcmp(facts[i].text, facts[k].text) == 0)
				fail_msg("%s: %s %s twice", facts[i].name, facts[i].word, facts[i].text);
}

/* Of most kinds, a function has at most one fact. */
static void some_facts_are_single(void **state)
{
	(void)state;
	for (size_t i = 0; i + 1 < FACTS; i++) {
		bool many = facts[i].kind == RANGE || facts[i].kind == SIZE;

		if (!many && facts[i].kind == facts[i + 1].kind &&
		    strcmp(facts[i].name, facts[i + 1].name) == 0)
			fail_msg("%s: two facts of one kind", facts[i].name);
	}
}

static void quiet_functions_do_nothing_else(void **state)
{
	static const enum kind loud[] = {INTERPOSED, WAITS, STATE, STREAM, EMITS, RAW, ACT, COMPLAINS};

	(void)state;
	for (size_t i = 0; i < FACTS; i++) {
		if (facts[i].kind != QUIET)
			continue;
		for (size_t k = 0; k < sizeof loud / sizeof *loud; k++)
			if (has(facts[i].name, loud[k], NULL) &&
			    !(loud[k] == INTERPOSED && has(facts[i].name, INTERPOSED, "world")))
				fail_msg("%s is quiet and is not", facts[i].name);
		if (has(facts[i].name, RANGE, "OPENED") || has(facts[i].name, RANGE, "DESCRIPTOR"))
			fail_msg("%s is quiet and handles descriptors", facts[i].name);
	}
}

/* Faults can change what locks do, and the runtime must notice that.  So it has to intercept these
 * functions. */
static void locks_are_interposed(void **state)
{
	static const char *const acts[] = {"LOCK", "TRY_LOCK", "UNLOCK", "SIGNAL", "WAIT", "CREATE"};

	(void)state;
	for (size_t i = 0; i < FACTS; i++)
		for (size_t k = 0; facts[i].kind == ACT && k < sizeof acts / sizeof *acts; k++)
			if (strcmp(facts[i].word, acts[k]) == 0 && !has(facts[i].name, INTERPOSED, "sync"))
				fail_msg("%s is not interposed", facts[i].name);
}

static void allocators_agree(void **state)
{
	(void)state;
	for (size_t i = 0; i < FACTS; i++) {
		const struct fact *f = &facts[i];
		bool memory = f->kind == INTERPOSED && strcmp(f->word, "memory") == 0;
		bool allocates = has(f->name, POINTERS, "ALLOCATE") || has(f->name, POINTERS, "RESIZE");

		if (memory && !allocates && !has(f->name, POINTERS, "FREE") &&
		    !has(f->name, POINTERS, "NONE"))
			fail_msg("%s: nothing is said about its memory", f->name);
		if (f->kind == RAW && !has(f->name, INTERPOSED, NULL))
			fail_msg("%s gives memory that the runtime does not see", f->name);
		if (f->kind == ACT && strcmp(f->word, "FREE") == 0 && !has(f->name, POINTERS, "FREE"))
			fail_msg("%s frees and does not", f->name);
	}
}

static void output_is_bytes(void **state)
{
	(void)state;
	for (size_t i = 0; i < FACTS; i++)
		if (facts[i].kind == EMITS && has(facts[i].name, RANGE, NULL) &&
		    !has(facts[i].name, BYTES, NULL))
			fail_msg("%s emits what are no bytes", facts[i].name);
}

/* These facts were in the lists from which the table was made. */
static void some_facts_by_hand(void **state)
{
	static const struct {
		const char *name;
		enum kind kind;
		const char *word;
	} known[] = {
		{"pthread_mutex_lock", ACT, "LOCK"},
		{"sem_trywait", ACT, "TRY_LOCK"},
		{"fwrite", ACT, "WRITE"},
		{"mmap", ACT, "ALLOC"},
		{"calloc", SIZE, "ALLOC"},
		{"fread", SIZE, "FILE"},
		{"read", SIZE, "READ"},
		{"strtok", STATE, "STRTOK"},
		{"fwrite", STREAM, "3"},
		{"printf", STREAM, "STDOUT"},
		{"openat", FILES, "OPENS"},
		{"getline", FILES, "READS"},
		{"abort", COMPLAINS, NULL},
		{"fork", PROCESS, NULL},
		{"getpid", VARIES, "IDENTITY"},
		{"poll", VARIES, "INPUT"},
		{"time", VARIES, "TIME"},
		{"getrandom", VARIES, "RANDOM"},
		{"strlen", BYTES, NULL},
		{"malloc", RAW, NULL},
		{"_ZnwmSt11align_val_t", RAW, NULL},
		{"sqrt", QUIET, NULL},
		{"sscanf", FORMAT, "SCANS"},
		{"syslog", FORMAT, "PRINTS"},
		{"cnd_wait", WAITS, NULL},
		{"getline", REACHES, "LEADS"},
		{"close", RANGE, "DESCRIPTOR"},
		{"accept", RANGE, "OPENED"},
		{"qsort", RANGE, "PRODUCT"},
		{"execve", INTERPOSED, "process"},
		{"_ZdlPv", INTERPOSED, "cxx"},
		{"write", EMITS, NULL},
	};
	static const struct {
		const char *name;
		enum kind kind;
	} not_so[] = {{"calloc", RAW},	 {"memcpy", BYTES}, {"printf", EMITS}, {"realloc", SIZE},
		      {"malloc", QUIET}, {"qsort", QUIET},  {"fopen", WAITS},  {"strdup", INTERPOSED}};

	(void)state;
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (!has(known[i].name, known[i].kind, known[i].word))
			fail_msg("%s: a fact is missing", known[i].name);
	for (size_t i = 0; i < sizeof not_so / sizeof *not_so; i++)
		if (has(not_so[i].name, not_so[i].kind, NULL))
			fail_msg("%s: a fact is wrong", not_so[i].name);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_function_stands_together),
		cmocka_unit_test(no_fact_stands_twice),
		cmocka_unit_test(some_facts_are_single),
		cmocka_unit_test(quiet_functions_do_nothing_else),
		cmocka_unit_test(locks_are_interposed),
		cmocka_unit_test(allocators_agree),
		cmocka_unit_test(output_is_bytes),
		cmocka_unit_test(some_facts_by_hand),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
