// SPDX-License-Identifier: Apache-2.0
/*
 * The replays of `raddle check`.
 *
 * In: findings without a verdict.  Out: the same with one, and what else diverged runs showed.
 * Each is tried in steps, and a step of all comes before the next step of any, so that what is
 * found easily is found first, and nothing that is hard keeps the rest from being tried when time
 * is limited: one replay of each; then the other ways that lead to the same places; then a run in
 * which any two threads may meet there; then runs that went another way are recorded and predicted from
 * again, which gives ways for others too; in the end one run under the detector for all that may be asked
 * about there.
 *
 * A step is done by a process of its own (check-work.c), in a process group and a scratch
 * directory of its own, and comes back as a finding document; so a replay that dies takes
 * nothing with it, and all can be ended at once.
 */
#include "cmd/check.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/name.h"
#include "base/progress.h"
#include "finding/schedule.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define STEP_MS 100
#define OTHER_WAYS 2   /* predictions of the first run at the same places, tried when the best one fails */
#define WAYS 6	       /* all that are tried */
#define ROUNDS 3       /* of recording a diverged run and predicting from it again */
#define OBSERVATIONS 3 /* runs under the detector */
#define FAILURES 4     /* in a row: then it is tried first whether any two threads meet */

/* A finding that is tried.  The n-th belongs to the n-th item of the set. */
struct candidate {
	struct finding *ways[WAYS]; /* the same error with different schedules */
	bool observable[WAYS];	    /* the last run of that way */
	size_t way_count, next_way;
	size_t astray;		     /* the way whose last run went another way; WAYS: none */
	unsigned runs;		     /* so far */
	bool met;		     /* it was tried to have any two threads meet */
	unsigned rounds;	     /* of prediction again */
	unsigned turn;		     /* how many of its object come before it */
	bool waits;		     /* for a verdict */
	bool busy;		     /* a step of it runs */
	bool unordered;		     /* the detector saw the two accesses unordered */
	enum finding_status verdict; /* if nothing more is tried */
};

struct job {
	pid_t pid; /* 0: free */
	enum check_step step;
	size_t item, way; /* of one candidate, */
	size_t *items;	  /* or all that are asked about, */
	size_t count;	  /* so many */
	char *directory;
	int64_t start_ns;
};

struct pool {
	struct check_replays *r;
	struct finding_set *set;
	struct candidate *candidates; /* as many as the set has items */
	size_t capacity;
	size_t *order; /* in which they are tried */
	struct job *jobs;
	size_t running, serial, observations;
	size_t failures; /* first replays in a row that did not come where they should */
	bool late;	 /* the time is up */
	int64_t start_ns;
	sigset_t mask;
	struct rd_progress progress;
};

static double seconds_since(int64_t ns)
{
	return (double)(rd_now_ns() - ns) / 1e9;
}

/* ---- candidates ---- */

static bool wants_replay(const struct finding *f)
{
	return f->status == FINDING_UNCONFIRMED && f->schedule && !f->suppressed;
}

static void add_way(struct candidate *c, struct finding *f)
{
	if (c->way_count < WAYS)
		c->ways[c->way_count++] = f;
}

static void add_candidate(struct pool *p, size_t item)
{
	struct finding *f = p->set->items[item];
	struct candidate *c;

	RD_GROW(p->candidates, p->capacity, item + 1);
	p->order = rd_xrealloc(p->order, (item + 1) * sizeof *p->order);
	p->order[item] = item;
	c = &p->candidates[item];
	*c = (struct candidate){.waits = wants_replay(f), .astray = WAYS, .verdict = FINDING_UNCONFIRMED};
	add_way(c, f);
	for (size_t i = 0; i < p->r->all_count && c->waits && c->way_count <= OTHER_WAYS; i++)
		if (p->r->all[i] != f && p->r->all[i]->schedule &&
		    strcmp(p->r->all[i]->fingerprint, f->fingerprint) == 0)
			add_way(c, p->r->all[i]);
}

