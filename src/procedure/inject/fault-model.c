// SPDX-License-Identifier: Apache-2.0
/*
 * The language of fault models.  In: text.  Out: kinds and their rules.
 *
 * A line has the form `fault NAME at PLACE [of NAMES] [in FUNCTIONS] [type TYPES] [argument N] do
 * ACTION [when ...]`.  Words are separated by blanks.  They are copied, so the text need not stay
 * valid.
 */
#include "inject/fault-model.h"

#include "base/alloc.h"
#include "base/error.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define WORDS_MAX 64 /* largest number of words in a line; set by hand */
/* maximum number of bytes of a kind's name, so that it fits into a column of a table */
#define NAME_LENGTH_MAX 40
#define DELAY_MAX_US 600000000 /* ten minutes; set by hand, longer than any time limit of a run */

/* The current line. */
struct line {
	struct inject_fault_models *models;
	const char *name;
	unsigned number;
	char *words[WORDS_MAX];
	size_t count, at;
};

static int refuse(const struct line *l, const char *what, const char *word)
{
	return rd_fail(RD_EFORMAT, "%s:%u: %s%s%s%s", l->name, l->number, what, word ? " '" : "",
		       word ? word : "", word ? "'" : "");
}

static const char *peek(const struct line *l)
{
	return l->at < l->count ? l->words[l->at] : NULL;
}

static bool take(struct line *l, const char *word)
{
	if (!peek(l) || strcmp(peek(l), word) != 0)
		return false;
	l->at++;
	return true;
}

static int take_word(struct line *l, const char *what, const char **out)
{
	if (!peek(l))
		return refuse(l, "the line ends where this is expected:", what);
	*out = l->words[l->at++];
	return 0;
}

static bool is_number(const char *word, int64_t *out)
{
	char *end;

	if (!word ||
	    (!isdigit((unsigned char)word[0]) && !(word[0] == '-' && isdigit((unsigned char)word[1]))))
		return false;
	errno = 0;
	*out = word[0] == '-' ? strtoll(word, &end, 0) : (int64_t)strtoull(word, &end, 0);
	return !errno && !*end;
}

static int take_number(struct line *l, const char *what, int64_t least, int64_t most, int64_t *out)
{
	const char *word = NULL;
	int r = take_word(l, what, &word);

	if (r)
		return r;
	return is_number(word, out) && *out >= least && *out <= most
		       ? 0
		       : refuse(l, "a number in range is expected, not", word);
}

/* Reads a number if the next word is one. */
static int take_count(struct line *l, int64_t most, int64_t *out)
{
	int64_t n;

	return is_number(peek(l), &n) ? take_number(l, "a number", 1, most, out) : 0;
}

/* --- the place of a fault --------------------------------------------------------------------- */

static int take_place(struct line *l, struct inject_rule *rule)
{
	static const struct {
		const char *name;
		unsigned places;
	} places[] = {
		{"value", INJECT_VALUE},
		{"load", INJECT_LOAD},
		{"result", INJECT_RESULT},
		{"argument", INJECT_ARGUMENT},
		{"call", INJECT_CALLEE},
		{"operand", INJECT_OPERAND},
		{"data", INJECT_VALUE | INJECT_LOAD | INJECT_RESULT | INJECT_ARGUMENT},
	};
	const char *word = NULL;
	int r = take_word(l, "value, load, result, argument, call, operand or data", &word);

	for (size_t i = 0; !r && i < sizeof places / sizeof *places; i++)
		if (!strcmp(word, places[i].name)) {
			rule->places = places[i].places;
			return 0;
		}
	return r ? r : refuse(l, "unknown place", word);
}

static int take_where(struct line *l, struct inject_rule *rule)
{
	int r = take(l, "at") ? take_place(l, rule) : refuse(l, "'at' is expected, not", peek(l));

	while (!r && peek(l) && strcmp(peek(l), "do") != 0) {
		int64_t n;
		if (take(l, "of"))
			r = take_word(l, "names", &rule->callee);
		else if (take(l, "in"))
			r = take_word(l, "functions", &rule->functions);
		else if (take(l, "type"))
			r = take_word(l, "types", &rule->types);
		else if (take(l, "argument") && !(r = take_number(l, "a number", 0, 255, &n)))
			rule->argument = (int)n;
		else if (!r)
			r = refuse(l, "of, in, type, argument or do is expected, not", peek(l));
	}
	return r;
}

/* ---- the action of a fault ---- */

/* Reads the errno that the failing call sets: a name such as EIO, or a number.  If the line gives
 * neither, the call leaves errno unchanged. */
static int take_errno(struct line *l, struct inject_rule *rule)
{
	const char *word = peek(l);
	int64_t n;

	if (!word || !strcmp(word, "when"))
		return 0;
	if (is_number(word, &n) && n > 0 && n < 4096) {
		rule->error = (int)n;
		l->at++;
		return 0;
	}
	for (int e = 1; e < 256; e++)
		if (strerrorname_np(e) && !strcmp(strerrorname_np(e), word)) {
			rule->error = e;
			l->at++;
			return 0;
		}
	return refuse(l, "unknown error", word);
}

