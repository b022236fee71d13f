// SPDX-License-Identifier: Apache-2.0
/*
 * Unit tests of the table of events, raddle/event.inc.  Its rows are consistent, the queries of
 * event.h return for every code what is listed here by hand, and doc/format/trace.md lists the
 * same.  With RADDLE_GOLDEN=update in the environment that list is written instead of compared.
 */
#include "base/alloc.h"
#include "base/buf.h"
#include "base/file.h"
#include "trace/event.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#define CODES (RADDLE_ACCESS + 1u)

struct row {
	unsigned code;
	const char *name, *class, *role, *manner, *counts, *operands, *names, *does, *brief, *meaning;
};

static const struct row rows[] = {
#define RADDLE_EVENT(code, constant, name, class, role, manner, counts, operands, names, does, brief,        \
		     meaning)                                                                                \
	{code, name, #class, #role, #manner, #counts, operands, names, does, brief, meaning},
#define RADDLE_RECORD RADDLE_EVENT
#include "raddle/event.inc"
};
#define ROWS (sizeof rows / sizeof *rows)

static const char *const classes[] = {
#define RADDLE_CLASS(constant, name, ...) name,
#include "raddle/event.inc"
};
static const char *const roles[] = {
#define RADDLE_ROLE(constant, name, ...) name,
#include "raddle/event.inc"
};
static const char *const manners[] = {
#define RADDLE_MANNER(constant, name, ...) name,
#include "raddle/event.inc"
};

static unsigned words_in(const char *s)
{
	unsigned n = 0;

	while (*s) {
		n++;
		s += strcspn(s, " ");
		s += strspn(s, " ");
	}
	return n;
}

static void rows_are_sound(void **state)
{
	bool seen[CODES] = {false};

	(void)state;
	for (size_t i = 0; i < ROWS; i++) {
		const struct row *r = &rows[i];
		size_t n = strlen(r->operands);
		bool step = strcmp(r->counts, "STEP") == 0;

		assert_in_range(r->code, 1, RADDLE_ACCESS);
		assert_false(seen[r->code]);
		seen[r->code] = true;
		assert_true(n <= RADDLE_MAX_OPERANDS);
		assert_int_equal(strspn(r->operands, "qtaubsx"), n);
		assert_int_equal(words_in(r->names), n);
		/* There is at most one q and one t, and they come first. */
		assert_null(strchr(r->operands + (n > 0), 'q'));
		assert_null(n > 2 ? strchr(r->operands + 2, 't') : NULL);
		if (strstr(r->names, "result"))
			assert_string_equal(strstr(r->names, "result"), "result");
		assert_int_equal(step, *r->does != '\0');
		assert_int_equal(step, *r->brief != '\0');
		assert_int_equal(step, strstr(r->does, " ~") != NULL);
		assert_true(*r->meaning != '\0');
		if (raddle_is_sync(r->code))
			assert_memory_equal(r->operands, "qta", 3);
		assert_int_equal(raddle_event_row(r->code)->last, n ? n - 1 : 0);
		assert_int_equal(raddle_has_q(r->code), *r->operands == 'q');
		if (r->name)
			assert_int_equal(trace_kind_find(r->name), r->code);
	}
	assert_int_equal(sizeof classes / sizeof *classes, RADDLE_CLASS_COUNT);
	assert_int_equal(sizeof roles / sizeof *roles, RADDLE_ROLE_COUNT);
	assert_int_equal(sizeof manners / sizeof *manners, RADDLE_MANNER_COUNT);
}

