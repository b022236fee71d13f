// SPDX-License-Identifier: Apache-2.0
/*
 * Drawing up a sketch.  In: runs, the predictors.  Out: steps.
 *
 * The failing run that is shown is the shortest one of which the best predictor is true.  Of its events those
 * count that are near the failure in the slice, and those of predictors that are shown.  What a thread does
 * at one line without another thread in between is one step; of a line that a thread comes to again and
 * again, the last time counts, and those times that predictors name.
 */
#include "sketch/sketch.h"

#include "base/buf.h"
#include "base/file.h"
#include "base/map.h"
#include "sketch/place.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GOOD 0.95    /* an F of a statement that is shown for what it had or did */
#define DIFFERENT 64 /* values and branches that are shown, at most */
#define SHOWN 6	     /* predictors */

void sketch_set_release(struct sketch_set *set)
{
	for (size_t i = 0; i < set->count; i++) {
		sketch_predictors_release(&set->items[i].predictors);
		rd_arena_free(set->items[i].arena);
	}
	free(set->items);
	*set = (struct sketch_set){0};
}

static const char *keep(struct sketch *s, const char *text)
{
	return text ? rd_arena_strndup(s->arena, text, strlen(text)) : NULL;
}

/* ---- which runs ---- */

static bool is_of(const struct sketch_run *run, const char *signature)
{
	return run->signature && !strcmp(run->signature, signature);
}

/* How often another thread goes on. */
static size_t switches(const struct sketch_run *run)
{
	size_t n = 0;

	for (size_t i = 1; i < run->count; i++)
		n += run->events[i].thread != run->events[i - 1].thread;
	return n;
}

static bool is_simpler(const struct sketch_run *run, const struct sketch_run *than)
{
	return !than || run->count < than->count ||
	       (run->count == than->count && switches(run) < switches(than));
}

/* The failing run to show. */
static const struct sketch_run *choose_failing(const struct sketch *s)
{
	const struct sketch_run *best = NULL, *any = NULL;
	size_t at[3];

	for (size_t i = 0; i < s->runs->count; i++) {
		const struct sketch_run *run = &s->runs->items[i];

		if (!is_of(run, s->signature))
			continue;
		if (is_simpler(run, any))
			any = run;
		if (s->predictors.count && is_simpler(run, best) &&
		    sketch_predictor_at(s->runs, run, &s->predictors.items[0], at))
			best = run;
	}
	return best ? best : any;
}

/* How many events at the beginning are the same. */
static size_t common(const struct sketch_run *a, const struct sketch_run *b)
{
	size_t n = 0;

	while (n < a->count && n < b->count && a->events[n].thread == b->events[n].thread &&
	       a->events[n].statement == b->events[n].statement)
		n++;
	return n;
}

static const struct sketch_run *choose_passing(const struct sketch *s, const struct sketch_run *fails)
{
	const struct sketch_run *best = NULL;

	for (size_t i = 0; i < s->runs->count; i++) {
		const struct sketch_run *run = &s->runs->items[i];

		if (run->outcome == SKETCH_PASSED && (!best || common(run, fails) > common(best, fails)))
			best = run;
	}
	return best;
}

/* ---- which events ---- */

bool sketch_is_shown(const struct sketch *s, size_t predictor)
{
	const struct sketch_predictor *p = &s->predictors.items[predictor];

	return predictor < SHOWN || sketch_best(&s->predictors, p->type) == p;
}

/* Marks of events: shown, of a predictor, tells failing from passing runs by itself. */
enum { SHOW = 1, NAMED = 2, TELLS = 8 };

static bool is_near(const struct sketch *s, const struct sketch_event *e)
{
	uint32_t distance = s->runs->statements[e->statement].distance;

	return distance != UINT32_MAX && (!s->near || distance < s->near);
}

/* Whether its events are steps: those of the best one of a type; and of an order that is as good as the best
 * predictor and was true as early, since the list names it as well. */
static bool is_told(const struct sketch *s, size_t predictor, const size_t at[3], size_t end)
{
	const struct sketch_predictor *p = &s->predictors.items[predictor], *best = s->predictors.items;

	if (sketch_best(&s->predictors, p->type) == p)
		return p->f >= 0.5;
	if (predictor >= SHOWN || p->type != SKETCH_ORDER || p->f < GOOD || p->f < best->f)
		return false;
	for (size_t k = 0; k < p->count; k++)
		if (at[k] == SIZE_MAX || at[k] > end)
			return false;
	return true;
}

