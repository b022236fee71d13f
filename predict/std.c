/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The STD reader (std.h).
 *
 * One pass over the mapped text.  Names are interned in open-addressing tables
 * whose entries point into the text, one for each object space; nothing is
 * copied.  The line of event i is i + 1 unless lines without an event or with
 * two came before; `lines` is kept only from the first such line on, so that
 * ordinary traces pay nothing for it.
 */
#include "predict/std.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"

#include <stdlib.h>
#include <string.h>

struct name {
	const char *text;
	uint32_t length;
	uint32_t number;
};

struct names {
	struct name *slots;
	uint32_t count, capacity;
};

struct span {
	const char *p;
	uint32_t n;
};

enum space {
	SPACE_THREAD,
	SPACE_VARIABLE,
	SPACE_LOCK,
	SPACE_COND,
	SPACE_BARRIER,
	SPACE_SEM,
	SPACE_ONCE,
	SPACES
};

/* What each operation means.  kind EXEC_KINDS: handled by hand. */
enum special { PLAIN, SKIP, NO_OPERAND, MONITOR_WAIT, ACQUIRE, CWAIT, SEMINIT };
struct operation {
	const char *name;
	uint8_t kind, space, flags, special;
};

static const struct operation operations[] = {
	{"r", EXEC_READ, SPACE_VARIABLE, 0, PLAIN},
	{"w", EXEC_WRITE, SPACE_VARIABLE, 0, PLAIN},
	{"acq", EXEC_LOCK, SPACE_LOCK, 0, ACQUIRE},
	{"rel", EXEC_UNLOCK, SPACE_LOCK, 0, PLAIN},
	{"fork", EXEC_FORK, SPACE_THREAD, 0, PLAIN},
	{"join", EXEC_JOIN, SPACE_THREAD, 0, PLAIN},
	{"begin", EXEC_BEGIN, SPACE_THREAD, 0, NO_OPERAND},
	{"end", EXEC_END, SPACE_THREAD, 0, NO_OPERAND},
	{"dummy", EXEC_KINDS, 0, 0, SKIP},
	{"req", EXEC_KINDS, 0, 0, SKIP},
	{"wait", EXEC_WAIT, SPACE_LOCK, 0, MONITOR_WAIT},
	{"notify", EXEC_SIGNAL, SPACE_COND, 0, PLAIN},
	{"notifyAll", EXEC_BROADCAST, SPACE_COND, 0, PLAIN},
	{"signal", EXEC_SIGNAL, SPACE_COND, 0, PLAIN},
	{"broadcast", EXEC_BROADCAST, SPACE_COND, 0, PLAIN},
	{"cwait", EXEC_WAIT, SPACE_COND, 0, CWAIT},
	{"wake", EXEC_WAKE, SPACE_COND, 0, PLAIN},
	{"tryacq", EXEC_LOCK, SPACE_LOCK, EXEC_TRY, PLAIN},
	{"rdacq", EXEC_RDLOCK, SPACE_LOCK, 0, PLAIN},
	{"wracq", EXEC_WRLOCK, SPACE_LOCK, 0, PLAIN},
	{"tryrd", EXEC_RDLOCK, SPACE_LOCK, EXEC_TRY, PLAIN},
	{"trywr", EXEC_WRLOCK, SPACE_LOCK, EXEC_TRY, PLAIN},
	{"rwrel", EXEC_UNLOCK, SPACE_LOCK, 0, PLAIN},
	{"enter", EXEC_ENTER, SPACE_BARRIER, 0, PLAIN},
	{"exit", EXEC_EXIT, SPACE_BARRIER, 0, PLAIN},
	{"seminit", EXEC_POST, SPACE_SEM, 0, SEMINIT},
	{"post", EXEC_POST, SPACE_SEM, 0, PLAIN},
	{"take", EXEC_TAKE, SPACE_SEM, 0, PLAIN},
	{"trytake", EXEC_TAKE, SPACE_SEM, EXEC_TRY, PLAIN},
	{"run", EXEC_ONCE_RUN, SPACE_ONCE, 0, PLAIN},
	{"pass", EXEC_ONCE_PASS, SPACE_ONCE, 0, PLAIN},
	{"busy", EXEC_BUSY, SPACE_LOCK, 0, PLAIN},
	{"lr", EXEC_READ, SPACE_VARIABLE, EXEC_LOOP, PLAIN},
	{"ar", EXEC_READ, SPACE_VARIABLE, EXEC_ATOMIC, PLAIN},
	{"aw", EXEC_WRITE, SPACE_VARIABLE, EXEC_ATOMIC, PLAIN},
	{"au", EXEC_UPDATE, SPACE_VARIABLE, EXEC_ATOMIC, PLAIN},
	{"ara", EXEC_READ, SPACE_VARIABLE, EXEC_ATOMIC | EXEC_SYNC, PLAIN},
	{"awr", EXEC_WRITE, SPACE_VARIABLE, EXEC_ATOMIC | EXEC_SYNC, PLAIN},
	{"aua", EXEC_UPDATE, SPACE_VARIABLE, EXEC_ATOMIC | EXEC_SYNC, PLAIN},
};

