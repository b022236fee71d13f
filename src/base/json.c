// SPDX-License-Identifier: Apache-2.0
/*
 * The streaming JSON writer.  In: names and values, one by one.  Out: text, written straight to a
 * FILE.  state[depth] holds the kind of the container at that depth and whether it has content.
 * state[0] is the document itself, which holds one value and ends with a newline.  Callers check
 * the FILE for write errors.
 */
#include "base/json.h"

#include "base/error.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Bits of the state of a container. */
enum { IN_OBJECT = 1, HAS_CONTENT = 2 };

void rd_json_begin(struct rd_json *j, FILE *out)
{
	RD_ASSERT(out != NULL);
	*j = (struct rd_json){.out = out};
}

static void new_line(struct rd_json *j)
{
	putc('\n', j->out);
	for (unsigned i = 0; i < j->depth; i++)
		putc('\t', j->out);
}

unsigned rd_utf8_length(const unsigned char *s)
{
	unsigned n = s[0] < 0xc2 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : s[0] < 0xf5 ? 4 : 0;

	for (unsigned i = 1; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	/* The second byte shows overlong forms, surrogates and code points above U+10FFFF, which
	 * are invalid. */
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) || (s[0] == 0xf0 && s[1] < 0x90) ||
	    (s[0] == 0xf4 && s[1] > 0x8f))
		return 0;
	return n;
}

static bool is_plain(unsigned char c)
{
	return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

static void escape(FILE *out, unsigned char c)
{
	static const char from[] = "\"\\\n\t\r\b\f", to[] = "\"\\ntrbf";
	const char *p = strchr(from, c);

	if (p)
		fprintf(out, "\\%c", to[p - from]);
	else
		fprintf(out, "\\u%04x", c);
}

static void quote(FILE *out, const char *text)
{
	const unsigned char *s = (const unsigned char *)text;

	putc('"', out);
	while (*s) {
		size_t n = 0;

		while (is_plain(s[n]))
			n++;
		if (n) {
			fwrite(s, 1, n, out);
		} else if (*s < 0x80) {
			escape(out, *s);
			n = 1;
		} else if ((n = rd_utf8_length(s))) {
			fwrite(s, 1, n, out);
		} else {
			fputs("\xef\xbf\xbd", out);
			n = 1;
		}
		s += n;
	}
	putc('"', out);
}

/* Writes the comma, newline and name that precede a value. */
static void lead(struct rd_json *j, const char *name)
{
	uint8_t *state = &j->state[j->depth];

	RD_ASSERT(!name == !(*state & IN_OBJECT));
	RD_ASSERT(j->depth || !(*state & HAS_CONTENT));
	if (*state & HAS_CONTENT)
		putc(',', j->out);
	*state |= HAS_CONTENT;
	if (j->indent && j->depth && j->depth <= 2)
		new_line(j);
	if (name) {
		quote(j->out, name);
		putc(':', j->out);
		if (j->indent)
			putc(' ', j->out);
	}
}

static void trail(struct rd_json *j)
{
	if (!j->depth)
		putc('\n', j->out);
}

static void open_container(struct rd_json *j, const char *name, uint8_t state)
{
	lead(j, name);
	RD_ASSERT(j->depth + 1 < sizeof j->state);
	j->state[++j->depth] = state;
	putc(state & IN_OBJECT ? '{' : '[', j->out);
}

void rd_json_object(struct rd_json *j, const char *name)
{
	open_container(j, name, IN_OBJECT);
}

void rd_json_array(struct rd_json *j, const char *name)
{
	open_container(j, name, 0);
}

void rd_json_end(struct rd_json *j)
{
	RD_ASSERT(j->depth > 0);
	uint8_t state = j->state[j->depth];

	RD_ASSERT(j->depth);
	j->depth--;
	if (j->indent && state & HAS_CONTENT && j->depth < 2)
		new_line(j);
	putc(state & IN_OBJECT ? '}' : ']', j->out);
	trail(j);
}

void rd_json_string(struct rd_json *j, const char *name, const char *value)
{
	lead(j, name);
	if (value)
		quote(j->out, value);
	else
		fputs("null", j->out);
	trail(j);
}

void rd_json_number(struct rd_json *j, const char *name, int64_t value)
{
	lead(j, name);
	fprintf(j->out, "%" PRId64, value);
	trail(j);
}

void rd_json_unsigned(struct rd_json *j, const char *name, uint64_t value)
{
	lead(j, name);
	fprintf(j->out, "%" PRIu64, value);
	trail(j);
}

/* Writes 15 digits if they read back as the same number, else 17. */
void rd_json_double(struct rd_json *j, const char *name, double value)
{
	char text[32];

	if (!isfinite(value)) {
		rd_json_null(j, name);
		return;
	}
	lead(j, name);
	snprintf(text, sizeof text, "%.15g", value);
	if (strtod(text, NULL) != value)
		snprintf(text, sizeof text, "%.17g", value);
	fputs(text, j->out);
	trail(j);
}

void rd_json_bool(struct rd_json *j, const char *name, bool value)
{
	lead(j, name);
	fputs(value ? "true" : "false", j->out);
	trail(j);
}

void rd_json_null(struct rd_json *j, const char *name)
{
	rd_json_string(j, name, NULL);
}

void rd_json_strings(struct rd_json *j, const char *name, const char *const *items, size_t count)
{
	rd_json_array(j, name);
	for (size_t i = 0; i < count; i++)
		rd_json_string(j, NULL, items[i]);
	rd_json_end(j);
}

size_t rd_json_objects_begin(struct rd_json *j, const char *name)
{
	rd_json_array(j, name);
	return 0;
}

bool rd_json_objects_next(struct rd_json *j, size_t at, size_t count)
{
	if (at)
		rd_json_end(j);
	if (at < count)
		rd_json_object(j, NULL);
	else
		rd_json_end(j);
	return at < count;
}

void rd_json_members(struct rd_json *j, const struct rd_json_member *members, size_t count)
{
	for (const struct rd_json_member *m = members; m < members + count; m++) {
		switch (m->type) {
		case RD_JSON_STRING: rd_json_string(j, m->name, m->string); break;
		case RD_JSON_NUMBER: rd_json_number(j, m->name, m->number); break;
		case RD_JSON_UNSIGNED: rd_json_unsigned(j, m->name, m->natural); break;
		case RD_JSON_DOUBLE: rd_json_double(j, m->name, m->real); break;
		case RD_JSON_BOOL: rd_json_bool(j, m->name, m->truth); break;
		}
	}
}