static void mark_predictors(const struct sketch *s, const struct sketch_run *run, unsigned char *marks)
{
	size_t at[3], end = 0;

	for (size_t i = 0; i < s->predictors.count; i++) {
		const struct sketch_predictor *p = &s->predictors.items[i];

		if (!sketch_predictor_at(s->runs, run, p, at))
			continue;
		for (size_t k = 0; !i && k < p->count; k++)
			if (at[k] != SIZE_MAX && at[k] > end)
				end = at[k];
		if (!is_told(s, i, at, end))
			continue;
		for (size_t k = 0; k < p->count; k++)
			if (at[k] != SIZE_MAX)
				marks[at[k]] |= SHOW | NAMED;
	}
}

/* Without a slice: what touches the memory that predictors are about. */
static void mark_same_memory(const struct sketch_run *run, unsigned char *marks)
{
	struct rd_umap addresses = RD_UMAP_INIT;

	for (size_t i = 0; i < run->count; i++)
		if (marks[i] & NAMED && run->events[i].address)
			rd_umap_put(&addresses, run->events[i].address, NULL);
	for (size_t i = 0; i < run->count; i++)
		if (rd_umap_get(&addresses, run->events[i].address))
			marks[i] |= SHOW;
	rd_umap_release(&addresses);
}

static bool is_same_line(const struct sketch_runs *runs, const struct sketch_event *a,
			 const struct sketch_event *b)
{
	const struct slice_statement *x = &runs->statements[a->statement],
				     *y = &runs->statements[b->statement];

	return a->thread == b->thread && x->line == y->line && !strcmp(x->file, y->file);
}

/* Of each line of a thread only the last time is shown, unless a predictor names another. */
static void mark_last(const struct sketch *s, const struct sketch_run *run, unsigned char *marks)
{
	struct rd_pmap seen = {0}; /* of a thread and a statement */
	bool fresh;

	for (size_t i = run->count; i-- > 0;) {
		if (!(marks[i] & SHOW))
			continue;
		rd_pmap_put(&seen, run->events[i].thread, run->events[i].statement, &fresh);
		if (!fresh && !(marks[i] & NAMED) &&
		    !(i + 1 < run->count && marks[i + 1] & SHOW &&
		      is_same_line(s->runs, &run->events[i], &run->events[i + 1])))
			marks[i] = 0;
	}
	rd_pmap_release(&seen);
}

static bool is_creation(const struct sketch *s, const struct sketch_event *e)
{
	const char *operation = s->runs->statements[e->statement].operation;

	return operation && !strcmp(operation, "thread-create");
}

/* The creation of each thread that is shown: the first creation makes thread 1, and so on. */
static void mark_creations(const struct sketch *s, const struct sketch_run *run, unsigned char *marks)
{
	struct rd_umap threads = RD_UMAP_INIT;
	uint64_t number = 0;

	for (size_t i = 0; i < run->count; i++)
		if (marks[i] & SHOW)
			rd_umap_put(&threads, run->events[i].thread, NULL);
	for (size_t i = 0; i < run->count && !run->cut; i++)
		if (is_creation(s, &run->events[i]) && rd_umap_get(&threads, ++number))
			marks[i] |= SHOW;
	rd_umap_release(&threads);
}

static bool is_join(const struct slice_statement *st)
{
	return st->operation && strstr(st->operation, "join"); /* begun or done */
}

/* What pruning knows while it goes back through a run. */
struct prune {
	const struct sketch *s;
	const struct sketch_run *run;
	struct rd_umap threads;	  /* with something that is shown behind it */
	struct rd_umap addresses; /* that something behind it touches */
	struct rd_umap written;	  /* addresses that something shown writes */
	bool *named;		  /* statements of predictors */
};

/* Whether the event can have carried something to the failure, or is what the failure is. */
static bool matters(const struct prune *p, size_t i)
{
	const struct sketch_event *e = &p->run->events[i];
	const struct slice_statement *st = &p->s->runs->statements[e->statement];
	bool fails = e->thread == p->run->failed_thread;

	if (fails && st->line == p->s->failure.line && st->line)
		return true;
	if (st->kind == SLICE_WRITE)
		return rd_umap_get(&p->addresses, e->address) != NULL;
	if (st->kind == SLICE_READ && !p->named[e->statement] &&
	    (!is_near(p->s, e) || (!p->s->failure.file && !rd_umap_get(&p->written, e->address))))
		return false;
	if (st->kind == SLICE_READ || st->kind == SLICE_BRANCH)
		return fails || rd_umap_get(&p->threads, e->thread) != NULL;
	return !is_join(st);
}

