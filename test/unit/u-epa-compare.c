// SPDX-License-Identifier: Apache-2.0
/* Unit tests of the comparison of hand-made runs.  Each test is about one situation. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "epa-fixture.h"
#include "epa-twin.h"

#include "epa/compare.h"

#include <stdlib.h>

#define STACK 0x7ffd00000000ull
#define CHILD 0x7f1200000000ull
#define HEAP 0x555555800000ull
#define SHARED(program) ((program) + 0x100)

/* A golden run and another run, at different addresses. */
struct two {
	struct fix golden, run;
};

static uint64_t program_of(const struct two *t, const struct fix *f)
{
	return FIX_PROGRAM + (f == &t->run ? 0x7000 : 0);
}

static uint64_t stack_of(const struct two *t, const struct fix *f)
{
	return STACK + (f == &t->run ? 0x33000 : 0);
}

static void begin(struct two *t)
{
	struct fix *both[] = {&t->golden, &t->run};
	for (unsigned i = 0; i < 2; i++) {
		fix_clear(both[i]);
		fix_begin(both[i], stack_of(t, both[i]), program_of(t, both[i]));
	}
}

/* Adds a load or store of `shared`. */
static void touch(struct two *t, struct fix *f, unsigned thread, enum fix_site site, uint64_t value)
{
	FIX(f, thread, site, SHARED(program_of(t, f)), value);
}

static void both(struct two *t, unsigned thread, enum fix_site site, uint64_t value)
{
	touch(t, &t->golden, thread, site, value);
	touch(t, &t->run, thread, site, value);
}

static void exit_both(struct two *t)
{
	FIX_EVENT(&t->golden, 0, RADDLE_EXIT, 0);
	FIX_EVENT(&t->run, 0, RADDLE_EXIT, 0);
}

static void compare(struct two *t, bool propagation, struct epa_comparison *c)
{
	struct epa_source *golden = fix_source(&t->golden), *run = fix_source(&t->run);
	struct epa_reference *ref;
	struct epa_compare_options how = {.propagation = propagation};
	assert_int_equal(epa_reference_open(&ref, golden), RD_OK);
	assert_int_equal(twin_compare(ref, run, &how, c), RD_OK);
	epa_reference_close(ref);
	epa_source_close(golden);
	epa_source_close(run);
	c->names.base = NULL; /* it was released with the reference */
}

static enum epa_deviation_kind first_of(struct two *t)
{
	struct epa_comparison c;
	compare(t, false, &c);
	enum epa_deviation_kind kind = c.deviated ? c.first.kind : EPA_SAME;
	epa_comparison_release(&c);
	return kind;
}

static void same(void **state)
{
	struct two *t = *state;
	begin(t);
	/* More records than a block of the reference has. */
	for (unsigned i = 0; i < 5000; i++)
		both(t, 0, i % 3 ? FIX_LOAD : FIX_STORE, i * i);
	FIX(&t->golden, 0, FIX_STOREP, stack_of(t, &t->golden) + 0xf000,
	    SHARED(program_of(t, &t->golden)) + 8);
	FIX(&t->run, 0, FIX_STOREP, stack_of(t, &t->run) + 0xf000, SHARED(program_of(t, &t->run)) + 8);
	exit_both(t);
	assert_int_equal(first_of(t), EPA_SAME);
}

