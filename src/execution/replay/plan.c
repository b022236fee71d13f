// SPDX-License-Identifier: Apache-2.0
/*
 * Compiles a schedule into a plan.  In: a schedule, which names threads (T_0_1), operations by
 * name, and accesses by site or place; and the site table of the program to run.  Out: the tables
 * of steer.h.  The table of threads includes every ancestor of a thread, parents first.  The
 * runtime identifies a thread by its parent and its number among the parent's creations.  A
 * schedule of another program is rejected here.
 */
#include "replay/plan.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "base/name.h"
#include "raddle/written.h"
#include "replay/explain-int.h"
#include "trace/event.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* maximum number of threads of a plan: twice RADDLE_SLOTS, chosen by hand to bound memory */
#define THREADS_MAX 65536
/* number of operations whose places are compared; if the site table has none of these places, the
 * schedule belongs to another program */
#define PLACES_TRIED 64
#define PAGE 4096

static int unfit(const struct plan *p, const char *what, const char *value)
{
	return rd_fail(RD_EFORMAT, "replay: the schedule%s%s cannot be followed: %s \"%s\"",
		       p->schedule->finding ? " of finding " : "",
		       p->schedule->finding ? p->schedule->finding : "", what, value);
}

/* ---- threads ---- */

/* Returns the index of a thread, or -1 if the name is invalid.  A new thread is added, together
 * with its ancestors. */
static int64_t add_thread(struct plan *p, const char *name, size_t length)
{
	struct raddle_steer_thread t = {.parent = RADDLE_STEER_NONE,
					.limit = UINT64_MAX,
					.goal = RADDLE_STEER_NONE,
					.stop = RADDLE_STEER_NONE};
	size_t creator;
	uint32_t known;

	if (rd_names_find(&p->names, name, length, &known))
		return known;
	if (rd_thread_split(name, length, &creator, &t.index)) {
		int64_t parent = p->thread_count < THREADS_MAX ? add_thread(p, name, creator) : -1;

		if (parent < 0)
			return -1;
		t.parent = (uint32_t)parent;
	} else if (!rd_thread_root(name, length, &t.index)) {
		return -1;
	}
	RD_GROW(p->threads, p->thread_capacity, p->thread_count + 1);
	p->threads[p->thread_count] = t;
	RD_ASSERT(rd_names_put(&p->names, name, length) == p->thread_count);
	return (int64_t)p->thread_count++;
}

static int find_thread(struct plan *p, const char *name, uint32_t *position)
{
	int64_t n = add_thread(p, name, strlen(name));

	*position = n < 0 ? 0 : (uint32_t)n;
	return n < 0 ? unfit(p, "no thread can have the name", name) : 0;
}

const char *plan_thread_name(const struct plan *p, uint32_t position)
{
	return position < p->names.count ? p->names.items[position] : RD_UNKNOWN;
}

const struct schedule_stop *plan_stop(const struct plan *p, const char *thread)
{
	for (size_t i = 0; i < p->schedule->stop_count; i++)
		if (!strcmp(p->schedule->stops[i].thread, thread))
			return &p->schedule->stops[i];
	return NULL;
}

/* ---- operations ---- */

static int find_kind(const struct plan *p, const char *name, uint32_t *kind)
{
	int code = trace_kind_find(name);

	if (code < 0 || !raddle_is_counted((enum raddle_event)code))
		return unfit(p, "there is no operation", name);
	*kind = (uint32_t)code;
	return 0;
}

/* Counts the operations of each thread, then stores each operation in the part of the table that
 * belongs to its thread. */