/* Each kind that makes a thread wait leads to a kind of the same class that ends the wait. */
static void waits_lead_somewhere(void **state)
{
	(void)state;
	for (uint32_t kind = 0; kind < CODES; kind++) {
		uint32_t next = raddle_awaited(kind);
		bool waits =
			raddle_role(kind) == RADDLE_ROLE_REQUEST || raddle_role(kind) == RADDLE_ROLE_WAIT;

		assert_int_equal(waits, next != kind);
		assert_int_equal(raddle_class(next), raddle_class(kind));
		if (waits)
			assert_true(raddle_is_counted(next));
	}
	assert_int_equal(raddle_awaited(RADDLE_MUTEX_REQUEST), RADDLE_MUTEX_LOCK);
	assert_int_equal(raddle_awaited(RADDLE_RWLOCK_REQUEST), RADDLE_RWLOCK_WRLOCK);
	assert_int_equal(raddle_awaited(RADDLE_SPIN_REQUEST), RADDLE_SPIN_LOCK);
	assert_int_equal(raddle_awaited(RADDLE_SEM_REQUEST), RADDLE_SEM_WAIT);
	assert_int_equal(raddle_awaited(RADDLE_JOIN_REQUEST), RADDLE_THREAD_JOIN);
	assert_int_equal(raddle_awaited(RADDLE_ONCE_REQUEST), RADDLE_ONCE_PASS);
	assert_int_equal(raddle_awaited(RADDLE_COND_WAIT), RADDLE_COND_WAKE);
	assert_int_equal(raddle_awaited(RADDLE_BARRIER_ENTER), RADDLE_BARRIER_EXIT);
}

/* ---- twins: the queries of event.h, with their answers listed by hand ---- */

static bool is_one_of(uint32_t kind, const uint32_t *list)
{
	for (; *list; list++)
		if (*list == kind)
			return true;
	return false;
}

#define ONE_OF(kind, ...) is_one_of(kind, (const uint32_t[]){__VA_ARGS__, 0})

static bool twin_init(uint32_t kind)
{
	return ONE_OF(kind, RADDLE_MUTEX_INIT, RADDLE_RWLOCK_INIT, RADDLE_SPIN_INIT, RADDLE_COND_INIT,
		      RADDLE_BARRIER_INIT, RADDLE_SEM_INIT);
}

static bool twin_destroy(uint32_t kind)
{
	return ONE_OF(kind, RADDLE_MUTEX_DESTROY, RADDLE_RWLOCK_DESTROY, RADDLE_SPIN_DESTROY,
		      RADDLE_COND_DESTROY, RADDLE_BARRIER_DESTROY, RADDLE_SEM_DESTROY);
}

static bool twin_request(uint32_t kind)
{
	return ONE_OF(kind, RADDLE_MUTEX_REQUEST, RADDLE_RWLOCK_REQUEST, RADDLE_SPIN_REQUEST,
		      RADDLE_SEM_REQUEST, RADDLE_JOIN_REQUEST, RADDLE_ONCE_REQUEST);
}

static bool twin_counts(uint32_t kind)
{
	return kind >= RADDLE_THREAD_START && kind <= RADDLE_ONCE_REQUEST && trace_kind(kind)->name &&
	       kind != RADDLE_RWLOCK_WRITERS && !twin_init(kind) && !twin_destroy(kind) &&
	       !twin_request(kind);
}

static enum raddle_handling twin_handling(uint32_t kind)
{
	if (twin_init(kind))
		return RADDLE_INITIALISES;
	if (twin_destroy(kind))
		return RADDLE_DESTROYS;
	if (kind == RADDLE_COND_WAKE || kind == RADDLE_BARRIER_EXIT)
		return RADDLE_HANDLES_NOT;
	return kind >= RADDLE_MUTEX_INIT && kind <= RADDLE_SEM_POST && twin_counts(kind) ? RADDLE_USES
											 : RADDLE_HANDLES_NOT;
}

static uint32_t twin_size(uint32_t kind)
{
	return kind <= RADDLE_MUTEX_UNLOCK     ? 40
	       : kind <= RADDLE_RWLOCK_UNLOCK  ? 56
	       : kind <= RADDLE_SPIN_UNLOCK    ? 4
	       : kind <= RADDLE_COND_BROADCAST ? 48
					       : 32;
}

static bool twin_shares(uint32_t kind)
{
	return ONE_OF(kind, RADDLE_RWLOCK_RDLOCK, RADDLE_RWLOCK_TRYRDLOCK, RADDLE_RWLOCK_TIMEDRDLOCK);
}

