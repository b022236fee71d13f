/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One stream file in memory: the events of one thread, chunk by chunk.
 *
 * Bytes are checked before they are used.  If a stream ends inside a chunk, the events before that
 * chunk are used, a warning is printed, and `damage` is set.  Any other defect ends the stream.
 * It is reported once, as an error with the stream, chunk and offset.
 */
#ifndef TRACE_STREAM_H
#define TRACE_STREAM_H

#include "trace/decode.h"

enum trace_damage {
	TRACE_SOUND = 0,
	TRACE_TRUNCATED, /* the file ends inside a chunk */
	TRACE_BROKEN,	 /* the contents of the file are damaged */
};

/* The time at which reading must end, for all streams of a trace.  If this limit cuts a stream
 * short, the stream ends as if there were no more events, and `late` is set to show that the trace
 * was not read completely. */
struct trace_limit {
	int64_t deadline_ns; /* the time at which to stop reading (base/clock.h); 0 for never */
	/* The number of chunks read so far.  The first TRACE_LIMIT_FREE chunks are always read. */
	uint64_t chunks;
	bool late;
};
/* A trace of at most this many chunks is read completely, even after the deadline.  Set by hand. */
#define TRACE_LIMIT_FREE 64

struct trace_inflater; /* the state of decompression; any number of streams share one */
struct trace_inflater *trace_inflater_new(void);
void trace_inflater_free(struct trace_inflater *inflater);

struct trace_stream {
	const char *name; /* for messages; owned by the caller */
	const uint8_t *data;
	size_t length;
	size_t offset;	     /* file offset of the next chunk */
	size_t chunk_offset; /* file offset of the current chunk */
	uint32_t thread;
	uint32_t version; /* version of the format */
	/* True for a stream of a full trace (trace/full.h).  Its chunks can be read, but not its
	 * events. */
	bool full;
	/* True for the stream of the world (trace/world.h).  Its chunks can be read, but not its
	 * events. */
	bool world;
	/* The codec of the current chunk, and its length after unpacking. */
	uint32_t codec, length_raw;
	uint32_t chunks; /* number of chunks begun so far */
	enum trace_damage damage;
	/* If not NULL, *reported is true if damage of the file has been reported. */
	bool *reported;
	/* The largest q so far, which is the position of the event in the total order. */
	uint64_t last_q;
	struct trace_decoder decoder;
	struct trace_inflater *inflater;
	struct trace_limit *limit; /* may be NULL */
	uint8_t *records;	   /* the decompressed chunk */
	size_t records_capacity;
};

/* Opens a stream and checks its header. `data`, `name` and `inflater` must outlive the stream.  If
 * `full` is true, the stream belongs to a full trace, which has chunks but no events. */
int trace_stream_open(struct trace_stream *s, struct trace_inflater *inflater, const void *data,
		      size_t length, const char *name, bool full);
/* Does the same as trace_stream_open() for the stream `world`, which contains the recorded input
 * (trace/world.h).  The caller can read its chunks, but not its events. */
int trace_stream_open_world(struct trace_stream *s, struct trace_inflater *inflater, const void *data,
			    size_t length, const char *name);
void trace_stream_close(struct trace_stream *s);

/* Reads the next chunk.  Returns 1 if its bytes are decoder.begin to decoder.end.  Otherwise
 * returns the same as trace_stream_more(). */
int trace_stream_chunk(struct trace_stream *s);

/* The position at which a chunk begins.  Chunks can be read separately. */
struct trace_place {
	size_t offset;
	uint32_t chunks;
};
static inline struct trace_place trace_stream_place(const struct trace_stream *s)
{
	return (struct trace_place){s->chunk_offset, s->chunks - 1};
}

/* Continues a stream at a position that another stream of the same thread has reached. `last_q` is
 * the value of last_q at the beginning of the chunk. */
static inline void trace_stream_seek(struct trace_stream *s, struct trace_place place, uint64_t last_q)
{
	s->offset = place.offset;
	s->chunks = place.chunks;
	s->last_q = last_q;
}

/* Reports that the contents of the chunk are invalid, and ends the stream. */
int trace_stream_bad(struct trace_stream *s, size_t at, const char *what);

/* Stores the next event in *e and returns 1.  Returns 0 if there are no more events.  If damage
 * ends the stream, reports the damage and returns a negative rd_err; further calls then return
 * 0. */
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