static void kinds(void **state)
{
	struct two *t = *state;
	begin(t);
	both(t, 0, FIX_LOAD, 1);
	touch(t, &t->golden, 0, FIX_LOAD, 2);
	touch(t, &t->run, 0, FIX_LOAD, 3);
	exit_both(t);
	assert_int_equal(first_of(t), EPA_DATA);

	begin(t);
	FIX(&t->golden, 0, FIX_LOAD, SHARED(program_of(t, &t->golden)), 1);
	FIX(&t->run, 0, FIX_LOAD, SHARED(program_of(t, &t->run)) + 8, 1);
	exit_both(t);
	assert_int_equal(first_of(t), EPA_ADDRESS);

	begin(t);
	both(t, 0, FIX_LOAD, 1);
	touch(t, &t->golden, 0, FIX_LOAD, 2);
	touch(t, &t->run, 0, FIX_LOAD2, 2);
	exit_both(t);
	assert_int_equal(first_of(t), EPA_CONTROL);

	begin(t);
	both(t, 0, FIX_LOAD, 1);
	touch(t, &t->golden, 0, FIX_LOAD, 2);
	/* Both runs were killed at an unknown place. */
	assert_int_equal(first_of(t), EPA_SAME);
	FIX_EVENT(&t->golden, 0, RADDLE_EXIT, 0);
	assert_int_equal(first_of(t), EPA_MISSING);

	begin(t);
	both(t, 0, FIX_LOAD, 1);
	exit_both(t);
	touch(t, &t->run, 0, FIX_LOAD, 2);
	assert_int_equal(first_of(t), EPA_EXTRA);
}

static void exit_status(void **state)
{
	struct two *t = *state;
	begin(t);
	FIX_EVENT(&t->golden, 0, RADDLE_EXIT, 0);
	FIX_EVENT(&t->run, 0, RADDLE_EXIT, 1);
	assert_int_equal(first_of(t), EPA_DATA);
}

/* Adds a record of a range of bytes that a call reads. */
static void put_range(struct fix *f, uint64_t address, uint64_t hash)
{
	fix_put(f, 0, RADDLE_FULL_RANGE, 1);
	fix_put(f, 0, FIX_SITE(FIX_RANGE), 4);
	fix_put(f, 0, address, 8);
	fix_put(f, 0, 8, 8);
	fix_put(f, 0, hash, 8);
	fix_put(f, 0, 0, 4);
	fix_put(f, 0, 0, 1);
}

/* Bytes that write() outputs are compared; those that printf() formats are not. */
static void output(void **state)
{
	struct two *t = *state;
	struct fix *each[] = {&t->golden, &t->run};
	for (unsigned call = 0; call < 2; call++) {
		begin(t);
		for (unsigned i = 0; i < 2; i++) {
			uint64_t address = SHARED(program_of(t, each[i]));
			if (call)
				FIX(each[i], 0, FIX_WRITE, 1, address, 8);
			else
				FIX(each[i], 0, FIX_PRINT, address, 8);
			put_range(each[i], address, 77 + i);
		}
		exit_both(t);
		assert_int_equal(first_of(t), call ? EPA_DATA : EPA_SAME);
	}
}

/* Starts a second thread in one of the runs. */
static void start_thread(struct two *t, struct fix *f)
{
	uint64_t stack = CHILD + (f == &t->run ? 0x100000 : 0);
	FIX_EVENT(f, 0, RADDLE_THREAD_CREATE, 1, 0, 0);
	FIX_EVENT(f, 1, RADDLE_THREAD_START, 0, 0, stack, 0x10000, 0);
	FIX(f, 1, FIX_ENTRY);
}

static void threads(void **state)
{
	struct two *t = *state;
	begin(t);
	start_thread(t, &t->golden);
	start_thread(t, &t->run);
	both(t, 1, FIX_LOAD, 1);
	/* The exit of the process may end a thread earlier or later. */
	touch(t, &t->run, 1, FIX_LOAD, 2);
	exit_both(t);
	assert_int_equal(first_of(t), EPA_SAME);

	begin(t);
	start_thread(t, &t->golden);
	start_thread(t, &t->run);
	both(t, 1, FIX_LOAD, 1);
	touch(t, &t->golden, 1, FIX_LOAD, 2);
	exit_both(t);
	assert_int_equal(first_of(t), EPA_SAME);

	/* The runs are still equal if the thread ended in the golden run. */
	FIX_EVENT(&t->golden, 1, RADDLE_THREAD_END);
	assert_int_equal(first_of(t), EPA_SAME);

	/* They deviate if the thread ended by itself in both runs. */
	FIX_EVENT(&t->run, 1, RADDLE_THREAD_END);
	assert_int_equal(first_of(t), EPA_CONTROL);

	/* The run has no records of the thread: the process exited before, or it died. */
	for (unsigned exits = 0; exits < 2; exits++) {
		begin(t);
		start_thread(t, &t->golden);
		FIX_EVENT(&t->golden, 1, RADDLE_THREAD_END);
		FIX_EVENT(&t->run, 0, RADDLE_THREAD_CREATE, 1, 0, 0);
		FIX_EVENT(&t->golden, 0, RADDLE_EXIT, 0);
		if (exits)
			FIX_EVENT(&t->run, 0, RADDLE_EXIT, 0);
		assert_int_equal(first_of(t), exits ? EPA_SAME : EPA_MISSING);
	}
}

