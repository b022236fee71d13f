// SPDX-License-Identifier: Apache-2.0
/*
 * Handles channels (reversible/channel-int.h).  It reads the records of the first walk, and turns
 * channel operations into posts and takes.
 *
 * If all sends have the same size, and each receive returned that many bytes, the k-th receive
 * needs k sends.  The same is true of eventfds, where one receive may take several sends.
 * Otherwise the bytes of one send may be received in parts, and only the first receive certainly
 * needs a send.  Polls, receives that find the end of the file, and stdio's read-ahead take
 * nothing.
 *
 * A channel from which this process never receives orders nothing.  Sends before the creation of
 * the first thread leave no event.  If there was such a send, no channel is assumed to order
 * anything.
 */
#include "reversible/channel-int.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/name.h"

#include <stdlib.h>
#include <string.h>

#define EVENTFD_BYTES 8 /* size of a message, as eventfd(2) defines it */

void rev_channels_init(struct rev_channels *c, struct rev_run *run, const struct trace_sites *sites)
{
	*c = (struct rev_channels){.run = run, .sites = sites};
}

void rev_channels_release(struct rev_channels *c)
{
	free(c->pending);
}

static const char *name_of(const struct rev_channels *c, uint32_t site)
{
	const struct trace_site *s = trace_sites_find(c->sites, site);

	return s ? s->what : "";
}

/* Returns true if the call returns the number of bytes that it sent. */
static bool is_sending(const char *call)
{
	static const char *const names[] = {"write", "send", "sendto", "sendmsg", "writev"};

	return rd_is_one_of(call, names, sizeof names / sizeof *names);
}

static bool moves_bytes(const char *call)
{
	static const char *const names[] = {"read", "recv", "recvfrom", "recvmsg", "readv"};

	return is_sending(call) || rd_is_one_of(call, names, sizeof names / sizeof *names);
}

/* Notes a send before the first thread is created.  Sends to the standard streams do not count,
 * because they leave the process. */
static void check_early_send(struct rev_channels *c, const struct trace_record *r)
{
	const char *call = name_of(c, r->site);
	uint64_t first = r->value_count ? (uint32_t)trace_record_value(r, 0) : 0;

	if (c->started)
		return;
	c->early |= (is_sending(call) || !strcmp(call, "eventfd_write")) && first > 2;
	c->early |= !strcmp(call, "eventfd") && first != 0;
}

static void note_operation(struct rev_channels *c, uint32_t thread)
{
	RD_ASSERT(thread < c->run->thread_count);
	size_t before = c->pending_capacity;

	RD_GROW(c->pending, c->pending_capacity, (size_t)thread + 1);
	memset(c->pending + before, 0, (c->pending_capacity - before) * sizeof *c->pending);
	c->pending[thread] = (uint32_t)c->run->op_count;
}

static void note_result(struct rev_channels *c, uint32_t thread, const struct trace_record *r)
{
	struct rev_op *op;
	const char *call;

	if (thread >= c->pending_capacity || !c->pending[thread])
		return;
	op = &c->run->ops[c->pending[thread] - 1];
	c->pending[thread] = 0;
	call = name_of(c, r->site);
	if (moves_bytes(call) && r->value_count && (int64_t)r->value > 0 && r->value < UINT32_MAX)
		op->bytes = (uint32_t)r->value;
	else if (!strncmp(call, "eventfd_", strlen("eventfd_")) && !r->value)
		op->bytes = EVENTFD_BYTES;
}

void rev_channels_feed(struct rev_channels *c, uint32_t thread, const struct trace_record *r)
{
	if (r->kind == TRACE_FULL_CALL || r->kind == TRACE_FULL_TAIL)
		check_early_send(c, r);
	else if (r->kind == TRACE_FULL_RESULT)
		note_result(c, thread, r);
	else if (r->kind == TRACE_FULL_EVENT && raddle_class(r->event->kind) == RADDLE_CLASS_CHANNEL)
		note_operation(c, thread);
	c->started |= r->kind == TRACE_FULL_EVENT && r->event->kind == RADDLE_THREAD_CREATE;
}

/* The state of one channel. */
struct channel {
	uint32_t bytes; /* the size of every send and receive in bytes; 0 if not known yet */
	bool mixed, received;
	bool taken; /* the first receive was found */
};

static bool is_on_channel(const struct rev_run *run, const struct rev_op *op)
{
	return op->object != REV_NONE && raddle_class(op->event) == RADDLE_CLASS_CHANNEL &&
	       run->objects[op->object].channel;
}

static void measure(const struct rev_run *run, struct channel *list)
{
	for (size_t i = 0; i < run->op_count; i++) {
		const struct rev_op *op = &run->ops[i];
		struct channel *c;

		if (!is_on_channel(run, op))
			continue;
		c = &list[op->object];
		c->received |= op->event == RADDLE_CHANNEL_RECEIVE;
		c->mixed |= c->bytes && op->bytes && c->bytes != op->bytes;
		c->mixed |= op->event == RADDLE_CHANNEL_SEND && !op->bytes;
		c->bytes = op->bytes ? op->bytes : c->bytes;
	}
}

/* Returns true if the receive needs a send of its own. */
static bool takes(struct channel *c, const struct rev_op *op)
{
	bool first = !c->taken;

	c->taken = true;
	return c->mixed ? first : op->bytes != 0;
}

void rev_channels_finish(struct rev_channels *c)
{
	struct rev_run *run = c->run;
	struct channel *list = rd_xcalloc(run->object_count + 1, sizeof *list);

	measure(run, list);
	for (size_t i = 0; i < run->op_count; i++) {
		struct rev_op *op = &run->ops[i];

		if (!is_on_channel(run, op))
			continue;
		run->objects[op->object].used = list[op->object].received;
		if (c->early || !list[op->object].received ||
		    (op->kind == EXEC_TAKE && !takes(&list[op->object], op)))
			run->x.events[i].kind = op->kind = EXEC_FREE;
	}
	free(list);
}