static int twin_lock_effect(uint32_t kind, uint64_t result)
{
	if (ONE_OF(kind, RADDLE_MUTEX_LOCK, RADDLE_MUTEX_TRYLOCK, RADDLE_MUTEX_TIMEDLOCK,
		   RADDLE_RWLOCK_WRLOCK, RADDLE_RWLOCK_TRYWRLOCK, RADDLE_RWLOCK_TIMEDWRLOCK, RADDLE_SPIN_LOCK,
		   RADDLE_SPIN_TRYLOCK) ||
	    twin_shares(kind))
		return result == 0 || result == EOWNERDEAD;
	if (ONE_OF(kind, RADDLE_MUTEX_UNLOCK, RADDLE_RWLOCK_UNLOCK, RADDLE_SPIN_UNLOCK))
		return result == 0 ? -1 : 0;
	return 0;
}

static bool twin_try(uint32_t kind)
{
	return ONE_OF(kind, RADDLE_MUTEX_TRYLOCK, RADDLE_RWLOCK_TRYRDLOCK, RADDLE_RWLOCK_TRYWRLOCK,
		      RADDLE_SPIN_TRYLOCK, RADDLE_SEM_TRYWAIT);
}

static bool twin_timed(uint32_t kind)
{
	return ONE_OF(kind, RADDLE_MUTEX_TIMEDLOCK, RADDLE_RWLOCK_TIMEDRDLOCK, RADDLE_RWLOCK_TIMEDWRLOCK,
		      RADDLE_SEM_TIMEDWAIT);
}

/* Returns the class of a kind, by the ranges of codes that the classes have. */
static enum raddle_class twin_class(uint32_t kind)
{
	static const uint8_t last[][2] = {
		{0x02, RADDLE_CLASS_NONE},    {0x04, RADDLE_CLASS_ACCESS},  {0x05, RADDLE_CLASS_FENCE},
		{0x07, RADDLE_CLASS_ACCESS},  {0x08, RADDLE_CLASS_NONE},    {0x1f, RADDLE_CLASS_THREAD},
		{0x27, RADDLE_CLASS_MUTEX},   {0x33, RADDLE_CLASS_RWLOCK},  {0x3f, RADDLE_CLASS_SPIN},
		{0x47, RADDLE_CLASS_COND},    {0x4f, RADDLE_CLASS_BARRIER}, {0x57, RADDLE_CLASS_SEM},
		{0x5b, RADDLE_CLASS_ONCE},    {0x5f, RADDLE_CLASS_CHANNEL}, {0x6f, RADDLE_CLASS_MEMORY},
		{0x77, RADDLE_CLASS_PROCESS}, {0x7f, RADDLE_CLASS_OUTSIDE}, {0x80, RADDLE_CLASS_ACCESS},
	};
	size_t i = 0;

	while (last[i][0] < kind)
		i++;
	return ONE_OF(kind, RADDLE_STRIDE, RADDLE_RANGES) || trace_kind(kind)->name ? last[i][1]
										    : RADDLE_CLASS_NONE;
}

static void queries_equal_their_twins(void **state)
{
	(void)state;
	for (uint32_t kind = 0; kind < CODES; kind++) {
		bool orders = kind == RADDLE_ATOMIC || kind == RADDLE_FENCE ||
			      (kind >= RADDLE_THREAD_START && kind <= RADDLE_CHANNEL_RECEIVE) ||
			      ONE_OF(kind, RADDLE_FORK, RADDLE_EXEC, RADDLE_EXIT, RADDLE_ABORT, RADDLE_ORDER);

		assert_int_equal(raddle_class(kind), twin_class(kind));
		assert_int_equal(raddle_is_counted(kind), twin_counts(kind));
		assert_int_equal(raddle_handling(kind), twin_handling(kind));
		if (raddle_handling(kind) != RADDLE_HANDLES_NOT)
			assert_int_equal(raddle_object_size(kind), twin_size(kind));
		assert_int_equal(raddle_role(kind) == RADDLE_ROLE_INIT, twin_init(kind));
		assert_int_equal(raddle_role(kind) == RADDLE_ROLE_DESTROY, twin_destroy(kind));
		assert_int_equal(raddle_role(kind) == RADDLE_ROLE_REQUEST, twin_request(kind));
		assert_int_equal(raddle_role(kind) == RADDLE_ROLE_SHARE, twin_shares(kind));
		assert_int_equal(raddle_manner(kind) == RADDLE_MANNER_TRY, twin_try(kind));
		assert_int_equal(raddle_manner(kind) == RADDLE_MANNER_TIMED, twin_timed(kind));
		assert_int_equal(raddle_manner(kind) == RADDLE_MANNER_ALL, kind == RADDLE_COND_BROADCAST);
		assert_int_equal(raddle_is_cond_wait(kind), ONE_OF(kind, RADDLE_COND_WAIT, RADDLE_COND_WAKE));
		assert_int_equal(raddle_is_access(kind), ONE_OF(kind, RADDLE_RANGE, RADDLE_ATOMIC,
								RADDLE_STRIDE, RADDLE_RANGES, RADDLE_ACCESS));
		assert_int_equal(raddle_ends_segment(kind, 0), orders && trace_kind(kind)->name);
		assert_int_equal(raddle_ends_segment(kind, RADDLE_ATOMIC_PASSED),
				 kind != RADDLE_ATOMIC && orders && trace_kind(kind)->name);
		for (unsigned result = 0; result < 256; result++)
			assert_int_equal(trace_lock_effect(kind, result), twin_lock_effect(kind, result));
	}
}