/* A read of what nobody writes, or of a thread that shows nothing afterwards, a write that nobody looks at, a
 * join: they have no part in the failure.  Of a hang nobody knows what would
 * have come. */
static void prune(const struct sketch *s, const struct sketch_run *run, unsigned char *marks)
{
	struct prune p = {.s = s, .run = run};

	if (run->outcome == SKETCH_PASSED || run->outcome == SKETCH_HANG)
		return;
	p.named = rd_xcalloc(s->runs->statement_count + 1, sizeof *p.named);
	for (size_t i = 0; i < run->count; i++) {
		const struct sketch_event *e = &run->events[i];

		p.named[e->statement] |= (marks[i] & NAMED) != 0;
		if (marks[i] & SHOW && s->runs->statements[e->statement].role == SLICE_WRITES)
			rd_umap_put(&p.written, e->address, NULL);
	}
	for (size_t i = run->count; i-- > 0;) {
		const struct sketch_event *e = &run->events[i];

		if (marks[i] & SHOW && !(marks[i] & (NAMED | TELLS)) && !matters(&p, i))
			marks[i] = 0;
		if (!(marks[i] & SHOW))
			continue;
		rd_umap_put(&p.threads, e->thread, NULL);
		if (e->address)
			rd_umap_put(&p.addresses, e->address, NULL);
	}
	RD_UMAP_RELEASE(&p.threads, &p.addresses, &p.written);
	free(p.named);
}

static bool is_lock(const struct sketch *s, const struct sketch_event *e)
{
	enum slice_role role = s->runs->statements[e->statement].role;

	return role == SLICE_ACQUIRES || role == SLICE_RELEASES;
}

/* Of a thread's locks only those have a part in a hang that it holds or waits for at the end. */
static void hide_past_locks(const struct sketch *s, const struct sketch_run *run, unsigned char *marks)
{
	struct rd_pmap held = {0}; /* of a thread and a lock: 1 while it is held or waited for */

	for (size_t i = 0; i < run->count && run->outcome == SKETCH_HANG; i++) {
		const struct sketch_event *e = &run->events[i];

		if (is_lock(s, e))
			*rd_pmap_put(&held, e->thread, e->address, NULL) =
				s->runs->statements[e->statement].role == SLICE_ACQUIRES;
	}
	for (size_t i = 0; i < run->count && run->outcome == SKETCH_HANG; i++) {
		const struct sketch_event *e = &run->events[i];

		if (is_lock(s, e) && !(marks[i] & (NAMED | TELLS)) &&
		    !*rd_pmap_get(&held, e->thread, e->address))
			marks[i] = 0;
	}
	rd_pmap_release(&held);
}

/* Who wrote what a shown statement reads. */
static void mark_writers(const struct sketch *s, const struct sketch_run *run, unsigned char *marks)
{
	struct rd_umap last = RD_UMAP_INIT; /* of an address: 1 + its last write */

	for (size_t i = 0; i < run->count; i++) {
		const struct sketch_event *e = &run->events[i];
		enum slice_kind kind = s->runs->statements[e->statement].kind;
		const uint64_t *write = rd_umap_get(&last, e->address);

		if (kind == SLICE_READ && marks[i] & SHOW && write &&
		    run->events[*write - 1].value == e->value) /* code that is not tracked may write, too */
			marks[*write - 1] |= SHOW;
		if (kind == SLICE_WRITE && e->address)
			*rd_umap_put(&last, e->address, NULL) = i + 1;
	}
	rd_umap_release(&last);
}

/* What headers of the system do inside says nothing to who wrote the program, unless a predictor names it or
 * it fails there. */
static void hide_system(const struct sketch *s, const struct sketch_run *run, unsigned char *marks)
{
	for (size_t i = 0; i < run->count; i++) {
		const struct slice_statement *st = &s->runs->statements[run->events[i].statement];

		if (!(marks[i] & NAMED) && sketch_is_system_file(st->file) &&
		    !(s->failure.file && !strcmp(s->failure.file, st->file)))
			marks[i] = 0;
	}
}