/* How far two names agree, but for numbers, is enough to call it one object. */
static bool is_same_object(const char *a, const char *b)
{
	while (a && b && *a && *b) {
		a += strspn(a, "0123456789");
		b += strspn(b, "0123456789");
		if (*a != *b)
			return false;
		if (*a) {
			a++;
			b++;
		}
	}
	return a && b && !*a && !*b;
}

static size_t step_count(const struct finding *f)
{
	return f->schedule ? f->schedule->op_count : 0;
}

static int compare_candidates(const void *a, const void *b, void *context)
{
	const struct pool *p = context;
	size_t i = *(const size_t *)a, k = *(const size_t *)b;
	const struct finding *x = p->set->items[i], *y = p->set->items[k];
	const struct candidate *c = &p->candidates[i], *d = &p->candidates[k];

	if (x->sound != y->sound)
		return x->sound ? -1 : 1;
	if (c->turn != d->turn)
		return c->turn < d->turn ? -1 : 1;
	if (step_count(x) != step_count(y))
		return step_count(x) < step_count(y) ? -1 : 1;
	return i < k ? -1 : 1;
}

/* What can happen for certain comes first; then one finding of each object, those with short
 * schedules before others; then another one of each. */
static void put_in_order(struct pool *p)
{
	for (size_t i = 0; i < p->set->count; i++)
		for (size_t k = 0; k < i; k++)
			p->candidates[i].turn +=
				is_same_object(p->set->items[i]->object.name, p->set->items[k]->object.name);
	if (p->set->count)
		qsort_r(p->order, p->set->count, sizeof *p->order, compare_candidates, p);
}

/* The next step of a candidate.  Returns how late it should come, or UINT32_MAX if there is none.
 * A program that cannot be led, as the last replays have shown, is not led first. */
static unsigned next_step(const struct pool *p, const struct candidate *c, enum check_step *step)
{
	bool may_meet = !c->met && c->ways[0]->kind == FINDING_RACE;

	*step = CHECK_MEET;
	if (!c->waits || c->busy)
		return UINT32_MAX;
	if (may_meet && !c->next_way && p->failures >= FAILURES)
		return 0;
	if (may_meet && c->next_way == c->way_count)
		return 2;
	*step = CHECK_TRY;
	if (c->next_way < c->way_count)
		return c->next_way || c->met ? 1 : 0;
	*step = CHECK_AGAIN;
	return c->astray < WAYS && c->rounds < ROUNDS ? 3 + c->rounds : UINT32_MAX;
}

static bool is_exhausted(const struct pool *p, const struct candidate *c)
{
	enum check_step step;

	return !c->busy && next_step(p, c, &step) == UINT32_MAX;
}

/* Whether the detector is to be asked: after every way that was tried. */
static bool is_observable(const struct candidate *c)
{
	for (size_t i = 0; i < c->next_way; i++)
		if (!c->observable[i])
			return false;
	return c->waits && c->next_way;
}

/* ---- starting ---- */

static int start(struct pool *p, struct job *job, struct finding **findings, size_t count, unsigned runs)
{
	struct check_task task = {.r = p->r,
				  .step = job->step,
				  .findings = findings,
				  .count = count,
				  .runs = runs,
				  .known = p->set,
				  .mask = p->mask};
	int err;

	job->directory = rd_xasprintf("%s/%zu", p->r->directory, p->serial++);
	task.directory = job->directory;
	err = rd_mkdirs(job->directory);
	if (err)
		return err;
	job->start_ns = rd_now_ns();
	job->pid = fork();
	if (job->pid < 0) {
		job->pid = 0;
		return rd_fail_errno("check: cannot start a process");
	}
	if (job->pid == 0)
		check_work(&task);
	setpgid(job->pid, job->pid);
	p->running++;
	p->r->replays++;
	return RD_OK;
}

static int start_step(struct pool *p, struct job *job, size_t item, enum check_step step)
{
	struct candidate *c = &p->candidates[item];
	struct finding way, *f = &way;

	*job = (struct job){.step = step, .item = item};
	job->way = step == CHECK_TRY ? c->next_way++ : step == CHECK_AGAIN ? c->astray : 0;
	c->met |= step == CHECK_MEET;
	c->rounds += step == CHECK_AGAIN;
	if (step == CHECK_AGAIN)
		c->astray = WAYS;
	way = *c->ways[job->way];
	memcpy(way.id, p->set->items[item]->id, sizeof way.id);
	c->busy = true;
	p->r->replayed += c->runs == 0;
	return start(p, job, &f, 1, c->runs++);
}