/* Reads a time such as 20ms, 3s or 500us.  A number alone means milliseconds. */
static int take_time(struct line *l, struct inject_rule *rule)
{
	const char *word = peek(l);
	char *end;
	uint64_t n, unit = 1000;

	if (!word || !isdigit((unsigned char)*word))
		return refuse(l, "a time is expected, not", word);
	errno = 0;
	n = strtoull(word, &end, 10);
	if (!strcmp(end, "us"))
		unit = 1;
	else if (!strcmp(end, "s"))
		unit = 1000000;
	else if (*end && strcmp(end, "ms") != 0)
		return refuse(l, "unknown unit:", word);
	if (errno || !n || n > DELAY_MAX_US / unit)
		return refuse(l, "a time from 1us to ten minutes is expected, not", word);
	rule->result = (int64_t)(n * unit);
	l->at++;
	return 0;
}

static int take_resource(struct line *l, struct inject_rule *rule)
{
	static const char *const names[] = {[RADDLE_RESOURCE_MEMORY] = "memory",
					    [RADDLE_RESOURCE_FILES] = "files",
					    [RADDLE_RESOURCE_THREADS] = "threads"};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (take(l, names[i])) {
			rule->result = (int64_t)i;
			return 0;
		}
	return refuse(l, "memory, files or threads is expected, not", peek(l));
}

enum wants { NOTHING, BITS, NUMBER, FAILURE, TIME, RESOURCE };

static const struct action {
	const char *name;
	enum inject_draw draw;
	enum wants wants;
	unsigned places; /* a mask of the places (enum inject_place) that the action can have */
} actions[] = {
#define ANY_VALUE (INJECT_VALUE | INJECT_LOAD | INJECT_RESULT | INJECT_ARGUMENT | INJECT_OPERAND)
	{"flip", INJECT_FLIP, BITS, ANY_VALUE},
	{"clear", INJECT_CLEAR, BITS, ANY_VALUE},
	{"raise", INJECT_RAISE, BITS, ANY_VALUE},
	{"set", INJECT_SET, NUMBER, ANY_VALUE},
	{"add", INJECT_ADD, NUMBER, ANY_VALUE},
	{"grow", INJECT_GROW, NOTHING, ANY_VALUE},
	{"shrink", INJECT_SHRINK, NOTHING, ANY_VALUE},
	{"random", INJECT_RANDOM, NOTHING, ANY_VALUE},
	{"former", INJECT_STALE, NOTHING, ANY_VALUE},
	{"memory", INJECT_MEMORY, BITS, INJECT_OPERAND},
	{"discard", INJECT_SKIP_STORE, NOTHING, INJECT_OPERAND},
	{"fail", INJECT_CALL, FAILURE, INJECT_CALLEE},
	{"delay", INJECT_DELAY, TIME, ANY_VALUE | INJECT_CALLEE},
	{"kill", INJECT_KILL, NOTHING, ANY_VALUE | INJECT_CALLEE},
	{"exhaust", INJECT_EXHAUST, RESOURCE, ANY_VALUE | INJECT_CALLEE},
};

static int take_parameters(struct line *l, const struct action *a, struct inject_fault_model *m)
{
	int64_t bits = 1;
	int r = 0;

	switch (a->wants) {
	case BITS: r = take_count(l, INJECT_BITS_MAX, &bits); break;
	case NUMBER: r = take_number(l, "a number", INT64_MIN, INT64_MAX, &m->rule.result); break;
	case FAILURE:
		r = take_number(l, "a result", INT64_MIN, INT64_MAX, &m->rule.result);
		if (!r)
			r = take_errno(l, &m->rule);
		break;
	case TIME: r = take_time(l, &m->rule); break;
	case RESOURCE: r = take_resource(l, &m->rule); break;
	default: break;
	}
	m->kind.bits = a->wants == BITS ? (uint8_t)bits : 0;
	return r;
}

/* If the action of a rule uses the value as an address, restricts the rule to operands that are
 * addresses. */
static void only_addresses(struct inject_rule *rule)
{
	if (rule->draw != INJECT_MEMORY && rule->draw != INJECT_SKIP_STORE)
		return;
	rule->callee = rule->draw == INJECT_MEMORY ? "load" : "store";
	rule->argument = rule->draw == INJECT_MEMORY ? 0 : 1;
}

static int take_action(struct line *l, struct inject_fault_model *m)
{
	const char *word = NULL;
	int r = take(l, "do") ? take_word(l, "an action", &word)
			      : refuse(l, "'do' is expected, not", peek(l));

	for (size_t i = 0; !r && i < sizeof actions / sizeof *actions; i++) {
		if (strcmp(word, actions[i].name) != 0)
			continue;
		if (m->rule.places & ~actions[i].places)
			return refuse(l, "this action is not possible at such a place:", word);
		m->rule.draw = actions[i].draw;
		only_addresses(&m->rule);
		return take_parameters(l, &actions[i], m);
	}
	return r ? r : refuse(l, "unknown action", word);
}