static bool has_value(const struct sketch_event *e, const struct sketch_predictor *p)
{
	return e->statement == p->statements[0] && p->pattern != SKETCH_NEVER &&
	       (p->pattern == SKETCH_DIFFERS ? e->size && e->value : e->value == p->value);
}

/* What by itself tells failing from passing runs: a value or a branch. */
static void mark_different(const struct sketch *s, const struct sketch_run *run, unsigned char *marks)
{
	size_t at[3];

	for (size_t i = 0, found = 0; i < s->predictors.count && found < DIFFERENT; i++) {
		const struct sketch_predictor *p = &s->predictors.items[i];

		if (p->type == SKETCH_ORDER || p->f < GOOD)
			continue;
		found++;
		if (p->pattern == SKETCH_NEVER && sketch_predictor_at(s->runs, run, p, at))
			marks[at[0]] |= SHOW | TELLS;
		for (size_t k = 0; k < run->count; k++)
			if (has_value(&run->events[k], p))
				marks[k] |= SHOW | TELLS;
	}
}

/* The last event of the thread before number `end` that is of this statement; SIZE_MAX: none. */
static size_t last_of(const struct sketch_run *run, uint32_t thread, uint32_t statement, size_t end)
{
	for (size_t i = end; i-- > 0;)
		if (run->events[i].thread == thread && run->events[i].statement == statement)
			return i;
	return SIZE_MAX;
}

/* The first write of what event `at` is about by another thread after it; SIZE_MAX: none. */
static size_t written_later(const struct sketch *s, const struct sketch_run *run, size_t at)
{
	const struct sketch_event *e = &run->events[at];

	for (size_t i = at + 1; i < run->count && e->address; i++)
		if (run->events[i].address == e->address && run->events[i].thread != e->thread &&
		    s->runs->statements[run->events[i].statement].role == SLICE_WRITES)
			return i;
	return SIZE_MAX;
}

/* Whether it could have been otherwise: it was in another run, or somebody came too late to make it so. */
static bool could_differ(const struct sketch *s, const struct sketch_run *run, size_t at)
{
	return s->decided->statements[run->events[at].statement].varies ||
	       written_later(s, run, at) != SIZE_MAX;
}

/* A branch is shown with what it looked at, if that could have been otherwise; else nothing was decided
 * there.  Who hangs waits for something that is so by now: who made it so is shown as well. */
static bool mark_branch(const struct sketch *s, const struct sketch_run *run, size_t at, unsigned char *marks)
{
	const struct decide_list *looks = &s->decided->statements[run->events[at].statement].looks;
	bool could = could_differ(s, run, at);

	for (size_t i = 0; i < looks->count; i++) {
		size_t k = last_of(run, run->events[at].thread, looks->items[i], at), late;

		if (k == SIZE_MAX || !could_differ(s, run, k))
			continue;
		marks[k] |= SHOW;
		could = true;
		late = written_later(s, run, k);
		if (run->outcome == SKETCH_HANG && late != SIZE_MAX)
			marks[late] |= SHOW;
	}
	if (could)
		marks[at] |= SHOW;
	return could;
}

/* The nearest branches that decide about a statement, and could have gone another way. */
static void mark_deciders(const struct sketch *s, const struct sketch_run *run, uint32_t statement,
			  uint32_t thread, size_t end, unsigned char *marks)
{
	struct decide_list todo = {0};

	decide_list_add(&todo, statement);
	for (size_t i = 0; i < todo.count; i++) {
		const struct decide_list *by = &s->decided->statements[todo.items[i]].by;

		for (size_t k = 0; k < by->count; k++) {
			size_t at = last_of(run, thread, by->items[k], end);

			if (at == SIZE_MAX || !mark_branch(s, run, at, marks))
				decide_list_add(&todo, by->items[k]);
		}
	}
	free(todo.items);
}

/* What decided whether shown statements, and the failing one, were executed. */
static void mark_decisions(const struct sketch *s, const struct sketch_run *run, unsigned char *marks)
{
	unsigned char *before = rd_xcalloc(run->count + 1, 1);

	memcpy(before, marks, run->count);
	for (size_t i = 0; i < run->count; i++)
		if (before[i] & SHOW)
			mark_deciders(s, run, run->events[i].statement, run->events[i].thread, i, marks);
	if (s->decided->failure != UINT32_MAX)
		mark_deciders(s, run, s->decided->failure, run->failed_thread, run->count, marks);
	free(before);
}

