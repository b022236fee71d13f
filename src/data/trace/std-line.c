/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Splits a line of STD text into its parts, which are pointers into the line.
 *
 * Blanks around the parts are ignored, because some tools indent the lines of each thread, and some
 * write CRLF.  Blanks within a name cannot be distinguished from damage and are rejected, as in
 * RAPID.
 */
#include "trace/std-line.h"

#include <string.h>

/* The operations; the most frequent ones come first. */
static const struct std_operation operations[] = {
	{"r", STD_ACCESS, STD_VARIABLES, RADDLE_ACCESS, "r", "-"},
	{"w", STD_ACCESS, STD_VARIABLES, RADDLE_ACCESS, "w", "-"},
	{"acq", STD_ACQUIRE, STD_LOCKS, RADDLE_MUTEX_LOCK, NULL, NULL},
	{"rel", STD_RELEASE, STD_LOCKS, RADDLE_MUTEX_UNLOCK, NULL, NULL},
	{"req", STD_PLAIN, STD_LOCKS, RADDLE_MUTEX_REQUEST, NULL, NULL},
	{"fork", STD_FORK, STD_SPACES, RADDLE_THREAD_CREATE, NULL, NULL},
	{"join", STD_JOIN, STD_SPACES, RADDLE_THREAD_JOIN, NULL, NULL},
	{"begin", STD_BEGIN, STD_SPACES, RADDLE_THREAD_START, NULL, NULL},
	{"end", STD_END, STD_SPACES, RADDLE_THREAD_END, NULL, NULL},
	{"dummy", STD_NOTHING, STD_SPACES, RADDLE_ORDER, NULL, NULL},
	{"wait", STD_MONITOR_WAIT, STD_LOCKS, RADDLE_COND_WAIT, NULL, NULL},
	{"notify", STD_PLAIN, STD_CONDS, RADDLE_COND_SIGNAL, NULL, NULL},
	{"notifyAll", STD_PLAIN, STD_CONDS, RADDLE_COND_BROADCAST, NULL, NULL},
	{"signal", STD_PLAIN, STD_CONDS, RADDLE_COND_SIGNAL, NULL, NULL},
	{"broadcast", STD_PLAIN, STD_CONDS, RADDLE_COND_BROADCAST, NULL, NULL},
	{"wake", STD_NOTHING, STD_CONDS, RADDLE_COND_WAKE, NULL, NULL},
	{"cwait", STD_WAIT, STD_CONDS, RADDLE_COND_WAIT, NULL, NULL},
	{"tryacq", STD_ACQUIRE, STD_LOCKS, RADDLE_MUTEX_TRYLOCK, NULL, NULL},
	{"busy", STD_BUSY, STD_LOCKS, RADDLE_MUTEX_TRYLOCK, NULL, NULL},
	{"rdacq", STD_SHARE, STD_LOCKS, RADDLE_RWLOCK_RDLOCK, NULL, NULL},
	{"wracq", STD_ACQUIRE, STD_LOCKS, RADDLE_RWLOCK_WRLOCK, NULL, NULL},
	{"tryrd", STD_SHARE, STD_LOCKS, RADDLE_RWLOCK_TRYRDLOCK, NULL, NULL},
	{"trywr", STD_ACQUIRE, STD_LOCKS, RADDLE_RWLOCK_TRYWRLOCK, NULL, NULL},
	{"rwrel", STD_RELEASE, STD_LOCKS, RADDLE_RWLOCK_UNLOCK, NULL, NULL},
	{"enter", STD_PLAIN, STD_BARRIERS, RADDLE_BARRIER_ENTER, NULL, NULL},
	{"exit", STD_PLAIN, STD_BARRIERS, RADDLE_BARRIER_EXIT, NULL, NULL},
	{"seminit", STD_SEM_INIT, STD_SEMS, RADDLE_SEM_INIT, NULL, NULL},
	{"post", STD_PLAIN, STD_SEMS, RADDLE_SEM_POST, NULL, NULL},
	{"take", STD_PLAIN, STD_SEMS, RADDLE_SEM_WAIT, NULL, NULL},
	{"trytake", STD_PLAIN, STD_SEMS, RADDLE_SEM_TRYWAIT, NULL, NULL},
	{"run", STD_ONCE, STD_ONCES, RADDLE_ONCE_RUN, NULL, NULL},
	{"pass", STD_PLAIN, STD_ONCES, RADDLE_ONCE_PASS, NULL, NULL},
	{"lr", STD_ACCESS, STD_VARIABLES, RADDLE_ACCESS, "r", "l"},
	{"ar", STD_ATOMIC, STD_VARIABLES, RADDLE_ATOMIC, "al", "x"},
	{"ara", STD_ATOMIC, STD_VARIABLES, RADDLE_ATOMIC, "al", "a"},
	{"aw", STD_ATOMIC, STD_VARIABLES, RADDLE_ATOMIC, "as", "x"},
	{"awr", STD_ATOMIC, STD_VARIABLES, RADDLE_ATOMIC, "as", "r"},
	{"au", STD_ATOMIC, STD_VARIABLES, RADDLE_ATOMIC, "ax", "x"},
	{"aua", STD_ATOMIC, STD_VARIABLES, RADDLE_ATOMIC, "ax", "q"},
};

