/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Builds the graph of stops (deadlock-int.h), and finds the sets of stops that block one another.
 *
 * Node n needs thread u if n waits for a lock that u holds when it is stopped, for the end of u,
 * for u to enter a barrier, or for a notification or post by u.  A candidate is a set of nodes of
 * different threads, no two of which hold the same lock.  For each node, the set contains a thread
 * that the node waits for: a holder of the lock, the joined thread, or a participant missing at the
 * barrier.  If a node waits for a condition or semaphore, every thread that a notification or post
 * depends on is either in the set or assumed to have done all that it can.
 *
 * In a minimal candidate, every node reaches every other one.  So the candidate lies within one
 * strongly connected component.  Components are found by Tarjan's algorithm, with an extra vertex
 * per thread to keep the number of edges small.  The enumeration starts from the smallest node of
 * each set.  The rule "no lock held by two" excludes gate locks, and the rule "different threads"
 * excludes cycles within a thread.  The search decides later whether fork and join order the nodes.
 */
#include "predict/deadlock-int.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"

#include <stdlib.h>
#include <string.h>

/* The number of steps after which the clock is read again.  It is so large that reading the clock
 * costs next to nothing. */
#define STEPS_A_LOOK 4096

/* Returns true if the event `e` can be a stop. */
static bool predict_stop_possible(const struct core *c, uint32_t e)
{
	const struct event *v = &c->events[e];

	if (v->flags & EXEC_TRY)
		return false;
	switch (v->kind) {
	case EXEC_LOCK:
	case EXEC_RDLOCK:
	case EXEC_WRLOCK:
	case EXEC_JOIN:
	case EXEC_EXIT:
	case EXEC_TAKE: return true;
	case EXEC_WAKE: return v->flags & EXEC_PENDING || c->x->events[v->source].aux < EXEC_MATCH;
	default: return false;
	}
}

bool predict_stop_held_by(const struct core *c, uint32_t e, uint32_t h)
{
	const struct event *v = &c->events[e];

	if (!exec_acquires(v->kind))
		return false;
	if (v->thread == c->events[h].thread && !(v->flags & EXEC_PENDING))
		return false;
	for (uint32_t i = core_held(c, h); i != NONE; i = c->sections.holds[i].next) {
		const struct section *s = &c->sections.list[c->sections.holds[i].section];
		if (s->lock == v->object && !(s->shared && v->kind == EXEC_RDLOCK))
			return true;
	}
	return false;
}

/* ---- nodes ---- */

static struct node node_of(const struct core *c, uint32_t e)
{
	const struct event *v = &c->events[e];

	return (struct node){.thread = v->thread,
			     .kind = v->kind,
			     .flags = v->flags,
			     .object = v->object,
			     .site = c->x->events[v->source].site,
			     .held = core_held(c, e)};
}

/* Returns a hash of what identifies a node: the thread, the operation, its object and site, and the
 * locks that the thread holds.  The order in which it acquired them does not matter, so the hashes
 * of the locks are added. */
static uint64_t node_key(const struct core *c, const struct node *n)
{
	uint64_t held = 0;

	for (uint32_t i = n->held; i != NONE; i = c->sections.holds[i].next) {
		const struct section *s = &c->sections.list[c->sections.holds[i].section];
		held += rd_hash_add(0x9e3779b97f4a7c15ull, (uint64_t)s->lock << 1 | s->shared);
	}
	uint64_t h = rd_hash_add(held, (uint64_t)n->thread << 16 | n->kind << 8 | n->flags);
	return rd_hash_add(rd_hash_add(h, n->object), n->site);
}

/* Returns true if two lists of sections contain the same locks, in any order. */
static bool same_holds(const struct core *c, uint32_t a, uint32_t b)
{
	const struct sections *all = &c->sections;
	uint32_t rest = b;

	if (a == b)
		return true;
	for (; a != NONE && rest != NONE; a = all->holds[a].next, rest = all->holds[rest].next) {
		const struct section *s = &all->list[all->holds[a].section];
		uint32_t k = sections_find(all, b, s->lock);

		if (k == NONE || all->list[k].shared != s->shared)
			return false;
	}
	return a == rest;
}

