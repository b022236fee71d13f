// SPDX-License-Identifier: Apache-2.0
/*
 * Reads suppression rules from text, and marks the findings that they hide.  A rule is compared
 * with each text that its type refers to, until one matches.  The first matching rule in the file
 * hides the finding.  Only that rule's hit is counted, so a rule that never decides anything is
 * listed as unused.
 */
#include "finding/suppress.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "base/name.h"

#include <stdlib.h>
#include <string.h>

static const char *const type_names[SUPPRESS_TYPES] = {"race",	 "race_top", "deadlock", "mutex",
						       "thread", "signal",   "failure",	 "finding"};

const char *suppress_type_name(enum suppress_type type)
{
	RD_ASSERT(type < SUPPRESS_TYPES);
	return type_names[type];
}

/* ---- patterns ---- */

/* Returns true if the text begins with a piece of a pattern. */
static bool begins(const char *piece, size_t length, const char *text)
{
	return strncmp(piece, text, length) == 0;
}

/* Searches for the pieces between stars from left to right, each at its first occurrence.  Only the
 * first piece (with ^) and the last piece (with $) have a fixed position. */
bool suppress_match(const char *pattern, const char *text)
{
	bool anchored = *pattern == '^';
	size_t length = strlen(pattern), rest = strlen(text);
	bool to_end = length > anchored && pattern[length - 1] == '$';
	const char *p = pattern + anchored, *end = pattern + length - to_end;

	for (;;) {
		const char *star = memchr(p, '*', (size_t)(end - p));
		size_t piece = (size_t)((star ? star : end) - p);

		if (!star && to_end) {
			if (piece > rest || (anchored && piece != rest))
				return false;
			return begins(p, piece, text + rest - piece);
		}
		while (!(piece <= rest && begins(p, piece, text))) {
			if (anchored || piece >= rest)
				return false;
			text++;
			rest--;
		}
		if (!star)
			return true;
		text += piece;
		rest -= piece;
		anchored = false;
		p = star + 1;
	}
}

static bool match(const struct suppress_rule *rule, const char *text)
{
	return text && suppress_match(rule->pattern, text);
}

static bool match_frame(const struct suppress_rule *rule, const struct finding_frame *f)
{
	return match(rule, f->function) || match(rule, f->file) || match(rule, f->module);
}

static bool match_stack(const struct suppress_rule *rule, const struct finding_stack *s)
{
	for (size_t i = 0; i < s->count; i++)
		if (match_frame(rule, &s->frames[i]))
			return true;
	return false;
}

/* ---- matching by type of rule ---- */

static bool match_locks(const struct suppress_rule *rule, const struct finding_lock *locks, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (match(rule, locks[i].name) || match_stack(rule, &locks[i].stack))
			return true;
	return false;
}

static bool match_race(const struct suppress_rule *rule, const struct finding *f)
{
	for (size_t i = 0; i < f->access_count; i++)
		if (match_stack(rule, &f->accesses[i].stack))
			return true;
	return match(rule, f->object.name) || match_stack(rule, &f->object.stack);
}

static bool match_top(const struct suppress_rule *rule, const struct finding *f)
{
	for (size_t i = 0; i < f->access_count; i++)
		if (f->accesses[i].stack.count && match_frame(rule, &f->accesses[i].stack.frames[0]))
			return true;
	return false;
}

static bool match_deadlock(const struct suppress_rule *rule, const struct finding *f)
{
	for (size_t i = 0; i < f->cycle_count; i++) {
		const struct finding_wait *w = &f->cycle[i];

		if (match_stack(rule, &w->stack) || match(rule, w->wants) ||
		    match_locks(rule, w->holds, w->hold_count))
			return true;
	}
	return false;
}

/* Compares a rule with the names of the objects that the threads of a deadlock wait for. */
static bool match_mutex(const struct suppress_rule *rule, const struct finding *f)
{
	for (size_t i = 0; i < f->cycle_count; i++)
		if (match(rule, f->cycle[i].wants))
			return true;
	return false;
}

static bool match_thread(const struct suppress_rule *rule, const struct finding *f)
{
	for (size_t i = 0; i < f->thread_count; i++) {
		const struct finding_thread *t = &f->threads[i];

		if (match(rule, t->name) || match(rule, t->label) || match_stack(rule, &t->created))
			return true;
	}
	return false;
}

static bool hides(const struct suppress_rule *rule, const struct finding *f)
{
	switch (rule->type) {
	case SUPPRESS_RACE: return f->kind == FINDING_RACE && match_race(rule, f);
	case SUPPRESS_RACE_TOP: return f->kind == FINDING_RACE && match_top(rule, f);
	case SUPPRESS_DEADLOCK: return f->kind == FINDING_DEADLOCK && match_deadlock(rule, f);
	case SUPPRESS_MUTEX: return f->kind == FINDING_DEADLOCK && match_mutex(rule, f);
	case SUPPRESS_THREAD: return match_thread(rule, f);
	case SUPPRESS_FAILURE: return f->kind == FINDING_FAILURE && match_deadlock(rule, f);
	case SUPPRESS_FINDING: return match(rule, f->id);
	case SUPPRESS_SIGNAL:
	case SUPPRESS_TYPES: break;
	}
	return false;
}