/* Adds a wait for a condition, with so many rounds of its loop. */
static void wait_rounds(struct two *t, struct fix *f, unsigned rounds)
{
	FIX_EVENT(f, 0, RADDLE_MUTEX_LOCK, SHARED(program_of(t, f)) + 8, 0);
	for (unsigned i = 0; i < rounds; i++) {
		touch(t, f, 0, FIX_LOAD, 0);
		FIX(f, 0, FIX_BRANCH);
		FIX(f, 0, FIX_WAIT, SHARED(program_of(t, f)) + 16, SHARED(program_of(t, f)) + 8);
		FIX_EVENT(f, 0, RADDLE_COND_WAIT, SHARED(program_of(t, f)) + 16, SHARED(program_of(t, f)) + 8,
			  0);
		FIX_EVENT(f, 0, RADDLE_COND_WAKE, SHARED(program_of(t, f)) + 16, SHARED(program_of(t, f)) + 8,
			  0);
	}
	touch(t, f, 0, FIX_LOAD, 7);
	FIX(f, 0, FIX_BRANCH);
	touch(t, f, 0, FIX_STORE, 7);
	FIX(f, 0, FIX_MALLOC, 1); /* so that events have the site of this call */
	FIX_EVENT(f, 0, RADDLE_MUTEX_UNLOCK, SHARED(program_of(t, f)) + 8, 0);
}

/* How often a thread waits depends on the schedule, so it is not compared. */
static void waits(void **state)
{
	struct two *t = *state;
	for (unsigned golden = 0; golden < 4; golden++) {
		for (unsigned run = 0; run < 4; run++) {
			begin(t);
			wait_rounds(t, &t->golden, golden);
			wait_rounds(t, &t->run, run);
			exit_both(t);
			assert_int_equal(first_of(t), EPA_SAME);
		}
	}
}

/* A wrong value reaches another thread through memory, and is overwritten there. */
static void propagation(void **state)
{
	struct two *t = *state;
	struct epa_comparison c;
	begin(t);
	touch(t, &t->golden, 0, FIX_STORE, 5);
	touch(t, &t->run, 0, FIX_STORE, 6);
	start_thread(t, &t->golden);
	start_thread(t, &t->run);
	touch(t, &t->golden, 1, FIX_LOAD, 5);
	touch(t, &t->run, 1, FIX_LOAD, 6);
	both(t, 1, FIX_STORE2, 9);
	both(t, 1, FIX_LOAD2, 9);
	FIX_EVENT(&t->golden, 1, RADDLE_THREAD_END);
	FIX_EVENT(&t->run, 1, RADDLE_THREAD_END);
	exit_both(t);
	compare(t, true, &c);
	const struct epa_propagation *p = &c.propagation;
	assert_true(c.deviated);
	assert_int_equal(p->node_count, 2);
	assert_int_equal(p->nodes[0].site, FIX_SITE(FIX_STORE));
	assert_int_equal(p->nodes[1].site, FIX_SITE(FIX_LOAD));
	assert_int_equal(p->edge_count, 1);
	assert_int_equal(p->edges[0].from, 0);
	assert_int_equal(p->edges[0].to, 1);
	assert_int_equal(p->edges[0].through, EPA_MEMORY);
	assert_int_not_equal(p->nodes[0].thread, p->nodes[1].thread);
	assert_int_equal(p->mask_count, 1);
	assert_int_equal(p->masks[0].node, 0);
	assert_false(p->masks[0].freed);
	assert_int_equal(p->masks[0].site, FIX_SITE(FIX_STORE2));
	assert_int_equal(p->corrupted, 0);
	assert_int_equal(p->counts[EPA_DATA], 2);
	epa_comparison_release(&c);
}