/* Everything that only the detector can decide, in one run. */
static int start_observation(struct pool *p, struct job *job)
{
	struct finding **list = rd_xcalloc(p->set->count + 1, sizeof *list);
	int err = RD_OK;

	*job = (struct job){.step = CHECK_OBSERVE};
	job->items = rd_xcalloc(p->set->count + 1, sizeof *job->items);
	for (size_t i = 0; i < p->set->count; i++) {
		if (!is_observable(&p->candidates[i]))
			continue;
		list[job->count] = p->set->items[i];
		job->items[job->count++] = i;
	}
	p->observations++;
	if (job->count)
		err = start(p, job, list, job->count, 0);
	if (!job->pid) {
		free(job->items);
		*job = (struct job){0};
	}
	free(list);
	return err;
}

static size_t find_next(const struct pool *p, enum check_step *step)
{
	size_t best = SIZE_MAX;
	unsigned least = UINT32_MAX;

	for (size_t i = 0; i < p->set->count && least && !p->late; i++) {
		enum check_step its;
		unsigned later = next_step(p, &p->candidates[p->order[i]], &its);

		if (later >= least)
			continue;
		least = later;
		best = p->order[i];
		*step = its;
	}
	return best;
}

static int fill_jobs(struct pool *p)
{
	int err = RD_OK;

	for (size_t i = 0; i < p->r->jobs && !err; i++) {
		enum check_step step;
		size_t item;

		if (p->jobs[i].pid)
			continue;
		item = find_next(p, &step);
		if (item != SIZE_MAX)
			err = start_step(p, &p->jobs[i], item, step);
		else if (!p->running && p->observations < OBSERVATIONS)
			err = start_observation(p, &p->jobs[i]);
	}
	return err;
}

/* ---- results ---- */

static bool stat_of(const struct finding_set *set, const char *name)
{
	for (size_t i = 0; i < set->stat_count; i++)
		if (strcmp(set->stats[i].name, name) == 0)
			return strtod(set->stats[i].json, NULL) != 0;
	return false;
}

/* Another way to a finding that waits, or a new finding. */
static void take_other(struct pool *p, struct finding *f)
{
	size_t item = finding_position(p->set, f->fingerprint);

	if (item != SIZE_MAX) {
		f->sound |= p->set->items[item]->sound;
		if (p->candidates[item].waits)
			add_way(&p->candidates[item], f);
		return;
	}
	if (p->r->added >= p->r->extra)
		return;
	p->r->added++;
	finding_note(p->set, f, "It was predicted from a replay of another finding.");
	finding_set_put(p->set, f);
	add_candidate(p, p->set->count - 1);
	p->progress.total++;
}

static void settle(struct pool *p, size_t item, struct finding *f)
{
	struct finding *before = p->set->items[item];

	memcpy(f->id, before->id, sizeof f->id);
	f->count = before->count;
	f->sound |= before->sound;
	p->set->items[item] = f;
	p->candidates[item].waits = false;
	p->r->confirmed++;
}

static void take_step(struct pool *p, const struct job *job, struct finding_set *set)
{
	struct candidate *c = &p->candidates[job->item];
	struct finding *f = set->items[0], *item = p->set->items[job->item];

	if (job->step == CHECK_TRY && job->way == 0)
		p->failures = f->status == FINDING_CONFIRMED ? 0 : p->failures + 1;
	if (f->status == FINDING_CONFIRMED) {
		settle(p, job->item, f);
		return;
	}
	if (job->step == CHECK_MEET) { /* that nobody came by says nothing */
		if (!c->next_way)
			item->reason =
				"no two threads came to these places at once in a run without an order";
		return;
	}
	c->observable[job->way] = stat_of(set, "observable");
	if (stat_of(set, "astray"))
		c->astray = job->way;
	if (!c->unordered) {
		c->verdict = f->status;
		item->reason = f->reason;
	}
	c->unordered |= stat_of(set, "unordered");
	for (size_t i = 1; i < set->count; i++)
		take_other(p, set->items[i]);
}

