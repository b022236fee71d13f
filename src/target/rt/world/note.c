// SPDX-License-Identifier: Apache-2.0
/*
 * Records input from outside.  In: results of system calls, and data received through sockets.
 * Out: records of raddle/world.inc, in buffers of the session that contain no other records.
 *
 * Invariants:
 * 1. A record is in its buffer as a whole or not at all.
 * 2. Each buffer can be decoded on its own.  It begins with a THREAD record, and its differences
 *    start from 0.
 * 3. Nothing here changes what the program does.  No system call is added, except to query the name
 *    and type of a socket.  A record that cannot be written is counted and left out.
 * 4. A handler that interrupts the writing of a record writes none itself.
 *
 * Records about sockets have a position in the order of the run, which they share with q of
 * event.inc.  Sent bytes get their position before they are sent, and received bytes after they
 * have been received.
 */
#include "rt/common/bug.h"
#include "rt/core/layer.h"
#include "rt/world/world.h"

#include <errno.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <termios.h>
#include <unistd.h>

#define HEAD 64		       /* maximum size of a record in bytes, without its `b` operand */
#define PART 8192	       /* maximum number of bytes of input in one record */
#define BYTES_MAX (256u << 20) /* maximum number of received bytes that are recorded in a process */

static struct rt_world *world(void)
{
	return rt.layer[RT_LAYER_WORLD];
}

static struct rt_noted *noted(const struct rt_thread *t)
{
	return t->layer[RT_LAYER_WORLD];
}

/* ---- records ---- */

_Static_assert(HEAD + 5 * RT_DESCENT + HEAD + PART < RADDLE_BUFFER_SIZE - 64,
	       "a buffer has room for a record");

static void publish(struct rt_noted *n)
{
	RT_ASSERT(n->cursor > n->buffer->data && n->cursor <= n->buffer->data + sizeof n->buffer->data);
	n->events++;
	atomic_store_explicit(&n->buffer->used, (uint32_t)(n->cursor - n->buffer->data),
			      memory_order_release);
}

static void put_bytes(struct rt_noted *n, const void *bytes, size_t length)
{
	n->cursor = rt_put_varint(n->cursor, length);
	__builtin_memcpy(n->cursor, bytes, length);
	n->cursor += length;
}

static void seal(struct rt_noted *n)
{
	if (!n->buffer)
		return;
	n->buffer->events = n->events;
	rt_buffer_hand_over(n->buffer);
	n->buffer = NULL;
}

/* Stores the chain of creations that leads from the initial thread to this thread, this thread
 * first, and returns its length.  If the chain is unknown, stores a path that no thread has. */
static uint32_t descent_of(const struct rt_thread *t, uint32_t path[RT_DESCENT])
{
	uint32_t count = 0;

	for (uint32_t number = t->number; number; number = world()->lineage[number].parent) {
		const struct rt_lineage *l = number < RT_LINEAGE ? &world()->lineage[number] : NULL;

		if (!l || count == RT_DESCENT || l->index == UINT32_MAX || l->parent >= number) {
			path[0] = UINT32_MAX;
			return 1;
		}
		path[count++] = l->index;
	}
	return count;
}

/* Writes the first record of a new buffer. */
static void put_thread(struct rt_thread *t, struct rt_noted *n)
{
	uint32_t path[RT_DESCENT], count = descent_of(t, path);
	uint8_t bytes[RT_DESCENT * 5], *end = bytes;

	while (count)
		end = rt_put_varint(end, path[--count]);
	*n->cursor++ = RADDLE_WORLD_THREAD;
	put_bytes(n, bytes, (size_t)(end - bytes));
	publish(n);
}

/* Makes sure that the current buffer has room for this many bytes, if necessary by opening a new
 * one.  Returns false if no buffer is available. */