/* Only one of the runs creates a thread.  What that thread stores, or would have stored, is the
 * reason why another thread loads a different value. */
static void other_threads(void **state)
{
	struct two *t = *state;
	for (unsigned extra = 0; extra < 2; extra++) {
		struct fix *with = extra ? &t->run : &t->golden;
		struct epa_comparison c;
		begin(t);
		FIX(&t->golden, 0, FIX_BRANCH);
		FIX(&t->run, 0, FIX_BRANCH);
		FIX(with, 0, FIX_MALLOC, 1);
		start_thread(t, with);
		touch(t, with, 1, FIX_STORE, 5);
		FIX_EVENT(with, 1, RADDLE_THREAD_END);
		FIX_EVENT(with, 0, RADDLE_THREAD_JOIN, 1, 0);
		FIX(&t->golden, 0, FIX_PRINT, 0, 0);
		FIX(&t->run, 0, FIX_PRINT, 0, 0);
		FIX_EVENT(&t->golden, 0, RADDLE_COND_SIGNAL, 0);
		FIX_EVENT(&t->run, 0, RADDLE_COND_SIGNAL, 0);
		touch(t, &t->golden, 0, FIX_LOAD2, extra ? 0 : 5);
		touch(t, &t->run, 0, FIX_LOAD2, extra ? 5 : 0);
		exit_both(t);
		compare(t, true, &c);
		const struct epa_propagation *p = &c.propagation;
		size_t load = 0, hops = 0;
		while (load < p->node_count && p->nodes[load].site != FIX_SITE(FIX_LOAD2))
			load++;
		assert_true(load < p->node_count);
		for (size_t i = 0; i < p->edge_count; i++)
			hops += p->edges[i].to == load && p->edges[i].through == EPA_MEMORY &&
				p->nodes[p->edges[i].from].thread != p->nodes[load].thread;
		assert_int_equal(hops, 1);
		epa_comparison_release(&c);
	}
}

/* A wrong value is in a block that realloc() moves. */
static void moved(void **state)
{
	struct two *t = *state;
	struct epa_comparison c;
	begin(t);
	for (unsigned i = 0; i < 2; i++) {
		struct fix *f = i ? &t->run : &t->golden;
		uint64_t block = HEAP + 0x1000 * i;
		FIX(f, 0, FIX_MALLOC, 32);
		FIX_EVENT(f, 0, RADDLE_ALLOC, block, 32, 0);
		FIX(f, 0, FIX_RESULT, block);
		FIX(f, 0, FIX_STORE, block + 8, 5 + i);
		FIX(f, 0, FIX_MALLOC, 64);
		FIX_EVENT(f, 0, RADDLE_FREE, block, 0);
		FIX_EVENT(f, 0, RADDLE_ALLOC, block + 0x100, 64, 0);
		FIX(f, 0, FIX_RESULT, block + 0x100);
		FIX(f, 0, FIX_LOAD2, block + 0x108, 5 + i);
	}
	exit_both(t);
	compare(t, true, &c);
	assert_int_equal(c.propagation.node_count, 2);
	assert_int_equal(c.propagation.edge_count, 1);
	assert_int_equal(c.propagation.edges[0].through, EPA_MEMORY);
	assert_int_equal(c.propagation.mask_count, 0);
	epa_comparison_release(&c);
}

