/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes trace directories.  It receives chunks of records from the collector, and writes
 * compressed and checksummed chunks to one file per thread.
 *
 * Invariants:
 * 1. A stream file on disk consists of a header and whole chunks, because a chunk is written by one
 *    write(2), and the remains of a failed write are cut off.
 * 2. At most MAX_OPEN descriptors are open, however many threads there are.  The least recently
 *    used stream is closed to make room.
 * 3. A file is created when its thread's first chunk arrives, never earlier.
 * 4. After `offset`, a file contains nothing, or the one chunk of a preview.
 */
#include "trace/writer.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "base/map.h"
#include "trace/format-int.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#define MAX_OPEN 64 /* largest number of open descriptors, far below the usual limit of 1024 */
/* Compression levels of zstd. */
#define LEVEL (-1)	  /* the usual level: a third faster than level 1, and a tenth more bytes */
#define FULL_LEVEL 1	  /* for full traces, which are large */
#define FAST_LEVEL (-100) /* much faster, up to 40 % more bytes; for streams that compress badly */
/* These constants determine when a stream counts as compressing well.  Set by hand. */
#define GOOD_RATIO 4	    /* the contents become at least this many times smaller */
#define GOOD_RATIO_PACKED 3 /* the same for packed bytes */
/* The number of chunks at FAST_LEVEL until the usual level is tried again. */
#define FAST_CHUNKS 15
/* If FAST_LEVEL saves less than 1/FAST_GAIN of the bytes of a chunk, the following chunks are not
 * compressed. */
#define FAST_GAIN 8

#define WORLD UINT32_MAX /* stands for the stream of the world, in place of a thread's number */

struct out_stream {
	uint32_t thread;
	uint32_t chunks;
	uint32_t fast_chunks; /* number of remaining chunks at FAST_LEVEL */
	/* True if chunks are not compressed, because FAST_LEVEL saved too little when it was last
	 * tried. */
	bool plain;
	uint64_t offset; /* file offset of the end of the last whole chunk */
	uint64_t used;	 /* value of the clock at its last use */
	int fd;		 /* -1 if not open */
	bool preview;	 /* the chunk after `offset` is a preview and will be cut off */
};

struct trace_writer {
	char *directory;
	struct out_stream *streams;
	size_t count, capacity;
	struct rd_umap by_thread; /* maps the number of a thread to an index in streams */
	size_t open[MAX_OPEN];	  /* indices of the open streams */
	size_t open_count;
	uint64_t clock;
	uint64_t bytes;
	bool full;
	ZSTD_CCtx *zstd;
	uint8_t *out;
	size_t out_size;
};

static char *path_of(const char *directory, uint32_t thread)
{
	if (thread == WORLD)
		return rd_xasprintf("%s/world", directory);
	return rd_xasprintf("%s/thread-%u", directory, thread);
}

/* Reports an error and keeps errno for the caller, because path_of() and free() may change it. */
static int fail_keeping_errno(const char *what, const char *directory, uint32_t thread)
{
	int saved = errno;
	char *path = path_of(directory, thread);
	errno = saved;
	int code = rd_fail_errno("trace: %s: %s", path, what);
	free(path);
	errno = saved;
	return code;
}

int trace_writer_open(struct trace_writer **out, const char *directory)
{
	RD_ASSERT(out != NULL && directory != NULL);
	int err = rd_mkdirs(directory);
	if (err)
		return err;
	char *first = rd_xasprintf("%s/thread-0", directory);
	char *meta = rd_xasprintf("%s/meta.json", directory);
	bool taken = rd_file_exists(first) || rd_file_exists(meta);
	free(first);
	free(meta);
	if (taken)
		return rd_fail(RD_EUSAGE, "trace: %s contains a trace already", directory);
	struct trace_writer *w = rd_xcalloc(1, sizeof *w);
	w->directory = rd_xstrdup(directory);
	w->zstd = ZSTD_createCCtx();
	RD_ASSERT(w->zstd);
	w->out_size = TRACE_CHUNK_HEADER + ZSTD_compressBound(2 * TRACE_CHUNK_MAX);
	w->out = rd_xmalloc(w->out_size);
	*out = w;
	return RD_OK;
}

static struct out_stream *find_stream(struct trace_writer *w, uint32_t thread)
{
	bool is_new;
	uint64_t *index = rd_umap_put(&w->by_thread, thread, &is_new);
	if (is_new) {
		*index = w->count;
		RD_GROW(w->streams, w->capacity, w->count + 1);
		w->streams[w->count++] = (struct out_stream){.thread = thread, .fd = -1};
	}
	return &w->streams[*index];
}

