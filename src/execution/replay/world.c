// SPDX-License-Identifier: Apache-2.0
/*
 * The recorded input from outside.  In: the records of a file `world`, in the order in which their
 * threads wrote them.  Out: tables for the runtime (raddle/world.h), and what a run did with them.
 * Values and random numbers belong to the thread that received them.  Input through sockets and
 * pipes is sorted in the order of the run.  Each arrival stores how many bytes the program had sent
 * before it.  In a replay, the arrival may be delivered once the program has sent as many bytes.  A
 * record that refers to something unknown is skipped.
 */
#include "replay/world-int.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "base/map.h"
#include "trace/meta.h"
#include "trace/world.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* All of these values were chosen by hand to bound memory.  They are far above what recorded runs
 * need. */
#define THREADS_MAX 65536u /* as in plan.c */
/* Bytes reserved for what the program sends on each connection, on top of twice what it sent there
 * in the recorded run. */
#define ROOM (64u << 10)
/* maximum number of bytes reserved for what the program sends on one connection */
#define ROOM_MAX (16ull << 20)
/* maximum number of bytes reserved for what the program sends on all connections */
#define ROOMS_MAX (1ull << 30)
#define SENT_MAX (64ull << 20) /* maximum number of sent bytes that a result contains */

struct thread {
	uint32_t parent, index;
	uint64_t *values[RADDLE_SOURCES];
	size_t count[RADDLE_SOURCES], capacity[RADDLE_SOURCES];
	struct rd_buf random;
};

/* A record with a position in the order of the run. */
struct ordered {
	uint64_t order, number; /* `number` is the index of the record in the file */
	enum raddle_world_record kind;
	uint64_t operand[TRACE_WORLD_OPERANDS];
	size_t at, length; /* its bytes, in `bytes` of struct replay_world */
};

struct replay_world {
	struct thread *threads;
	size_t thread_count, thread_capacity;
	struct rd_pmap children; /* maps parent and index to an index of `threads` */
	struct ordered *records;
	size_t record_count, record_capacity;
	struct rd_buf bytes; /* the bytes of all records */

	struct raddle_world_listener *listeners;
	size_t listener_count, listener_capacity;
	struct raddle_world_connection *connections;
	size_t connection_count, connection_capacity;
	struct raddle_world_arrival *arrivals; /* bytes_at is an offset in `bytes` */
	size_t arrival_count, arrival_capacity;
	struct rd_umap listener_of, connection_of; /* map numbers to indices of the tables */

	uint64_t sent, lost;
	bool loops;
	struct raddle_world head; /* the counts and offsets that the program gets */
	uint64_t bytes_at, random_at, size;
};

/* ---- threads ---- */

static uint32_t add_thread(struct replay_world *w, uint32_t parent, uint32_t index)
{
	struct thread *t;

	RD_GROW(w->threads, w->thread_capacity, w->thread_count + 1);
	t = &w->threads[w->thread_count];
	*t = (struct thread){.parent = parent, .index = index, .random = RD_BUF_INIT};
	return (uint32_t)w->thread_count++;
}

static uint32_t child_of(struct replay_world *w, uint32_t parent, uint32_t index)
{
	bool new;
	uint64_t *position = rd_pmap_put(&w->children, parent, index, &new);

	if (new)
		*position = w->thread_count < THREADS_MAX ? add_thread(w, parent, index) : RADDLE_WORLD_NONE;
	return (uint32_t)*position;
}

/* Returns the thread to which this chain of creations leads from thread 0, or NONE if unknown. */
static uint32_t find_thread(struct replay_world *w, const uint8_t *p, size_t length)
{
	const uint8_t *end = p + length;
	uint32_t at = 0;

	while (p < end && at != RADDLE_WORLD_NONE) {
		uint64_t index = 0;
		unsigned shift = 0;

		do {
			index |= shift < 63 ? (uint64_t)(*p & 0x7f) << shift : 0;
			shift += 7;
		} while (*p++ & 0x80 && p < end);
		at = index < UINT32_MAX ? child_of(w, at, (uint32_t)index) : RADDLE_WORLD_NONE;
	}
	return at;
}

static void add_value(struct thread *t, uint64_t source, uint64_t value)
{
	RD_GROW(t->values[source], t->capacity[source], t->count[source] + 1);
	t->values[source][t->count[source]++] = value;
}