struct parser {
	struct exec *x;
	const char *file;
	struct names spaces[SPACES];
	uint32_t line;
	bool waits;	   /* a wait occurred: acquisitions may end one */
	uint32_t *monitor; /* per thread: 1 + the lock whose monitor it waits on */
	size_t monitor_capacity;
	uint32_t *last; /* per thread: 1 + its latest event */
	size_t last_capacity;
	uint32_t *lines; /* line of each event from `lines_from` on */
	size_t lines_capacity;
	uint32_t lines_from;
};

static uint64_t hash_of(const char *p, uint32_t n)
{
	uint64_t h = n * 0x9e3779b97f4a7c15ull, word;

	for (; n >= 8; p += 8, n -= 8) {
		memcpy(&word, p, 8);
		h = (h ^ word) * 0xbf58476d1ce4e5b9ull;
		h ^= h >> 29;
	}
	word = 0;
	for (uint32_t i = 0; i < n; i++)
		word |= (uint64_t)(unsigned char)p[i] << 8 * i;
	h = (h ^ word) * 0x94d049bb133111ebull;
	return h ^ h >> 32;
}

static void names_grow(struct names *m)
{
	struct names old = *m;

	m->capacity = old.capacity ? old.capacity * 2 : 256;
	m->slots = rd_xcalloc(m->capacity, sizeof *m->slots);
	for (uint32_t i = 0; i < old.capacity; i++) {
		if (!old.slots[i].text)
			continue;
		uint64_t h = hash_of(old.slots[i].text, old.slots[i].length);
		while (m->slots[h & (m->capacity - 1)].text)
			h++;
		m->slots[h & (m->capacity - 1)] = old.slots[i];
	}
	free(old.slots);
}

static uint32_t intern(struct names *m, struct span s)
{
	if (m->count * 2 >= m->capacity)
		names_grow(m);
	for (uint64_t h = hash_of(s.p, s.n);; h++) {
		struct name *slot = &m->slots[h & (m->capacity - 1)];
		if (!slot->text) {
			*slot = (struct name){s.p, s.n, m->count};
			return m->count++;
		}
		if (slot->length == s.n && !memcmp(slot->text, s.p, s.n))
			return slot->number;
	}
}

static uint32_t intern_thread(struct parser *p, struct span s)
{
	if (s.n > 1 && s.p[0] == 'T') {
		s.p++;
		s.n--;
	}
	return intern(&p->spaces[SPACE_THREAD], s);
}

static int bad_line(const struct parser *p, const char *what)
{
	return rd_fail(RD_EFORMAT, "%s:%u: %s", p->file, p->line, what);
}

static const struct operation *find_operation(struct span s)
{
	for (size_t i = 0; i < sizeof operations / sizeof operations[0]; i++) {
		const char *name = operations[i].name;
		if (name[0] == s.p[0] && strlen(name) == s.n && !memcmp(name, s.p, s.n))
			return &operations[i];
	}
	return NULL;
}