static int close_oldest(struct trace_writer *w)
{
	size_t victim = 0;
	for (size_t i = 1; i < w->open_count; i++) {
		if (w->streams[w->open[i]].used < w->streams[w->open[victim]].used)
			victim = i;
	}
	struct out_stream *s = &w->streams[w->open[victim]];
	int fd = s->fd;
	s->fd = -1;
	w->open[victim] = w->open[--w->open_count];
	if (close(fd) != 0)
		return fail_keeping_errno("cannot close", w->directory, s->thread);
	return RD_OK;
}

static int write_header(struct trace_writer *w, struct out_stream *s)
{
	uint8_t header[TRACE_STREAM_HEADER];
	bool world = s->thread == WORLD;
	memcpy(header, world ? TRACE_WORLD_MAGIC : w->full ? TRACE_FULL_MAGIC : TRACE_STREAM_MAGIC, 8);
	trace_put32(header + 8, w->full && !world ? TRACE_FULL_VERSION : TRACE_FORMAT_VERSION);
	trace_put32(header + 12, world ? 0 : s->thread);
	if (rd_write_all(s->fd, header, sizeof header) != 0)
		return fail_keeping_errno("cannot write", w->directory, s->thread);
	s->offset = sizeof header;
	w->bytes += sizeof header;
	return RD_OK;
}

static int open_stream(struct trace_writer *w, struct out_stream *s)
{
	if (w->open_count == MAX_OPEN) {
		int err = close_oldest(w);
		if (err)
			return err;
	}
	char *path = path_of(w->directory, s->thread);
	bool fresh = s->offset == 0;
	s->fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC | (fresh ? O_CREAT | O_TRUNC : 0),
		     s->thread == WORLD ? 0600 : 0666);
	int saved = errno;
	free(path);
	errno = saved;
	if (s->fd < 0)
		return fail_keeping_errno("cannot open", w->directory, s->thread);
	w->open[w->open_count++] = (size_t)(s - w->streams);
	if (fresh)
		return write_header(w, s);
	return RD_OK;
}

/* The contents of a chunk.  `raw` is the unpacked length of packed records, or 0 for others. */
struct content {
	const void *records;
	size_t length, raw;
};

/* Compresses the contents of a chunk.  If the usual compression level saves little, the next
 * FAST_CHUNKS chunks use FAST_LEVEL.  After them, the usual level is tried again.  If the first
 * chunk with FAST_LEVEL saves almost nothing, the others are not compressed, unless they are
 * packed.  Returns 0 if the chunk is to be stored uncompressed. */
static size_t compress(struct trace_writer *w, struct out_stream *s, const struct content *c, uint8_t *body)
{
	bool fast_chunks = s->fast_chunks, first = s->fast_chunks == FAST_CHUNKS;
	if (s->fast_chunks)
		s->fast_chunks--;
	if (fast_chunks && !first && s->plain && !c->raw)
		return 0;
	size_t stored =
		ZSTD_compressCCtx(w->zstd, body, w->out_size - TRACE_CHUNK_HEADER, c->records, c->length,
				  fast_chunks ? FAST_LEVEL
				  : w->full   ? FULL_LEVEL
					      : LEVEL);
	if (fast_chunks)
		s->plain = stored > c->length - c->length / FAST_GAIN;
	else if (stored > c->length / (c->raw ? GOOD_RATIO_PACKED : GOOD_RATIO))
		s->fast_chunks = FAST_CHUNKS;
	return ZSTD_isError(stored) || stored >= c->length ? 0 : stored;
}

/* Builds a chunk in w->out, beginning at *begin, and returns its length. */
static size_t build_chunk(struct trace_writer *w, struct out_stream *s, const struct content *c,
			  uint8_t **begin)
{
	uint8_t *body = w->out + TRACE_CHUNK_HEADER, brief[TRACE_CHUNK_HEADER];
	size_t head = TRACE_CHUNK_HEADER;
	size_t stored = compress(w, s, c, body);
	enum trace_codec codec = c->raw ? TRACE_CODEC_PACKED : TRACE_CODEC_ZSTD;
	if (stored == 0) {
		memcpy(body, c->records, c->length);
		stored = c->length;
		codec = c->raw ? TRACE_CODEC_SMALL : TRACE_CODEC_RAW;
	}
	trace_put32(w->out, TRACE_CHUNK_MAGIC);
	trace_put32(w->out + 4, s->chunks);
	trace_put32(w->out + 8, (uint32_t)(c->raw ? c->raw : c->length));
	trace_put32(w->out + 12, (uint32_t)stored);
	trace_put32(w->out + 16, codec);
	trace_put32(w->out + 20, c->raw ? (uint32_t)c->length : 0);
	trace_put64(w->out + TRACE_CHUNK_SUMMED, trace_chunk_sum(w->out, body, stored));
	if (w->full && s->thread != WORLD) {
		head = trace_chunk_shorten(brief, w->out);
		memcpy(body - head, brief, head);
	}
	*begin = body - head;
	return head + stored;
}