static bool same_node(const struct core *c, const struct node *a, const struct node *b)
{
	return a->thread == b->thread && a->kind == b->kind && a->flags == b->flags &&
	       a->object == b->object && a->site == b->site && same_holds(c, a->held, b->held);
}

/* Adds a stop to its node.  Different stops with the same hash are distinguished by linear
 * probing. */
static void add_stop(struct nodes *g, struct rd_umap *numbers, uint32_t e)
{
	struct node stop = node_of(g->c, e), *n;
	uint64_t key = node_key(g->c, &stop), *number;
	bool is_new;

	while (number = rd_umap_put(numbers, key, &is_new),
	       !is_new && !same_node(g->c, &g->items[*number], &stop))
		key++;
	if (is_new) {
		*number = g->count;
		RD_GROW(g->items, g->capacity, g->count + 1);
		g->items[g->count++] = stop;
	}
	n = &g->items[*number];
	RD_GROW(n->stops, n->capacity, n->count + 1);
	n->stops[n->count++] = e;
}

/* Counting sort of (key, node) pairs.  A keys_fn lists the keys of a node. */
typedef uint32_t keys_fn(const struct nodes *g, uint32_t node, uint32_t *iterator);

static uint32_t thread_key(const struct nodes *g, uint32_t node, uint32_t *iterator)
{
	return (*iterator)++ ? NONE : g->items[node].thread;
}

static uint32_t held_key(const struct nodes *g, uint32_t node, uint32_t *iterator)
{
	const struct core *c = g->c;
	uint32_t h =
		*iterator ? c->sections.holds[*iterator - 1].next : core_held(c, g->items[node].stops[0]);

	if (h == NONE)
		return NONE;
	*iterator = h + 1;
	return c->sections.list[c->sections.holds[h].section].lock;
}

static void group(const struct nodes *g, struct core_list *l, uint32_t keys, keys_fn *key_of)
{
	uint32_t key;

	l->first = rd_xcalloc((size_t)keys + 2, sizeof *l->first);
	for (uint32_t n = 0; n < g->count; n++)
		for (uint32_t it = 0; (key = key_of(g, n, &it)) != NONE;)
			l->first[key + 2]++;
	for (uint32_t i = 1; i < keys + 2; i++)
		l->first[i] += l->first[i - 1];
	l->item = rd_xmalloc(((size_t)l->first[keys + 1] + 1) * sizeof *l->item);
	for (uint32_t n = 0; n < g->count; n++)
		for (uint32_t it = 0; (key = key_of(g, n, &it)) != NONE;)
			l->item[l->first[key + 1]++] = n;
}

/* ---- strongly connected components ---- */

struct tarjan {
	struct nodes *g;
	/* These arrays are indexed by vertex.  The vertices are first the nodes, then the
	 * threads. */
	uint32_t *number, *low, *stack, *component;
	uint8_t *on_stack;
	uint32_t next, stack_count, components;
	struct visit {
		uint32_t vertex, edge;
	} * visits;
	size_t visit_count, visit_capacity;
};

#define NO_EDGE (NONE - 1)

/* A supplier of a waiting node is a notification or post that could end its wait.  Returns how
 * many events of `thread` must happen before all suppliers of `n` can have happened. */
static uint32_t supply_needs(const struct core *c, const struct node *n, uint32_t thread)
{
	RD_ASSERT(stop_needs_all(n->kind));
	const struct slots *s = stop_suppliers(c, n->kind);
	uint32_t most = 0;

	for (uint32_t i = s->first[n->object]; i < s->first[n->object + 1]; i++) {
		uint32_t need = core_at(c, &c->need, s->item[s->slot[i].end - 1], thread);
		if (need > most)
			most = need;
	}
	return most;
}

/* Returns the target of edge `i` of a vertex.  Returns NONE after the last edge.  Returns NO_EDGE
 * if this number has no edge, but later numbers may have one. */