static void take_observation(struct pool *p, const struct job *job, struct finding_set *set)
{
	size_t confirmed = p->r->confirmed;

	for (size_t i = 0; i < job->count && i < set->count; i++)
		if (set->items[i]->status == FINDING_CONFIRMED)
			settle(p, job->items[i], set->items[i]);
	if (p->r->confirmed == confirmed)
		p->observations = OBSERVATIONS; /* what did not come once will not */
}

static char *place_of(const struct finding *f, size_t side)
{
	const struct finding_stack none = {0};
	const struct finding_stack *stack = side < f->access_count  ? &f->accesses[side].stack
					    : side < f->cycle_count ? &f->cycle[side].stack
								    : &none;
	const struct finding_frame *top = finding_top(stack);

	return rd_xasprintf("%s:%" PRIu32, top->file ? rd_base_name(top->file) : RD_UNKNOWN, top->line);
}

/* For --verbose. */
static void tell(const struct pool *p, const struct job *job)
{
	const struct finding *f = p->set->items[job->item];
	bool confirmed = f->status == FINDING_CONFIRMED;
	char *first = place_of(f, 0), *second = place_of(f, 1);

	if (job->step == CHECK_OBSERVE)
		rd_info("the detector was asked about %zu; %" PRIu64 " are confirmed now (%.1f s)",
			job->count, p->r->confirmed, seconds_since(job->start_ns));
	else
		rd_info("%s %s / %s: %s (%.1f s%s)", f->id, first, second,
			confirmed   ? "confirmed"
			: f->reason ? f->reason
				    : "not confirmed",
			seconds_since(job->start_ns),
			job->step == CHECK_AGAIN ? ", predicted from again" : "");
	free(first);
	free(second);
}

static void take_failure(struct pool *p, const struct job *job, int status)
{
	if (job->step == CHECK_OBSERVE)
		return;
	p->set->items[job->item]->reason =
		WIFSIGNALED(status)
			? finding_textf(p->set, "its replay was ended by signal %d", WTERMSIG(status))
			: "its replay left no result";
	p->candidates[job->item].verdict = FINDING_UNCONFIRMED;
}

/* What a step has left. */
static void take_result(struct pool *p, const struct job *job, int status)
{
	char *path = rd_xasprintf("%s/result.json", job->directory);
	struct finding_set *set = NULL;

	if (job->step != CHECK_OBSERVE)
		p->candidates[job->item].busy = false;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0 && finding_read(&set, path) == RD_OK &&
	    set->count) {
		RD_GROW(p->r->sets, p->r->set_capacity, p->r->set_count + 1);
		p->r->sets[p->r->set_count++] = set;
		if (job->step == CHECK_OBSERVE)
			take_observation(p, job, set);
		else
			take_step(p, job, set);
	} else {
		finding_set_free(set);
		take_failure(p, job, status);
	}
	tell(p, job);
	free(path);
}

/* ---- the pool ---- */

static void end_job(struct pool *p, struct job *job)
{
	kill(-job->pid, SIGKILL); /* what the program left behind */
	rd_remove_tree(job->directory);
	free(job->directory);
	free(job->items);
	*job = (struct job){0};
	p->running--;
}

static void reap(struct pool *p)
{
	int status;

	for (size_t i = 0; i < p->r->jobs; i++) {
		if (!p->jobs[i].pid || waitpid(p->jobs[i].pid, &status, WNOHANG) != p->jobs[i].pid)
			continue;
		take_result(p, &p->jobs[i], status);
		end_job(p, &p->jobs[i]);
	}
}

/* A candidate whose step is ended here stays busy: it has not been tried to the end. */
static void stop_all(struct pool *p)
{
	for (size_t i = 0; i < p->r->jobs; i++) {
		if (!p->jobs[i].pid)
			continue;
		kill(-p->jobs[i].pid, SIGKILL);
		while (waitpid(p->jobs[i].pid, NULL, 0) < 0 && errno == EINTR)
			;
		end_job(p, &p->jobs[i]);
	}
}

