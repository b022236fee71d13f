// SPDX-License-Identifier: Apache-2.0
/*
 * Groups findings into bugs.  In: findings with their objects, accesses and waits.  Out: the id of
 * a bug for each finding.  Statuses and classes do not matter for groups, so the bug of a finding
 * stays the same while more becomes known about it.
 *
 * Each finding has a few keys.  Two findings are in one group if they share a key, or if a chain of
 * findings that share keys connects them.  The keys express that one change repairs both findings:
 *
 * 1. Races on one field of one object.  The elements of an array count as one object, and so do all
 *    objects that one function allocates.
 * 2. Races on fields of one object, if the same two functions make the accesses and hold the same
 *    locks.  A lock that these functions take repairs all of them.
 * 3. A use after free, a double free or a use after destruction, and races on the same object in the
 *    same functions.  For example, if a reference count is tested without its lock, the object may
 *    also be freed too early.
 * 4. Accesses inside a library, if one line of the program makes both calls.  For example, races on
 *    the nodes and on the size of a std::map are one bug: the map is used without a lock.
 * 5. Deadlocks whose threads wait for the same locks.
 *
 * Invariants:
 * 1. The id of a bug is made from the smallest of its keys, apart from those of rule 4.  These keys
 *    contain neither lines nor threads nor directories.  So the id stays the same if other code is
 *    edited.  It may change if other findings of the bug are seen.
 * 2. Two bugs of a set never have the same id, because findings that share a key are one bug.
 */
#include "finding/bug.h"

#include "base/buf.h"
#include "base/compare.h"
#include "base/error.h"
#include "base/file.h"
#include "base/map.h"
#include "base/name.h"

#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#define SEPARATOR '\x1f'

/* The groups that were made so far: a forest in which each finding points to another one of its
 * group, or to itself. */
struct grouping {
	size_t *parents;      /* by finding */
	const char **least;   /* by finding: the smallest key of its group, if it is a root */
	struct rd_names keys; /* all keys so far */
	size_t *owners;	      /* by key: the first finding that had it */
	size_t owner_capacity;
};

static size_t root_of(struct grouping *g, size_t i)
{
	while (g->parents[i] != i) {
		g->parents[i] = g->parents[g->parents[i]];
		i = g->parents[i];
	}
	return i;
}

static void take_key(struct grouping *g, size_t root, const char *key)
{
	if (!g->least[root] || strcmp(key, g->least[root]) < 0)
		g->least[root] = key;
}

static void join(struct grouping *g, size_t i, size_t k)
{
	size_t a = root_of(g, i), b = root_of(g, k);

	if (a == b)
		return;
	g->parents[b] = a;
	if (g->least[b])
		take_key(g, a, g->least[b]);
}

/* Gives finding i a key that connects it with others, and makes the key empty again.  Returns the
 * key. */
static const char *connect(struct grouping *g, size_t i, struct rd_buf *key)
{
	size_t before = g->keys.count;
	uint32_t number = rd_names_put(&g->keys, key->data, key->length);

	RD_GROW(g->owners, g->owner_capacity, g->keys.count);
	if (number == before)
		g->owners[number] = i;
	join(g, g->owners[number], i);
	rd_buf_clear(key);
	return g->keys.items[number];
}

/* Gives finding i a key that can also name the bug. */
static void add_key(struct grouping *g, size_t i, struct rd_buf *key)
{
	const char *text = connect(g, i, key);

	take_key(g, root_of(g, i), text);
}

/* ---- the parts of keys ---- */

static void add_part(struct rd_buf *key, const char *text)
{
	rd_buf_adds(key, text ? text : "");
	rd_buf_addc(key, SEPARATOR);
}

static void add_function(struct rd_buf *key, const struct finding_stack *stack)
{
	const struct finding_frame *f = finding_own_code_frame(stack);

	add_part(key, f->file ? rd_base_name(f->file) : "");
	add_part(key, f->function);
}

/* Returns true if the object is the same one in other findings with an equal key.  The name of a
 * descriptor is a number that depends on the schedule, and that of memory on a stack is not unique. */
static bool has_object(const struct finding *f)
{
	const struct finding_object *o = &f->object;

	if (o->kind == FINDING_HEAP)
		return finding_own_code_frame(&o->stack)->function != NULL;
	return o->name && (o->kind == FINDING_GLOBAL || o->kind == FINDING_THREAD_LOCAL);
}

