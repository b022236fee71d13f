// SPDX-License-Identifier: Apache-2.0
/* Sentences about classifications.  In: a race, runs and a decision.  Out: text for people. */
#include "classify/words-int.h"

#include "base/error.h"
#include "base/file.h"

#include <inttypes.h>
#include <string.h>

#define SHOWN 60 /* maximum number of bytes of a line of output that are shown */

static void add_access(struct rd_buf *out, const struct schedule_goal *h)
{
	rd_buf_addf(out, "the %s of %s", h->write ? "write" : "read", h->thread);
	if (h->place.file)
		rd_buf_addf(out, " at %s:%" PRIu32, rd_base_name(h->place.file), h->place.line);
}

/* Describes an order of the two accesses.  `first` is the number of the goal whose access comes
 * first. */
static void add_order(struct rd_buf *out, const struct schedule *race, unsigned first)
{
	RD_ASSERT(first < 2);
	rd_buf_adds(out, "with ");
	add_access(out, &race->goals[first]);
	rd_buf_adds(out, " before ");
	add_access(out, &race->goals[1 - first]);
}

/* Describes the group of a run: the order of the two accesses, or that they were not brought
 * together. */
static void add_group(struct rd_buf *out, const struct schedule *race, enum variant_group group)
{
	if (group == VARIANT_CONTROL)
		rd_buf_adds(out, "in a run in which the two accesses were not brought together");
	else
		add_order(out, race, group == VARIANT_SECOND);
}

/* Describes a run of an experiment in which one access moves across accesses of the other
 * thread. */
static void add_moved(struct rd_buf *out, const struct schedule *race, unsigned moved, bool between)
{
	const char *other = race->goals[1 - moved].thread;

	rd_buf_adds(out, "with ");
	add_access(out, &race->goals[moved]);
	if (between)
		rd_buf_addf(out, " between accesses of %s", other);
	else
		rd_buf_addf(out, " before these accesses of %s", other);
}

/* Describes how a run differs from others. */
static void add_run(struct rd_buf *out, const struct schedule *race, const struct decide_runs *runs,
		    struct decide_place p)
{
	const struct decide_experiment *e = &runs->experiments[p.number];

	if (p.group < VARIANT_GROUPS)
		add_group(out, race, p.group);
	else if (e->of.group == VARIANT_BETWEEN)
		add_moved(out, race, e->moved, p.group == VARIANT_BETWEEN);
	else
		add_order(out, race, e->of.group == VARIANT_FIRST);
}

/* ---- outputs ---- */

static void add_line(struct rd_buf *out, const struct trial_text *line)
{
	size_t length =
		line->length && line->data[line->length - 1] == '\n' ? line->length - 1 : line->length;

	if (!line->length) {
		rd_buf_adds(out, "nothing");
		return;
	}
	rd_buf_addc(out, '"');
	for (size_t i = 0; i < length && i < SHOWN; i++) {
		unsigned char c = (unsigned char)line->data[i];
		rd_buf_addc(out, c < 0x20 || c == 0x7f ? '?' : (char)c);
	}
	rd_buf_adds(out, length > SHOWN ? "...\"" : "\"");
}

static bool is_same(const struct trial_text *a, const struct trial_text *b)
{
	return a->length == b->length && !memcmp(a->data, b->data, a->length);
}

/* Finds the first lines that differ and may be compared.  Returns false if there are none. */
static bool find_lines(const struct words_outputs *o, int stream, size_t *number, struct trial_text lines[2])
{
	size_t at[2] = {0, 0};

	for (*number = 0; !o->mask->all[stream]; ++*number) {
		bool any = false;

		for (int i = 0; i < 2; i++) {
			lines[i] = (struct trial_text){"", 0};
			any |= trial_next_line(&o->runs[i]->text[stream], &at[i], &lines[i]);
		}
		if (!any)
			return false;
		if (!is_same(&lines[0], &lines[1]) && !trial_is_masked(o->mask, stream, *number))
			return true;
	}
	return false;
}

/* Describes a line of a stream.  A line of the stream TRIAL_FILES is a line of a file, or the name
 * of a file that only one of the runs wrote. */