static int add_ops(struct plan *p)
{
	const struct schedule *s = p->schedule;
	uint32_t *thread = rd_xcalloc(s->op_count + 1, sizeof *thread), first = 0;
	int r = 0;

	for (size_t i = 0; i < s->op_count && !r; i++) {
		r = find_thread(p, s->ops[i].thread, &thread[i]);
		if (!r)
			p->threads[thread[i]].count++;
	}
	for (size_t i = 0; i < p->thread_count; i++) {
		p->threads[i].first = first;
		first += p->threads[i].count;
		p->threads[i].count = 0;
	}
	p->op_count = first;
	p->ops = rd_xcalloc(s->op_count + 1, sizeof *p->ops);
	p->turns = rd_xcalloc(s->op_count + 1, sizeof *p->turns);
	for (size_t i = 0; i < s->op_count && !r; i++) {
		struct raddle_steer_thread *t = &p->threads[thread[i]];
		struct raddle_steer_op *op = &p->ops[t->first + t->count++];

		*op = (struct raddle_steer_op){.n = s->ops[i].n, .turn = (uint32_t)i};
		p->turns[i] = &s->ops[i];
		r = find_kind(p, s->ops[i].kind, &op->kind);
	}
	free(thread);
	return r;
}

static int add_limits(struct plan *p)
{
	const struct schedule *s = p->schedule;
	uint32_t at;

	for (size_t i = 0; i < s->limit_count; i++) {
		if (find_thread(p, s->limits[i].thread, &at))
			return RD_EFORMAT;
		if (s->limits[i].n < p->threads[at].limit)
			p->threads[at].limit = s->limits[i].n;
	}
	return 0;
}

static int add_stop(struct plan *p, const struct schedule_stop *stop)
{
	struct raddle_steer_thread *t;
	uint32_t at;

	if (find_thread(p, stop->thread, &at))
		return RD_EFORMAT;
	t = &p->threads[at];
	if (t->stop != RADDLE_STEER_NONE)
		return unfit(p, "it has two stops for", stop->thread);
	t->stop = 1;
	t->stop_n = stop->n;
	return find_kind(p, stop->kind, &t->stop_kind);
}

static int add_stops(struct plan *p)
{
	const struct schedule *s = p->schedule;
	int err = 0;

	for (size_t i = 0; i < s->stop_count && !err; i++)
		err = add_stop(p, &s->stops[i]);
	p->stop_count = (uint32_t)s->stop_count;
	return err;
}

/* ---- places ---- */

/* Directories are ignored, because the program may have been built elsewhere. */
static bool is_same_file(const char *a, const char *b)
{
	return !strcmp(a, b) || !strcmp(rd_base_name(a), rd_base_name(b));
}

/* Returns true if the site is at this place. */
static bool plan_same_place(const struct trace_sites *sites, const struct trace_site *site,
			    const struct schedule_place *place)
{
	return site->line == place->line && site->column == place->column && place->file &&
	       (!place->function || !strcmp(site->function, place->function)) &&
	       is_same_file(trace_sites_file(sites, site->file), place->file);
}

/* Returns true if the site can be the goal's access.  A call may release memory, which is a write,
 * or use a lock, which is a read. */
static bool is_suitable(const struct trace_site *s, const struct schedule_goal *goal)
{
	if (s->kind == TRACE_SITE_CALL)
		return true;
	return trace_site_accesses(s) && trace_site_writes(s) == goal->write;
}

/* Returns the member at the end of a name, for instance `i` in "struct box[].sum[].i" and in
 * "b->sum[].i : double".  Returns NULL if the name has no member. */
static const char *last_member(const char *name, size_t *length)
{
	const char *end = strstr(name, " : "), *at;

	end = end ? end : name + strlen(name);
	for (at = end; at > name && at[-1] != '.' && at[-1] != '>' && at[-1] != ' '; at--)
		;
	*length = (size_t)(end - at);
	return at > name && at[-1] != ' ' ? at : NULL;
}

static bool is_same_object(const char *a, const char *b)
{
	size_t length_a, length_b;
	const char *x, *y;

	if (!strcmp(a, b))
		return true;
	x = last_member(a, &length_a);
	y = last_member(b, &length_b);
	return x && y && length_a == length_b && !strncmp(x, y, length_a);
}

/* Returns how well a site fits the goal, or 0 if it does not fit.  A call fits less well than an
 * access.  An access to the named object fits best, since several members of a structure may be
 * accessed at one place. */