static uint32_t edge_of(const struct nodes *g, uint32_t vertex, uint32_t i)
{
	const struct core *c = g->c;
	const struct node *n = vertex < g->count ? &g->items[vertex] : NULL;

	if (!n) {
		uint32_t at = g->of_thread.first[vertex - g->count] + i;
		return at < g->of_thread.first[vertex - g->count + 1] ? g->of_thread.item[at] : NONE;
	}
	if (exec_acquires(n->kind)) {
		uint32_t at = g->holders.first[n->object] + i;
		return at < g->holders.first[n->object + 1] ? g->holders.item[at] : NONE;
	}
	if (n->kind == EXEC_JOIN)
		return i ? NONE : g->count + n->object;
	if (n->kind == EXEC_EXIT) {
		uint32_t exit = n->stops[0], at = c->must.first[exit] + i;
		return at < c->must.first[exit + 1] ? g->count + c->events[c->must.item[at]].thread : NONE;
	}
	if (i == c->threads)
		return NONE;
	return i != n->thread && supply_needs(c, n, i) ? g->count + i : NO_EDGE;
}

static void enter_vertex(struct tarjan *t, uint32_t vertex)
{
	RD_ASSERT(t->number[vertex] == 0 && !t->on_stack[vertex]);
	t->number[vertex] = t->low[vertex] = ++t->next;
	t->stack[t->stack_count++] = vertex;
	t->on_stack[vertex] = 1;
	RD_GROW(t->visits, t->visit_capacity, t->visit_count + 1);
	t->visits[t->visit_count++] = (struct visit){vertex, 0};
}

static void leave_vertex(struct tarjan *t, uint32_t vertex)
{
	t->visit_count--;
	if (t->visit_count) {
		uint32_t up = t->visits[t->visit_count - 1].vertex;
		if (t->low[vertex] < t->low[up])
			t->low[up] = t->low[vertex];
	}
	if (t->low[vertex] != t->number[vertex])
		return;
	for (;;) {
		uint32_t v = t->stack[--t->stack_count];
		t->on_stack[v] = 0;
		t->component[v] = t->components;
		if (v == vertex)
			break;
	}
	t->components++;
}

static void visit_from(struct tarjan *t, uint32_t root)
{
	enter_vertex(t, root);
	while (t->visit_count) {
		struct visit *v = &t->visits[t->visit_count - 1];
		uint32_t to = edge_of(t->g, v->vertex, v->edge++);
		if (to == NONE)
			leave_vertex(t, v->vertex);
		else if (to == NO_EDGE)
			continue;
		else if (!t->number[to])
			enter_vertex(t, to);
		else if (t->on_stack[to] && t->number[to] < t->low[v->vertex])
			t->low[v->vertex] = t->number[to];
	}
}

static void find_components(struct nodes *g)
{
	size_t n = (size_t)g->count + g->c->threads + 1;
	struct tarjan t = {.g = g};

	t.number = rd_xcalloc(n, sizeof *t.number);
	t.low = rd_xcalloc(n, sizeof *t.low);
	t.stack = rd_xcalloc(n, sizeof *t.stack);
	t.component = rd_xcalloc(n, sizeof *t.component);
	t.on_stack = rd_xcalloc(n, 1);
	for (uint32_t v = 0; v < g->count; v++)
		if (!t.number[v])
			visit_from(&t, v);
	for (uint32_t v = 0; v < g->count; v++)
		g->items[v].component = t.component[v];
	RD_FREE(t.number, t.low, t.stack, t.component, t.on_stack, t.visits);
}

void predict_nodes_build(struct nodes *g, const struct core *c)
{
	struct rd_umap numbers = RD_UMAP_INIT;

	*g = (struct nodes){.c = c};
	for (uint32_t e = 0; e < c->count; e++)
		if (predict_stop_possible(c, e))
			add_stop(g, &numbers, e);
	rd_umap_release(&numbers);
	group(g, &g->of_thread, c->threads, thread_key);
	group(g, &g->holders, c->locks, held_key);
	find_components(g);
}