static uint32_t line_of(const struct parser *p, uint32_t event)
{
	return event < p->lines_from ? event + 1 : p->lines[event - p->lines_from];
}

static void note_line(struct parser *p)
{
	uint32_t event = p->x->count;

	if (p->lines_from == EXEC_NONE) {
		if (p->line == event + 1)
			return;
		p->lines_from = event;
	}
	RD_GROW(p->lines, p->lines_capacity, event - p->lines_from + 1);
	p->lines[event - p->lines_from] = p->line;
}

static struct exec_event *emit(struct parser *p, const struct operation *op, uint32_t thread, uint32_t object)
{
	note_line(p);
	struct exec_event *e = exec_add(p->x, op->kind, thread, object);
	e->flags = op->flags;
	if (op->kind == EXEC_WAKE)
		e->aux = EXEC_MATCH;
	if (thread >= p->last_capacity) {
		size_t old = p->last_capacity;
		RD_GROW(p->last, p->last_capacity, thread + 1);
		memset(p->last + old, 0, (p->last_capacity - old) * sizeof *p->last);
	}
	p->last[thread] = p->x->count;
	return e;
}

static uint32_t *monitor_of(struct parser *p, uint32_t thread)
{
	size_t old = p->monitor_capacity;

	RD_GROW(p->monitor, p->monitor_capacity, thread + 1);
	memset(p->monitor + old, 0, (p->monitor_capacity - old) * sizeof *p->monitor);
	return &p->monitor[thread];
}

/* rel(l) followed by wait(l): the release becomes the start of the wait. */
static int monitor_wait(struct parser *p, uint32_t thread, struct span operand, uint32_t site)
{
	uint32_t lock = intern(&p->spaces[SPACE_LOCK], operand),
		 cond = intern(&p->spaces[SPACE_COND], operand);
	struct exec_event *e =
		thread < p->last_capacity && p->last[thread] ? &p->x->events[p->last[thread] - 1] : NULL;

	if (!e || e->kind != EXEC_UNLOCK || e->object != lock)
		return bad_line(p, "wait does not follow the release of its lock");
	e->kind = EXEC_WAIT;
	e->object = cond;
	e->aux = lock;
	e->site = site;
	if (cond >= p->x->conds)
		p->x->conds = cond + 1;
	*monitor_of(p, thread) = lock + 1;
	p->waits = true;
	return 0;
}

static void end_monitor_wait(struct parser *p, uint32_t thread, struct span operand, uint32_t site)
{
	static const struct operation wake = {"wake", EXEC_WAKE, SPACE_COND, 0, PLAIN};
	uint32_t lock = intern(&p->spaces[SPACE_LOCK], operand), *waits_for = monitor_of(p, thread);

	if (*waits_for != lock + 1)
		return;
	*waits_for = 0;
	emit(p, &wake, thread, intern(&p->spaces[SPACE_COND], operand))->site = site;
}

static int two_operands(const struct parser *p, struct span operand, struct span *a, struct span *b)
{
	const char *comma = memchr(operand.p, ',', operand.n);

	if (!comma)
		return bad_line(p, "two operands expected");
	*a = (struct span){operand.p, comma - operand.p};
	*b = (struct span){comma + 1, operand.p + operand.n - comma - 1};
	return 0;
}

static int special_event(struct parser *p, const struct operation *op, uint32_t thread, struct span operand)
{
	struct span a = {0}, b = {0};

	if (two_operands(p, operand, &a, &b))
		return RD_EFORMAT;
	if (op->special == CWAIT) {
		uint32_t mutex = intern(&p->spaces[SPACE_LOCK], b);
		emit(p, op, thread, intern(&p->spaces[SPACE_COND], a))->aux = mutex;
		return 0;
	}
	exec_sem_init(p->x, intern(&p->spaces[SPACE_SEM], a), (uint32_t)strtoul(b.p, NULL, 10));
	return 0;
}