static unsigned fitness(const struct trace_sites *sites, const struct trace_site *s,
			const struct schedule_place *place, const struct schedule_goal *goal)
{
	if ((goal && !is_suitable(s, goal)) || !plan_same_place(sites, s, place))
		return 0;
	if (goal && s->kind == TRACE_SITE_CALL)
		return 1;
	return goal && goal->object && s->what && is_same_object(s->what, goal->object) ? 3 : 2;
}

unsigned plan_goal_fitness(const struct trace_sites *sites, const struct trace_site *site,
			   const struct schedule_goal *goal)
{
	return fitness(sites, site, &goal->place, goal);
}

/* Returns the first of the best-fitting sites at a place, or 0 if there is none.  If `goal` is
 * NULL, any site fits. */
static uint32_t site_at(const struct trace_sites *sites, const struct schedule_place *place,
			const struct schedule_goal *goal)
{
	uint32_t found = 0;
	unsigned best = 0;

	for (size_t u = 0; u < sites->unit_count; u++) {
		const struct trace_unit *unit = &sites->units[u];

		for (size_t i = 0; i < unit->site_count; i++) {
			const struct trace_site *s = &sites->sites[unit->site + i];
			unsigned fits = fitness(sites, s, place, goal);

			if (fits <= best)
				continue;
			best = fits;
			found = trace_sites_number(sites, u, s);
		}
	}
	return found;
}

static int no_such_site(const struct plan *p, const struct schedule_goal *h)
{
	const char *of = p->schedule->program;

	return rd_fail(RD_EFORMAT,
		       "replay: the schedule does not fit this program: it has no %s at %s:%" PRIu32
		       ":%" PRIu32 " (site %" PRIu32 ")%s%s",
		       h->write ? "write" : "read", h->place.file ? h->place.file : RD_UNKNOWN, h->place.line,
		       h->place.column, h->site, of ? "; the schedule was made for " : "", of ? of : "");
}

/* Stores the schedule's site if it is at the schedule's place, otherwise a site at that place.
 * Site numbers change when files are added to a program; places change when it is edited. */
static bool has_site(const struct trace_sites *sites, const struct schedule_goal *h, uint32_t *site)
{
	const struct trace_site *s = trace_sites_find(sites, h->site);

	*site = h->site;
	if (!sites && h->site)
		return true;
	if (s && is_suitable(s, h) && (!h->place.file || plan_same_place(sites, s, &h->place)))
		return true;
	*site = sites && h->place.file ? site_at(sites, &h->place, h) : 0;
	return *site != 0;
}

static int find_site(const struct plan *p, const struct trace_sites *sites, const struct schedule_goal *h,
		     uint32_t *site)
{
	*site = RADDLE_STEER_ANY_SITE;
	if (schedule_is_any(h))
		return 0;
	return has_site(sites, h, site) ? 0 : no_such_site(p, h);
}

static int add_goals(struct plan *p, const struct trace_sites *sites)
{
	const struct schedule *s = p->schedule;

	for (size_t i = 0; i < s->goal_count; i++) {
		const struct schedule_goal *h = &s->goals[i];
		struct raddle_steer_goal *to = &p->goals[i];

		*to = (struct raddle_steer_goal){
			.after = h->after, .occurrence = h->occurrence, .write = h->write};
		if (find_thread(p, h->thread, &to->thread) || find_site(p, sites, h, &to->site))
			return RD_EFORMAT;
		if (p->threads[to->thread].goal != RADDLE_STEER_NONE)
			return unfit(p, "both accesses are of one thread,", h->thread);
		p->threads[to->thread].goal = (uint32_t)i;
	}
	p->goal_count = (uint32_t)s->goal_count;
	return 0;
}

unsigned plan_first(const struct plan *p, unsigned otherwise)
{
	const struct schedule *s = p->schedule;

	for (unsigned i = 0; s->first && i < s->goal_count; i++)
		if (!strcmp(s->goals[i].thread, s->first))
			return i;
	return otherwise;
}

/* ---- watches ---- */

static struct raddle_steer_watch *new_watch(struct plan *p)
{
	RD_GROW(p->watches, p->watch_capacity, p->watch_count + 1);
	p->watches[p->watch_count] = (struct raddle_steer_watch){.thread = RADDLE_STEER_NONE};
	return &p->watches[p->watch_count++];
}