static int cut_preview(struct trace_writer *w, struct out_stream *s)
{
	int err = s->fd < 0 ? open_stream(w, s) : RD_OK;
	if (err || !s->preview)
		return err;
	s->preview = false;
	if (ftruncate(s->fd, (off_t)s->offset) != 0)
		return fail_keeping_errno("cannot cut", w->directory, s->thread);
	return RD_OK;
}

/* Writes a chunk after the last whole one. */
static int put_chunk(struct trace_writer *w, struct out_stream *s, const struct content *c, size_t *size)
{
	RD_ASSERT(c->raw ? c->length <= 2 * TRACE_CHUNK_MAX && c->raw <= TRACE_CHUNK_MAX && w->full
			 : c->length <= TRACE_CHUNK_MAX);
	uint8_t *begin;
	s->used = ++w->clock;
	int err = cut_preview(w, s);
	if (err)
		return err;
	*size = build_chunk(w, s, c, &begin);
	if (rd_write_all(s->fd, begin, *size) != 0) {
		err = fail_keeping_errno("cannot write", w->directory, s->thread);
		int saved = errno;
		if (ftruncate(s->fd, (off_t)s->offset) != 0)
			rd_warn("trace: %s: an incomplete chunk remains at the end of a stream",
				w->directory);
		errno = saved;
	}
	return err;
}

static int write_chunk(struct trace_writer *w, uint32_t thread, const struct content *c)
{
	size_t size;
	if (c->length == 0)
		return RD_OK;
	struct out_stream *s = find_stream(w, thread);
	int err = put_chunk(w, s, c, &size);
	if (err)
		return err;
	s->chunks++;
	s->offset += size;
	w->bytes += size;
	return RD_OK;
}

int trace_writer_chunk(struct trace_writer *w, uint32_t thread, const void *records, size_t length)
{
	return write_chunk(w, thread, &(struct content){records, length, 0});
}

int trace_writer_world(struct trace_writer *w, const void *pieces, size_t length)
{
	return write_chunk(w, WORLD, &(struct content){pieces, length, 0});
}

int trace_writer_packed(struct trace_writer *w, uint32_t thread, const void *packed, size_t length,
			size_t raw)
{
	RD_ASSERT(w->full && raw > 0);
	return write_chunk(w, thread, &(struct content){packed, length, raw});
}

int trace_writer_preview(struct trace_writer *w, uint32_t thread, const void *records, size_t length)
{
	size_t size;
	if (length == 0)
		return RD_OK;
	struct out_stream *s = find_stream(w, thread);
	int err = put_chunk(w, s, &(struct content){records, length, 0}, &size);
	s->preview = !err;
	return err;
}

void trace_writer_full(struct trace_writer *w)
{
	w->full = true;
}

int trace_writer_meta(struct trace_writer *w, const struct trace_meta *meta)
{
	RD_ASSERT(meta != NULL);
	char *path = rd_xasprintf("%s/meta.json", w->directory);
	int err = trace_meta_write(meta, path);
	int saved = errno;
	free(path);
	errno = saved;
	return err;
}

int trace_writer_sites(struct trace_writer *w, const char *path)
{
	RD_ASSERT(path != NULL);
	char *target = rd_xasprintf("%s/sites", w->directory);
	struct rd_buf b = RD_BUF_INIT;
	/* The table is copied, not linked, so that damage to the trace cannot damage the cache. */
	int err = rd_file_read(path, &b);
	if (!err)
		err = rd_file_write(target, b.data, b.length);
	int saved = errno;
	rd_buf_release(&b);
	free(target);
	errno = saved;
	return err;
}

uint64_t trace_writer_bytes(const struct trace_writer *w)
{
	return w->bytes;
}

uint64_t trace_writer_threads(const struct trace_writer *w)
{
	return w->count - (rd_umap_get(&w->by_thread, WORLD) != NULL);
}

void trace_writer_abandon(struct trace_writer *w)
{
	RD_ASSERT(w != NULL);
	for (size_t i = 0; i < w->count; i++)
		w->streams[i].preview = false;
	trace_writer_close(w);
}

int trace_writer_close(struct trace_writer *w)
{
	int err = RD_OK;
	int saved = 0;
	if (!w)
		return RD_OK;
	for (size_t i = 0; i < w->count; i++) {
		if (w->streams[i].preview && !err) {
			err = cut_preview(w, &w->streams[i]);
			saved = errno;
		}
	}
	while (w->open_count > 0) {
		int one = close_oldest(w);
		if (one) {
			err = one;
			saved = errno;
		}
	}
	ZSTD_freeCCtx(w->zstd);
	rd_umap_release(&w->by_thread);
	RD_FREE(w->streams, w->directory, w->out, w);
	errno = saved;
	return err;
}