/* `shown` has the statements of the failing run that are shown, by number; a run that passes shows the same
 * ones. */
static unsigned char *mark(const struct sketch *s, const struct sketch_run *run, bool *shown)
{
	unsigned char *marks = rd_xcalloc(run->count + 1, 1);

	for (size_t i = 0; i < run->count; i++)
		if (is_near(s, &run->events[i]) ||
		    (run->outcome == SKETCH_PASSED && shown[run->events[i].statement]))
			marks[i] = SHOW;
	mark_predictors(s, run, marks);
	mark_same_memory(run, marks);
	mark_different(s, run, marks);
	mark_last(s, run, marks);
	prune(s, run, marks);
	hide_past_locks(s, run, marks);
	mark_writers(s, run, marks);
	if (s->decided && run->outcome != SKETCH_PASSED)
		mark_decisions(s, run, marks);
	hide_system(s, run, marks);
	mark_creations(s, run, marks);
	for (size_t i = 0; i < run->count && run->outcome != SKETCH_PASSED; i++)
		shown[run->events[i].statement] |= marks[i] & SHOW;
	return marks;
}

/* ---- steps ---- */

static const char *verb(const struct slice_statement *st)
{
	switch (st->kind) {
	case SLICE_READ: return "reads";
	case SLICE_WRITE: return "writes";
	case SLICE_BRANCH: return "branch";
	case SLICE_CALL: return "calls";
	default: return st->operation ? st->operation : "synchronises";
	}
}

static void add_value(struct sketch *s, struct sketch_step *step, const char *name,
		      const struct sketch_event *e)
{
	struct sketch_value *v = NULL;

	for (size_t i = 0; i < step->value_count; i++)
		if (!strcmp(step->values[i].name, name))
			v = &step->values[i];
	if (!v) {
		struct sketch_value *more = rd_arena_alloc(s->arena, (step->value_count + 1) * sizeof *more);

		if (step->value_count)
			memcpy(more, step->values, step->value_count * sizeof *more);
		step->values = more;
		v = &more[step->value_count++];
	}
	*v = (struct sketch_value){.name = name, .value = e->value, .size = e->size};
}

static void add_to_step(struct sketch *s, struct sketch_step *step, const struct sketch_event *e)
{
	const struct slice_statement *st = &s->runs->statements[e->statement];
	const char *name = st->variable ? st->variable : NULL;
	struct rd_buf text = RD_BUF_INIT;

	rd_buf_addf(&text, "%s%s%s", verb(st), name ? " " : "", name ? name : "");
	if (step->event && strstr(step->event, text.data)) {
		rd_buf_clear(&text);
		rd_buf_adds(&text, step->event);
	} else if (step->event) {
		char *now = rd_buf_detach(&text);

		rd_buf_addf(&text, "%s, %s", step->event, now);
		free(now);
	}
	step->event = keep(s, text.data);
	rd_buf_release(&text);
	if (e->size && name)
		add_value(s, step, name, e);
	if (st->kind == SLICE_BRANCH && e->size)
		add_value(s, step, "branch", &(struct sketch_event){.value = e->value, .size = 4});
}

/* For each value the last step before that wrote it. */
static void find_writers(struct sketch *s, const struct sketch_run *run, const unsigned char *marks,
			 const size_t *step_of, struct sketch_steps *steps)
{
	for (size_t i = 0; i < run->count; i++) {
		const struct slice_statement *st = &s->runs->statements[run->events[i].statement];
		struct sketch_step *step;

		if (!(marks[i] & SHOW) || st->kind != SLICE_READ || !st->variable)
			continue;
		step = &steps->items[step_of[i]];
		if (!step->writers)
			step->writers =
				rd_arena_alloc(s->arena, (step->value_count + 1) * sizeof *step->writers);
		for (size_t k = i; k-- > 0;)
			if (marks[k] & SHOW && run->events[k].address == run->events[i].address &&
			    s->runs->statements[run->events[k].statement].role == SLICE_WRITES) {
				for (size_t v = 0; v < step->value_count; v++)
					if (!strcmp(step->values[v].name, st->variable))
						step->writers[v] = (uint32_t)step_of[k] + 1;
				break;
			}
	}
}

static struct sketch_step begin_step(const struct sketch *s, const struct sketch_event *e)
{
	const struct slice_statement *st = &s->runs->statements[e->statement];

	return (struct sketch_step){
		.thread = e->thread, .file = st->file, .function = st->function, .line = st->line};
}

