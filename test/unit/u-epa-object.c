// SPDX-License-Identifier: Apache-2.0
/* Unit tests of objects and canonical names.  Each test is about one situation, in runs with
 * different addresses and orders. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "epa-fixture.h"

#include "epa/object.h"

#include <stdlib.h>

#define STACK 0x7ffd00000000ull
#define CHILD 0x7f1200000000ull
#define HEAP 0x555555800000ull

/* Returns, one per line, the names of the locations that the run's loads access, and of the
 * pointers that they return. */
static char *names_of(struct fix *f)
{
	struct epa_source *s = fix_source(f);
	struct epa_names names;
	struct epa_walk *w;
	struct trace_record r;
	struct rd_buf out = RD_BUF_INIT;
	epa_names_init(&names, NULL);
	assert_int_equal(epa_walk_open(&w, s), RD_OK);
	struct epa_objects *o = epa_objects_new(w, &names);
	while (epa_walk_next(w, &r) > 0) {
		epa_objects_feed(o, &r);
		if (r.kind != TRACE_FULL_LOAD)
			continue;
		if (r.site == FIX_SITE(FIX_LOADP))
			epa_name_text(&names, f->sites, epa_objects_value(o, r.site, r.value), &out);
		else
			epa_name_text(&names, f->sites, epa_objects_name(o, r.site, r.address), &out);
		rd_buf_addc(&out, '\n');
	}
	epa_objects_free(o);
	epa_walk_close(w);
	epa_source_close(s);
	epa_names_release(&names);
	return rd_buf_detach(&out);
}

static void expect(struct fix *f, const char *text)
{
	char *names = names_of(f);
	assert_string_equal(names, text);
	free(names);
	fix_clear(f);
}

static void alloc(struct fix *f, unsigned thread, uint64_t address, uint64_t size)
{
	FIX(f, thread, FIX_MALLOC, size);
	FIX_EVENT(f, thread, RADDLE_ALLOC, address, size, 0);
	FIX(f, thread, FIX_RESULT, address);
}

static void look(struct fix *f, unsigned thread, uint64_t address)
{
	FIX(f, thread, FIX_LOAD, address, 1);
}

static void variables(void **state)
{
	struct fix *f = *state;
	fix_begin(f, STACK, FIX_PROGRAM);
	look(f, 0, FIX_PROGRAM + 0x100);
	look(f, 0, FIX_PROGRAM + 0x13f);
	look(f, 0, FIX_PROGRAM + 0x140);
	look(f, 0, STACK + 0xf000);
	FIX(f, 0, FIX_LOADP, STACK + 0xf008, 0);
	FIX(f, 0, FIX_LOADP, STACK + 0xf008, UINT64_MAX);
	expect(f, "shared[0]\nshared[7]+7\nprog+320\nargv\n0x0\n0xffffffffffffffff\n");
}

static void heap(void **state)
{
	struct fix *f = *state;
	fix_begin(f, STACK, FIX_PROGRAM);
	alloc(f, 0, HEAP, 24);
	alloc(f, 0, HEAP + 32, 24);
	look(f, 0, HEAP + 8);
	look(f, 0, HEAP + 32);
	look(f, 0, HEAP + 24); /* the end of the first block */
	look(f, 0, HEAP + 31); /* a byte before the next block */
	FIX_EVENT(f, 0, RADDLE_FREE, HEAP, 0);
	look(f, 0, HEAP + 8); /* in the freed block */
	alloc(f, 0, HEAP, 16);
	look(f, 0, HEAP + 8);
	expect(f,
	       "heap T_0 (u.c:60)#0+8\nheap T_0 (u.c:60)#1\nheap T_0 (u.c:60)#0+24\nheap T_0 (u.c:60)#1-1\n"
	       "heap T_0 (u.c:60)#0+8\nheap T_0 (u.c:60)#2+8\n");
}

static void stack(void **state)
{
	struct fix *f = *state;
	uint64_t top = STACK + 0x8000;
	fix_begin(f, STACK, FIX_PROGRAM);
	FIX(f, 0, FIX_ALLOCA, top, 32);
	look(f, 0, top + 4);
	for (unsigned i = 0; i < 2; i++) {
		FIX(f, 0, FIX_ENTRY);
		FIX(f, 0, FIX_ALLOCA2, top - 64, 16);
		look(f, 0, top - 64);
		look(f, 0, top + 4);
		FIX(f, 0, FIX_RETURN);
	}
	FIX(f, 0, FIX_ALLOCA2, top - 128, 16);
	FIX(f, 0, FIX_RESTORE, top - 64);
	look(f, 0, top + 31);
	expect(f, "local+4 in T_0 (u.c:40)#0\nother in T_0 (u.c:170)#0\nlocal+4 in T_0 (u.c:40)#0\n"
		  "other in T_0 (u.c:170)#1\nlocal+4 in T_0 (u.c:40)#0\nlocal+31 in T_0 (u.c:40)#0\n");
}