/* Returns the length of the variable's name at the start of an object's name, such as that of
 * `table` in table[3].lock. */
static size_t variable_length(const char *object)
{
	return strcspn(object, "[.+");
}

static bool is_variable(const struct trace_sites *sites, const struct trace_placed *placed,
			const char *object)
{
	const struct trace_global *g = trace_sites_global(sites, placed->linkage);
	const char *name = g && *g->name ? g->name : placed->linkage;
	size_t length = variable_length(object);

	return strlen(name) == length && strncmp(name, object, length) == 0;
}

/* Watches the whole variable, even if the object is a part of it. */
static int watch_object(struct plan *p, const struct trace_sites *sites, const char *object)
{
	for (size_t i = 0; sites && i < sites->placed_count; i++) {
		const struct trace_placed *placed = &sites->placed[i];

		if (!is_variable(sites, placed, object))
			continue;
		RD_GROW(p->globals, p->global_capacity, p->global_count + 1);
		p->globals[p->global_count++] =
			(struct plan_global){p->watch_count - 1, placed->module, placed->offset};
		p->watches[p->watch_count - 1].size = placed->size;
		return 0;
	}
	return unfit(p, "only a variable of the program can be watched by its name, not", object);
}

/* Adds a watch for a site, or for every site if `site` is 0. */
static int add_watch_at(struct plan *p, const struct schedule_watch *w, uint32_t site, uint32_t how)
{
	struct raddle_steer_watch *to;
	uint32_t thread = RADDLE_STEER_NONE;

	if (w->thread && find_thread(p, w->thread, &thread))
		return RD_EFORMAT;
	to = new_watch(p);
	to->thread = thread;
	to->site = site;
	to->address = w->address;
	to->size = w->bytes;
	to->after = w->after;
	to->occurrence = w->occurrence;
	to->how = how;
	to->stand = w->stand ? 1 + w->once : 0;
	to->note = w->note;
	return 0;
}

/* Adds the watches for a place, where a read and a write are two sites. */
static int add_placed_watch(struct plan *p, const struct trace_sites *sites, const struct schedule_watch *w)
{
	size_t before = p->watch_count;
	uint32_t site;
	int err = 0;

	for (unsigned write = 0; write < 2 && !err; write++) {
		struct schedule_goal h = {.site = w->site, .write = write, .place = w->place};

		if ((write ? w->writes : w->reads) && has_site(sites, &h, &site))
			err = add_watch_at(p, w, site, write ? 2 : 1);
	}
	if (!err && p->watch_count == before)
		err = no_such_site(
			p, &(struct schedule_goal){.site = w->site, .write = w->writes, .place = w->place});
	return err;
}

static int add_watch(struct plan *p, const struct trace_sites *sites, const struct schedule_watch *w)
{
	int err;

	if (w->site || w->place.file)
		return add_placed_watch(p, sites, w);
	err = add_watch_at(p, w, 0, (w->reads ? 1u : 0) | (w->writes ? 2u : 0));
	return err || !w->object ? err : watch_object(p, sites, w->object);
}

/* ---- memory models ---- */

_Static_assert(RADDLE_MEMORY_MODELS == 5, "finding/schedule.c has a name for each");

bool plan_find_goal(const struct trace_sites *sites, const struct schedule_goal *goal, uint32_t *found)
{
	return has_site(sites, goal, found);
}

static int add_memory(struct plan *p, const struct trace_sites *sites)
{
	const struct schedule *s = p->schedule;

	if (!s->memory)
		return 0;
	if (s->track_count > RADDLE_MEMORY_SITES || s->choice_count > RADDLE_MEMORY_CHOICES)
		return rd_fail(
			RD_EFORMAT,
			"replay: the schedule cannot be followed: it has more than %d tracked accesses or %d "
			"choices",
			RADDLE_MEMORY_SITES, RADDLE_MEMORY_CHOICES);
	p->tracks = rd_xcalloc(s->track_count + 1, sizeof *p->tracks);
	for (size_t i = 0; i < s->track_count; i++) {
		const struct schedule_track *t = &s->tracks[i];
		struct schedule_goal at = {.site = t->site, .write = t->write, .place = t->place};

		if (!has_site(sites, &at, &p->tracks[p->track_count]))
			return no_such_site(p, &at);
		p->track_count++;
	}
	return 0;
}

