// SPDX-License-Identifier: Apache-2.0
/*
 * Reads what the program gave to the outside (raddle/written.h).  In: the records, whose content is
 * not trusted.  Out: struct replay_written, in the arena of the result.
 */
#include "raddle/written.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/error.h"
#include "replay/run-int.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/un.h>

/* Stores the record at this offset, and its size.  Returns false at the end, or if it is damaged. */
static bool next_record(const struct raddle_written *w, uint32_t at, uint32_t used,
			struct raddle_written_record *record, uint32_t *size)
{
	if (used - at < sizeof *record)
		return false;
	memcpy(record, w->records + at, sizeof *record);
	if (record->name_size > used || record->sent_size > used)
		return false;
	*size = raddle_written_size(record->name_size, record->sent_size);
	return *size <= used - at;
}

static void add_network(struct rd_buf *out, int family, const void *host, uint16_t port)
{
	char text[INET6_ADDRSTRLEN];

	if (inet_ntop(family, host, text, sizeof text))
		rd_buf_addf(out, "%s port %u", text, ntohs(port));
}

/* Appends an address in readable form, or "an unknown address". */
static void add_address(struct rd_buf *out, const char *bytes, size_t size)
{
	union {
		sa_family_t family;
		struct sockaddr_in in;
		struct sockaddr_in6 in6;
		struct sockaddr_un un;
	} a = {0};
	size_t begin = offsetof(struct sockaddr_un, sun_path);

	memcpy(&a, bytes, size < sizeof a ? size : sizeof a);
	if (a.family == AF_INET && size >= sizeof a.in)
		add_network(out, AF_INET, &a.in.sin_addr, a.in.sin_port);
	else if (a.family == AF_INET6 && size >= sizeof a.in6)
		add_network(out, AF_INET6, &a.in6.sin6_addr, a.in6.sin6_port);
	else if (a.family == AF_UNIX && size > begin && size <= sizeof a.un)
		rd_buf_addf(out, "%s%.*s", a.un.sun_path[0] ? "" : "@",
			    (int)(size - begin - !a.un.sun_path[0]), a.un.sun_path + !a.un.sun_path[0]);
	if (!out->length)
		rd_buf_adds(out, "an unknown address");
}

static struct replay_written copy_record(const struct raddle_written_record *record, const char *name,
					 struct rd_arena *arena)
{
	struct replay_written to = {.file = record->kind == RADDLE_WRITTEN_FILE, .from = record->from};
	struct rd_buf text = RD_BUF_INIT;

	if (to.file)
		rd_buf_add(&text, name, strnlen(name, record->name_size));
	else
		add_address(&text, name, record->name_size);
	to.name = rd_arena_strndup(arena, text.data ? text.data : "", text.length);
	to.sent = rd_arena_copy(arena, name + record->name_size, record->sent_size);
	to.sent_length = record->sent_size;
	rd_buf_release(&text);
	return to;
}

void replay_copy_written(const struct raddle_written *w, struct replay_result *result)
{
	uint32_t used = atomic_load(&w->used), count = 0, size;
	struct raddle_written_record record;

	RD_ASSERT(result->arena != NULL);
	used = used < RADDLE_WRITTEN_BYTES ? used : RADDLE_WRITTEN_BYTES;
	for (uint32_t at = 0; next_record(w, at, used, &record, &size); at += size)
		count++;
	result->written = rd_arena_alloc(result->arena, (count + 1) * sizeof *result->written);
	result->written_count = 0;
	result->written_lost = atomic_load(&w->lost) != 0;
	for (uint32_t at = 0; result->written_count < count && next_record(w, at, used, &record, &size);
	     at += size)
		if (record.kind == RADDLE_WRITTEN_FILE || record.kind == RADDLE_WRITTEN_DATAGRAM)
			result->written[result->written_count++] =
				copy_record(&record, w->records + at + sizeof record, result->arena);
}
