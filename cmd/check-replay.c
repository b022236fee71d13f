// SPDX-License-Identifier: Apache-2.0
/*
 * The replays of `raddle check`.
 *
 * In: findings without a verdict.  Out: the same with one, and what else diverged runs showed.
 * Each finding is tried by a process of its own, in a process group and a scratch directory
 * of its own, and comes back as a finding document; so a replay that dies takes nothing with
 * it, and all can be ended at once.
 */
#include "cmd/check.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "base/map.h"
#include "base/progress.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define STEP_MS 100
#define OTHER_WAYS 2 /* predictions at the same places that are tried when the best one fails */

static const char interruption[] = "it was not replayed to the end: the check was interrupted";

struct job {
	size_t item; /* of the set */
	pid_t pid;   /* 0: free */
	char *directory;
};

struct pool {
	struct check_replays *r;
	struct finding_set *set;
	struct job *jobs;
	size_t running, next, serial, confirmed;
	struct rd_names seen; /* fingerprints */
	struct rd_progress progress;
};

/* ---- one replay, in its own process ---- */

struct worker {
	struct check_replays *r;
	struct rd_names *seen;
	const struct finding *given;
	struct finding_set *set; /* the finding, and others that diverged runs showed */
	struct cmd_prediction prediction;
	struct check_companion companion;
	int streams[3];
	bool observable; /* in all replays */
	char *message;	 /* the first error */
};

static void keep_message(void *context, enum rd_level level, const char *message)
{
	struct worker *w = context;

	if (level == RD_LOG_ERROR && !w->message)
		w->message = rd_xstrdup(message);
}

/* Every run starts with the same input and empty output. */
static void begin_run(void *context)
{
	struct worker *w = context;

	lseek(w->streams[0], w->r->input->offset, SEEK_SET);
	for (int i = 1; i < 3; i++)
		if (ftruncate(w->streams[i], 0))
			rd_debug("check: the output of a replay cannot be cut");
}

static void started_run(void *context, pid_t pid)
{
	struct worker *w = context;

	check_companion_start(&w->companion, pid, w->streams[1]);
}

static void ended_run(void *context)
{
	struct worker *w = context;

	check_companion_stop(&w->companion);
}

static struct finding *find_same(const struct finding_set *set, const struct finding *f)
{
	for (size_t i = 0; i < set->count; i++)
		if (strcmp(set->items[i]->fingerprint, f->fingerprint) == 0)
			return set->items[i];
	for (size_t i = 0; i < set->count; i++)
		if (strcmp(set->items[i]->id, f->id) == 0)
			return set->items[i];
	return NULL;
}

/* Predicts from a diverged run.  What it shows lives as long as this process. */
static bool predict_again(void *context, struct finding_set *set, struct finding *f, const char *trace)
{
	struct worker *w = context;
	struct finding_set *again = finding_set_new();
	struct finding *same;

	if (cmd_prediction_run(&w->prediction, trace, again))
		return false;
	finding_set_finish(again);
	same = find_same(again, f);
	for (size_t i = 0; i < again->count; i++) {
		struct finding *other = again->items[i];
		size_t before = w->seen->count;
		rd_names_put(w->seen, other->fingerprint, FINDING_ID_SIZE - 1);
		if (other != same && w->seen->count > before && other->schedule)
			finding_set_put(set, other);
	}
	if (!same || !same->schedule)
		return false;
	same->count = f->count;
	same->sound |= f->sound;
	memcpy(same->id, f->id, sizeof f->id);
	memcpy(same->fingerprint, f->fingerprint, sizeof f->fingerprint);
	*f = *same;
	return true;
}

static int open_output(const char *directory, const char *name)
{
	char *path = rd_xasprintf("%s/%s", directory, name);
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666);

	if (fd < 0)
		rd_fail_errno("check: %s", path);
	free(path);
	return fd;
}

static int open_streams(struct worker *w, const char *directory)
{
	w->streams[0] = check_input_again(w->r->input);
	w->streams[1] = open_output(directory, "stdout");
	w->streams[2] = open_output(directory, "stderr");
	return w->streams[0] < 0 || w->streams[1] < 0 || w->streams[2] < 0 ? RD_ESYSTEM : RD_OK;
}

static struct replay_policy policy_of(struct worker *w, const char *directory)
{
	struct check_replays *r = w->r;
	struct replay_policy policy = {.directory = directory, .again = predict_again, .context = w};
	struct replay_request *q = &policy.request;