static void add_number(struct rd_buf *out, const struct trial *t, int stream, size_t number)
{
	static const char *const names[] = {[TRIAL_OUTPUT] = "standard output",
					    [TRIAL_ERRORS] = "standard error",
					    [TRIAL_SENT] = "what is sent",
					    [TRIAL_FILES] = "the list of files that it writes"};
	const char *name = names[stream];
	size_t line = number + 1;

	for (size_t i = 0; stream == TRIAL_FILES && i < t->file_count && t->files[i].line < number; i++) {
		name = t->files[i].name;
		line = number - t->files[i].line;
	}
	rd_buf_addf(out, "line %zu of %s is ", line, name);
}

void words_difference(struct rd_buf *out, const struct words_outputs *o, const char *otherwise)
{
	struct trial_text lines[2];
	size_t number;

	for (int i = 0; i < TRIAL_STREAMS; i++) {
		if (!find_lines(o, i, &number, lines))
			continue;
		add_number(out, o->runs[0], i, number);
		add_line(out, &lines[0]);
		rd_buf_addf(out, "; %s, it is ", otherwise);
		add_line(out, &lines[1]);
		return;
	}
	rd_buf_addf(out, "%s; %s, %s", o->runs[0]->end_text, otherwise, o->runs[1]->end_text);
}

/* ---- classes ---- */

void words_seen(struct rd_buf *out, const struct schedule *race, const struct decide_runs *runs,
		const struct decision *d, const struct trial_mask *mask)
{
	const struct trial *shows = decide_at(runs, d->shows);
	const struct trial *other = d->has_other ? decide_at(runs, d->other) : NULL;

	struct rd_buf otherwise = RD_BUF_INIT;

	add_run(out, race, runs, d->shows);
	rd_buf_adds(out, ", ");
	if (other)
		add_run(&otherwise, race, runs, d->other);
	if (other && d->class == FINDING_OUTPUT_DIFFERS)
		words_difference(out, &(struct words_outputs){{shows, other}, mask}, otherwise.data);
	else
		rd_buf_adds(out, shows->end_text);
	if (other && d->class != FINDING_OUTPUT_DIFFERS)
		rd_buf_addf(out, "; %s, %s", otherwise.data, other->end_text);
	rd_buf_release(&otherwise);
}

/* Returns a run under sequential consistency whose output can be compared, or NULL if there is
 * none. */
static const struct trial *usual_trial(const struct decide_runs *usual)
{
	for (unsigned g = VARIANT_GROUPS; g-- > 0;)
		for (size_t i = 0; i < usual->count; i++)
			if (usual->items[g][i].counts && !usual->items[g][i].fault)
				return &usual->items[g][i];
	return NULL;
}

void words_weakened(struct rd_buf *out, const struct schedule *race, const struct decide_runs *usual,
		    const struct weakened *r, const struct trial_mask *mask)
{
	const struct trial *other = usual_trial(usual);

	add_group(out, race, r->group);
	rd_buf_adds(out, ", ");
	if (r->class == FINDING_OUTPUT_DIFFERS && other)
		words_difference(out, &(struct words_outputs){{&r->shows, other}, mask},
				 "under sequential consistency");
	else
		rd_buf_adds(out, r->shows.end_text);
	if (r->shows.relaxed_at)
		rd_buf_addf(out, "; memory did what sequential consistency does not allow, for %s",
			    r->shows.relaxed_at);
}

void words_adhoc(struct rd_buf *out, const struct schedule *race, const struct adhoc *a)
{
	const struct trial_obstacle *o = &a->obstacle;

	RD_ASSERT(a->found && a->goal < 2 && (o->thread || a->passes));
	add_access(out, &race->goals[a->goal]);
	rd_buf_adds(out, " comes before ");
	add_access(out, &race->goals[1 - a->goal]);
	if (a->passes) {
		rd_buf_addf(out, ": as long as %s has not made its access, %s goes on without its own",
			    race->goals[a->goal].thread, race->goals[1 - a->goal].thread);
		return;
	}
	rd_buf_addf(out, ": %s waits in %s", o->thread, o->kind ? o->kind : "a loop");
	if (o->kind)
		rd_buf_addf(out, " for %s", o->name ? o->name : "a lock");
	if (o->owner)
		rd_buf_addf(out, ", which %s holds", o->owner);
	if (o->file)
		rd_buf_addf(out, " at %s:%" PRIu32, rd_base_name(o->file), o->line);
	if (o->kind && !o->owner)
		rd_buf_addf(out, "; no other thread can end this wait while %s is stopped before its access",
			    race->goals[a->goal].thread);
	if (!o->kind)
		rd_buf_addf(out, " until %s changes", o->name ? o->name : "a value");
}