static bool make_room(struct rt_thread *t, struct rt_noted *n, size_t size)
{
	if (n->buffer && (size_t)(n->buffer->data + sizeof n->buffer->data - n->cursor) >= size)
		return true;
	seal(n);
	n->buffer = rt_buffer_open(t->number | RADDLE_WORLD_BUFFER, n->buffers);
	if (!n->buffer)
		return false;
	n->buffers++;
	n->events = 0;
	n->order = 0;
	__builtin_memset(n->values, 0, sizeof n->values);
	n->cursor = n->buffer->data;
	put_thread(t, n);
	RT_ASSERT((size_t)(n->buffer->data + sizeof n->buffer->data - n->cursor) >= size);
	return true;
}

/* Begins a record.  Returns NULL in a handler that interrupted the writing of a record, or if there
 * is no buffer.  If longjmp() left an earlier call, `busy` is still set, but that call's frame was
 * deeper in the stack than the present one. */
static struct rt_noted *take(struct rt_thread *t, size_t bytes)
{
	struct rt_noted *n = noted(t);
	uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
	int saved = errno;

	if (n->busy > frame) {
		n->lost++;
		return NULL;
	}
	n->busy = frame;
	if (!make_room(t, n, HEAD + bytes)) {
		n->busy = 0;
		n = NULL;
	}
	errno = saved;
	if (n && n->lost) {
		*n->cursor++ = RADDLE_WORLD_LOST;
		n->cursor = rt_put_varint(n->cursor, n->lost);
		n->lost = 0;
		publish(n);
	}
	return n;
}

static void leave(struct rt_noted *n)
{
	publish(n);
	n->busy = 0;
}

/* A record that has a position in the order.  It contains up to three numbers and, optionally,
 * bytes. */
struct world_note {
	enum raddle_world_record code;
	uint64_t order;
	uint32_t count;
	uint64_t operand[3];
	const void *bytes; /* NULL if it has no bytes */
	size_t length;
};

static void write_note(struct rt_thread *t, const struct world_note *note)
{
	struct rt_noted *n = take(t, note->length);

	RT_ASSERT(note->count <= sizeof note->operand / sizeof note->operand[0]);
	if (!n)
		return;
	*n->cursor++ = (uint8_t)note->code;
	n->cursor = rt_put_delta(n->cursor, &n->order, note->order);
	for (uint32_t i = 0; i < note->count; i++)
		n->cursor = rt_put_varint(n->cursor, note->operand[i]);
	if (note->bytes)
		put_bytes(n, note->bytes, note->length);
	leave(n);
}

static void says(struct rt_thread *t, enum raddle_source source, uint64_t value)
{
	struct rt_noted *n = take(t, 0);

	if (!n)
		return;
	*n->cursor++ = RADDLE_WORLD_VALUE;
	*n->cursor++ = (uint8_t)source;
	n->cursor = rt_put_delta(n->cursor, &n->values[source], value);
	leave(n);
}
_Static_assert(RADDLE_SOURCES < 128, "a source is a varint of one byte");

static void says_random(struct rt_thread *t, const void *bytes, size_t length)
{
	for (size_t done = 0, part; done < length; done += part) {
		struct rt_noted *n;

		part = length - done < PART ? length - done : PART;
		n = take(t, part);
		if (!n)
			return;
		*n->cursor++ = RADDLE_WORLD_RANDOM;
		put_bytes(n, (const char *)bytes + done, part);
		leave(n);
	}
}

/* ---- descriptors ---- */

static uint32_t kind_of(int fd)
{
	return fd >= 0 && fd < RT_WORLD_FDS ? atomic_load_explicit(&world()->fds[fd], memory_order_relaxed)
					    : 0;
}

static bool is_kind(uint32_t what, enum rt_world_fd kind)
{
	return (what & RT_FD_KINDS) == kind;
}

static uint32_t number_of(uint32_t what)
{
	return what & ~(uint32_t)RT_FD_KINDS;
}

static void set_kind(int fd, uint32_t what)
{
	if (fd >= 0 && fd < RT_WORLD_FDS)
		atomic_store_explicit(&world()->fds[fd], what, memory_order_release);
}