static void write_memory(const struct plan *p, struct raddle_memory *m)
{
	const struct schedule *s = p->schedule;

	m->explores = 0;
	m->model = (uint32_t)schedule_memory(s->memory);
	m->seed = s->memory_seed;
	m->track_count = (uint32_t)p->track_count;
	memcpy(m->track, p->tracks, p->track_count * sizeof *p->tracks);
	m->plan_count = (uint32_t)s->choice_count;
	for (size_t i = 0; i < s->choice_count; i++) {
		const struct schedule_choice *c = &s->choices[i];

		m->plan[i] = (struct raddle_choice){.at = c->at < UINT32_MAX ? (uint32_t)c->at : UINT32_MAX,
						    .from = c->from,
						    .taken = c->taken};
	}
}

void plan_explore(const struct plan *p, const struct replay_search *search, struct raddle_memory *m)
{
	size_t count = search->planned < RADDLE_MEMORY_CHOICES ? search->planned : RADDLE_MEMORY_CHOICES;

	RD_ASSERT(p->schedule->choice_count == 0);
	m->explores = 1;
	m->plan_count = (uint32_t)count;
	if (count)
		memcpy(m->plan, search->choices, count * sizeof *m->plan);
}

static int add_decision(struct plan *p, const struct schedule_decision *d)
{
	struct raddle_steer_decision to = {
		.n = d->n, .point = (uint32_t)schedule_point(d->point), .count = d->count};

	if (find_thread(p, d->thread, &to.thread) || find_thread(p, d->next, &to.next))
		return RD_EFORMAT;
	RD_GROW(p->decisions, p->decision_capacity, p->decision_count + 1);
	p->decisions[p->decision_count++] = to;
	return 0;
}

int plan_extend(struct plan *p, const struct schedule *more, const struct trace_sites *sites)
{
	int err = 0;

	for (size_t i = 0; i < more->watch_count && !err; i++)
		err = add_watch(p, sites, &more->watches[i]);
	for (size_t i = 0; i < more->decision_count && !err; i++)
		err = add_decision(p, &more->decisions[i]);
	if (!err && (p->watch_count > RADDLE_STEER_WATCHES || p->decision_count > RADDLE_STEER_DECISIONS))
		err = rd_fail(RD_EFORMAT,
			      "replay: the schedule cannot be followed: it has more than %d watches or %d "
			      "decisions",
			      RADDLE_STEER_WATCHES, RADDLE_STEER_DECISIONS);
	return err;
}

int plan_expect(struct plan *p, const char *thread, uint64_t points)
{
	RD_ASSERT(thread != NULL);
	uint32_t position;
	int err = find_thread(p, thread, &position);

	if (!err)
		p->threads[position].expected = points < UINT32_MAX ? (uint32_t)points : UINT32_MAX;
	return err;
}

int plan_place_globals(struct plan *p, pid_t pid)
{
	for (size_t i = 0; i < p->global_count; i++) {
		const struct plan_global *g = &p->globals[i];
		uint64_t bias;

		if (!explain_bias(pid, g->module, &bias))
			return rd_fail(RD_ENOTFOUND, "replay: %s is not in the program's memory", g->module);
		p->watches[g->watch].address = bias + g->offset;
	}
	p->global_count = 0;
	return 0;
}

/* Checks that the schedule belongs to this program.  A deadlock has no sites to compare, but its
 * operations have places. */
static int check_places(const struct plan *p, const struct trace_sites *sites)
{
	const struct schedule *s = p->schedule;
	const struct schedule_place *first = NULL;
	size_t tried = 0;

	for (size_t i = 0; sites && i < s->op_count + s->stop_count && tried < PLACES_TRIED; i++) {
		const struct schedule_place *place =
			i < s->op_count ? &s->ops[i].place : &s->stops[i - s->op_count].place;

		if (!place->file)
			continue;
		first = first ? first : place;
		tried++;
		if (site_at(sites, place, NULL))
			return 0;
	}
	if (!first)
		return 0;
	return rd_fail(RD_EFORMAT,
		       "replay: the schedule does not fit this program: it has no call at %s:%" PRIu32
		       " nor at any other place of the schedule%s%s",
		       first->file, first->line, s->program ? ", which was made for " : "",
		       s->program ? s->program : "");
}