/* After an exception has left two functions, only variables of the function that caught it are
 * alive. */
static void unwinding(void **state)
{
	struct fix *f = *state;
	uint64_t top = STACK + 0x8000;
	struct epa_names names;
	struct epa_walk *w;
	struct trace_record r;
	fix_begin(f, STACK, FIX_PROGRAM);
	FIX(f, 0, FIX_FRAME, 0x70);
	FIX(f, 0, FIX_ALLOCA, top, 16);
	FIX(f, 0, FIX_ENTRY);
	FIX(f, 0, FIX_ALLOCA, top - 32, 16);
	FIX(f, 0, FIX_ENTRY);
	FIX(f, 0, FIX_ALLOCA, top - 64, 16);
	FIX(f, 0, FIX_LANDING, 0x70);
	struct epa_source *s = fix_source(f);
	epa_names_init(&names, NULL);
	assert_int_equal(epa_walk_open(&w, s), RD_OK);
	struct epa_objects *o = epa_objects_new(w, &names);
	while (epa_walk_next(w, &r) > 0)
		epa_objects_feed(o, &r);
	assert_int_equal(epa_objects_depth(o, 0), 2);
	assert_true(epa_objects_find(o, top, 0)->live);
	assert_false(epa_objects_find(o, top - 32, 0)->live);
	assert_false(epa_objects_find(o, top - 64, 0)->live);
	assert_int_equal(epa_objects_find(o, top - 64, 0)->kind, EPA_STACK);
	epa_objects_free(o);
	epa_walk_close(w);
	epa_source_close(s);
	epa_names_release(&names);
	fix_clear(f);
}

/* Two threads allocate memory and use their stacks.  Neither their order nor their addresses change
 * the names. */
static void two_threads(struct fix *f, bool swapped)
{
	uint64_t move = swapped ? 0x3000 : 0;
	unsigned first = swapped ? 2 : 1, second = 3 - first;
	fix_begin(f, STACK + move, FIX_PROGRAM + move);
	for (unsigned i = 0; i < 2; i++)
		FIX_EVENT(f, 0, RADDLE_THREAD_CREATE, i + 1, i, 0);
	/* The creator may use the pthread_t before the thread runs. */
	FIX(f, 0, FIX_LOADP, STACK, CHILD + move + 0x10000 - 0x900);
	for (unsigned i = 0; i < 2; i++) {
		unsigned t = i ? second : first;
		FIX_EVENT(f, t, RADDLE_THREAD_START, 0, t - 1, CHILD + move + 0x20000 * (t - 1), 0x10000, 0);
		FIX_EVENT(f, t, RADDLE_TLS, CHILD + move + 0x20000 * (t - 1) + 0xf000, 0x80);
	}
	for (unsigned i = 0; i < 2; i++) {
		unsigned t = i ? second : first;
		FIX(f, t, FIX_ENTRY);
		FIX(f, t, FIX_ALLOCA, CHILD + move + 0x20000 * (t - 1) + 0x8000, 16);
		alloc(f, t, HEAP + move + 0x100 * i, 16 + 8 * t);
	}
	FIX_EVENT(f, 0, RADDLE_THREAD_JOIN, 1, 0);
	look(f, 0, HEAP + move + (swapped ? 0x100 : 0));
	look(f, 0, HEAP + move + (swapped ? 0 : 0x100));
	look(f, 0, CHILD + move + 0x8004);
	look(f, 0, CHILD + move + 0x20000 + 0xf010);
	FIX(f, 0, FIX_LOADP, STACK, CHILD + move + 0x30000 - 0x900);
}

static void schedules(void **state)
{
	struct fix *f = *state;
	for (unsigned i = 0; i < 2; i++) {
		two_threads(f, i);
		expect(f, "T_0_0\nheap T_0_0 (u.c:60)#0\nheap T_0_1 (u.c:60)#0\nlocal+4 in T_0_0 (u.c:40)#0\n"
			  "tls T_0_1#0+16\nT_0_1\n");
	}
}

/* If the process ended before a thread's first record, the thread is known to its creator and
 * others by its pthread_t.  A different pthread_t, such as one made by a fault, does not identify
 * it. */
static void lost_threads(void **state)
{
	struct fix *f = *state;
	fix_begin(f, STACK, FIX_PROGRAM);
	FIX_EVENT(f, 0, RADDLE_THREAD_CREATE, 1, 0, 0);
	FIX_EVENT(f, 0, RADDLE_HANDLE, CHILD + 0x10000 - 0x900);
	FIX_EVENT(f, 0, RADDLE_THREAD_CREATE, 2, 1, 0);
	FIX_EVENT(f, 0, RADDLE_HANDLE, CHILD + 0x30000 - 0x900);
	FIX_EVENT(f, 2, RADDLE_THREAD_START, 0, 1, CHILD + 0x20000, 0x10000, 0);
	FIX(f, 0, FIX_LOADP, STACK, CHILD + 0x10000 - 0x900);
	FIX(f, 0, FIX_LOADP, STACK, CHILD + 0x30000 - 0x900);
	FIX(f, 2, FIX_LOADP, STACK, CHILD + 0x10000 - 0x900);
	FIX(f, 0, FIX_LOADP, STACK, (CHILD + 0x10000 - 0x900) ^ 0x40000000);
	expect(f, "T_0_0\nT_0_1\nunknown T_0 (u.c:110)#0\nT_0_0\n");
}