static void show(struct pool *p)
{
	double left = (double)p->r->time - seconds_since(p->start_ns);
	char *detail;
	size_t done = 0;

	for (size_t i = 0; i < p->set->count; i++)
		done += wants_replay(p->set->items[i]) && is_exhausted(p, &p->candidates[i]);
	detail = rd_xasprintf("confirmed %" PRIu64 ", at most %.0f s more", p->r->confirmed,
			      left > 0 ? left : 0);
	rd_progress_update(&p->progress, p->r->confirmed + done, detail);
	free(detail);
}

/* What the time did not suffice for is left; the detector is asked all the same, once. */
static void look_at_clock(struct pool *p)
{
	if (p->late || !p->r->time || seconds_since(p->start_ns) < (double)p->r->time)
		return;
	for (size_t i = 0; i < p->r->jobs; i++)
		if (p->jobs[i].pid && p->jobs[i].step == CHECK_OBSERVE)
			return;
	p->late = true;
	stop_all(p);
	p->observations = OBSERVATIONS - 1;
}

/* Until all have a verdict, the time is up, or a signal says that it is enough. */
static int run_pool(struct pool *p)
{
	struct timespec step = {0, STEP_MS * 1000000L};
	sigset_t awaited;
	int err = RD_OK, got;

	sigemptyset(&awaited);
	sigaddset(&awaited, SIGINT);
	sigaddset(&awaited, SIGTERM);
	sigaddset(&awaited, SIGHUP);
	sigaddset(&awaited, SIGCHLD);
	sigprocmask(SIG_BLOCK, &awaited, &p->mask);
	while (!err && !p->r->interrupted) {
		err = fill_jobs(p);
		if (err || !p->running)
			break;
		got = sigtimedwait(&awaited, NULL, &step);
		p->r->interrupted = got > 0 && got != SIGCHLD;
		reap(p);
		look_at_clock(p);
		show(p);
	}
	stop_all(p);
	sigprocmask(SIG_SETMASK, &p->mask, NULL);
	return err;
}

/* A verdict is for what was tried to the end. */
static void conclude(struct pool *p)
{
	const char *why = p->r->interrupted ? "the check was interrupted" : "the time was up";

	for (size_t i = 0; i < p->set->count; i++) {
		struct candidate *c = &p->candidates[i];
		struct finding *f = p->set->items[i];

		if (!c->waits)
			continue;
		if (is_exhausted(p, c)) {
			f->status = c->verdict;
			continue;
		}
		if (c->runs > (unsigned)c->busy) {
			p->r->unfinished++;
			f->reason = finding_textf(p->set, "%s; more was not tried: %s", f->reason, why);
		} else {
			p->r->untried++;
			f->reason = finding_textf(p->set, "it was not replayed to the end: %s", why);
		}
	}
}

static size_t count_waiting(const struct pool *p)
{
	size_t n = 0;

	for (size_t i = 0; i < p->set->count; i++)
		n += p->candidates[i].waits;
	return n;
}

int check_replay(struct check_replays *r, struct finding_set *set)
{
	struct pool p = {.r = r, .set = set, .start_ns = rd_now_ns()};
	int err;

	for (size_t i = 0; i < set->count; i++)
		add_candidate(&p, i);
	put_in_order(&p);
	p.jobs = rd_xcalloc(r->jobs, sizeof *p.jobs);
	signal(SIGCHLD, SIG_DFL);
	rd_progress_start(&p.progress, "replaying", count_waiting(&p));
	if (r->quiet)
		rd_progress_end(&p.progress);
	err = run_pool(&p);
	rd_progress_end(&p.progress);
	conclude(&p);
	free(p.jobs);
	free(p.order);
	free(p.candidates);
	return err;
}

void check_replays_release(struct check_replays *r)
{
	for (size_t i = 0; i < r->set_count; i++)
		finding_set_free(r->sets[i]);
	free(r->sets);
	free(r->directory);
}
