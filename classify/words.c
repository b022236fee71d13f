// SPDX-License-Identifier: Apache-2.0
/* Sentences of classification.  In: a race, runs, a decision.  Out: text for people. */
#include "classify/words.h"

#include "base/file.h"

#include <inttypes.h>
#include <string.h>

#define SHOWN 60 /* bytes of a line of output */

static void add_access(struct rd_buf *out, const struct schedule_goal *h)
{
	rd_buf_addf(out, "the %s of %s", h->write ? "write" : "read", h->thread);
	if (h->place.file)
		rd_buf_addf(out, " at %s:%" PRIu32, rd_base_name(h->place.file), h->place.line);
}

/* Which order, or none, a run was. */
static void add_order(struct rd_buf *out, const struct schedule *race, enum variant_group group)
{
	if (group == VARIANT_CONTROL) {
		rd_buf_adds(out, "where the two accesses are not brought together");
		return;
	}
	rd_buf_adds(out, "with ");
	add_access(out, &race->goals[group == VARIANT_SECOND]);
	rd_buf_adds(out, " before ");
	add_access(out, &race->goals[group != VARIANT_SECOND]);
}

/* ---- outputs ---- */

/* The line in which the byte is: its beginning, number and length. */
struct line {
	const char *data;
	size_t number, length;
};

static struct line line_at(const struct trial_text *t, size_t at)
{
	struct line l = {t->data, 1, 0};
	const char *end;

	for (size_t i = 0; i < at && i < t->length; i++)
		if (t->data[i] == '\n') {
			l.data = t->data + i + 1;
			l.number++;
		}
	end = memchr(l.data, '\n', t->length - (size_t)(l.data - t->data));
	l.length = end ? (size_t)(end - l.data) : t->length - (size_t)(l.data - t->data);
	return l;
}

static size_t common_prefix(const struct trial_text *a, const struct trial_text *b)
{
	size_t n = a->length < b->length ? a->length : b->length, i = 0;

	while (i < n && a->data[i] == b->data[i])
		i++;
	return i;
}

static bool is_same(const struct trial_text *a, const struct trial_text *b)
{
	return a->length == b->length && !memcmp(a->data, b->data, a->length);
}

static void add_line(struct rd_buf *out, const struct trial_text *t, size_t at)
{
	struct line l = line_at(t, at);

	if (at >= t->length && !l.length) {
		rd_buf_adds(out, "nothing");
		return;
	}
	rd_buf_addc(out, '"');
	for (size_t i = 0; i < l.length && i < SHOWN; i++) {
		unsigned char c = (unsigned char)l.data[i];
		rd_buf_addc(out, c < 0x20 || c == 0x7f ? '?' : (char)c);
	}
	rd_buf_adds(out, l.length > SHOWN ? "...\"" : "\"");
}

void words_difference(struct rd_buf *out, const struct trial *a, const struct trial *b, const char *otherwise)
{
	static const char *const names[] = {"standard output", "standard error"};

	for (int i = 0; i < 2; i++) {
		if (is_same(&a->text[i], &b->text[i]))
			continue;
		size_t where = common_prefix(&a->text[i], &b->text[i]);

		rd_buf_addf(out, "line %zu of %s is ", line_at(&a->text[i], where).number, names[i]);
		add_line(out, &a->text[i], where);
		rd_buf_addf(out, "; %s, it is ", otherwise);
		add_line(out, &b->text[i], where);
		return;
	}
	rd_buf_addf(out, "%s; %s, %s", a->ending, otherwise, b->ending);
}

/* ---- classes ---- */

static const struct trial *trial_at(const struct decide_runs *runs, struct decide_place p)
{
	return &runs->items[p.group][p.number];
}

void words_seen(struct rd_buf *out, const struct schedule *race, const struct decide_runs *runs,
		const struct decision *d)
{
	const struct trial *shows = trial_at(runs, d->shows);
	const struct trial *other = d->has_other ? trial_at(runs, d->other) : NULL;

	struct rd_buf otherwise = RD_BUF_INIT;

	add_order(out, race, d->shows.group);
	rd_buf_adds(out, ", ");
	if (other)
		add_order(&otherwise, race, d->other.group);
	if (other && d->class == FINDING_OUTPUT_DIFFERS)
		words_difference(out, shows, other, otherwise.data);
	else
		rd_buf_adds(out, shows->ending);
	if (other && d->class != FINDING_OUTPUT_DIFFERS)
		rd_buf_addf(out, "; %s, %s", otherwise.data, other->ending);
	rd_buf_release(&otherwise);
}

void words_adhoc(struct rd_buf *out, const struct schedule *race, const struct adhoc *a)
{
	const struct trial_obstacle *o = &a->obstacle;

	add_access(out, &race->goals[a->goal]);
	rd_buf_adds(out, " comes before ");
	add_access(out, &race->goals[1 - a->goal]);
	rd_buf_addf(out, ": %s waits in %s", o->thread, o->kind ? o->kind : "a loop");
	if (o->kind)
		rd_buf_addf(out, " for %s, which %s has", o->name ? o->name : "a lock", o->owner);
	if (o->file)
		rd_buf_addf(out, " at %s:%" PRIu32, rd_base_name(o->file), o->line);
	if (!o->kind)
		rd_buf_addf(out, " until %s changes", o->name ? o->name : "a value");
}