	q->program = r->program;
	q->streams = w->streams;
	q->recorded_ms = r->recorded_ms;
	q->recorded_signal = r->recorded_signal;
	q->limit_ms = r->timeout * 1000;
	q->begin = begin_run;
	q->started = started_run;
	q->ended = ended_run;
	q->context = w;
	return policy;
}

static int try_one(struct worker *w, struct finding *f, const char *directory)
{
	struct replay_policy policy = policy_of(w, directory);
	struct replay_result result;
	int err = replay_finding(&policy, w->set, f, &result);

	if (err)
		return err;
	w->observable &= replay_is_observable(f, &result);
	replay_result_release(&result);
	return 0;
}

static int observe(struct worker *w, struct finding *f, const char *directory)
{
	struct replay_policy policy = policy_of(w, directory);

	return replay_observe(&policy, w->set, f);
}

/* Other predictions at the same places lead there on other ways. */
static int try_finding(struct worker *w, struct finding *f, const char *directory)
{
	size_t tried = 0;
	int err = open_streams(w, directory);

	if (!err)
		err = try_one(w, f, directory);
	for (size_t i = 0; i < w->r->all_count && tried < OTHER_WAYS && !err; i++) {
		struct finding other = *w->r->all[i];

		if (f->status == FINDING_CONFIRMED)
			break;
		if (w->r->all[i] == w->given || !other.schedule ||
		    strcmp(other.fingerprint, w->given->fingerprint) != 0)
			continue;
		tried++;
		err = try_one(w, &other, directory);
		if (err || other.status != FINDING_CONFIRMED)
			continue;
		other.count = f->count;
		other.sound |= f->sound;
		memcpy(other.id, f->id, sizeof f->id);
		*f = other;
	}
	return err;
}

static int write_result(const struct finding_set *set, const char *directory)
{
	char *path = rd_xasprintf("%s/result.json", directory);
	FILE *out = fopen(path, "w");
	int err = out ? finding_write(set, out) : RD_ESYSTEM;

	if (out && fclose(out) != 0)
		err = RD_ESYSTEM;
	free(path);
	return err;
}

static _Noreturn void work(struct pool *p, struct finding *f, const char *directory, const sigset_t *mask)
{
	struct worker w = {.r = p->r,
			   .seen = &p->seen,
			   .given = f,
			   .set = finding_set_new(),
			   .observable = true,
			   .prediction = *p->r->prediction,
			   .companion = {.command = p->r->companion}};
	int err;

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sigprocmask(SIG_SETMASK, mask, NULL);
	rd_log_set(keep_message, &w);
	finding_set_put(w.set, f);
	err = try_finding(&w, f, directory);
	if (!err && f->status != FINDING_CONFIRMED && w.observable)
		err = observe(&w, f, directory);
	if (err) {
		f->status = FINDING_UNCONFIRMED;
		f->reason = finding_textf(w.set, "it could not be replayed: %s",
					  w.message ? w.message : "for an unknown reason");
	}
	_exit(write_result(w.set, directory) ? 2 : 0);
}

/* ---- the pool ---- */

static bool wants_replay(const struct finding *f)
{
	return f->status == FINDING_UNCONFIRMED && f->schedule && !f->suppressed;
}

static size_t count_waiting(const struct finding_set *set)
{
	size_t n = 0;

	for (size_t i = 0; i < set->count; i++)
		n += wants_replay(set->items[i]);
	return n;
}

static int start(struct pool *p, struct job *job, const sigset_t *mask)
{
	int err;

	job->item = p->next++;
	job->directory = rd_xasprintf("%s/%zu", p->r->directory, p->serial++);
	err = rd_mkdirs(job->directory);
	if (err)
		return err;
	job->pid = fork();
	if (job->pid < 0) {
		job->pid = 0;
		return rd_fail_errno("check: cannot start a process");
	}
	if (job->pid == 0)
		work(p, p->set->items[job->item], job->directory, mask);
	setpgid(job->pid, job->pid);
	p->running++;
	p->r->replayed++;
	return RD_OK;
}

static int fill_jobs(struct pool *p, const sigset_t *mask)
{
	for (size_t i = 0; i < p->r->jobs; i++) {
		while (p->next < p->set->count && !wants_replay(p->set->items[p->next]))
			p->next++;
		if (p->next == p->set->count)
			break;
		if (p->jobs[i].pid)
			continue;
		int err = start(p, &p->jobs[i], mask);
		if (err)
			return err;
	}
	return RD_OK;
}