static struct sketch_steps make_steps(struct sketch *s, const struct sketch_run *run, bool *shown)
{
	unsigned char *marks = mark(s, run, shown);
	size_t *step_of = rd_xcalloc(run->count + 1, sizeof *step_of), last = SIZE_MAX;
	struct sketch_steps steps = {rd_arena_alloc(s->arena, (run->count + 2) * sizeof *steps.items), 0};

	for (size_t i = 0; i < run->count; i++) {
		struct sketch_step *step;

		if (!(marks[i] & SHOW))
			continue;
		if (last == SIZE_MAX || is_creation(s, &run->events[i]) ||
		    !is_same_line(s->runs, &run->events[last], &run->events[i]))
			steps.items[steps.count++] = begin_step(s, &run->events[i]);
		step = &steps.items[steps.count - 1];
		add_to_step(s, step, &run->events[i]);
		if (marks[i] & NAMED)
			step->marks |= SKETCH_MARK_PREDICTOR;
		step_of[i] = steps.count - 1;
		last = i;
	}
	find_writers(s, run, marks, step_of, &steps);
	free(marks);
	free(step_of);
	return steps;
}

/* ---- the failure, and what differs ---- */

static void add_failure(struct sketch *s)
{
	const struct sketch_failure *f = &s->failure;
	struct sketch_steps *steps = &s->fails;
	struct sketch_step *last = steps->count ? &steps->items[steps->count - 1] : NULL;

	if (last && !f->file && f->kind != SKETCH_HANG) {
		last->marks |= SKETCH_MARK_FAILURE; /* nobody knows where: it had failed by then */
		return;
	}
	for (size_t i = steps->count; i-- > 0 && f->kind == SKETCH_HANG && f->file;)
		if (steps->items[i].thread == f->thread) { /* where it waits; others came to wait later */
			last = &steps->items[i];
			break;
		}
	if (!last || !f->file || last->line != f->line || last->thread != f->thread) {
		last = &steps->items[steps->count++];
		*last = (struct sketch_step){.thread = f->thread,
					     .file = f->file,
					     .function = f->function,
					     .line = f->line,
					     .event = "fails"};
	}
	last->marks |= SKETCH_MARK_FAILURE;
}

static bool is_same_step(const struct sketch_step *a, const struct sketch_step *b)
{
	if (a->line != b->line || a->thread != b->thread || a->value_count != b->value_count)
		return false;
	for (size_t i = 0; i < a->value_count; i++)
		if (a->values[i].value != b->values[i].value &&
		    !(a->values[i].size == 8 && a->values[i].value > UINT32_MAX &&
		      b->values[i].value > UINT32_MAX))
			return false;
	return true;
}

/* What the passing run does not have at all, and the first step at which they part. */
static void mark_differences(struct sketch *s)
{
	bool parted = false;

	for (size_t i = 0; i < s->fails.count && s->passes.count; i++) {
		struct sketch_step *step = &s->fails.items[i];
		bool found = false;

		for (size_t k = 0; k < s->passes.count && !found; k++)
			found = is_same_step(step, &s->passes.items[k]);
		if (!found || (!parted && (i >= s->passes.count || !is_same_step(step, &s->passes.items[i]))))
			step->marks |= SKETCH_MARK_DIFFERS;
		parted = parted || step->marks & SKETCH_MARK_DIFFERS;
	}
}

/* ---- words ---- */

void sketch_value_text(const struct sketch_value *v, char out[32])
{
	int64_t value = (int64_t)v->value;

	if (!v->size)
		snprintf(out, 32, "?");
	else if (v->size == 8 && (value > (int64_t)UINT32_MAX || value < -(int64_t)UINT32_MAX))
		snprintf(out, 32, "0x%" PRIx64, v->value);
	else
		snprintf(out, 32, "%" PRId64, value);
}

static void add_place(const struct sketch *s, struct rd_buf *text, uint32_t statement)
{
	const struct slice_statement *st = &s->runs->statements[statement];

	rd_buf_addf(text, "%s:%" PRIu32, rd_base_name(st->file), st->line);
}