/* One wrong value is in a heap block that is freed.  Another one remains. */
static void ends_of_errors(void **state)
{
	struct two *t = *state;
	struct epa_comparison c;
	begin(t);
	for (unsigned i = 0; i < 2; i++) {
		struct fix *f = i ? &t->run : &t->golden;
		FIX(f, 0, FIX_MALLOC, 32);
		FIX_EVENT(f, 0, RADDLE_ALLOC, HEAP + 0x1000 * i, 32, 0);
		FIX(f, 0, FIX_RESULT, HEAP + 0x1000 * i);
		FIX(f, 0, FIX_STORE, HEAP + 0x1000 * i + 8, 5 + i);
		FIX_EVENT(f, 0, RADDLE_FREE, HEAP + 0x1000 * i, 0);
		FIX(f, 0, FIX_STORE2, SHARED(program_of(t, f)) + 16, 5 + i);
	}
	exit_both(t);
	compare(t, true, &c);
	assert_int_equal(c.propagation.mask_count, 1);
	assert_true(c.propagation.masks[0].freed);
	assert_int_equal(c.propagation.corrupted, 2);
	epa_comparison_release(&c);
}

/* The run has more iterations of a loop than the golden run, and more objects.  The records after
 * the loop are compared nevertheless. */
static void realignment(void **state)
{
	struct two *t = *state;
	struct epa_comparison c;
	struct fix *each[] = {&t->golden, &t->run};
	begin(t);
	for (unsigned i = 0; i < 2; i++) {
		uint64_t stack = stack_of(t, each[i]) + 0x8000;
		for (unsigned k = 0; k < 3 + 4 * i; k++) {
			FIX(each[i], 0, FIX_ENTRY);
			FIX(each[i], 0, FIX_ALLOCA, stack, 16);
			FIX(each[i], 0, FIX_STORE2, stack, 1);
			FIX(each[i], 0, FIX_RETURN);
			FIX(each[i], 0, FIX_BRANCH);
		}
		for (unsigned k = 0; k < 6; k++) {
			touch(t, each[i], 0, FIX_LOAD, k);
			FIX(each[i], 0, FIX_MALLOC, k);
			FIX(each[i], 0, FIX_ENTRY);
			FIX(each[i], 0, FIX_ALLOCA, stack, 16);
			FIX(each[i], 0, FIX_LOAD2, stack, k == 4 ? i : 0);
			FIX(each[i], 0, FIX_RETURN);
			FIX(each[i], 0, FIX_RESULT, 0);
		}
	}
	exit_both(t);
	compare(t, true, &c);
	assert_int_equal(c.first.kind, EPA_CONTROL);
	assert_int_equal(c.propagation.counts[EPA_CONTROL], 1);
	assert_int_equal(c.propagation.counts[EPA_EXTRA], 4 * 5);
	assert_int_equal(c.propagation.counts[EPA_MISSING], 0);
	/* One value after the loop differs, but no names differ. */
	assert_int_equal(c.propagation.counts[EPA_DATA], 1);
	assert_int_equal(c.propagation.counts[EPA_ADDRESS], 0);
	epa_comparison_release(&c);
}

/* A thread dies in a load. */
static void death(void **state)
{
	struct two *t = *state;
	struct epa_comparison c;
	begin(t);
	both(t, 0, FIX_LOAD, 1);
	touch(t, &t->golden, 0, FIX_LOAD2, 2);
	fix_put(&t->run, 0, raddle_piece_head(FIX_SITE(FIX_LOAD2)), 4);
	fix_put(&t->run, 0, 0x4141414141 + 1, 8);
	fix_put(&t->run, 0, 0, 8);
	fix_put(&t->run, 0, 0, 1);
	FIX_EVENT(&t->golden, 0, RADDLE_EXIT, 0);
	compare(t, true, &c);
	assert_int_equal(c.first.kind, EPA_ADDRESS);
	assert_true(c.first.run.unfinished);
	assert_int_equal(c.propagation.counts[EPA_MISSING], 1);
	epa_comparison_release(&c);
}

