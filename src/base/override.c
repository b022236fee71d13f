// SPDX-License-Identifier: Apache-2.0
/* Input overrides in memory and as text (base/override.h). */
#include "base/override.h"

#include "base/alloc.h"
#include "base/error.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* The highest number of an argument.  It was chosen by hand; larger numbers are typing errors. */
#define ARGUMENT_MAX 4096u

static const char *const kinds[] = {"argv", "stdin", "file", "env"};

const char *rd_override_kind_name(enum rd_override_kind kind)
{
	return kinds[kind];
}

static bool is_same(const struct rd_override_part *a, const struct rd_override_part *b)
{
	return a->kind == b->kind && a->number == b->number &&
	       (a->name == b->name || (a->name && b->name && !strcmp(a->name, b->name)));
}

const struct rd_override_part *rd_override_find(const struct rd_override *g,
						const struct rd_override_part *like)
{
	for (size_t i = 0; i < g->count; i++)
		if (is_same(&g->parts[i], like))
			return &g->parts[i];
	return NULL;
}

static char *copy_bytes(const char *data, size_t length)
{
	char *copy = rd_xcalloc(length + 1, 1);

	if (length)
		memcpy(copy, data, length);
	return copy;
}

void rd_override_set(struct rd_override *g, const struct rd_override_part *part)
{
	struct rd_override_part *old = (struct rd_override_part *)rd_override_find(g, part);
	char *data = copy_bytes(part->data, part->length);

	if (!old) {
		RD_GROW(g->parts, g->capacity, g->count + 1);
		old = &g->parts[g->count++];
		*old = (struct rd_override_part){part->kind, part->number,
						 part->name ? rd_xstrdup(part->name) : NULL, NULL, 0};
	}
	free(old->data);
	old->data = data;
	old->length = part->length;
}

void rd_override_copy(struct rd_override *to, const struct rd_override *from)
{
	*to = (struct rd_override){0};
	for (size_t i = 0; i < from->count; i++)
		rd_override_set(to, &from->parts[i]);
}

void rd_override_release(struct rd_override *g)
{
	for (size_t i = 0; i < g->count; i++)
		RD_FREE(g->parts[i].name, g->parts[i].data);
	free(g->parts);
	*g = (struct rd_override){0};
}

/* ---- text ---- */

static void put_bytes(struct rd_buf *out, const char *data, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		unsigned char c = (unsigned char)data[i];

		if (isalnum(c) || (c && strchr("-_./,:=+@", c)))
			rd_buf_addc(out, (char)c);
		else
			rd_buf_addf(out, "%%%02x", c);
	}
}

void rd_override_format(const struct rd_override *g, struct rd_buf *out)
{
	for (size_t i = 0; i < g->count; i++) {
		const struct rd_override_part *p = &g->parts[i];

		rd_buf_addf(out, "%s ", kinds[p->kind]);
		if (p->kind == RD_OVERRIDE_ARGV)
			rd_buf_addf(out, "%u", p->number);
		else if (p->name)
			put_bytes(out, p->name, strlen(p->name));
		else
			rd_buf_addc(out, '-');
		rd_buf_addc(out, ' ');
		put_bytes(out, p->data, p->length);
		rd_buf_addc(out, '\n');
	}
}

static int digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Decodes text up to a space or the end of the line.  Returns false if an escape is invalid. */
static bool get_bytes(const char **at, struct rd_buf *out)
{
	const char *s = *at;

	for (; *s && *s != ' ' && *s != '\n'; s++) {
		int high, low;

		if (*s != '%') {
			rd_buf_addc(out, *s);
			continue;
		}
		high = digit(s[1]);
		low = high < 0 ? -1 : digit(s[2]);
		if (low < 0)
			return false;
		rd_buf_addc(out, (char)(high * 16 + low));
		s += 2;
	}
	*at = s;
	return true;
}

static bool get_kind(const char **at, struct rd_override_part *p)
{
	size_t length = strcspn(*at, " \n");

	for (unsigned i = 0; i < RD_OVERRIDE_KINDS; i++)
		if (strlen(kinds[i]) == length && !strncmp(kinds[i], *at, length) && (*at)[length] == ' ') {
			p->kind = i;
			*at += length + 1;
			return true;
		}
	return false;
}

static bool has_zero(const struct rd_buf *b)
{
	return b->length && memchr(b->data, 0, b->length);
}

/* Checks the name and the value of a part whose kind is known. */
static bool is_valid(struct rd_override_part *p, const struct rd_buf *name, const struct rd_buf *value)
{
	char *end;

	if (p->kind == RD_OVERRIDE_ARGV) {
		unsigned long n = strtoul(name->data ? name->data : "", &end, 10);

		p->number = (unsigned)n;
		return name->length && !*end && n > 0 && n <= ARGUMENT_MAX && !has_zero(name) &&
		       !has_zero(value);
	}
	if (p->kind == RD_OVERRIDE_STDIN)
		return name->length == 1 && name->data[0] == '-';
	p->name = name->data;
	return name->length && !has_zero(name) && (p->kind == RD_OVERRIDE_FILE || !has_zero(value));
}

static bool get_part(struct rd_override *g, const char **at)
{
	struct rd_buf name = RD_BUF_INIT, value = RD_BUF_INIT;
	struct rd_override_part p = {0};
	bool good = get_kind(at, &p) && get_bytes(at, &name) && *(*at)++ == ' ' && get_bytes(at, &value) &&
		    (!**at || *(*at)++ == '\n') && is_valid(&p, &name, &value);

	p.data = value.data;
	p.length = value.length;
	if (good)
		rd_override_set(g, &p);
	rd_buf_release(&name);
	rd_buf_release(&value);
	return good;
}

int rd_override_parse(struct rd_override *g, const char *text, const char *name)
{
	*g = (struct rd_override){0};
	for (const char *at = text; at && *at;)
		if (!get_part(g, &at))
			return rd_fail(RD_EFORMAT, "%s: the input cannot be decoded", name);
	return RD_OK;
}
