/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads stream files: checks the header and the checksums of the chunks, decompresses the chunks,
 * and returns their events.  Offsets in messages are file offsets, except those of records, which
 * are offsets in the decompressed bytes of their chunk.
 */
#include "trace/stream.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/deadline.h"
#include "base/error.h"
#include "trace/format-int.h"
#include "trace/writer.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

struct trace_inflater {
	ZSTD_DCtx *zstd;
};

struct trace_inflater *trace_inflater_new(void)
{
	struct trace_inflater *i = rd_xcalloc(1, sizeof *i);
	i->zstd = ZSTD_createDCtx();
	RD_ASSERT(i->zstd);
	return i;
}

void trace_inflater_free(struct trace_inflater *inflater)
{
	if (!inflater)
		return;
	ZSTD_freeDCtx(inflater->zstd);
	free(inflater);
}

static int check_header(const uint8_t *p, size_t length, const char *name, const char *magic)
{
	if (length < TRACE_STREAM_HEADER)
		return rd_fail(RD_EFORMAT,
			       "trace: %s: %zu bytes are too few for a stream, whose header has %d", name,
			       length, TRACE_STREAM_HEADER);
	if (strcmp(magic, TRACE_STREAM_MAGIC) == 0 && memcmp(p, TRACE_FULL_MAGIC, 8) == 0)
		return rd_fail(RD_EUSAGE,
			       "trace: %s: this is a full trace; a trace of the flavour record is needed",
			       name);
	if (memcmp(p, magic, 8) != 0)
		return rd_fail(RD_EFORMAT, "trace: %s: offset 0: not a stream (it does not begin with %s)",
			       name, magic);
	uint32_t version = trace_get32(p + 8);
	int newest = strcmp(magic, TRACE_FULL_MAGIC) == 0 ? TRACE_FULL_VERSION : TRACE_FORMAT_VERSION;
	if (version == 0 || version > (uint32_t)newest)
		return rd_fail(RD_EVERSION, "trace: %s: offset 8: format version %u, this Raddle reads %d",
			       name, version, newest);
	return RD_OK;
}

static int open_stream(struct trace_stream *s, struct trace_inflater *inflater, const void *data,
		       size_t length, const char *name, const char *magic)
{
	RD_ASSERT(data != NULL || length == 0);
	RD_ASSERT(name != NULL);
	int err = check_header(data, length, name, magic);
	if (err)
		return err;
	memset(s, 0, sizeof *s);
	s->inflater = inflater;
	s->data = data;
	s->length = length;
	s->offset = TRACE_STREAM_HEADER;
	s->version = trace_get32(s->data + 8);
	s->thread = trace_get32(s->data + 12);
	s->name = name;
	s->full = strcmp(magic, TRACE_FULL_MAGIC) == 0;
	s->world = strcmp(magic, TRACE_WORLD_MAGIC) == 0;
	return RD_OK;
}

int trace_stream_open(struct trace_stream *s, struct trace_inflater *inflater, const void *data,
		      size_t length, const char *name, bool full)
{
	return open_stream(s, inflater, data, length, name, full ? TRACE_FULL_MAGIC : TRACE_STREAM_MAGIC);
}

int trace_stream_open_world(struct trace_stream *s, struct trace_inflater *inflater, const void *data,
			    size_t length, const char *name)
{
	return open_stream(s, inflater, data, length, name, TRACE_WORLD_MAGIC);
}

void trace_stream_close(struct trace_stream *s)
{
	trace_decoder_release(&s->decoder);
	free(s->records);
	memset(s, 0, sizeof *s);
}

/* Ends the stream, so that later calls return nothing more. */
static void stop(struct trace_stream *s, enum trace_damage damage)
{
	s->damage = damage;
	s->length = s->offset;
	s->decoder.p = s->decoder.end;
}

/* Returns true if this reader should report the damage.  If several readers use one file, only the
 * first one does. */
static bool first_report(struct trace_stream *s)
{
	if (!s->reported)
		return true;
	bool first = !*s->reported;
	*s->reported = true;
	return first;
}

static int truncated(struct trace_stream *s)
{
	if (first_report(s))
		rd_warn("trace: %s: chunk %u at 0x%zx: the file ends inside it; the chunks before it were "
			"read",
			s->name, s->chunks, s->offset);
	stop(s, TRACE_TRUNCATED);
	return 0;
}

static int broken(struct trace_stream *s, const char *what, uint64_t value)
{
	if (first_report(s))
		rd_fail(RD_EFORMAT, "trace: %s: chunk %u at 0x%zx: %s %llu", s->name, s->chunks, s->offset,
			what, (unsigned long long)value);
	stop(s, TRACE_BROKEN);
	return RD_EFORMAT;
}

static int inflate(struct trace_stream *s, const uint8_t *body, size_t stored, size_t length)
{
	if (length > s->records_capacity) {
		free(s->records);
		s->records = rd_xmalloc(length);
		s->records_capacity = length;
	}
	size_t n = ZSTD_decompressDCtx(s->inflater->zstd, s->records, length, body, stored);
	if (ZSTD_isError(n))
		return broken(s, "zstd: cannot decompress; length", length);
	if (n != length)
		return broken(s, "decompressed length differs from the header's, it is", n);
	return RD_OK;
}