/* Starts two threads.  The walk over the runs reaches the first one first. */
static void begin_children(struct two *t)
{
	struct fix *each[] = {&t->golden, &t->run};
	begin(t);
	for (unsigned i = 0; i < 2; i++)
		for (unsigned child = 1; child <= 2; child++) {
			uint64_t stack = CHILD + 0x100000 * child + 0x5000 * i;
			FIX_EVENT(each[i], 0, RADDLE_THREAD_CREATE, child);
			FIX_EVENT(each[i], child, RADDLE_THREAD_START, 0, child - 1, stack, 0x10000,
				  child + 1);
		}
}

/* Adds a load that was begun and not finished. */
static void begin_load(struct fix *f, unsigned thread, uint64_t address)
{
	fix_put(f, thread, raddle_piece_head(FIX_SITE(FIX_LOAD2)), 4);
	fix_put(f, thread, address + 1, 8);
	fix_put(f, thread, 0, 8);
	fix_put(f, thread, 0, 1);
}

static void put_fault(struct fix *f, unsigned thread)
{
	fix_put(f, thread, RADDLE_FULL_FAULT, 1);
	fix_put(f, thread, FIX_SITE(FIX_LOAD), 4);
	fix_put(f, thread, 0, 4);
	for (unsigned i = 0; i < 4; i++)
		fix_put(f, thread, i, 8);
}

static void compare_struck(struct two *t, const char *struck, struct epa_comparison *c)
{
	struct epa_source *golden = fix_source(&t->golden), *run = fix_source(&t->run);
	struct epa_reference *ref;
	struct epa_compare_options how = {.propagation = !struck, .faulty_thread = struck};
	assert_int_equal(epa_reference_open(&ref, golden), RD_OK);
	assert_int_equal(epa_compare(ref, run, &how, c), RD_OK);
	epa_reference_close(ref);
	epa_source_close(golden);
	epa_source_close(run);
	c->names.base = NULL;
}

/* One thread died in a load, which cut off another thread in the middle of a load that is the same
 * in the golden run. */
static void cut_within(void **state)
{
	struct two *t = *state;
	struct epa_comparison c;
	begin_children(t);
	touch(t, &t->golden, 1, FIX_LOAD2, 2);
	touch(t, &t->golden, 2, FIX_LOAD2, 2);
	begin_load(&t->run, 1, SHARED(program_of(t, &t->run)));
	begin_load(&t->run, 2, 0x4141414141);
	compare(t, false, &c);
	assert_string_equal(c.first.thread, "T_0_1");
	assert_int_equal(c.first.kind, EPA_ADDRESS);
	epa_comparison_release(&c);
	/* If nothing else differs, the run died in this load. */
	begin_children(t);
	touch(t, &t->golden, 1, FIX_LOAD2, 2);
	begin_load(&t->run, 1, SHARED(program_of(t, &t->run)));
	compare(t, false, &c);
	assert_true(c.deviated);
	assert_string_equal(c.first.thread, "T_0_0");
	assert_true(c.first.run.unfinished);
	epa_comparison_release(&c);
}

/* In one of the runs, the process exits while a thread is in a load.  In the other run, it does
 * not. */
static void exit_within(void **state)
{
	struct two *t = *state;
	for (unsigned way = 0; way < 2; way++) {
		struct fix *cut = way ? &t->run : &t->golden, *whole = way ? &t->golden : &t->run;
		for (unsigned exits = 0; exits < 2; exits++) {
			begin_children(t);
			touch(t, whole, 1, FIX_LOAD2, 2);
			touch(t, whole, 1, FIX_LOAD, 2);
			begin_load(cut, 1, SHARED(program_of(t, cut)));
			FIX_EVENT(whole, 0, RADDLE_EXIT, 0);
			if (exits)
				FIX_EVENT(cut, 0, RADDLE_EXIT, 0);
			if (exits)
				assert_int_equal(first_of(t), EPA_SAME);
			else
				assert_int_not_equal(first_of(t), EPA_SAME);
		}
	}
}

/* The thread with the fault changed memory that another thread reads, and nothing orders the two
 * threads.  The deviation in the thread with the fault is the first one. */
