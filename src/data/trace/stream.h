/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One stream file in memory: the events of one thread, chunk by chunk.
 *
 * Bytes are checked before they are used.  If a stream stops inside a chunk, the events before that
 * are used, a warning is emitted, and `damage` records it.  Any other defect is an error that names
 * stream, chunk and offset; it is reported once and ends the stream.
 */
#ifndef TRACE_STREAM_H
#define TRACE_STREAM_H

#include "trace/decode.h"

enum trace_damage {
	TRACE_SOUND = 0,
	TRACE_TRUNCATED, /* the file ends inside a chunk */
	TRACE_BROKEN,	 /* bytes are not what they claim to be */
};

/* When reading has to end, for all streams of a trace.  If the limit cuts a stream short, the
 * stream ends as if there were no more events.  Then `late` is set: the trace was not read
 * completely. */
struct trace_limit {
	int64_t deadline_ns; /* base/clock.h; 0: never */
	uint64_t chunks;     /* read so far; the first TRACE_LIMIT_FREE of them are always read */
	bool late;
};
#define TRACE_LIMIT_FREE 64 /* chunks; set by hand: a small trace is read whatever the deadline */

struct trace_inflater; /* what decompression needs; any number of streams share one */
struct trace_inflater *trace_inflater_new(void);
void trace_inflater_free(struct trace_inflater *inflater);

struct trace_stream {
	const char *name; /* for messages; the caller's */
	const uint8_t *data;
	size_t length;
	size_t offset;	     /* of the next chunk */
	size_t chunk_offset; /* of the current one */
	uint32_t thread;
	uint32_t version;	    /* of the format */
	bool full;		    /* of a full trace (trace/full.h): chunks can be read, events cannot */
	bool world;		    /* what came from outside (trace/world.h): the same */
	uint32_t codec, length_raw; /* of the current chunk, and what it unpacks to */
	uint32_t chunks;	    /* begun so far */
	enum trace_damage damage;
	bool *reported;	 /* not NULL and true: damage has been reported before */
	uint64_t last_q; /* the largest q so far: the event's place in the global order */
	struct trace_decoder decoder;
	struct trace_inflater *inflater;
	struct trace_limit *limit; /* may be NULL */
	uint8_t *records;	   /* decompressed chunk */
	size_t records_capacity;
};

/* Checks the header.  Bytes, name and inflater must outlive the stream.  A stream of a full trace
 * has chunks but no events. */
int trace_stream_open(struct trace_stream *s, struct trace_inflater *inflater, const void *data,
		      size_t length, const char *name, bool full);
/* The same for the stream of the world, which has chunks but no events either. */
int trace_stream_open_world(struct trace_stream *s, struct trace_inflater *inflater, const void *data,
			    size_t length, const char *name);
void trace_stream_close(struct trace_stream *s);

/* 1: the next chunk's bytes are decoder.begin to decoder.end.  0 and less: as trace_stream_more().
 */
int trace_stream_chunk(struct trace_stream *s);

/* Where the current chunk begins; chunks can be read separately. */
struct trace_place {
	size_t offset;
	uint32_t chunks;
};
static inline struct trace_place trace_stream_place(const struct trace_stream *s)
{
	return (struct trace_place){s->chunk_offset, s->chunks - 1};
}

/* Continues a stream of the same thread at that place; last_q is its value when the chunk began. */
static inline void trace_stream_seek(struct trace_stream *s, struct trace_place place, uint64_t last_q)
{
	s->offset = place.offset;
	s->chunks = place.chunks;
	s->last_q = last_q;
}

/* Reports that the contents of the chunk are invalid, and ends the stream. */
int trace_stream_bad(struct trace_stream *s, size_t at, const char *what);

/* 1: *e is the next event.  0: there are no more.  Negative rd_err: damage ended the stream and
 * has been reported; further calls return 0. */
int trace_stream_more(struct trace_stream *s, struct trace_event *e);

static inline int trace_stream_next(struct trace_stream *s, struct trace_event *e)
{
	if (trace_decode(&s->decoder, e) <= 0)
		return trace_stream_more(s, e);
	if (raddle_has_q(e->kind) && e->q > s->last_q)
		s->last_q = e->q;
	return 1;
}

#endif