/* ---- records ---- */

static void add_record(struct replay_world *w, const struct trace_world_record *r)
{
	struct ordered *o;

	RD_GROW(w->records, w->record_capacity, w->record_count + 1);
	o = &w->records[w->record_count];
	*o = (struct ordered){.order = r->order,
			      .number = w->record_count,
			      .kind = r->kind,
			      .at = w->bytes.length,
			      .length = r->length};
	memcpy(o->operand, r->operand, sizeof o->operand);
	if (r->length)
		rd_buf_add(&w->bytes, (const char *)r->bytes, r->length);
	w->record_count++;
}

/* Takes a record that thread *thread wrote.  A THREAD record changes *thread for the records that
 * follow. */
static void take(struct replay_world *w, const struct trace_world_record *r, uint32_t *thread)
{
	struct thread *t = *thread < w->thread_count ? &w->threads[*thread] : NULL;

	switch (r->kind) {
	case RADDLE_WORLD_THREAD: *thread = find_thread(w, r->bytes, r->length); break;
	case RADDLE_WORLD_VALUE:
		if (t)
			add_value(t, r->operand[0], r->operand[1]);
		break;
	case RADDLE_WORLD_RANDOM:
		if (t && r->length)
			rd_buf_add(&t->random, (const char *)r->bytes, r->length);
		break;
	case RADDLE_WORLD_LOST: w->lost += r->operand[0]; break;
	default: add_record(w, r);
	}
}