/* ---- compiling a schedule, and writing the plan ---- */

int plan_compile(struct plan *p, const struct schedule *s, const struct trace_sites *sites)
{
	const char *wrong = schedule_check(s);
	int r;

	*p = (struct plan){.schedule = s};
	add_thread(p, "T_0", 3);
	if (wrong)
		return unfit(p, wrong, s->program ? s->program : RD_UNKNOWN);
	if (s->goal_count ? s->goal_count != RADDLE_STEER_GOALS : !s->stop_count && !s->op_count && !s->turns)
		return unfit(p, "it needs two accesses, a stop or an order; it is for",
			     s->program ? s->program : RD_UNKNOWN);
	r = add_ops(p);
	if (!r)
		r = add_limits(p);
	if (!r)
		r = add_stops(p);
	if (!r)
		r = add_goals(p, sites);
	if (!r && !s->goal_count)
		r = check_places(p, sites);
	if (!r && s->turns)
		r = plan_extend(p, s, sites);
	if (!r)
		r = add_memory(p, sites);
	return r;
}

void plan_release(struct plan *p)
{
	rd_names_release(&p->names);
	RD_FREE(p->threads, p->ops, p->turns, p->watches, p->decisions, p->globals, p->tracks);
	*p = (struct plan){0};
}

static uint64_t align(uint64_t at)
{
	return (at + 63) / 64 * 64;
}

static uint64_t threads_at(void)
{
	return align(sizeof(struct raddle_steer));
}

/* Returns the offset of the table of operations.  The gap before it leaves room for threads that
 * are added while the program is stopped. */
static uint64_t ops_at(const struct plan *p)
{
	size_t room = p->schedule->turns ? RADDLE_STEER_ROOM : 0;

	return threads_at() + align((p->thread_count + room) * sizeof *p->threads);
}

static uint64_t watches_at(const struct plan *p)
{
	return ops_at(p) + align(p->op_count * sizeof *p->ops);
}

static uint64_t decisions_at(const struct plan *p)
{
	return watches_at(p) + (p->schedule->turns ? RADDLE_STEER_WATCHES * sizeof *p->watches : 0);
}

static uint64_t made_at(const struct plan *p)
{
	return decisions_at(p) + (p->schedule->turns ? RADDLE_STEER_DECISIONS * sizeof *p->decisions : 0);
}

uint64_t plan_memory_at(const struct plan *p)
{
	return align(made_at(p) + (p->schedule->turns ? RADDLE_STEER_DECISIONS * sizeof *p->decisions : 0));
}

static uint64_t written_at(const struct plan *p)
{
	return plan_memory_at(p) + (p->schedule->memory ? align(sizeof(struct raddle_memory)) : 0);
}

static uint64_t slots_at(const struct plan *p)
{
	return written_at(p) + sizeof(struct raddle_written);
}

size_t plan_size(const struct plan *p)
{
	return (slots_at(p) + RADDLE_SLOTS * sizeof(struct raddle_slot) + PAGE - 1) / PAGE * PAGE;
}