static void add_extra(struct pool *p, struct finding *f)
{
	size_t before = p->seen.count;

	rd_names_put(&p->seen, f->fingerprint, FINDING_ID_SIZE - 1);
	if (p->seen.count == before || p->r->added >= p->r->extra)
		return;
	p->r->added++;
	finding_note(p->set, f, "It was predicted from a replay of another finding.");
	finding_set_put(p->set, f);
	p->progress.total++;
}

/* What a replay has left takes the place of what it was given. */
static void take_result(struct pool *p, const struct job *job, int status)
{
	char *path = rd_xasprintf("%s/result.json", job->directory);
	struct finding_set *set = NULL;
	struct finding *f = p->set->items[job->item];

	if (WIFEXITED(status) && WEXITSTATUS(status) == 0 && finding_read(&set, path) == RD_OK &&
	    set->count) {
		RD_GROW(p->r->sets, p->r->set_capacity, p->r->set_count + 1);
		p->r->sets[p->r->set_count++] = set;
		f = p->set->items[job->item] = set->items[0];
		for (size_t i = 1; i < set->count; i++)
			add_extra(p, set->items[i]);
	} else {
		finding_set_free(set);
		f->reason = WIFSIGNALED(status) ? finding_textf(p->set, "its replay was ended by signal %d",
								WTERMSIG(status))
						: "its replay left no result";
	}
	p->confirmed += f->status == FINDING_CONFIRMED;
	free(path);
}

static void end_job(struct pool *p, struct job *job)
{
	kill(-job->pid, SIGKILL); /* what the program left behind */
	rd_remove_tree(job->directory);
	free(job->directory);
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

static void stop_all(struct pool *p)
{
	for (size_t i = 0; i < p->r->jobs; i++) {
		if (!p->jobs[i].pid)
			continue;
		kill(-p->jobs[i].pid, SIGKILL);
		while (waitpid(p->jobs[i].pid, NULL, 0) < 0 && errno == EINTR)
			;
		p->set->items[p->jobs[i].item]->reason = interruption;
		end_job(p, &p->jobs[i]);
	}
}

static void show(struct pool *p)
{
	char *detail = rd_xasprintf("confirmed %zu", p->confirmed);

	rd_progress_update(&p->progress, p->r->replayed - p->running, detail);
	free(detail);
}

/* Until all have a verdict or a signal says that it is enough. */
static int run_pool(struct pool *p)
{
	struct timespec step = {0, STEP_MS * 1000000L};
	sigset_t awaited, mask;
	int err = RD_OK, got;

	sigemptyset(&awaited);
	sigaddset(&awaited, SIGINT);
	sigaddset(&awaited, SIGTERM);
	sigaddset(&awaited, SIGHUP);
	sigaddset(&awaited, SIGCHLD);
	sigprocmask(SIG_BLOCK, &awaited, &mask);
	while (!err && !p->r->interrupted) {
		err = fill_jobs(p, &mask);
		if (err || !p->running)
			break;
		got = sigtimedwait(&awaited, NULL, &step);
		p->r->interrupted = got > 0 && got != SIGCHLD;
		reap(p);
		show(p);
	}
	stop_all(p);
	sigprocmask(SIG_SETMASK, &mask, NULL);
	return err;
}

int check_replay(struct check_replays *r, struct finding_set *set)
{
	struct pool p = {.r = r, .set = set, .seen = RD_NAMES_INIT};
	int err;

	for (size_t i = 0; i < set->count; i++)
		rd_names_put(&p.seen, set->items[i]->fingerprint, FINDING_ID_SIZE - 1);
	p.jobs = rd_xcalloc(r->jobs, sizeof *p.jobs);
	signal(SIGCHLD, SIG_DFL);
	rd_progress_start(&p.progress, "replaying", count_waiting(set));
	if (r->quiet)
		rd_progress_end(&p.progress);
	err = run_pool(&p);
	rd_progress_end(&p.progress);
	for (size_t i = 0; i < set->count && r->interrupted; i++)
		if (wants_replay(set->items[i]) && i >= p.next)
			set->items[i]->reason = interruption;
	free(p.jobs);
	rd_names_release(&p.seen);
	return err;
}

void check_replays_release(struct check_replays *r)
{
	for (size_t i = 0; i < r->set_count; i++)
		finding_set_free(r->sets[i]);
	free(r->sets);
	free(r->directory);
}