static int compare(const void *a, const void *b)
{
	const struct ordered *x = a, *y = b;

	if (x->order != y->order)
		return x->order < y->order ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

/* ---- tables ---- */

static struct raddle_world_address address_of(const struct replay_world *w, const struct ordered *o)
{
	struct raddle_world_address a = {0};

	a.size = o->length < sizeof a.bytes ? (uint32_t)o->length : sizeof a.bytes;
	if (a.size)
		memcpy(a.bytes, w->bytes.data + o->at, a.size);
	return a;
}

/* Returns the table index that belongs to a number, or NONE if unknown. */
static uint32_t position_of(const struct rd_umap *map, uint64_t number)
{
	const uint64_t *position = rd_umap_get(map, number);

	return position ? (uint32_t)*position : RADDLE_WORLD_NONE;
}

static uint32_t add_connection(struct replay_world *w, const struct ordered *o, uint64_t number)
{
	struct raddle_world_connection *c;

	RD_GROW(w->connections, w->connection_capacity, w->connection_count + 1);
	c = &w->connections[w->connection_count];
	memset(c, 0, sizeof *c);
	c->listener = RADDLE_WORLD_NONE;
	c->descriptor = -1;
	if (o->kind != RADDLE_WORLD_INPUT)
		c->address = address_of(w, o);
	*rd_umap_put(&w->connection_of, number, NULL) = w->connection_count;
	return (uint32_t)w->connection_count++;
}

static void add_arrival(struct replay_world *w, uint32_t connection, enum raddle_arrival kind,
			const struct ordered *o)
{
	struct raddle_world_arrival *a;

	RD_GROW(w->arrivals, w->arrival_capacity, w->arrival_count + 1);
	a = &w->arrivals[w->arrival_count++];
	*a = (struct raddle_world_arrival){.kind = kind,
					   .connection = connection,
					   .bytes_at = o->at,
					   .length = kind == RADDLE_ARRIVES_BYTES ? o->length : 0,
					   .sent_before = w->sent};
}

static void accept_one(struct replay_world *w, const struct ordered *o)
{
	uint32_t listener = position_of(&w->listener_of, o->operand[0]), connection;

	if (listener == RADDLE_WORLD_NONE)
		return;
	connection = add_connection(w, o, o->operand[1]);
	w->connections[connection].listener = listener;
	add_arrival(w, connection, RADDLE_ARRIVES_CONNECTION, o);
}

static void receive(struct replay_world *w, const struct ordered *o)
{
	uint32_t connection = position_of(&w->connection_of, o->operand[0]);

	if (connection != RADDLE_WORLD_NONE)
		add_arrival(w, connection, o->length ? RADDLE_ARRIVES_BYTES : RADDLE_ARRIVES_END, o);
}

static void send_bytes(struct replay_world *w, const struct ordered *o)
{
	uint32_t connection = position_of(&w->connection_of, o->operand[0]);

	if (connection == RADDLE_WORLD_NONE || o->operand[1] > UINT64_MAX / 4 - w->sent)
		return;
	w->sent += o->operand[1];
	w->connections[connection].sent += o->operand[1];
	w->connections[connection].sum = o->operand[2];
}

static void listen_at(struct replay_world *w, const struct ordered *o)
{
	RD_GROW(w->listeners, w->listener_capacity, w->listener_count + 1);
	w->listeners[w->listener_count].address = address_of(w, o);
	*rd_umap_put(&w->listener_of, o->operand[0], NULL) = w->listener_count++;
}

static void put_in_order(struct replay_world *w, const struct ordered *o)
{
	uint32_t c;

	switch (o->kind) {
	case RADDLE_WORLD_LISTEN: listen_at(w, o); break;
	case RADDLE_WORLD_ACCEPT: accept_one(w, o); break;
	case RADDLE_WORLD_CONNECT:
		c = add_connection(w, o, o->operand[0]);
		w->connections[c].error = o->operand[1] < 4096 ? (int32_t)o->operand[1] : 0;
		break;
	case RADDLE_WORLD_INPUT:
		if (o->operand[1] > 2)
			break;
		c = add_connection(w, o, o->operand[0]);
		w->connections[c].descriptor = (int32_t)o->operand[1];
		break;
	case RADDLE_WORLD_RECEIVE: receive(w, o); break;
	case RADDLE_WORLD_SEND: send_bytes(w, o); break;
	case RADDLE_WORLD_LOOP: w->loops = true; break;
	default: break;
	}
}

/* ---- memory ---- */

static uint64_t place(uint64_t *size, uint64_t count, uint64_t each)
{
	uint64_t at = (*size + 63) & ~63ull;

	*size = at + count * each;
	return at;
}

/* Reserves memory for the bytes that the program sends on each connection, as far as ROOMS_MAX
 * allows. */
static void place_rooms(struct replay_world *w)
{
	uint64_t left = ROOMS_MAX;

	for (size_t i = 0; i < w->connection_count; i++) {
		struct raddle_world_connection *c = &w->connections[i];
		uint64_t wanted = c->sent < ROOM_MAX / 2 ? 2 * c->sent + ROOM : ROOM_MAX;

		c->kept_size = wanted < left ? wanted : left;
		left -= c->kept_size;
		c->kept_at = place(&w->size, c->kept_size, 1);
	}
}

static void place_all(struct replay_world *w)
{
	uint64_t values = 0, random = 0;

	for (size_t i = 0; i < w->thread_count; i++) {
		for (unsigned s = 0; s < RADDLE_SOURCES; s++)
			values += w->threads[i].count[s];
		random += w->threads[i].random.length;
	}
	w->head = (struct raddle_world){.version = RADDLE_WORLD_VERSION,
					.thread_count = (uint32_t)w->thread_count,
					.listener_count = (uint32_t)w->listener_count,
					.connection_count = (uint32_t)w->connection_count,
					.arrival_count = (uint32_t)w->arrival_count,
					.all_sent = w->sent,
					.sockets = !w->loops && w->connection_count + w->listener_count};
	w->size = sizeof w->head;
	w->head.threads_at = place(&w->size, w->thread_count, sizeof(struct raddle_world_thread));
	w->head.values_at = place(&w->size, values, sizeof(uint64_t));
	w->head.listeners_at = place(&w->size, w->listener_count, sizeof *w->listeners);
	w->head.connections_at = place(&w->size, w->connection_count, sizeof *w->connections);
	w->head.arrivals_at = place(&w->size, w->arrival_count, sizeof *w->arrivals);
	w->bytes_at = place(&w->size, w->bytes.length, 1);
	w->random_at = place(&w->size, random, 1);
	place_rooms(w);
}

size_t replay_world_size(const struct replay_world *w)
{
	return w->size;
}

static void write_threads(const struct replay_world *w, struct raddle_world *m)
{
	uint64_t next = 0, random = w->random_at;

	for (size_t i = 0; i < w->thread_count; i++) {
		const struct thread *t = &w->threads[i];
		struct raddle_world_thread *to = &raddle_world_threads(m)[i];

		to->parent = t->parent;
		to->index = t->index;
		for (unsigned s = 0; s < RADDLE_SOURCES; next += t->count[s++]) {
			to->values[s] = (struct raddle_world_run){next, t->count[s]};
			if (t->count[s])
				memcpy(raddle_world_values(m) + next, t->values[s],
				       t->count[s] * sizeof(uint64_t));
		}
		to->random = (struct raddle_world_run){random, t->random.length};
		if (t->random.length)
			memcpy((char *)m + random, t->random.data, t->random.length);
		random += t->random.length;
	}
}

/* Closes the recorded standard input, because the program gets another one. */
static void leave_input(const struct replay_world *w, struct raddle_world *m)
{
	struct raddle_world_connection *to = raddle_world_connections(m);

	for (size_t i = 0; i < w->connection_count; i++)
		if (to[i].descriptor >= 0) {
			to[i].descriptor = -1;
			atomic_store(&to[i].closed, 1);
		}
}

void replay_world_write(const struct replay_world *w, struct raddle_world *m, bool input)
{
	RD_ASSERT(w->head.connection_count == w->connection_count);
	memcpy(m, &w->head, sizeof w->head);
	write_threads(w, m);
	if (w->listener_count)
		memcpy(raddle_world_listeners(m), w->listeners, w->listener_count * sizeof *w->listeners);
	if (w->connection_count)
		memcpy(raddle_world_connections(m), w->connections,
		       w->connection_count * sizeof *w->connections);
	if (!input)
		leave_input(w, m);
	for (size_t i = 0; i < w->arrival_count; i++) {
		raddle_world_arrivals(m)[i] = w->arrivals[i];
		raddle_world_arrivals(m)[i].bytes_at += w->bytes_at;
	}
	if (w->bytes.length)
		memcpy((char *)m + w->bytes_at, w->bytes.data, w->bytes.length);
}

bool replay_world_has_peers(const struct replay_world *w)
{
	return w && w->head.sockets;
}

/* ---- reading ---- */

static int read_records(struct replay_world *w, struct trace_world *file)
{
	struct trace_world_record r;
	uint32_t thread = RADDLE_WORLD_NONE;
	int got;

	while ((got = trace_world_next(file, &r)) > 0)
		take(w, &r, &thread);
	trace_world_close(file);
	if (got < 0)
		return got;
	if (w->record_count)
		qsort(w->records, w->record_count, sizeof *w->records, compare);
	for (size_t i = 0; i < w->record_count; i++)
		put_in_order(w, &w->records[i]);
	return RD_OK;
}

static int open_file(struct replay_world **world, struct trace_world *file, int err)
{
	struct replay_world *w = rd_xcalloc(1, sizeof *w);

	w->bytes = (struct rd_buf)RD_BUF_INIT;
	add_thread(w, RADDLE_WORLD_NONE, 0);
	if (!err)
		err = read_records(w, file);
	if (err) {
		replay_world_close(w);
		return err;
	}
	place_all(w);
	*world = w;
	return RD_OK;
}

/* Returns the signal that ends a replay after all input has arrived.  This is the signal that ended
 * the recorded run or, for a server, SIGTERM.  Returns 0 if there is none. */
static int end_signal(const struct trace_meta *meta, const struct replay_world *w)
{
	int number = meta->end == TRACE_SIGNALLED ? meta->code : 0;

	if (number == SIGTERM || number == SIGINT || number == SIGHUP || number == SIGQUIT ||
	    number == SIGKILL)
		return number;
	return w->listener_count ? SIGTERM : 0;
}

/* Input of forked processes is ignored, because only the first process is replayed. */
int replay_world_open(struct replay_world **world, const char *trace)
{
	char *path = rd_xasprintf("%s/world", trace), *about = rd_xasprintf("%s/meta.json", trace);
	struct trace_meta meta = {0};
	struct trace_world file;
	int err = RD_OK;

	*world = NULL;
	if (rd_file_exists(about))
		err = trace_meta_read(&meta, about);
	if (!err && rd_file_exists(path) && !meta.forked) {
		err = trace_world_open(&file, path);
		err = open_file(world, &file, err);
	}
	if (*world)
		(*world)->head.end_signal = (uint32_t)end_signal(&meta, *world);
	trace_meta_release(&meta);
	RD_FREE(path, about);
	return err;
}

/* Only the owner may read the copy. */
int replay_world_copy(const char *from, const char *to)
{
	RD_ASSERT(from != NULL && to != NULL);
	char *source = rd_xasprintf("%s/world", from), *target = rd_xasprintf("%s/world", to);
	struct rd_buf bytes = RD_BUF_INIT;
	int err = rd_file_read(source, &bytes);
	int fd = err ? -1 : open(target, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (!err && (fd < 0 || write(fd, bytes.data, bytes.length) != (ssize_t)bytes.length))
		err = rd_fail_errno("replay: cannot write %s", target);
	if (fd >= 0)
		close(fd);
	rd_buf_release(&bytes);
	RD_FREE(source, target);
	return err;
}

void replay_world_close(struct replay_world *w)
{
	if (!w)
		return;
	for (size_t i = 0; i < w->thread_count; i++) {
		RD_FREE_EACH(w->threads[i].values, RADDLE_SOURCES);
		rd_buf_release(&w->threads[i].random);
	}
	rd_pmap_release(&w->children);
	RD_UMAP_RELEASE(&w->listener_of, &w->connection_of);
	rd_buf_release(&w->bytes);
	RD_FREE(w->threads, w->records, w->listeners, w->connections, w->arrivals, w);
}

/* ---- what the run did with the input ---- */

/* Returns the bytes that the program sent on connection `i`, as far as there was room for them, and
 * stores their number in *length. */
static const char *kept_of(const struct replay_world *w, struct raddle_world *m, size_t i, uint64_t *length)
{
	uint64_t sent = atomic_load(
		&((struct raddle_world_connection *)(void *)((char *)m + w->head.connections_at))[i]
			 .now_sent);

	*length = sent < w->connections[i].kept_size ? sent : w->connections[i].kept_size;
	return (const char *)m + w->connections[i].kept_at;
}

static void copy_sent(const struct replay_world *w, struct raddle_world *m, struct rd_buf *out,
		      struct replay_outside *result)
{
	struct raddle_world_connection *now = (void *)((char *)m + w->head.connections_at);

	for (size_t i = 0; i < w->connection_count; i++) {
		const struct raddle_world_connection *then = &w->connections[i];
		uint64_t length, sent = atomic_load(&now[i].now_sent);
		const char *kept = kept_of(w, m, i, &length);

		if (!atomic_load(&now[i].begun))
			continue;
		result->connections++;
		result->same += sent == then->sent && length == sent &&
				raddle_world_sum(0, kept, length) == then->sum;
		result->cut |= length < sent || out->length + length > SENT_MAX;
		if (!length || out->length + length > SENT_MAX)
			continue;
		rd_buf_addf(out, "%sto connection %zu:\n", out->length ? "\n" : "", i + 1);
		rd_buf_add(out, kept, length);
	}
}

/* Describes requests of the program for which there was no record. */
static const char *find_missing_input(const struct replay_world *w, struct raddle_world *m)
{
	if (w->lost)
		return "records of what came from outside were lost";
	if (atomic_load(&m->lacks[RADDLE_WORLD_LACK_CONNECT]))
		return "the program made a connection that the recorded run did not make";
	if (atomic_load(&m->lacks[RADDLE_WORLD_LACK_SOCKET]))
		return "the program used a socket of a kind that is not recorded";
	return NULL;
}

void replay_world_result(const struct replay_world *w, struct raddle_world *m, struct rd_arena *arena,
			 struct replay_outside *result)
{
	struct rd_buf sent = RD_BUF_INIT;
	uint32_t arrived = atomic_load(&m->arrived);

	*result = (struct replay_outside){.given = true,
					  .arrivals = w->arrival_count,
					  .arrived = arrived < w->arrival_count ? arrived : w->arrival_count,
					  .hurried = atomic_load(&m->hurried),
					  .ended = atomic_load(&m->ended) == 1,
					  .lack = find_missing_input(w, m)};
	copy_sent(w, m, &sent, result);
	result->sent = rd_arena_copy(arena, sent.data, sent.length);
	result->sent_length = sent.length;
	result->digest = raddle_world_sum(0, sent.data, sent.length);
	rd_buf_release(&sent);
}