static void struck_first(void **state)
{
	struct two *t = *state;
	struct epa_comparison c;
	const char *const ways[] = {"T_0_1", NULL};
	for (unsigned i = 0; i < 2; i++) {
		begin_children(t);
		touch(t, &t->golden, 1, FIX_LOAD2, 2);
		touch(t, &t->run, 1, FIX_LOAD2, 3);
		both(t, 2, FIX_STORE, 7);
		touch(t, &t->golden, 2, FIX_LOAD, 4);
		touch(t, &t->run, 2, FIX_LOAD, 5);
		put_fault(&t->run, 2);
		exit_both(t);
		compare_struck(t, ways[i], &c);
		assert_string_equal(c.first.thread, "T_0_1");
		epa_comparison_release(&c);
	}
	/* After an operation for which other threads may wait, a deviation may come from another
	 * thread. */
	begin_children(t);
	touch(t, &t->golden, 1, FIX_LOAD2, 2);
	touch(t, &t->run, 1, FIX_LOAD2, 3);
	FIX_EVENT(&t->golden, 1, RADDLE_THREAD_END);
	FIX_EVENT(&t->run, 1, RADDLE_THREAD_END);
	FIX_EVENT(&t->golden, 2, RADDLE_MUTEX_LOCK, SHARED(program_of(t, &t->golden)), 0);
	FIX_EVENT(&t->run, 2, RADDLE_MUTEX_LOCK, SHARED(program_of(t, &t->run)), 0);
	touch(t, &t->golden, 2, FIX_LOAD, 4);
	touch(t, &t->run, 2, FIX_LOAD, 5);
	put_fault(&t->run, 2);
	exit_both(t);
	compare_struck(t, "T_0_1", &c);
	assert_string_equal(c.first.thread, "T_0_0");
	epa_comparison_release(&c);
}

static void pack(void **state)
{
	uint64_t words[EPA_WORDS], random = 1;
	(void)state;
	for (unsigned round = 0; round < 2000; round++) {
		struct epa_record r = {.site = (uint32_t)(round * 2654435761u) >> 1,
				       .kind = (uint8_t)(round % TRACE_FULL_KINDS),
				       .event = (uint8_t)(round % 120),
				       .count = (uint8_t)(round % (EPA_SLOTS + 1))},
				  back = {0};
		if (r.kind == TRACE_FULL_LOAD || r.kind == TRACE_FULL_FILL)
			r.unfinished = round & 64;
		for (unsigned i = 0; i < r.count; i++) {
			random = random * 6364136223846793005ull + 1442695040888963407ull;
			r.slots[i] = (struct epa_name){random >> 62 ? random : 0, random ^ i};
		}
		size_t n = epa_record_pack(&r, words);
		assert_int_equal(epa_packed_size(words[0]), n);
		assert_int_equal(epa_packed_key(words[0]), epa_record_key(&r));
		epa_record_unpack(&back, words);
		assert_true(epa_record_same(&r, &back));
	}
}

static int setup(void **state)
{
	struct two *t = rd_xmalloc(sizeof *t);
	fix_init(&t->golden);
	fix_init(&t->run);
	*state = t;
	return 0;
}

static int teardown(void **state)
{
	struct two *t = *state;
	fix_release(&t->golden);
	fix_release(&t->run);
	free(t);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(same),		 cmocka_unit_test(kinds),
		cmocka_unit_test(exit_status),	 cmocka_unit_test(output),
		cmocka_unit_test(threads),	 cmocka_unit_test(waits),
		cmocka_unit_test(propagation),	 cmocka_unit_test(ends_of_errors),
		cmocka_unit_test(realignment),	 cmocka_unit_test(death),
		cmocka_unit_test(other_threads), cmocka_unit_test(moved),
		cmocka_unit_test(pack),		 cmocka_unit_test(cut_within),
		cmocka_unit_test(exit_within),	 cmocka_unit_test(struck_first),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
