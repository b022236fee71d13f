/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A growing byte buffer.  `data` is never NULL, and a NUL always follows its `length` bytes, so a
 * buffer of text can be used as a string.  Initialise a buffer with RD_BUF_INIT, and release it
 * with rd_buf_release().
 */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include <stdarg.h>
#include <stddef.h>

struct rd_buf {
	char *data;
	size_t length;
	size_t capacity; /* 0 while data is the shared empty string */
};

extern char rd_buf_empty[1];
#define RD_BUF_INIT                                                                                          \
	{                                                                                                    \
		rd_buf_empty, 0, 0                                                                           \
	}

void rd_buf_release(struct rd_buf *b);		    /* frees the memory and initialises b again */
void rd_buf_clear(struct rd_buf *b);		    /* sets the length to 0 and keeps the memory */
void rd_buf_reserve(struct rd_buf *b, size_t more); /* makes room for `more` bytes after the content */
void rd_buf_add(struct rd_buf *b, const void *p, size_t n);
void rd_buf_addc(struct rd_buf *b, char c);
void rd_buf_adds(struct rd_buf *b, const char *s);
void rd_buf_addf(struct rd_buf *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
void rd_buf_vaddf(struct rd_buf *b, const char *format, va_list ap) __attribute__((format(printf, 2, 0)));
void rd_buf_add_shell(struct rd_buf *b, const char *word); /* adds the word, quoted for a shell */
char *rd_buf_detach(struct rd_buf *b);			   /* the caller frees the result; b is empty again */

#endif
