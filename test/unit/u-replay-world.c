// SPDX-License-Identifier: Apache-2.0
/*
 * Unit tests of input from outside that is prepared for replay (replay/world-int.h).  Random runs
 * are made up step by step, and their records are written thread by thread, as the runtime does.
 * The prepared input must match the steps.  Then the test acts as a program that has sent what was
 * recorded, and as one that has not.
 */
#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "replay/world-int.h"
#include "trace/world.h"
#include "trace/writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

enum { THREADS = 4, STEPS = 300, ROUNDS = 40, CONNECTIONS = 16 };

/* The initial thread, its two children, and a child of the first. */
static const struct {
	const char *descent;
	size_t length;
	uint32_t parent, index;
} names[THREADS] = {{"", 0, RADDLE_WORLD_NONE, 0}, {"\0", 1, 0, 0}, {"\1", 1, 0, 1}, {"\0\0", 2, 1, 0}};

struct thread {
	struct rd_buf records;
	uint64_t order, last, values[STEPS];
	size_t count;
};

/* An arrival, and how many bytes were sent before it. */
struct arrival {
	enum raddle_arrival kind;
	unsigned connection;
	uint64_t sent;
	char bytes[8];
};

struct run {
	struct thread threads[THREADS];
	struct arrival arrivals[STEPS];
	size_t arrival_count;
	uint64_t sent, sent_to[CONNECTIONS], sums[CONNECTIONS];
	struct rd_buf bytes[CONNECTIONS];
	unsigned connections;
};

static char directory[] = "/tmp/u-replay-world-XXXXXX";

static void put(struct rd_buf *out, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		rd_buf_addc(out, (char)(v | 0x80));
	rd_buf_addc(out, (char)v);
}

static void put_difference(struct rd_buf *out, uint64_t *last, uint64_t v)
{
	int64_t d = (int64_t)(v - *last);

	put(out, (uint64_t)d << 1 ^ (uint64_t)(d >> 63));
	*last = v;
}

static void put_bytes(struct rd_buf *out, const char *bytes, size_t length)
{
	put(out, length);
	rd_buf_add(out, bytes, length);
}

static void begin(struct thread *t, enum raddle_world_record kind, uint64_t order)
{
	put(&t->records, kind);
	put_difference(&t->records, &t->order, order);
}

static void add_arrival(struct run *r, enum raddle_arrival kind, unsigned connection, const char *bytes)
{
	struct arrival *a = &r->arrivals[r->arrival_count++];

	*a = (struct arrival){.kind = kind, .connection = connection, .sent = r->sent};
	snprintf(a->bytes, sizeof a->bytes, "%s", bytes);
}

static void step_accept(struct run *r, struct thread *t, uint64_t order)
{
	begin(t, RADDLE_WORLD_ACCEPT, order);
	put(&t->records, 0);
	put(&t->records, 100 + r->connections);
	put_bytes(&t->records, "peer", 4);
	add_arrival(r, RADDLE_ARRIVES_CONNECTION, r->connections++, "");
}

static void step_receive(struct run *r, struct thread *t, uint64_t order, bool end)
{
	unsigned c = (unsigned)rand() % r->connections;
	char bytes[8];

	snprintf(bytes, sizeof bytes, "%d", rand() % 1000);
	begin(t, RADDLE_WORLD_RECEIVE, order);
	put(&t->records, 100 + c);
	put_bytes(&t->records, bytes, end ? 0 : strlen(bytes));
	add_arrival(r, end ? RADDLE_ARRIVES_END : RADDLE_ARRIVES_BYTES, c, end ? "" : bytes);
}

static void step_send(struct run *r, struct thread *t, uint64_t order)
{
	unsigned c = (unsigned)rand() % r->connections;
	char bytes[8];
	size_t length = (size_t)snprintf(bytes, sizeof bytes, "%d", rand() % 1000);

	rd_buf_add(&r->bytes[c], bytes, length);
	r->sums[c] = raddle_world_sum(r->sums[c], bytes, length);
	r->sent_to[c] += length;
	r->sent += length;
	begin(t, RADDLE_WORLD_SEND, order);
	put(&t->records, 100 + c);
	put(&t->records, length);
	put(&t->records, r->sums[c]);
}

static void step_value(struct thread *t)
{
	uint64_t value = (uint64_t)rand();

	put(&t->records, RADDLE_WORLD_VALUE);
	put(&t->records, RADDLE_SOURCE_MONOTONIC);
	put_difference(&t->records, &t->last, value);
	t->values[t->count++] = value;
}

static void step(struct run *r, uint64_t order)
{
	struct thread *t = &r->threads[rand() % THREADS];
	int what = rand() % 8;

	if (what < 3)
		step_value(t);
	else if (!r->connections || (what == 3 && r->connections < CONNECTIONS))
		step_accept(r, t, order);
	else if (what < 6)
		step_receive(r, t, order, rand() % 20 == 0);
	else
		step_send(r, t, order);
}

static void make(struct run *r)
{
	memset(r, 0, sizeof *r);
	for (size_t i = 0; i < CONNECTIONS; i++)
		r->bytes[i] = (struct rd_buf)RD_BUF_INIT;
	for (size_t i = 0; i < THREADS; i++) {
		r->threads[i].records = (struct rd_buf)RD_BUF_INIT;
		put(&r->threads[i].records, RADDLE_WORLD_THREAD);
		put_bytes(&r->threads[i].records, names[i].descent, names[i].length);
	}
	begin(&r->threads[0], RADDLE_WORLD_LISTEN, 1);
	put(&r->threads[0].records, 0);
	put_bytes(&r->threads[0].records, "here", 4);
	for (uint64_t i = 0; i < STEPS; i++)
		step(r, 2 + i);
}