_Static_assert(sizeof operations / sizeof *operations <= STD_OPERATIONS_MAX, "numbers of operations");

unsigned std_operation_number(const struct std_operation *o)
{
	return (unsigned)(o - operations);
}

const char *std_word(enum raddle_event event, bool failed)
{
	for (size_t i = 0; i < sizeof operations / sizeof *operations; i++)
		if (operations[i].event == event && (operations[i].action == STD_BUSY) == failed)
			return operations[i].name;
	return "dummy";
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\0';
}

static struct std_span trim(const char *p, const char *end)
{
	while (p < end && is_blank(*p))
		p++;
	while (end > p && is_blank(end[-1]))
		end--;
	return (struct std_span){p, (size_t)(end - p)};
}

static bool is_name(struct std_span s)
{
	for (size_t i = 0; i < s.n; i++)
		if (is_blank(s.p[i]))
			return false;
	return s.n > 0;
}

static const struct std_operation *find_operation(struct std_span s)
{
	for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
		const char *name = operations[i].name;
		if (s.n > 0 && name[0] == s.p[0] && strlen(name) == s.n && memcmp(name, s.p, s.n) == 0)
			return &operations[i];
	}
	return NULL;
}

/* The positions of the separators of a line. */
struct marks {
	const char *bars[2], *open, *end;
	unsigned bar_count;
	bool blanks;
};

/* Finds the separators in one pass over all bytes.  Lines are too short for anything faster. */
static struct marks find_marks(const char *p, const char *end)
{
	struct marks m = {{end, end}, NULL, end, 0, false};

	for (; p < end; p++) {
		if (*p > '|' || (*p > '(' && *p < '|'))
			continue;
		if (*p == '|') {
			if (m.bar_count < 2)
				m.bars[m.bar_count] = p;
			m.bar_count++;
		} else if (*p == '(' && m.bar_count == 1 && !m.open) {
			m.open = p;
		} else if (*p == '\n') {
			break;
		} else if (is_blank(*p)) {
			m.blanks = true;
		}
	}
	m.end = p;
	for (unsigned i = m.bar_count; i < 2; i++)
		m.bars[i] = p;
	return m;
}

static struct std_span part(const struct marks *m, const char *p, const char *end)
{
	return m->blanks ? trim(p, end) : (struct std_span){p, (size_t)(end - p)};
}

static const char *parse_operation(const struct marks *m, struct std_line *line)
{
	struct std_span field = part(m, m->bars[0] + 1, m->bars[1]);
	const char *end = field.p + field.n;

	line->operation = find_operation(part(m, field.p, m->open ? m->open : end));
	if (!line->operation)
		return "unknown operation";
	if (m->open && end[-1] != ')')
		return "the operand has no closing parenthesis";
	line->operand = m->open ? part(m, m->open + 1, end - 1) : (struct std_span){end, 0};
	if (line->operation->space == STD_SPACES && line->operation->action != STD_FORK &&
	    line->operation->action != STD_JOIN)
		return NULL;
	if (line->operand.n == 0)
		return "the operation needs an operand";
	return m->blanks && !is_name(line->operand) ? "a blank or a NUL in a name" : NULL;
}

static const char *parse_fields(const struct marks *m, const char *p, struct std_line *line)
{
	const char *why = m->bar_count == 0  ? "not of the form thread|operation|location"
			  : m->bar_count > 2 ? "more than three fields separated by |"
					     : parse_operation(m, line);

	if (why)
		return why;
	line->thread = part(m, p, m->bars[0]);
	line->place = m->bars[1] < m->end ? part(m, m->bars[1] + 1, m->end) : (struct std_span){m->end, 0};
	if (line->thread.n == 0 || (m->blanks && !is_name(line->thread)))
		return "an empty thread name, or a blank or a NUL in it";
	return m->blanks && memchr(line->place.p, '\0', line->place.n) ? "a NUL in a location" : NULL;
}

static bool is_event(const struct marks *m, const char *p)
{
	return m->end > p && (m->bar_count || !(is_blank(*p) || trim(p, m->end).n == 0));
}

enum std_verdict std_line_parse(const char **p, const char *end, struct std_line *line, const char **why)
{
	const char *begin = *p;
	struct marks m = find_marks(begin, end);

	*why = NULL;
	*p = m.end < end ? m.end + 1 : end;
	if (!is_event(&m, begin))
		return STD_NO_EVENT;
	*why = parse_fields(&m, begin, line);
	return *why ? STD_BAD : STD_EVENT;
}

bool std_line_thread(const char **p, const char *end, struct std_span *thread)
{
	const char *begin = *p, *newline = memchr(begin, '\n', (size_t)(end - begin));
	const char *stop = newline ? newline : end, *bar = memchr(begin, '|', (size_t)(stop - begin));

	*p = newline ? newline + 1 : end;
	if (!bar)
		return false;
	*thread = trim(begin, bar);
	return thread->n > 0;
}

bool std_line_split(struct std_span both, struct std_span *first, struct std_span *second)
{
	const char *comma = memchr(both.p, ',', both.n);

	if (!comma)
		return false;
	*first = (struct std_span){both.p, (size_t)(comma - both.p)};
	*second = (struct std_span){comma + 1, both.n - (size_t)(comma + 1 - both.p)};
	return is_name(*first) && is_name(*second);
}