void predict_nodes_release(struct nodes *g)
{
	RD_FREE_EACH(g->items, g->count, .stops);
	RD_FREE(g->items, g->of_thread.first, g->of_thread.item, g->holders.first, g->holders.item);
}

/* ---- candidates ---- */

struct enumeration {
	const struct nodes *g;
	uint32_t *set; /* the chosen nodes; the first is the smallest */
	uint32_t count, max;
	uint8_t *used; /* for each thread, true if a node of the set belongs to it */
	/* `left` is the number of remaining steps, and `asked` its value when the clock was last
	 * read. */
	uint64_t left, asked;
	const int64_t *deadline_ns; /* points to the deadline; the value 0 means no deadline */
	bool cut;
	cycle_fn *found;
	void *context;
};

static void extend(struct enumeration *n, uint32_t done);

static void charge(struct enumeration *n, uint64_t steps)
{
	n->left -= steps < n->left ? steps : n->left;
	n->cut |= !n->left;
	if (!*n->deadline_ns || n->asked - n->left < STEPS_A_LOOK)
		return;
	n->asked = n->left;
	n->cut |= rd_now_ns() > *n->deadline_ns;
}

static bool fits(struct enumeration *n, uint32_t candidate)
{
	RD_ASSERT(candidate < n->g->count);
	const struct nodes *g = n->g;
	const struct node *m = &g->items[candidate];

	charge(n, 1);
	if (n->used[m->thread] || candidate < n->set[0] || m->component != g->items[n->set[0]].component)
		return false;
	for (uint32_t i = 0; i < n->count; i++)
		if (core_common_lock(g->c, g->items[n->set[i]].stops[0], m->stops[0]))
			return false;
	return true;
}

/* Returns true if the thread of a node in the set, or of `m` itself, holds the lock that `m` waits
 * for. */
static bool held_in_set(const struct enumeration *n, const struct node *m)
{
	const struct nodes *g = n->g;

	if (predict_stop_held_by(g->c, m->stops[0], m->stops[0]))
		return true;
	for (uint32_t i = 0; i < n->count; i++)
		if (predict_stop_held_by(g->c, m->stops[0], g->items[n->set[i]].stops[0]))
			return true;
	return false;
}

/* Adds `candidate` to the set and continues with it.  The node that is added last must close the
 * cycle. */
static void with(struct enumeration *n, uint32_t candidate, uint32_t done)
{
	RD_ASSERT(n->count <= n->max);
	const struct node *m = &n->g->items[candidate];

	if (n->count == n->max || !fits(n, candidate))
		return;
	if (n->count + 1 == n->max && exec_acquires(m->kind) && !held_in_set(n, m))
		return;
	n->set[n->count++] = candidate;
	n->used[n->g->items[candidate].thread] = 1;
	extend(n, done);
	n->used[n->g->items[candidate].thread] = 0;
	n->count--;
}

static void with_any_of(struct enumeration *n, uint32_t thread, uint32_t done)
{
	const struct core_list *l = &n->g->of_thread;

	for (uint32_t i = l->first[thread]; i < l->first[thread + 1]; i++)
		with(n, l->item[i], done);
}

static void extend_acquire(struct enumeration *n, uint32_t done, const struct node *m)
{
	const struct nodes *g = n->g;

	if (held_in_set(n, m)) {
		extend(n, done + 1);
		return;
	}
	for (uint32_t i = g->holders.first[m->object]; i < g->holders.first[m->object + 1] && !n->cut; i++) {
		const struct node *holder = &g->items[g->holders.item[i]];

		charge(n, 1);
		if (!n->used[holder->thread] && holder->component == m->component &&
		    predict_stop_held_by(g->c, m->stops[0], holder->stops[0]))
			with(n, g->holders.item[i], done + 1);
	}
}

/* Extends the set for a node that waits at a barrier.  Any participant of the barrier may be the
 * missing one, even a thread that is already in the set for another reason. */