/* Returns the entry for the checksum of a connection.  An earlier connection that used the same
 * entry is assumed to have ended. */
static _Atomic uint64_t *sum_of(uint32_t number)
{
	return &world()->sums[number % RT_WORLD_FDS];
}

static uint32_t new_number(void)
{
	uint32_t number = atomic_fetch_add(&world()->numbers, 1) & ~(uint32_t)RT_FD_KINDS;

	atomic_store_explicit(sum_of(number), 0, memory_order_relaxed);
	return number;
}

struct address {
	struct sockaddr_storage bytes;
	socklen_t size;
};

static struct address address_of(int fd, long which)
{
	struct address a = {.size = sizeof a.bytes};
	int saved = errno;

	if (syscall(which, fd, &a.bytes, &a.size) || a.size > sizeof a.bytes)
		a.size = 0;
	errno = saved;
	return a;
}

static bool is_stream(int fd)
{
	int type = 0, saved = errno;
	socklen_t size = sizeof type;

	syscall(SYS_getsockopt, fd, SOL_SOCKET, SO_TYPE, &type, &size);
	errno = saved;
	return type == SOCK_STREAM;
}

/* ---- sockets ---- */

static void bound(struct rt_thread *t, int fd)
{
	struct address a = address_of(fd, SYS_getsockname);
	uint32_t number = new_number();

	if (!is_stream(fd))
		return;
	set_kind(fd, RT_FD_LISTENER | number);
	write_note(t, &(struct world_note){RADDLE_WORLD_LISTEN, rt_q(), 1, {number}, &a.bytes, a.size});
}

static void accepted(struct rt_thread *t, int listener, int fd)
{
	uint32_t from = kind_of(listener), number = new_number();
	struct address a;

	if (!is_kind(from, RT_FD_LISTENER))
		return;
	a = address_of(fd, SYS_getpeername);
	set_kind(fd, RT_FD_CONNECTION | number);
	write_note(t, &(struct world_note){
			      RADDLE_WORLD_ACCEPT, rt_q(), 2, {number_of(from), number}, &a.bytes, a.size});
}

static void connected(struct rt_thread *t, int fd, const struct iovec *address, int error)
{
	uint32_t number = new_number();

	if (!is_stream(fd) || address->iov_len > sizeof(struct sockaddr_storage))
		return;
	set_kind(fd, RT_FD_CONNECTION | number);
	write_note(t, &(struct world_note){RADDLE_WORLD_CONNECT,
					   rt_q(),
					   2,
					   {number, (uint64_t)error},
					   address->iov_base,
					   address->iov_len});
}

/* Called when bytes arrive: writes the INPUT record before the first bytes of a descriptor that
 * the program was started with. */
static uint32_t begin_input(struct rt_thread *t, int fd, uint32_t what)
{
	uint32_t number = number_of(what);

	if (!is_kind(what, RT_FD_INPUT))
		return what;
	set_kind(fd, RT_FD_CONNECTION | number);
	write_note(t, &(struct world_note){RADDLE_WORLD_INPUT, rt_q(), 2, {number, (uint64_t)fd}, NULL, 0});
	return RT_FD_CONNECTION | number;
}

static void write_bytes(struct rt_thread *t, uint64_t order, uint32_t number, const struct iovec *part)
{
	const char *from = part->iov_base;

	for (size_t done = 0, size; done < part->iov_len; done += size) {
		size = part->iov_len - done < PART ? part->iov_len - done : PART;
		write_note(t,
			   &(struct world_note){RADDLE_WORLD_RECEIVE, order, 1, {number}, from + done, size});
	}
}