/* Checks the codec and the lengths.  Stores the length of the decompressed bytes in *records. */
static int check_codec(struct trace_stream *s, const uint8_t *p, uint32_t *records)
{
	uint32_t length = trace_get32(p + 8), stored = trace_get32(p + 12), packed = trace_get32(p + 20);
	s->codec = trace_get32(p + 16);
	*records = s->length_raw = length;
	if (s->codec > (s->full ? TRACE_CODEC_SMALL : TRACE_CODEC_ZSTD) ||
	    (s->codec == TRACE_CODEC_RAW && stored != length) ||
	    (s->codec == TRACE_CODEC_SMALL && stored != packed))
		return broken(s, "bad codec", s->codec);
	if (!trace_is_packed(s->codec))
		return RD_OK;
	if (packed == 0 || packed > 2 * TRACE_CHUNK_MAX)
		return broken(s, "bad packed length", packed);
	*records = packed;
	return RD_OK;
}

static bool is_late(struct trace_limit *l)
{
	l->late |= ++l->chunks > TRACE_LIMIT_FREE && rd_deadline_passed(l->deadline_ns);
	return l->late;
}

/* Returns the length of the chunk header in the file, 0 if the file ends inside the header, or
 * SIZE_MAX if it is not a header. */
static size_t read_chunk_header(const struct trace_stream *s, uint8_t header[TRACE_CHUNK_HEADER], size_t left)
{
	const uint8_t *p = s->data + s->offset;
	if (left < 4)
		return 0;
	memcpy(header, p, 4);
	if (trace_get32(p) != TRACE_CHUNK_MAGIC)
		return SIZE_MAX;
	if (s->full && s->version >= 2)
		return trace_chunk_expand(header, p, left);
	if (left < TRACE_CHUNK_HEADER)
		return 0;
	memcpy(header, p, TRACE_CHUNK_HEADER);
	return TRACE_CHUNK_HEADER;
}

int trace_stream_chunk(struct trace_stream *s)
{
	size_t left = s->length - s->offset;
	uint8_t p[TRACE_CHUNK_HEADER];
	size_t head;
	if (left == 0)
		return 0;
	if (s->limit && is_late(s->limit)) {
		stop(s, TRACE_SOUND);
		return 0;
	}
	head = read_chunk_header(s, p, left);
	if (head == 0)
		return truncated(s);
	if (trace_get32(p) != TRACE_CHUNK_MAGIC)
		return broken(s, "not a chunk: the magic number is", trace_get32(p));
	if (head == SIZE_MAX)
		return broken(s, "bad chunk header of version", s->version);
	uint32_t number = trace_get32(p + 4), length = trace_get32(p + 8), stored = trace_get32(p + 12);
	uint32_t records_length;
	if (number != s->chunks)
		return broken(s, "wrong chunk number", number);
	if (length == 0 || length > TRACE_CHUNK_MAX)
		return broken(s, "bad length of the records", length);
	if (stored == 0 || stored > TRACE_CHUNK_MAX + TRACE_CHUNK_MAX / 8)
		return broken(s, "bad stored length", stored);
	int err = check_codec(s, p, &records_length);
	if (err)
		return err;
	if (stored > left - head)
		return truncated(s);
	const uint8_t *body = s->data + s->offset + head;
	if (trace_chunk_sum(p, body, stored) != trace_get64(p + TRACE_CHUNK_SUMMED))
		return broken(s, "wrong checksum over bytes", head + (uint64_t)stored);
	bool compressed = s->codec == TRACE_CODEC_ZSTD || s->codec == TRACE_CODEC_PACKED;
	if (compressed)
		err = inflate(s, body, stored, records_length);
	if (err)
		return err;
	const uint8_t *records = compressed ? s->records : body;
	if (!trace_is_packed(s->codec) && !s->world && records[0] != RADDLE_RESET)
		return broken(s, "the records do not start with RESET but with", records[0]);
	trace_decoder_start(&s->decoder, records, records_length);
	s->chunk_offset = s->offset;
	s->offset += head + (size_t)stored;
	s->chunks++;
	return 1;
}

static int bad_record(struct trace_stream *s)
{
	const struct trace_decoder *d = &s->decoder;
	if (first_report(s))
		rd_fail(RD_EFORMAT, "trace: %s: chunk %u at 0x%zx: record at 0x%zx (code 0x%02x): %s",
			s->name, s->chunks - 1, s->chunk_offset, (size_t)(d->p - d->begin), *d->p, d->error);
	stop(s, TRACE_BROKEN);
	return RD_EFORMAT;
}

int trace_stream_bad(struct trace_stream *s, size_t at, const char *what)
{
	RD_ASSERT(what != NULL);
	if (first_report(s))
		rd_fail(RD_EFORMAT, "trace: %s: chunk %u at 0x%zx: record at 0x%zx: %s", s->name,
			s->chunks - 1, s->chunk_offset, at, what);
	stop(s, TRACE_BROKEN);
	return RD_EFORMAT;
}

int trace_stream_more(struct trace_stream *s, struct trace_event *e)
{
	for (;;) {
		if (s->decoder.error) {
			int err = bad_record(s);
			s->decoder.error = NULL;
			return err;
		}
		int got = trace_decode(&s->decoder, e);
		if (got > 0)
			break;
		if (got < 0)
			continue;
		int err = trace_stream_chunk(s);
		if (err <= 0)
			return err;
	}
	if (raddle_has_q(e->kind) && e->q > s->last_q)
		s->last_q = e->q;
	return 1;
}