/* Strings of the command line may be anywhere, and their size is unknown. */
static void arguments(void **state)
{
	struct fix *f = *state;
	for (unsigned i = 0; i < 2; i++) {
		uint64_t argv = STACK + 0xf000, text = STACK + 0xf800 + 24 * i;
		FIX_EVENT(f, 0, RADDLE_THREAD_START, 0, 0, STACK, 0x10000, 1);
		FIX(f, 0, FIX_MAIN, 3, argv);
		FIX(f, 0, FIX_LOADP, argv + 16, text + 10);
		FIX(f, 0, FIX_LOADP, argv + 8, text);
		FIX(f, 0, FIX_LOADP, argv + 16, text + 10);
		look(f, 0, text + 3);
		look(f, 0, text + 11);
		expect(f, "argv[2]\nargv[1]\nargv[2]\nargv[1]+3\nargv[2]+1\n");
	}
}

/* Memory that no record describes is named after the thread that uses it. */
static void unknown(void **state)
{
	struct fix *f = *state;
	for (unsigned i = 0; i < 2; i++) {
		uint64_t there = 0x7f3300000000ull + 0x5000 * i;
		fix_begin(f, STACK, FIX_PROGRAM);
		for (unsigned t = 1; t < 3; t++)
			FIX_EVENT(f, t, RADDLE_THREAD_START, 0, t - 1, CHILD + 0x20000 * t, 0x10000, 0);
		for (unsigned t = 1; t < 3; t++) {
			unsigned who = i ? 3 - t : t;
			FIX_EVENT(f, who, RADDLE_COND_SIGNAL, 0);
			FIX(f, who, FIX_LOADP, STACK, there + 8 * who);
		}
		FIX_EVENT(f, 1, RADDLE_COND_SIGNAL, 0);
		FIX(f, 1, FIX_LOADP, STACK, there + 24);
		char *names = names_of(f);
		assert_non_null(strstr(names, "unknown T_0_0 (u.c:110)#0\n"));
		assert_non_null(strstr(names, "unknown T_0_0 (u.c:110)#0+16\n"));
		assert_non_null(strstr(names, "unknown T_0_1 (u.c:110)#0\n"));
		free(names);
		fix_clear(f);
	}
}

/* The frame of a library function is a new object in each call. */
static void library_frames(void **state)
{
	struct fix *f = *state;
	fix_begin(f, STACK, FIX_PROGRAM);
	for (unsigned i = 0; i < 2; i++) {
		FIX(f, 0, FIX_MALLOC, 1);
		FIX(f, 0, FIX_ENTRY);
		look(f, 0, STACK + 0x5000);
		look(f, 0, STACK + 0x5008);
		FIX(f, 0, FIX_RETURN);
		FIX(f, 0, FIX_RESULT, 0);
	}
	expect(f, "unknown T_0 (u.c:20)#0\nunknown T_0 (u.c:20)#0+8\nunknown T_0 (u.c:20)#1\nunknown T_0 "
		  "(u.c:20)#1+8\n");
}

static void maps(void **state)
{
	struct fix *f = *state;
	uint64_t map = 0x7f5500000000ull;
	fix_begin(f, STACK, FIX_PROGRAM);
	FIX(f, 0, FIX_MALLOC, 1);
	FIX_EVENT(f, 0, RADDLE_ALLOC, map, 0x4000, RADDLE_ALLOC_MMAP);
	look(f, 0, map + 0x3fff);
	FIX_EVENT(f, 0, RADDLE_UNMAP, map, 0x4000);
	FIX_EVENT(f, 0, RADDLE_ALLOC, map + 0x1000, 0x2000, RADDLE_ALLOC_MMAP);
	look(f, 0, map + 0x1fff);
	expect(f, "mmap T_0 (u.c:60)#0+16383\nmmap T_0 (u.c:60)#1+4095\n");
}

static int setup(void **state)
{
	struct fix *f = rd_xmalloc(sizeof *f);
	fix_init(f);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	fix_release(*state);
	free(*state);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(variables),	cmocka_unit_test(heap),	     cmocka_unit_test(stack),
		cmocka_unit_test(unwinding),	cmocka_unit_test(schedules), cmocka_unit_test(arguments),
		cmocka_unit_test(lost_threads), cmocka_unit_test(unknown),   cmocka_unit_test(library_frames),
		cmocka_unit_test(maps),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