static void received(struct rt_thread *t, int fd, const struct iovec *parts, ssize_t length)
{
	uint32_t what = kind_of(fd), number = number_of(what);
	uint64_t order;

	if (!is_kind(what, RT_FD_CONNECTION) && !is_kind(what, RT_FD_INPUT))
		return;
	begin_input(t, fd, what);
	if (atomic_fetch_add(&world()->bytes, (uint64_t)length) > BYTES_MAX) {
		noted(t)->lost++;
		return;
	}
	order = rt_q();
	if (!length)
		write_note(t, &(struct world_note){RADDLE_WORLD_RECEIVE, order, 1, {number}, "", 0});
	for (; length > 0; length -= (ssize_t)parts->iov_len, parts++) {
		struct iovec part = *parts;

		if (part.iov_len > (size_t)length)
			part.iov_len = (size_t)length;
		write_bytes(t, order, number, &part);
	}
}

static struct rt_sending sending(struct rt_thread *t, int fd)
{
	uint32_t what = kind_of(fd);

	(void)t;
	return is_kind(what, RT_FD_CONNECTION) ? (struct rt_sending){rt_q(), what} : (struct rt_sending){0};
}

static void sent(struct rt_thread *t, struct rt_sending sending, const struct iovec *parts, ssize_t length)
{
	_Atomic uint64_t *place = sum_of(number_of(sending.what));
	uint64_t sum;

	if (!sending.what)
		return;
	sum = atomic_load_explicit(place, memory_order_relaxed);
	for (ssize_t left = length; left > 0; left -= (ssize_t)parts->iov_len, parts++)
		sum = raddle_world_sum(sum, parts->iov_base,
				       parts->iov_len < (size_t)left ? parts->iov_len : (size_t)left);
	atomic_store_explicit(place, sum, memory_order_relaxed);
	write_note(t, &(struct world_note){RADDLE_WORLD_SEND,
					   sending.order,
					   3,
					   {number_of(sending.what), (uint64_t)length, sum},
					   NULL,
					   0});
}

static void closing(struct rt_thread *t, int fd)
{
	uint32_t what = kind_of(fd);

	if (!what)
		return;
	set_kind(fd, RT_FD_NONE);
	if (is_kind(what, RT_FD_CONNECTION))
		write_note(t,
			   &(struct world_note){RADDLE_WORLD_CLOSE, rt_q(), 1, {number_of(what)}, NULL, 0});
}

static void duplicated(int fd, int copy)
{
	uint32_t what = kind_of(fd);

	if (what)
		set_kind(copy, what);
}

static void loops(struct rt_thread *t)
{
	write_note(t, &(struct world_note){RADDLE_WORLD_LOOP, rt_q(), 0, {0}, NULL, 0});
}

/* ---- the process ---- */

/* Returns true if the descriptor is a pipe, socket or terminal.  Bytes that were read from these
 * cannot be read again. */
static bool is_from_outside(int fd)
{
	struct termios terminal;
	struct stat s;

	if (syscall(SYS_fstat, fd, &s))
		return false;
	return S_ISFIFO(s.st_mode) || S_ISSOCK(s.st_mode) ||
	       (S_ISCHR(s.st_mode) && !syscall(SYS_ioctl, fd, TCGETS, &terminal));
}

bool rt_world_note_setup(void)
{
	rt.layer[RT_LAYER_WORLD] = rt_map(sizeof(struct rt_world));
	if (!world())
		return false;
	if (is_from_outside(STDIN_FILENO))
		set_kind(STDIN_FILENO, RT_FD_INPUT | new_number());
	rt.outside = &rt_world_notes;
	return true;
}

void rt_world_note_begin(struct rt_thread *t)
{
	if (t->number < RT_LINEAGE)
		world()->lineage[t->number] = (struct rt_lineage){t->parent, t->index};
}

void rt_world_note_end(struct rt_thread *t)
{
	seal(noted(t));
}

const struct rt_outside rt_world_notes = {
	.says = says,
	.says_random = says_random,
	.bound = bound,
	.accepted = accepted,
	.connected = connected,
	.received = received,
	.sending = sending,
	.sent = sent,
	.closing = closing,
	.duplicated = duplicated,
	.loops = loops,
};
