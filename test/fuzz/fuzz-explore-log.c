// SPDX-License-Identifier: Apache-2.0
/*
 * Reads any bytes as the log of an exploration: a header and notes, one per line.  An accepted log
 * must be the same after it was written and read again.
 */
#include "base/error.h"
#include "explore/log.h"

#include <string.h>

static void check_note(const struct note *n, struct rd_arena *a)
{
	struct rd_buf first = RD_BUF_INIT, second = RD_BUF_INIT;
	struct note again;

	log_put_note(n, &first);
	RD_ASSERT(!log_get_note(&again, first.data, first.length - 1, "written", a));
	log_put_note(&again, &second);
	RD_ASSERT(!strcmp(first.data, second.data));
	rd_buf_release(&first);
	rd_buf_release(&second);
}

static void check_head(const struct log_head *head, struct rd_arena *a)
{
	struct rd_buf first = RD_BUF_INIT, second = RD_BUF_INIT;
	struct log_head again;

	log_put_head(head, &first);
	RD_ASSERT(!log_get_head(&again, first.data, first.length - 1, "written", a));
	log_put_head(&again, &second);
	RD_ASSERT(!strcmp(first.data, second.data));
	rd_buf_release(&first);
	rd_buf_release(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rd_arena *a = rd_arena_new();
	const char *at = (const char *)data, *end = at + size, *next;

	for (; at < end; at = next + 1) {
		struct log_head head;
		struct note n;

		next = memchr(at, '\n', (size_t)(end - at));
		next = next ? next : end;
		if (!log_get_head(&head, at, (size_t)(next - at), "fuzz", a))
			check_head(&head, a);
		if (!log_get_note(&n, at, (size_t)(next - at), "fuzz", a))
			check_note(&n, a);
	}
	rd_arena_free(a);
	return 0;
}