/* The queries treat all codes of plain accesses alike. */
static void all_accesses_are_one(void **state)
{
	(void)state;
	for (uint32_t code = RADDLE_ACCESS; code < 256; code++) {
		assert_true(raddle_is_access(code));
		assert_false(raddle_has_q(code));
		assert_ptr_equal(raddle_event_row(code), raddle_event_row(RADDLE_ACCESS));
	}
}

/* ---- the list in doc/format/trace.md ---- */

static void write_list(struct rd_buf *out)
{
	rd_buf_adds(out, "| code | event | class | role | manner | counts | operands | meaning |\n"
			 "|---|---|---|---|---|---|---|---|\n");
	for (size_t i = 0; i < ROWS; i++) {
		const struct row *r = &rows[i];
		const char *role = roles[raddle_role(r->code)], *manner = manners[raddle_manner(r->code)];

		rd_buf_addf(out, "| 0x%02x | `%s` | %s | %s | %s | %s | %s | %s |\n", r->code,
			    r->name		       ? r->name
			    : r->code == RADDLE_STRIDE ? "stride"
						       : "ranges",
			    classes[raddle_class(r->code)], strcmp(role, "other") ? role : "–",
			    strcmp(manner, "plain") ? manner : "–", raddle_is_counted(r->code) ? "yes" : "–",
			    *r->names ? r->names : "–", r->meaning);
	}
}

static void page_lists_the_table(void **state)
{
	static const char heading[] = "\n## Events\n";
	const char *root = getenv("ROOT"), *update = getenv("RADDLE_GOLDEN");
	char *path = rd_xasprintf("%s/doc/format/trace.md", root ? root : ".");
	struct rd_buf page = RD_BUF_INIT, list = RD_BUF_INIT, fresh = RD_BUF_INIT;
	char *begin, *end;

	(void)state;
	write_list(&list);
	assert_int_equal(rd_file_read(path, &page), 0);
	begin = strstr(page.data, heading);
	begin = begin ? strstr(begin, "\n| code |") : NULL;
	assert_non_null(begin);
	end = strstr(++begin, "\n\n");
	assert_non_null(end);
	if (update && strcmp(update, "update") == 0) {
		rd_buf_add(&fresh, page.data, (size_t)(begin - page.data));
		rd_buf_adds(&fresh, list.data);
		rd_buf_adds(&fresh, end + 1);
		assert_int_equal(rd_file_write(path, fresh.data, fresh.length), 0);
	} else {
		end[1] = '\0';
		assert_string_equal(begin, list.data);
	}
	rd_buf_release(&page);
	rd_buf_release(&list);
	rd_buf_release(&fresh);
	free(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_sound),
		cmocka_unit_test(waits_lead_somewhere),
		cmocka_unit_test(queries_equal_their_twins),
		cmocka_unit_test(all_accesses_are_one),
		cmocka_unit_test(page_lists_the_table),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