static int add_event(struct parser *p, const struct operation *op, uint32_t thread, struct span operand,
		     uint32_t site)
{
	uint32_t object = thread;

	if (!operand.n && op->special != SKIP && op->special != NO_OPERAND)
		return bad_line(p, "operand missing");
	switch (op->special) {
	case SKIP:
		return 0;
	case MONITOR_WAIT:
		return monitor_wait(p, thread, operand, site);
	case CWAIT:
	case SEMINIT:
		return special_event(p, op, thread, operand);
	case ACQUIRE:
		if (p->waits)
			end_monitor_wait(p, thread, operand, site);
		break;
	}
	if (op->special != NO_OPERAND)
		object = op->space == SPACE_THREAD ? intern_thread(p, operand)
						   : intern(&p->spaces[op->space], operand);
	if ((op->kind == EXEC_FORK || op->kind == EXEC_JOIN) && object == thread) {
		rd_warn("%s:%u: a thread forks or joins itself; it orders nothing", p->file, p->line);
		return 0;
	}
	if (op->kind == EXEC_FORK && object < p->last_capacity && p->last[object]) {
		rd_warn("%s:%u: forks a thread that had events before; it orders nothing", p->file, p->line);
		return 0;
	}
	emit(p, op, thread, object)->site = site;
	return 0;
}

static uint32_t parse_site(const char *p, const char *end, bool *ok)
{
	uint32_t n = 0;

	*ok = p < end;
	for (; p < end && *p >= '0' && *p <= '9'; p++)
		n = n * 10 + (*p - '0');
	while (p < end && (*p == '\r' || *p == ' '))
		p++;
	*ok = *ok && p == end;
	return n;
}

static int parse_line(struct parser *p, const char *line, const char *end)
{
	const char *bar1 = memchr(line, '|', end - line),
		   *bar2 = bar1 ? memchr(bar1 + 1, '|', end - bar1 - 1) : NULL;
	struct span operand = {NULL, 0};
	bool ok;

	if (!bar2 || bar1 == line)
		return bad_line(p, "not of the form thread|operation|location");
	const char *name = bar1 + 1, *name_end = memchr(name, '(', bar2 - name);
	if (name_end) {
		if (bar2[-1] != ')')
			return bad_line(p, "no ) behind the operand");
		operand = (struct span){name_end + 1, bar2 - 1 - (name_end + 1)};
	} else {
		name_end = bar2;
	}
	const struct operation *op =
		name_end == name ? NULL : find_operation((struct span){name, name_end - name});
	if (!op)
		return bad_line(p, "unknown operation");
	uint32_t site = parse_site(bar2 + 1, end, &ok);
	if (!ok)
		return bad_line(p, "location is not a decimal number");
	uint32_t thread = intern_thread(p, (struct span){line, bar1 - line});
	if (thread > UINT16_MAX - 1)
		return bad_line(p, "more than 65534 threads");
	return add_event(p, op, thread, operand, site);
}

static int check(struct parser *p)
{
	const char *why;
	uint32_t bad;

	exec_match_signals(p->x);
	bad = exec_check(p->x, &why);
	if (bad == EXEC_NONE)
		return 0;
	return rd_fail(RD_EFORMAT, "%s:%u: ill-formed trace: the event %s", p->file, line_of(p, bad), why);
}

int predict_std_parse(struct exec *x, const char *name, const char *text, size_t length)
{
	struct parser p = {.x = x, .file = name, .lines_from = EXEC_NONE};
	const char *end = text + length;
	int rc = 0;

	exec_init(x);
	while (text < end && !rc) {
		const char *newline = memchr(text, '\n', end - text);
		if (!newline)
			newline = end;
		p.line++;
		if (newline > text)
			rc = parse_line(&p, text, newline);
		text = newline + 1;
	}
	if (!rc)
		rc = check(&p);
	for (int s = 0; s < SPACES; s++)
		free(p.spaces[s].slots);
	free(p.monitor);
	free(p.last);
	free(p.lines);
	if (rc)
		exec_release(x);
	return rc;
}

int predict_std_read(struct exec *x, const char *path)
{
	struct rd_map map;
	int rc = rd_map_open(&map, path);

	if (rc)
		return rc;
	rc = predict_std_parse(x, path, (const char *)map.data, map.length);
	rd_map_close(&map);
	return rc;
}