static void extend_exit(struct enumeration *n, uint32_t done, const struct node *m)
{
	const struct core *c = n->g->c;
	uint32_t exit = m->stops[0];
	bool inside = false;

	charge(n, c->must.first[exit + 1] - c->must.first[exit]);
	for (uint32_t i = c->must.first[exit]; i < c->must.first[exit + 1] && !n->cut; i++) {
		uint32_t thread = c->events[c->must.item[i]].thread;
		if (thread == m->thread)
			continue;
		if (n->used[thread])
			inside = true;
		else if (n->count < n->max)
			with_any_of(n, thread, done + 1);
	}
	if (inside)
		extend(n, done + 1);
}

/* A supplier of `m` is a notification or post that could end its wait.  Goes through the threads
 * that a supplier needs, from number `thread` on.  For each of them, tries both to leave the
 * thread free and to add one of its nodes to the set. */
static void extend_suppliers(struct enumeration *n, uint32_t done, const struct node *m, uint32_t thread)
{
	const struct nodes *g = n->g;
	uint32_t need = 0;

	while (thread < g->c->threads && (n->used[thread] || !(need = supply_needs(g->c, m, thread)))) {
		charge(n, 1);
		thread++;
	}
	if (n->cut)
		return;
	if (thread == g->c->threads) {
		extend(n, done + 1);
		return;
	}
	extend_suppliers(n, done, m, thread + 1);
	for (uint32_t i = g->of_thread.first[thread]; i < g->of_thread.first[thread + 1]; i++) {
		uint32_t candidate = g->of_thread.item[i];
		if (n->count == n->max || g->c->events[g->items[candidate].stops[0]].index >= need ||
		    !fits(n, candidate))
			continue;
		n->set[n->count++] = candidate;
		n->used[thread] = 1;
		extend_suppliers(n, done, m, thread + 1);
		n->used[thread] = 0;
		n->count--;
	}
}

/* Extends the set.  The waits of its first `done` nodes are already accounted for. */
static void extend(struct enumeration *n, uint32_t done)
{
	RD_ASSERT(done <= n->count);
	if (n->cut)
		return;
	if (done == n->count) {
		if (n->count == n->max)
			n->found(n->context, n->set, n->count);
		return;
	}
	const struct node *m = &n->g->items[n->set[done]];
	if (exec_acquires(m->kind)) {
		extend_acquire(n, done, m);
	} else if (m->kind == EXEC_JOIN) {
		if (n->used[m->object])
			extend(n, done + 1);
		else
			with_any_of(n, m->object, done + 1);
	} else if (m->kind == EXEC_EXIT) {
		extend_exit(n, done, m);
	} else {
		extend_suppliers(n, done, m, 0);
	}
}

static void enumerate_size(struct enumeration *n, uint32_t size)
{
	const struct nodes *g = n->g;

	n->max = size;
	for (uint32_t root = 0; root < g->count && !n->cut; root++) {
		n->set[0] = root;
		n->count = 1;
		n->used[g->items[root].thread] = 1;
		extend(n, 0);
		n->used[g->items[root].thread] = 0;
	}
}

/* Enumerates small sets first, so that the limit cuts off the large ones. */
bool predict_cycles(const struct nodes *g, uint32_t max_threads, const struct cycle_limit *limit,
		    cycle_fn *found, void *context)
{
	struct enumeration n = {.g = g,
				.left = limit->steps,
				.asked = limit->steps,
				.deadline_ns = limit->deadline_ns,
				.found = found,
				.context = context};
	uint32_t max = max_threads && max_threads < g->c->threads ? max_threads : g->c->threads;

	n.set = rd_xcalloc((size_t)max + 1, sizeof *n.set);
	n.used = rd_xcalloc((size_t)g->c->threads + 1, 1);
	for (uint32_t size = 1; size <= max && !n.cut; size++)
		enumerate_size(&n, size);
	free(n.set);
	free(n.used);
	return !n.cut;
}