size_t suppressions_apply(struct suppressions *s, struct finding_set *set)
{
	size_t hidden = 0;

	for (size_t i = 0; i < set->count; i++) {
		struct finding *f = set->items[i];
		size_t r = 0;

		while (r < s->count && !hides(&s->rules[r], f))
			r++;
		if (r == s->count)
			continue;
		s->rules[r].hits++;
		f->suppressed =
			finding_textf(set, "%s:%s", type_names[s->rules[r].type], s->rules[r].pattern);
		hidden++;
	}
	return hidden;
}

/* --- making rules for findings --- */

/* Appends a name.  Line ends in it are replaced, because a name comes from the program and must not
 * end the line. */
static void add_name(struct rd_buf *out, const char *name)
{
	for (; *name; name++)
		rd_buf_addc(out, (unsigned char)*name < 0x20 || *name == 0x7f ? '?' : *name);
}

static const struct finding_frame *place_of(const struct finding *f, size_t i)
{
	return finding_own_code_frame(i < f->access_count ? &f->accesses[i].stack
							  : &f->cycle[i - f->access_count].stack);
}

static void add_remark(const struct finding *f, struct rd_buf *out)
{
	rd_buf_addf(out, "# %s", finding_kind_words(f->kind));
	if (f->object.name) {
		rd_buf_adds(out, " on ");
		add_name(out, f->object.name);
	}
	for (size_t i = 0; i < f->access_count + f->cycle_count; i++) {
		const struct finding_frame *place = place_of(f, i);
		rd_buf_adds(out, i ? " and in " : " in ");
		add_name(out, place->function ? place->function : RD_UNKNOWN);
		if (place->file) {
			rd_buf_adds(out, " at ");
			add_name(out, rd_base_name(place->file));
			rd_buf_addf(out, ":%u", place->line);
		}
	}
	rd_buf_addc(out, '\n');
}

/* Appends the corresponding rule of ThreadSanitizer, which may hide other findings in the same
 * function. */
static void add_other_rule(const struct finding *f, struct rd_buf *out)
{
	enum suppress_type type = f->kind == FINDING_RACE ? SUPPRESS_RACE_TOP : SUPPRESS_DEADLOCK;
	const char *function = f->access_count + f->cycle_count ? place_of(f, 0)->function : NULL;

	if (!function || f->kind == FINDING_FAILURE)
		return;
	rd_buf_addf(out, "# %s:^", type_names[type]);
	add_name(out, function);
	rd_buf_adds(out, "$\n");
}

void suppressions_make(const struct finding_set *set, struct rd_buf *out)
{
	for (size_t i = 0; i < set->count; i++) {
		const struct finding *f = set->items[i];
		if (f->status != FINDING_CONFIRMED || !finding_is_fresh(f))
			continue;
		add_remark(f, out);
		rd_buf_addf(out, "%s:%s\n", type_names[SUPPRESS_FINDING], f->id);
		add_other_rule(f, out);
	}
}

/* --- reading a file of rules --- */

static int parse_line(struct suppressions *s, const char *line, size_t number, const char *name)
{
	const char *colon = strchr(line, ':');

	for (unsigned type = 0; colon && type < SUPPRESS_TYPES; type++) {
		size_t length = strlen(type_names[type]);

		if ((size_t)(colon - line) != length || strncmp(line, type_names[type], length) != 0)
			continue;
		if (!colon[1])
			return rd_fail(RD_EFORMAT, "suppressions: %s: line %zu: no pattern after \"%s\"",
				       name, number, line);
		RD_GROW(s->rules, s->capacity, s->count + 1);
		s->rules[s->count++] = (struct suppress_rule){
			.type = type, .pattern = rd_xstrdup(colon + 1), .line = number};
		return RD_OK;
	}
	if (!strncmp(line, "called_from_lib:", 16))
		return rd_fail(
			RD_EFORMAT,
			"suppressions: %s: line %zu: called_from_lib is not supported, since code without "
			"bitcode has no accesses in a trace; use race: with a function or file",
			name, number);
	return rd_fail(RD_EFORMAT,
		       "suppressions: %s: line %zu: \"%.60s\" is not TYPE:PATTERN with a known type", name,
		       number, line);
}

static char *trim(char *line)
{
	size_t length = strlen(line);

	while (length && strchr(" \t\r", line[length - 1]))
		line[--length] = '\0';
	return line + strspn(line, " \t");
}

int suppressions_parse(struct suppressions *s, const void *data, size_t length, const char *name)
{
	struct rd_buf text = RD_BUF_INIT;
	char *rest = NULL;
	size_t number = 0;
	int err = RD_OK;

	rd_buf_add(&text, data, length);
	if (strlen(text.data) != length)
		err = rd_fail(RD_EFORMAT, "suppressions: %s: not a text file", name);
	rest = length ? text.data : NULL;
	while (rest && !err) {
		char *line = trim(strsep(&rest, "\n"));

		number++;
		if (*line && *line != '#')
			err = parse_line(s, line, number, name);
	}
	rd_buf_release(&text);
	return err;
}

int suppressions_read(struct suppressions *s, const char *path)
{
	return RD_WITH_FILE(path, RD_TEXT_MAX, text, suppressions_parse(s, text.data, text.length, path));
}

void suppressions_release(struct suppressions *s)
{
	RD_FREE_EACH(s->rules, s->count, .pattern);
	free(s->rules);
	*s = (struct suppressions)SUPPRESSIONS_INIT;
}

int suppressions_write(const struct finding_set *set, FILE *out)
{
	struct rd_buf text = RD_BUF_INIT;

	suppressions_make(set, &text);
	fputs(text.data, out);
	rd_buf_release(&text);
	return RD_OK;
}