/* Writes the records of the threads, in another order than that in which they were made. */
static void write_file(struct run *r)
{
	struct trace_writer *w;
	struct rd_buf chunk = RD_BUF_INIT;

	assert_int_equal(trace_writer_open(&w, directory), 0);
	for (uint32_t i = THREADS; i-- > 0;) {
		struct rd_buf *records = &r->threads[i].records;

		trace_world_begin_piece(&chunk, i, records->length);
		rd_buf_add(&chunk, records->data, records->length);
	}
	assert_int_equal(trace_writer_world(w, chunk.data, chunk.length), 0);
	assert_int_equal(trace_writer_threads(w), 0);
	assert_int_equal(trace_writer_close(w), 0);
	rd_buf_release(&chunk);
}

static void release(struct run *r)
{
	for (size_t i = 0; i < THREADS; i++)
		rd_buf_release(&r->threads[i].records);
	for (size_t i = 0; i < CONNECTIONS; i++)
		rd_buf_release(&r->bytes[i]);
}

static uint32_t position_of(struct raddle_world *m, size_t thread)
{
	uint32_t parent = names[thread].parent == RADDLE_WORLD_NONE ? RADDLE_WORLD_NONE
								    : position_of(m, names[thread].parent);

	for (uint32_t i = 0; i < m->thread_count; i++)
		if (raddle_world_threads(m)[i].parent == parent &&
		    raddle_world_threads(m)[i].index == names[thread].index)
			return i;
	fail();
	return 0;
}

static void check_values(struct raddle_world *m, const struct run *r)
{
	for (size_t i = 0; i < THREADS; i++) {
		struct raddle_world_run run =
			raddle_world_threads(m)[position_of(m, i)].values[RADDLE_SOURCE_MONOTONIC];

		assert_int_equal(run.count, r->threads[i].count);
		for (size_t k = 0; k < run.count; k++)
			assert_int_equal(raddle_world_values(m)[run.first + k], r->threads[i].values[k]);
	}
}

static void check_arrivals(struct raddle_world *m, const struct run *r)
{
	assert_int_equal(m->arrival_count, r->arrival_count);
	assert_int_equal(m->all_sent, r->sent);
	for (size_t i = 0; i < r->arrival_count; i++) {
		const struct raddle_world_arrival *a = &raddle_world_arrivals(m)[i];

		assert_int_equal(a->kind, r->arrivals[i].kind);
		assert_int_equal(a->connection, r->arrivals[i].connection);
		assert_int_equal(a->sent_before, r->arrivals[i].sent);
		assert_int_equal(a->length, strlen(r->arrivals[i].bytes));
		assert_memory_equal((char *)m + a->bytes_at, r->arrivals[i].bytes, a->length);
	}
}

/* Sends the recorded bytes, as the program does.  If `other`, one byte is different. */
static void send_all(struct raddle_world *m, const struct run *r, bool other)
{
	atomic_store(&m->arrived, m->arrival_count);
	for (unsigned i = 0; i < r->connections; i++) {
		struct raddle_world_connection *c = &raddle_world_connections(m)[i];

		assert_true(c->kept_size >= r->sent_to[i]);
		if (r->sent_to[i])
			memcpy((char *)m + c->kept_at, r->bytes[i].data, r->sent_to[i]);
		if (other && r->sent_to[i])
			((char *)m)[c->kept_at] ^= 1;
		atomic_store(&c->now_sent, r->sent_to[i]);
		atomic_store(&c->begun, 1);
	}
}

static void check_sent(struct replay_world *w, struct raddle_world *m, const struct run *r, bool other)
{
	struct rd_arena *arena = rd_arena_new();
	struct replay_outside o;
	unsigned silent = 0;

	for (unsigned i = 0; i < r->connections; i++)
		silent += !r->sent_to[i];
	send_all(m, r, other);
	replay_world_result(w, m, arena, &o);
	assert_int_equal(o.arrived, r->arrival_count);
	assert_int_equal(o.connections, r->connections);
	assert_int_equal(o.same, other ? silent : r->connections);
	assert_false(o.cut);
	assert_null(o.lack);
	rd_arena_free(arena);
}

static void test_random(void **state)
{
	struct run *r = rd_xmalloc(sizeof *r);

	(void)state;
	for (unsigned round = 0; round < ROUNDS; round++) {
		struct replay_world *w;
		struct raddle_world *m;

		srand(round);
		make(r);
		write_file(r);
		assert_int_equal(replay_world_open(&w, directory), 0);
		assert_non_null(w);
		m = aligned_alloc(64, (replay_world_size(w) + 63) / 64 * 64);
		assert_non_null(m);
		memset(m, 0, replay_world_size(w));
		replay_world_write(w, m, true);
		assert_int_equal(m->sockets, 1);
		check_values(m, r);
		check_arrivals(m, r);
		check_sent(w, m, r, false);
		check_sent(w, m, r, true);
		free(m);
		replay_world_close(w);
		release(r);
		rd_remove_tree(directory);
		assert_int_equal(mkdir(directory, 0700), 0);
	}
	free(r);
}

/* A trace without the file has no input from outside, which is not an error. */
static void test_none(void **state)
{
	struct replay_world *w;

	(void)state;
	assert_int_equal(replay_world_open(&w, directory), 0);
	assert_null(w);
	assert_false(replay_world_has_peers(w));
	replay_world_close(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_none), cmocka_unit_test(test_random)};
	int failed;

	if (!mkdtemp(directory))
		return 2;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	rd_remove_tree(directory);
	return failed;
}