/* Adds the whole object: the place where it is allocated, or its name without members. */
static void add_object(struct rd_buf *key, const struct finding_object *o)
{
	const struct finding_frame *declared = finding_top(&o->stack);

	add_part(key, finding_object_kind_name(o->kind));
	if (o->kind == FINDING_HEAP && o->stack.count) {
		add_function(key, &o->stack);
	} else {
		/* Two files may have variables of the same name. */
		if (o->kind == FINDING_GLOBAL && declared->file)
			add_part(key, rd_base_name(declared->file));
		rd_name_root(key, o->name ? o->name : "");
	}
	rd_buf_addc(key, SEPARATOR);
}

/* Appends the last member that an expression such as `q->items[3].next` selects; here `next`. */
static void add_member(struct rd_buf *out, const char *expression)
{
	struct rd_buf normal = RD_BUF_INIT;
	const char *member = NULL;

	rd_name_normal(&normal, expression ? expression : "");
	for (const char *p = normal.data; *p; p++) {
		if (*p == '.' || *p == '>')
			member = p + 1;
		else if (*p == '(' || *p == '+')
			member = NULL; /* this is the value of a call, or an address inside a block */
	}
	if (member)
		rd_buf_add(out, member, strcspn(member, "[]() "));
	rd_buf_release(&normal);
}

static bool is_inside_library(const struct finding_access *a)
{
	return finding_is_library(finding_top(&a->stack));
}

/* Adds the field of the object that both accesses touch.  One access may touch the whole object, and
 * the other one only a member; then it is the member.  The members of a library's objects are left
 * out, since no change of the program concerns a single one of them. */
static void add_field(struct rd_buf *key, const struct finding *f)
{
	struct rd_buf members[2] = {RD_BUF_INIT, RD_BUF_INIT};
	bool named;

	if (f->object.kind == FINDING_GLOBAL || f->object.kind == FINDING_THREAD_LOCAL)
		add_member(&members[0], f->object.name);
	named = members[0].length > 0;
	for (size_t i = 0; i < f->access_count && i < 2 && !named; i++) {
		const struct finding_access *a = &f->accesses[i];

		if (!is_inside_library(a))
			add_member(&members[i], a->subject ? a->subject : a->what);
	}
	if (members[0].length && members[1].length && strcmp(members[1].data, members[0].data) < 0)
		add_part(key, members[1].data);
	else
		add_part(key, members[0].length ? members[0].data : members[1].data);
	rd_buf_release(&members[0]);
	rd_buf_release(&members[1]);
}

/* Adds a function and the locks that it holds.  The locks are left out if `locks` is false. */
static void add_holder(struct rd_buf *key, const struct finding_access *a, bool locks)
{
	add_function(key, &a->stack);
	for (size_t i = 0; locks && i < a->lock_count; i++) {
		rd_name_normal(key, a->locks[i].name ? a->locks[i].name : "");
		rd_buf_addc(key, a->locks[i].shared ? 's' : 'x');
	}
	rd_buf_addc(key, SEPARATOR);
}

/* ---- keys ---- */

/* Writes the key for an object and two functions.  The order of the accesses does not matter. */
static void pair_key(struct rd_buf *key, const char *rule, const struct finding *f,
		     const struct finding_access *a, const struct finding_access *b, bool locks)
{
	struct rd_buf first = RD_BUF_INIT, second = RD_BUF_INIT;

	add_holder(&first, a, locks);
	add_holder(&second, b, locks);
	bool swap = strcmp(first.data, second.data) > 0;

	add_part(key, rule);
	add_object(key, &f->object);
	rd_buf_adds(key, swap ? second.data : first.data);
	rd_buf_adds(key, swap ? first.data : second.data);
	rd_buf_release(&first);
	rd_buf_release(&second);
}

/* Adds the keys of rule 3: one for each pair of functions of a use after free, so that each race
 * whose functions are among them finds it (join_life()). */
static void add_life(struct grouping *g, size_t i, const struct finding *f)
{
	const struct finding_access *a = f->accesses;
	struct rd_buf key = RD_BUF_INIT;

	for (size_t pair = 0; pair < 3; pair++) {
		pair_key(&key, "life", f, &a[pair == 1], &a[pair < 2], false);
		add_key(g, i, &key);
	}
	rd_buf_release(&key);
}

/* Connects the finding by the keys of rule 4. */
static void connect_calls(struct grouping *g, size_t i, const struct finding *f)
{
	struct rd_buf key = RD_BUF_INIT;

	for (size_t k = 0; k < f->access_count; k++) {
		const struct finding_access *a = &f->accesses[k];
		const struct finding_frame *own = finding_own_code_frame(&a->stack);

		if (!is_inside_library(a) || finding_is_library(own))
			continue;
		add_part(&key, "call");
		add_part(&key, own->file);
		rd_buf_addf(&key, "%u", own->line);
		connect(g, i, &key);
	}
	rd_buf_release(&key);
}

