// SPDX-License-Identifier: Apache-2.0
/*
 * The growing byte buffer.  Bytes and formatted text are appended.  The content of `data` is always
 * NUL-terminated.  A buffer that never grew points to the shared rd_buf_empty, which is never
 * written.
 */
#include "base/buf.h"

#include "base/alloc.h"
#include "base/error.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char rd_buf_empty[1];

void rd_buf_release(struct rd_buf *b)
{
	if (b->capacity)
		free(b->data);
	*b = (struct rd_buf)RD_BUF_INIT;
}

void rd_buf_clear(struct rd_buf *b)
{
	RD_ASSERT(b->data != NULL);
	b->length = 0;
	if (b->capacity)
		b->data[0] = '\0';
}

void rd_buf_reserve(struct rd_buf *b, size_t more)
{
	RD_ASSERT(b->data != NULL);
	RD_ASSERT(b->length == 0 || b->length < b->capacity);
	size_t need, to;

	/* If the size overflows, ask malloc for a size that it refuses. */
	if (__builtin_add_overflow(b->length, more, &need) || need == SIZE_MAX)
		need = SIZE_MAX - 1;
	if (need < b->capacity)
		return;
	to = b->capacity + b->capacity / 2;
	if (to < need + 1)
		to = need + 1;
	if (to < 64)
		to = 64;
	b->data = rd_xrealloc(b->capacity ? b->data : NULL, to);
	b->capacity = to;
	b->data[b->length] = '\0';
}

void rd_buf_add(struct rd_buf *b, const void *p, size_t n)
{
	RD_ASSERT(p != NULL || n == 0);
	if (!n)
		return;
	rd_buf_reserve(b, n);
	memcpy(b->data + b->length, p, n);
	b->length += n;
	b->data[b->length] = '\0';
}

void rd_buf_addc(struct rd_buf *b, char c)
{
	rd_buf_add(b, &c, 1);
}

void rd_buf_adds(struct rd_buf *b, const char *s)
{
	RD_ASSERT(s != NULL);
	rd_buf_add(b, s, strlen(s));
}

void rd_buf_addf(struct rd_buf *b, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	rd_buf_vaddf(b, format, ap);
	va_end(ap);
}

void rd_buf_vaddf(struct rd_buf *b, const char *format, va_list ap)
{
	va_list again;
	size_t room;
	int n;

	/* Most texts fit into the free space; longer ones are formatted a second time. */
	va_copy(again, ap);
	rd_buf_reserve(b, 63);
	room = b->capacity - b->length;
	n = vsnprintf(b->data + b->length, room, format, ap);
	if (n < 0)
		RD_BUG("vsnprintf() rejects a format");
	if ((size_t)n >= room) {
		rd_buf_reserve(b, (size_t)n);
		vsnprintf(b->data + b->length, (size_t)n + 1, format, again);
	}
	va_end(again);
	b->length += (size_t)n;
}

void rd_buf_add_shell(struct rd_buf *b, const char *word)
{
	RD_ASSERT(word != NULL);
	static const char plain[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=:,+@%";

	if (*word && strspn(word, plain) == strlen(word)) {
		rd_buf_adds(b, word);
		return;
	}
	rd_buf_addc(b, '\'');
	for (; *word; word++) {
		if (*word == '\'')
			rd_buf_adds(b, "'\\''");
		else
			rd_buf_addc(b, *word);
	}
	rd_buf_addc(b, '\'');
}

char *rd_buf_detach(struct rd_buf *b)
{
	RD_ASSERT(b->data != NULL);
	char *data = b->capacity ? b->data : rd_xstrdup("");

	*b = (struct rd_buf)RD_BUF_INIT;
	return data;
}