int plan_write_more(struct plan *p, struct raddle_steer *steer)
{
	RD_ASSERT(p->written_decisions <= p->decision_count);
	size_t room = (size_t)steer->thread_count + RADDLE_STEER_ROOM;

	if (p->thread_count > room)
		return rd_fail(RD_EFORMAT, "replay: the schedule cannot be extended by so many threads");
	if (p->thread_count > p->written_threads)
		memcpy(raddle_steer_threads(steer) + p->written_threads, p->threads + p->written_threads,
		       (p->thread_count - p->written_threads) * sizeof *p->threads);
	if (p->watch_count > p->written_watches)
		memcpy(raddle_steer_watches(steer) + p->written_watches, p->watches + p->written_watches,
		       (p->watch_count - p->written_watches) * sizeof *p->watches);
	if (p->decision_count > p->written_decisions)
		memcpy(raddle_steer_decisions(steer) + p->written_decisions,
		       p->decisions + p->written_decisions,
		       (p->decision_count - p->written_decisions) * sizeof *p->decisions);
	p->written_threads = p->thread_count;
	p->written_watches = p->watch_count;
	p->written_decisions = p->decision_count;
	atomic_store(&steer->thread_added, (uint32_t)(p->thread_count - steer->thread_count));
	atomic_store(&steer->watch_count, (uint32_t)p->watch_count);
	atomic_store(&steer->decision_count, (uint32_t)p->decision_count);
	return 0;
}

/* Threads that have already begun have the same positions in both plans.  The initial thread is at
 * position 0, and the others are named in the part that the schedules have in common. */
int plan_write_copy(struct plan *p, struct raddle_steer *steer, size_t threads, uint64_t memory_at)
{
	static const struct raddle_steer_thread no_thread = {.parent = RADDLE_STEER_NONE,
							     .index = UINT32_MAX,
							     .limit = UINT64_MAX,
							     .goal = RADDLE_STEER_NONE,
							     .stop = RADDLE_STEER_NONE};
	struct raddle_steer_thread *table = (void *)((char *)steer + threads_at());
	int err;

	RD_ASSERT(p->schedule->turns);
	RD_ASSERT(p->thread_count <= threads + RADDLE_STEER_ROOM);
	memcpy(table, p->threads, p->thread_count * sizeof *p->threads);
	for (size_t i = p->thread_count; i < threads; i++)
		table[i] = no_thread;
	steer->thread_count = (uint32_t)threads;
	steer->seed = p->schedule->seed;
	if (p->schedule->memory)
		write_memory(p, (struct raddle_memory *)((char *)steer + memory_at));
	p->written_threads = p->thread_count;
	p->written_watches = p->written_decisions = 0;
	err = plan_write_more(p, steer);
	if (p->thread_count < threads)
		atomic_store(&steer->thread_added, 0);
	return err;
}

/* Writes the tables for turns.  The addresses of variables are added later, when the program is
 * stopped at its start. */
static void write_turns(struct plan *p, struct raddle_steer *steer)
{
	steer->watches_at = watches_at(p);
	steer->decisions_at = decisions_at(p);
	steer->made_at = made_at(p);
	steer->seed = p->schedule->seed;
	steer->next = RADDLE_STEER_NONE;
	if (p->schedule->memory) {
		steer->memory_at = plan_memory_at(p);
		write_memory(p, raddle_steer_memory(steer));
	}
	p->written_threads = p->thread_count;
	if (p->global_count)
		steer->flags |= RADDLE_STEER_ASK_START;
	else
		plan_write_more(p, steer);
	if (!p->op_count && !p->goal_count)
		atomic_store(&steer->phase, RADDLE_GOES_ON);
}

void plan_write(struct plan *p, struct raddle_steer *steer, uint32_t flags, uint32_t order)
{
	RD_ASSERT(order < 2);
	steer->version = RADDLE_STEER_VERSION;
	steer->flags = flags;
	steer->order = order;
	steer->thread_count = (uint32_t)p->thread_count;
	steer->op_count = (uint32_t)p->op_count;
	steer->goal_count = p->goal_count;
	steer->stop_count = p->stop_count;
	steer->threads_at = threads_at();
	steer->ops_at = ops_at(p);
	steer->slots_at = slots_at(p);
	steer->written_at = written_at(p);
	memcpy(steer->goals, p->goals, sizeof p->goals);
	for (size_t i = 0; i < p->goal_count && p->schedule->front; i++)
		steer->goals[i].front = !strcmp(p->schedule->goals[i].thread, p->schedule->front);
	memcpy(raddle_steer_threads(steer), p->threads, p->thread_count * sizeof *p->threads);
	if (p->op_count)
		memcpy(raddle_steer_ops(steer), p->ops, p->op_count * sizeof *p->ops);
	if (p->schedule->turns)
		write_turns(p, steer);
}