static void add_order(const struct sketch *s, struct rd_buf *text, const struct sketch_predictor *p)
{
	add_place(s, text, p->statements[0]);
	if (p->count == 2) {
		rd_buf_adds(text, " before ");
		add_place(s, text, p->statements[1]);
		rd_buf_adds(text, " of another thread");
		if (p->pattern == SKETCH_RW_LAST)
			rd_buf_adds(text, ", and not again after it");
		return;
	}
	rd_buf_adds(text, " and ");
	add_place(s, text, p->statements[2]);
	rd_buf_adds(text, " of one thread, with ");
	add_place(s, text, p->statements[1]);
	rd_buf_adds(text, " of another between them");
}

const char *sketch_predictor_text(const struct sketch *s, const struct sketch_predictor *p)
{
	const struct slice_statement *st = &s->runs->statements[p->statements[0]];
	struct rd_buf text = RD_BUF_INIT;
	char value[32];
	const char *copy;

	sketch_value_text(&(struct sketch_value){.value = p->value, .size = 8}, value);
	if (p->type == SKETCH_ORDER) {
		add_order(s, &text, p);
	} else if (p->type == SKETCH_VALUE) {
		rd_buf_addf(&text, "%s %s %s at ", st->variable ? st->variable : "the value",
			    sketch_pattern_name(p->pattern), value);
		add_place(s, &text, p->statements[0]);
	} else {
		rd_buf_adds(&text, "the branch at ");
		add_place(s, &text, p->statements[0]);
		rd_buf_addf(&text, " %s to %s", p->pattern == SKETCH_NEVER ? "never goes" : "goes",
			    p->value == 1   ? "its first side"
			    : p->value == 0 ? "its other side"
					    : value);
	}
	copy = rd_arena_strndup(s->arena, text.data, text.length);
	rd_buf_release(&text);
	return copy;
}

/* ---- the whole ---- */

/* A thread that hangs in a header hangs where the program calls it: at what it did last. */
static void place_hang(struct sketch *s, const struct sketch_run *fails)
{
	struct sketch_failure *f = &s->failure;

	if (f->kind != SKETCH_HANG || !f->file || !sketch_is_system_file(f->file))
		return;
	for (size_t i = fails->count; i-- > 0;) {
		const struct slice_statement *st = &s->runs->statements[fails->events[i].statement];

		if (fails->events[i].thread != fails->failed_thread || st->kind != SLICE_SYNC)
			continue;
		if (!sketch_is_system_file(st->file)) {
			f->file = (char *)keep(s, st->file);
			f->function = (char *)keep(s, st->function);
			f->line = st->line;
		}
		return;
	}
}

static void count_runs(struct sketch *s)
{
	for (size_t i = 0; i < s->runs->count; i++) {
		const struct sketch_run *run = &s->runs->items[i];

		s->passing += run->outcome == SKETCH_PASSED;
		s->failing += is_of(run, s->signature);
		s->perturbed += is_of(run, s->signature) && run->perturbed;
	}
}

void sketch_draw(struct sketch *s, const struct sketch_runs *runs, const struct sketch_failure *failure,
		 struct sketch_predictors *predictors, const struct sketch_reach *reach)
{
	const struct sketch_run *fails, *passes;
	char *signature = sketch_signature(failure);
	bool *shown = rd_xcalloc(runs->statement_count + 1, sizeof *shown);

	*s = (struct sketch){.runs = runs,
			     .sigma = reach->sigma,
			     .near = reach->near,
			     .predictors = *predictors,
			     .decided = reach->decided,
			     .arena = rd_arena_new()};
	*predictors = (struct sketch_predictors){0};
	s->signature = keep(s, signature);
	free(signature);
	s->failure = *failure;
	s->failure.what = (char *)keep(s, failure->what);
	s->failure.file = (char *)keep(s, failure->file);
	s->failure.function = (char *)keep(s, failure->function);
	count_runs(s);
	fails = choose_failing(s);
	passes = fails ? choose_passing(s, fails) : NULL;
	if (fails) {
		s->failure.thread = fails->failed_thread;
		place_hang(s, fails);
		s->fails = make_steps(s, fails, shown);
		s->schedule = keep(s, fails->schedule);
		add_failure(s);
	}
	if (passes)
		s->passes = make_steps(s, passes, shown);
	free(shown);
	s->decided = NULL;
	mark_differences(s);
	s->texts = rd_arena_alloc(s->arena, (s->predictors.count + 1) * sizeof *s->texts);
	for (size_t i = 0; i < s->predictors.count; i++)
		s->texts[i] =
			sketch_is_shown(s, i) ? sketch_predictor_text(s, &s->predictors.items[i]) : NULL;
}
