// SPDX-License-Identifier: Apache-2.0
/*
 * One step of the replays of `raddle check`, in a process of its own.
 *
 * In: a finding and what is to be done with it: a replay, a run in which any two threads may meet, a replay
 * that is recorded and predicted from again, or a look at many findings with the detector.  Out: a finding
 * document in the directory of the step, DIR/result.json: the finding with what the run means for it, then
 * what else a diverged run showed.  Its statistics say how the pool is to go on.
 */
#include "cmd/check.h"

#include "base/alloc.h"
#include "base/error.h"
#include "finding/schedule.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

struct worker {
	const struct check_task *task;
	struct finding_set *set; /* of the result */
	struct check_companion companion;
	int streams[3];
	char *message; /* the first error */
};

static void keep_message(void *context, enum rd_level level, const char *message)
{
	struct worker *w = context;

	if (level == RD_LOG_ERROR && !w->message)
		w->message = rd_xstrdup(message);
}

/* ---- around each run ---- */

/* Every run starts with the same input and empty output. */
static void begin_run(void *context)
{
	struct worker *w = context;

	check_setup(w->task->r->setup, w->streams[1]);
	lseek(w->streams[0], w->task->r->input->offset, SEEK_SET);
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

static int open_output(const char *directory, const char *name)
{
	char *path = rd_xasprintf("%s/%s", directory, name);
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666);

	if (fd < 0)
		rd_fail_errno("check: %s", path);
	free(path);
	return fd;
}

static int open_streams(struct worker *w)
{
	w->streams[0] = check_input_again(w->task->r->input);
	w->streams[1] = open_output(w->task->directory, "stdout");
	w->streams[2] = open_output(w->task->directory, "stderr");
	return w->streams[0] < 0 || w->streams[1] < 0 || w->streams[2] < 0 ? RD_ESYSTEM : RD_OK;
}

static struct replay_policy policy_of(struct worker *w)
{
	const struct check_replays *r = w->task->r;
	struct replay_policy policy = {0};
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

/* ---- a diverged run ---- */

static struct finding *find_same(const struct finding_set *set, const struct finding *f)
{
	struct finding *same = finding_at(set, f->fingerprint);

	for (size_t i = 0; i < set->count && !same; i++)
		if (strcmp(set->items[i]->id, f->id) == 0)
			same = set->items[i];
	return same;
}

/* Whether the pool has a use for it: a new finding, or another way to one that waits. */
static bool is_wanted(const struct worker *w, const struct finding *f)
{
	const struct finding *known = finding_at(w->task->known, f->fingerprint);

	return f->schedule && (!known || known->status == FINDING_UNCONFIRMED);
}

/* Predicts from the diverged run.  What it shows lives as long as this process. */
static void predict_again(struct worker *w, struct finding *f, const char *trace)
{
	struct finding_set *again = finding_set_new();
	struct finding *same;

	if (predict_batch_again((void *)w->task->r->prediction, trace, again))
		return;
	same = find_same(again, f);
	if (same && same->schedule) {
		memcpy(same->fingerprint, f->fingerprint, sizeof f->fingerprint);
		finding_set_put(w->set, same);
	}
	for (size_t i = 0; i < again->count; i++)
		if (again->items[i] != same && is_wanted(w, again->items[i]))
			finding_set_put(w->set, again->items[i]);
}

/* ---- the steps ---- */

/* The detector looks on, since what it sees keeps a finding from being dropped.  A spin is as long as our
 * patience and the same the next time, so nothing is predicted from it. */
static int try_finding(struct worker *w, struct finding *f)
{
	struct replay_policy policy = policy_of(w);
	struct replay_result result = {0};
	bool again = w->task->step == CHECK_AGAIN;
	char *trace = rd_xasprintf("%s/%s", w->task->directory, f->id);
	int err;

	policy.request.record_into = again ? trace : NULL;
	policy.request.detect = true;
	err = replay_once(&policy, w->set, f, w->task->runs, &result);
	if (!err && again && f->status != FINDING_CONFIRMED && result.outcome != REPLAY_STOPPED &&
	    result.outcome != REPLAY_LIVELOCK)
		predict_again(w, f, trace);
	if (!err) {
		finding_stat(w->set, "astray", replay_went_astray(&result));
		finding_stat(w->set, "unordered", result.unordered);
		finding_stat(w->set, "observable", replay_is_observable(f, &result));
	}
	replay_result_release(&result);
	free(trace);
	return err;
}

/* Programs whose operations are not the same in every run cannot be led; but where two threads
 * stand at their accesses at once, whoever they are, it is proved all the same. */
static void forget_order(struct worker *w, struct finding *f)
{
	const struct schedule *given = f->schedule;
	struct schedule *s = finding_schedule_add(w->set, f);

	s->program = schedule_text(s, given->program);
	s->trace = schedule_text(s, given->trace);
	s->speculative = given->speculative;
	s->anywhere = true;
	for (size_t i = 0; i < given->hold_count; i++) {
		struct schedule_hold *h = schedule_add_hold(s);

		*h = given->holds[i];
		h->after = 0;
		h->occurrence = 1;
	}
}

static int observe(struct worker *w)
{
	struct replay_policy policy = policy_of(w);

	for (size_t i = 0; i < w->task->count; i++)
		finding_set_put(w->set, w->task->findings[i]);
	return replay_observe(&policy, w->set, w->task->findings, w->task->count);
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

_Noreturn void check_work(const struct check_task *task)
{
	struct worker w = {
		.task = task, .set = finding_set_new(), .companion = {.command = task->r->companion}};
	struct finding *f = task->findings[0];
	int err;

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sigprocmask(SIG_SETMASK, &task->mask, NULL);
	rd_log_set(keep_message, &w);
	err = open_streams(&w);
	if (!err && task->step == CHECK_OBSERVE) {
		err = observe(&w);
	} else if (!err) {
		finding_set_put(w.set, f);
		if (task->step == CHECK_MEET)
			forget_order(&w, f);
		err = try_finding(&w, f);
	}
	if (err && task->step != CHECK_OBSERVE) {
		f->status = FINDING_UNCONFIRMED;
		f->reason = finding_textf(w.set, "it could not be replayed: %s",
					  w.message ? w.message : "for an unknown reason");
	}
	_exit(write_result(w.set, task->directory) ? 2 : 0);
}