/* ---- the executions at which a fault strikes ---- */

static int take_chance(struct line *l, struct inject_kind *kind)
{
	const char *word = NULL;
	char *end;
	double p;
	int r = take_word(l, "a probability", &word);

	if (r)
		return r;
	p = strtod(word, &end);
	if (*end || !(p > 0) || p > 1)
		return refuse(l, "a probability above 0 and up to 1 is expected, not", word);
	kind->chance = p * 4294967296.0 >= 4294967295.0 ? UINT32_MAX : (uint32_t)(p * 4294967296.0);
	if (!kind->chance)
		kind->chance = 1;
	return 0;
}

static int take_when(struct line *l, struct inject_kind *kind)
{
	int r = 0;

	if (peek(l) && !take(l, "when"))
		return refuse(l, "'when' or the end of the line is expected, not", peek(l));
	while (!r && peek(l)) {
		int64_t n = 0;
		if (take(l, "once"))
			kind->times = 1;
		else if (take(l, "always"))
			kind->permanent = true;
		else if (take(l, "chance"))
			r = take_chance(l, kind);
		else if (take(l, "times") && !(r = take_number(l, "a number", 1, INT64_MAX, &n)))
			kind->times = (uint64_t)n;
		else if (!r && take(l, "execution") && !(r = take_number(l, "a number", 1, INT64_MAX, &n)))
			kind->execution = (uint64_t)n;
		else if (!r && !n)
			r = refuse(l, "once, always, times, chance or execution is expected, not", peek(l));
	}
	return r				? r
	       : kind->permanent && kind->times ? refuse(l, "once, times and always exclude each other", NULL)
						: 0;
}

/* ---- the lines of a fault model ---- */

static bool is_name(const char *word)
{
	size_t n = strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-");

	return n && !word[n] && n <= NAME_LENGTH_MAX;
}

static int take_fault(struct line *l)
{
	struct inject_fault_model m = {.kind = {.group = "own", .help = "a fault of your own"},
				       .rule = {.argument = -1}};
	int r;

	if (!take(l, "fault"))
		return refuse(l, "a line begins with 'fault', not with", peek(l));
	r = take_word(l, "a name", &m.kind.name);
	if (!r && !is_name(m.kind.name))
		r = refuse(l, "a name has letters, digits, - and _ only:", m.kind.name);
	m.rule.kind = m.kind.name;
	if (!r)
		r = take_where(l, &m.rule);
	if (!r)
		r = take_action(l, &m);
	if (!r)
		r = take_when(l, &m.kind);
	if (r)
		return r;
	RD_GROW(l->models->items, l->models->capacity, l->models->count + 1);
	l->models->items[l->models->count++] = m;
	return 0;
}

/* Cuts the line into words, up to a comment. */
static int split(struct line *l, const char *text, size_t length)
{
	struct inject_fault_models *m = l->models;

	l->count = l->at = 0;
	for (size_t i = 0, n; i < length; i += n) {
		n = 1;
		if (isspace((unsigned char)text[i]))
			continue;
		if (text[i] == '#')
			break;
		while (i + n < length && !isspace((unsigned char)text[i + n]))
			n++;
		if (memchr(text + i, '\0', n))
			return refuse(l, "this is not text", NULL);
		if (l->count == WORDS_MAX)
			return refuse(l, "the line is too long", NULL);
		RD_GROW(m->words, m->word_capacity, m->word_count + 1);
		l->words[l->count++] = m->words[m->word_count++] = rd_xstrndup(text + i, n);
	}
	return 0;
}

int inject_fault_models_parse(struct inject_fault_models *m, const char *text, size_t length,
			      const char *name)
{
	struct line l = {.models = m, .name = name};
	int r = 0;

	for (size_t at = 0, n; at < length && !r; at += n + 1) {
		const char *end = memchr(text + at, '\n', length - at);

		n = end ? (size_t)(end - text) - at : length - at;
		l.number++;
		r = split(&l, text + at, n);
		if (!r && l.count)
			r = take_fault(&l);
	}
	if (!r && !m->count)
		r = rd_fail(RD_EFORMAT, "%s: it describes no fault", name);
	return r;
}

void inject_fault_models_release(struct inject_fault_models *m)
{
	RD_FREE_EACH(m->words, m->word_count);
	RD_FREE(m->words, m->items);
	*m = (struct inject_fault_models){0};
}

int inject_fault_models_use(const struct inject_fault_models *m)
{
	int r = 0;

	for (size_t i = 0; i < m->count && !r; i++)
		r = inject_kind_add(&m->items[i].kind, &m->items[i].rule);
	return r;
}