static void add_race(struct grouping *g, size_t i, const struct finding *f)
{
	struct rd_buf key = RD_BUF_INIT;

	if (!has_object(f) || f->access_count != 2) {
		add_part(&key, "race");
		add_part(&key, f->id);
		add_key(g, i, &key);
	} else if (finding_detail(f) != FINDING_PLAIN) {
		add_life(g, i, f);
	} else {
		add_part(&key, "field");
		add_object(&key, &f->object);
		add_field(&key, f);
		add_key(g, i, &key);
		pair_key(&key, "functions", f, &f->accesses[0], &f->accesses[1], true);
		add_key(g, i, &key);
	}
	connect_calls(g, i, f);
	rd_buf_release(&key);
}

static int compare_texts(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Returns true if a thread of the cycle waits for the lock; otherwise it is no part of the cycle. */
static bool is_wanted(const struct finding *f, const char *lock)
{
	for (size_t i = 0; lock && i < f->cycle_count; i++)
		if (f->cycle[i].wants && !strcmp(f->cycle[i].wants, lock))
			return true;
	return false;
}

static void sort_names(struct rd_names *names)
{
	if (names->count)
		qsort(names->items, names->count, sizeof *names->items, compare_texts);
}

/* Adds the key of rule 5: the names of all objects for which threads of the cycle wait, each once.  The
 * name of a thread that is joined depends on the schedule. */
static void add_deadlock(struct grouping *g, size_t i, const struct finding *f)
{
	struct rd_names names = RD_NAMES_INIT, functions = RD_NAMES_INIT;
	struct rd_buf name = RD_BUF_INIT, key = RD_BUF_INIT;

	for (size_t k = 0; k < f->cycle_count; k++) {
		for (size_t h = 0; h <= f->cycle[k].hold_count; h++) {
			const char *text = h ? f->cycle[k].holds[h - 1].name : f->cycle[k].wants;

			if (!text || (h && !is_wanted(f, text)) || !strncmp(text, "T_", 2))
				continue;
			rd_name_normal(&name, text);
			rd_names_put(&names, name.data, name.length);
			rd_buf_clear(&name);
		}
	}
	sort_names(&names);
	add_part(&key, "deadlock");
	for (size_t k = 0; k < names.count; k++)
		add_part(&key, names.items[k]);
	/* Threads that wait without a lock have nothing but their places in common. */
	for (size_t k = 0; k < f->cycle_count && names.count < 2; k++) {
		add_function(&name, &f->cycle[k].stack);
		rd_names_put(&functions, name.data, name.length);
		rd_buf_clear(&name);
	}
	sort_names(&functions);
	for (size_t k = 0; k < functions.count; k++)
		add_part(&key, functions.items[k]);
	add_key(g, i, &key);
	rd_names_release(&names);
	rd_names_release(&functions);
	rd_buf_release(&name);
	rd_buf_release(&key);
}

static void add_failure(struct grouping *g, size_t i, const struct finding *f)
{
	struct rd_buf key = RD_BUF_INIT;

	add_part(&key, "failure");
	add_part(&key, f->id);
	add_key(g, i, &key);
	rd_buf_release(&key);
}

static void add_keys(struct grouping *g, size_t i, const struct finding *f)
{
	switch (f->kind) {
	case FINDING_RACE: add_race(g, i, f); break;
	case FINDING_DEADLOCK: add_deadlock(g, i, f); break;
	default: add_failure(g, i, f); break;
	}
}

/* Joins an ordinary race with a use after free of the same object in the same functions.  Two
 * ordinary races are not joined by such a key, since each only looks it up. */
static void join_life(struct grouping *g, size_t i, const struct finding *f)
{
	struct rd_buf key = RD_BUF_INIT;
	uint32_t number;

	if (f->kind != FINDING_RACE || !has_object(f) || f->access_count != 2 || finding_detail(f))
		return;
	pair_key(&key, "life", f, &f->accesses[0], &f->accesses[1], false);
	if (rd_names_find(&g->keys, key.data, key.length, &number))
		join(g, g->owners[number], i);
	rd_buf_release(&key);
}

void finding_group(const struct finding_set *set)
{
	struct grouping g = {.parents = rd_xcalloc(set->count + 1, sizeof *g.parents),
			     .least = rd_xcalloc(set->count + 1, sizeof *g.least),
			     .keys = RD_NAMES_INIT};

	for (size_t i = 0; i < set->count; i++)
		g.parents[i] = i;
	for (size_t i = 0; i < set->count; i++)
		add_keys(&g, i, set->items[i]);
	for (size_t i = 0; i < set->count; i++)
		join_life(&g, i, set->items[i]);
	for (size_t i = 0; i < set->count; i++) {
		const char *least = g.least[root_of(&g, i)];

		RD_ASSERT(least != NULL);
		snprintf(set->items[i]->bug, FINDING_ID_SIZE, "%016llx",
			 (unsigned long long)XXH64(least, strlen(least), 0));
	}
	RD_FREE(g.parents, g.least, g.owners);
	rd_names_release(&g.keys);
}

/* ---- the list ---- */

const char *finding_severity_name(enum finding_severity severity)
{
	static const char *const names[FINDING_SEVERITIES] = {"high", "medium", "low"};

	RD_ASSERT(severity < FINDING_SEVERITIES);
	return names[severity];
}

enum finding_severity finding_severity(const struct finding *f)
{
	switch (f->class) {
	case FINDING_SPEC_VIOLATED: return FINDING_HIGH;
	case FINDING_K_WITNESS_HARMLESS:
	case FINDING_SINGLE_ORDERING: return FINDING_LOW;
	case FINDING_OUTPUT_DIFFERS: return FINDING_MEDIUM;
	default: return f->kind == FINDING_RACE && !finding_detail(f) ? FINDING_MEDIUM : FINDING_HIGH;
	}
}

/* Orders findings: the worst, and the one that states most about its bug, comes first. */
static int compare_evidence(const struct finding *a, const struct finding *b)
{
	RD_BY(a->status, b->status);
	RD_BY(!finding_is_fresh(a), !finding_is_fresh(b));
	RD_BY(finding_severity(a), finding_severity(b));
	if (finding_severity(a) == FINDING_LOW)
		RD_BY(a->class, b->class);
	RD_BY(a->kind == FINDING_RACE && a->class == FINDING_NO_CLASS,
	      b->kind == FINDING_RACE && b->class == FINDING_NO_CLASS);
	RD_BY(!finding_detail(a), !finding_detail(b));
	return finding_compare_places(a, b);
}

static int compare_members(const void *left, const void *right)
{
	const struct finding *a = *(struct finding *const *)left, *b = *(struct finding *const *)right;
	int order = strcmp(a->bug, b->bug);

	order = order ? order : compare_evidence(a, b);
	return order ? order : strcmp(a->id, b->id);
}

static int compare_bugs(const void *left, const void *right)
{
	const struct finding_bug *a = left, *b = right;
	int order = compare_evidence(a->findings[0], b->findings[0]);

	return order ? order : strcmp(a->id, b->id);
}

void finding_bugs_list(struct finding_bugs *bugs, const struct finding_set *set)
{
	size_t first = 0;

	finding_group(set);
	*bugs = (struct finding_bugs){.items = rd_xcalloc(set->count + 1, sizeof *bugs->items),
				      .findings = rd_xcalloc(set->count + 1, sizeof(struct finding *))};
	if (set->count)
		memcpy(bugs->findings, set->items, set->count * sizeof(struct finding *));
	qsort(bugs->findings, set->count, sizeof(struct finding *), compare_members);
	for (size_t i = 0; i < set->count; i++) {
		if (i + 1 < set->count && !strcmp(bugs->findings[i]->bug, bugs->findings[i + 1]->bug))
			continue;
		bugs->items[bugs->count++] = (struct finding_bug){bugs->findings[first]->bug,
								  &bugs->findings[first], i + 1 - first};
		first = i + 1;
	}
	qsort(bugs->items, bugs->count, sizeof *bugs->items, compare_bugs);
}

void finding_bugs_release(struct finding_bugs *bugs)
{
	RD_FREE(bugs->items, bugs->findings);
	*bugs = (struct finding_bugs){0};
}

struct finding *finding_bugs_find(const struct finding_bugs *bugs, const char *id)
{
	size_t length = strlen(id);
	struct finding *found = NULL;

	for (size_t i = 0; i < bugs->count && length >= FINDING_ID_LEAST; i++) {
		if (strncmp(bugs->items[i].id, id, length) != 0)
			continue;
		if (found)
			return NULL;
		found = bugs->items[i].findings[0];
	}
	return found;
}

size_t finding_bugs_fresh(const struct finding_bugs *bugs)
{
	size_t n = 0;

	for (size_t i = 0; i < bugs->count; i++) {
		const struct finding *f = bugs->items[i].findings[0];

		n += f->status == FINDING_CONFIRMED && finding_is_fresh(f);
	}
	return n;
}

bool finding_shows_effect(const struct finding *f)
{
	return (f->class == FINDING_SPEC_VIOLATED || f->class == FINDING_OUTPUT_DIFFERS) &&
	       f->witness_count && f->witnesses[0].schedule;
}
