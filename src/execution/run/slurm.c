// SPDX-License-Identifier: Apache-2.0
/*
 * Runs job arrays with sbatch.  Task I of the array runs shard I of the campaign, and then writes
 * its exit status to slurm/I.status, by rename.  Only that file decides whether a shard is done.
 * The cluster is asked only whether a task may still write it.  So this works without accounting,
 * no matter how soon Slurm forgets a job.  If a task vanishes with its node, it is treated as
 * failed.
 *
 * The states of tasks come from squeue.  A job that squeue does not list has ended.  If the
 * controller does not answer, squeue is run again later, because jobs continue without the
 * controller.  The signals that end a campaign are blocked; rd_interrupt_wait() receives them while
 * it sleeps between two polls.  When such a signal arrives, the jobs are cancelled, but what they
 * have logged stays.
 */
#include "run/slurm.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "base/process.h"
#include "run/slurm-reply-int.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wordexp.h>

#define ROUNDS 2 /* how often the array is submitted: once, and once more for failed tasks */
/* The number of polls after which a task that ended without a status counts as failed.  In the
 * meantime its status file may still appear, because new files may appear late in a shared
 * directory. */
#define GRACE 5
/* The number of consecutive failed polls after which Raddle gives up.  It is large enough for a
 * restart of the controller. */
#define PATIENCE 120
#define STOP_TURNS 50 /* the number of polls during which Raddle waits for cancelled jobs */
/* Milliseconds between two polls.  Each pause is a quarter longer than the one before.  Chosen by
 * hand, so that the end of a short job is noticed at once, and a long job does not load the
 * controller. */
#define PAUSE_FIRST_MS 200
#define PAUSE_MAX_MS 5000

struct array {
	const struct run_slurm *request;
	char *folder, *script; /* absolute paths */
	enum run_task *tasks;  /* the state of each shard's task */
	/* For each task, the number of polls since it ended without a status. */
	unsigned *ended;
	char job[RUN_JOB]; /* the job number of the current array; "" if there is none */
	unsigned failures; /* number of consecutive polls without an answer */
	unsigned pause_ms;
	struct rd_interrupt signals;
	int stopped;
};

/* ---- the script ---- */

/* Writes the script of the job array.  Each task runs this script, which does the task's shard and
 * then writes the exit status to a file. */
static int write_script(struct array *a)
{
	struct rd_buf text = RD_BUF_INIT;
	int err;

	rd_buf_adds(&text, "#!/bin/sh\n# One shard of a Raddle command, a task of a job array.\n");
	for (char *const *word = a->request->command; *word; word++) {
		rd_buf_add_shell(&text, *word);
		rd_buf_addc(&text, ' ');
	}
	rd_buf_addf(
		&text,
		"--jobs \"${SLURM_CPUS_PER_TASK:-1}\" --shard \"$SLURM_ARRAY_TASK_ID/%u\"\nstatus=$?\nfile=",
		a->request->shards);
	rd_buf_add_shell(&text, a->folder);
	rd_buf_adds(&text, "/$SLURM_ARRAY_TASK_ID.status\n"
			   "echo $status >\"$file.new\" && mv \"$file.new\" \"$file\"\n"
			   "exit $status\n");
	err = rd_file_write(a->script, text.data, text.length);
	rd_buf_release(&text);
	return err;
}

static int prepare(struct array *a)
{
	char *folder = rd_xasprintf("%s/slurm", a->request->directory);
	char path[PATH_MAX];
	int err = rd_remove_tree(folder);

	if (!err)
		err = rd_mkdirs(folder);
	if (!err && !realpath(folder, path))
		err = rd_fail_errno("slurm: cannot find the directory %s", folder);
	if (!err && strchr(path, '\\'))
		err = rd_fail(RD_EUSAGE,
			      "slurm: %s: sbatch cannot write to a place with a backslash in its name", path);
	if (!err) {
		a->folder = rd_xstrdup(path);
		a->script = rd_xasprintf("%s/job", path);
		err = write_script(a);
	}
	free(folder);
	return err;
}

/* ---- submitting and cancelling ---- */

/* Appends the numbers of the tasks that wait, as "1-3,7,9-10". */
static void add_waiting(struct rd_buf *out, const struct array *a)
{
	for (unsigned i = 0; i < a->request->shards; i++) {
		unsigned last = i;

		if (a->tasks[i] != RUN_TASK_WAITING)
			continue;
		while (last + 1 < a->request->shards && a->tasks[last + 1] == RUN_TASK_WAITING)
			last++;
		rd_buf_addf(out, "%s%u", out->length ? "," : "", i);
		if (last > i)
			rd_buf_addf(out, "-%u", last);
		i = last;
	}
}

static int add_options(struct rd_argv *argv, const char *options)
{
	wordexp_t words;
	int err;

	if (!options)
		return 0;
	err = wordexp(options, &words, WRDE_NOCMD | WRDE_UNDEF);
	if (err)
		return rd_fail(RD_EUSAGE, "slurm: these options cannot be split into words: %s", options);
	rd_argv_add_all(argv, words.we_wordv);
	wordfree(&words);
	return 0;
}

/* Returns the first line of a command's output. */
static const char *one_line(struct rd_buf *output)
{
	output->data[strcspn(output->data, "\n")] = '\0';
	return *output->data ? output->data : "(no output)";
}

static int call_sbatch(struct array *a, struct rd_argv *argv)
{
	struct rd_buf output = RD_BUF_INIT;
	int status = rd_run_capture(argv->items, RD_TEXT_MAX, &output), err = 0;

	if (status < 0)
		err = rd_fail(RD_ETOOL, "slurm: sbatch cannot be run; is this a machine that submits jobs?");
	else if (status || !run_slurm_job(output.data, a->job))
		err = rd_fail(RD_ETOOL, "slurm: sbatch refused the jobs: %s", one_line(&output));
	rd_buf_release(&output);
	return err;
}

/* Adds the file pattern for the output of tasks.  In it, %% stands for a percent sign. */
static void add_output(struct rd_argv *argv, const char *folder)
{
	struct rd_buf pattern = RD_BUF_INIT;

	for (; *folder; folder++)
		rd_buf_addf(&pattern, *folder == '%' ? "%%%%" : "%c", *folder);
	rd_argv_addf(argv, "--output=%s/%%a.out", pattern.data);
	rd_buf_release(&pattern);
}

static int submit(struct array *a)
{
	struct rd_buf tasks = RD_BUF_INIT;
	struct rd_argv argv = RD_ARGV_INIT;
	int err;

	add_waiting(&tasks, a);
	rd_argv_add(&argv, "sbatch");
	rd_argv_add(&argv, "--parsable");
	rd_argv_add(&argv, "--job-name=raddle");
	rd_argv_addf(&argv, "--array=%s", tasks.data);
	add_output(&argv, a->folder);
	rd_argv_add(&argv, "--open-mode=append");
	err = add_options(&argv, a->request->options);
	rd_argv_add(&argv, a->script);
	*a->job = '\0';
	if (!err)
		err = call_sbatch(a, &argv);
	if (!err)
		rd_info("slurm: job %s has tasks %s", a->job, tasks.data);
	rd_argv_release(&argv);
	rd_buf_release(&tasks);
	return err;
}

static void cancel(struct array *a)
{
	char *argv[] = {"scancel", a->job, NULL};
	struct rd_buf output = RD_BUF_INIT;

	if (*a->job && rd_run_capture(argv, RD_TEXT_MAX, &output))
		rd_warn("slurm: job %s could not be cancelled: %s", a->job, one_line(&output));
	rd_buf_release(&output);
}

/* ---- waiting for the tasks ---- */

/* Returns the status that a task wrote, or -1 if there is none yet. */
static int read_status(const struct array *a, unsigned task)
{
	char *path = rd_xasprintf("%s/%u.status", a->folder, task);
	struct rd_buf text = RD_BUF_INIT;
	int status = -1;

	if (rd_file_exists(path) && !rd_file_read(path, &text))
		status = run_slurm_status(text.data);
	rd_buf_release(&text);
	free(path);
	return status;
}

/* Runs squeue.  Returns false if it did not answer.  In `live`, sets tasks that squeue does not
 * list to RUN_TASK_FAILED. */
static bool ask(struct array *a, enum run_task *live)
{
	char *argv[] = {"squeue",	  "--noheader", "--array", "--states=all",
			"--format=%K|%T", "--jobs",	a->job,	   NULL};
	struct rd_buf output = RD_BUF_INIT;
	int status = rd_run_capture(argv, RD_TEXT_MAX, &output);
	bool unknown = strstr(output.data, "Invalid job id") != NULL, answered = status == 0 || unknown;

	for (unsigned i = 0; i < a->request->shards; i++)
		live[i] = RUN_TASK_FAILED;
	if (status == 0)
		run_slurm_states(output.data, live, a->request->shards);
	if (!answered && !a->failures++)
		rd_warn("slurm: squeue does not answer, asking again: %s", one_line(&output));
	if (answered)
		a->failures = 0;
	rd_buf_release(&output);
	return answered;
}

/* Updates one task.  The status file of a task that has ended may take a while to appear, because
 * the directory may be on another machine. */
static void update(struct array *a, unsigned task, enum run_task live)
{
	int status = read_status(a, task);

	if (status >= 0) {
		a->tasks[task] = status == 0 ? RUN_TASK_DONE : RUN_TASK_FAILED;
	} else if (live != RUN_TASK_FAILED) {
		a->tasks[task] = live;
		a->ended[task] = 0;
	} else if (++a->ended[task] >= GRACE) {
		a->tasks[task] = RUN_TASK_FAILED;
	}
}

static unsigned count(const struct array *a, enum run_task state)
{
	unsigned n = 0;

	for (unsigned i = 0; i < a->request->shards; i++)
		n += a->tasks[i] == state;
	return n;
}

/* Sleeps for a time that grows with each call.  A signal ends the campaign. */
static void pause_a_while(struct array *a)
{
	int signal = rd_interrupt_wait(&a->signals, a->pause_ms);

	if (signal)
		a->stopped = signal;
	a->pause_ms += a->pause_ms / 4;
	if (a->pause_ms > PAUSE_MAX_MS)
		a->pause_ms = PAUSE_MAX_MS;
}

static void look(struct array *a, enum run_task *live)
{
	if (!ask(a, live))
		return;
	for (unsigned i = 0; i < a->request->shards; i++)
		if (a->tasks[i] == RUN_TASK_WAITING || a->tasks[i] == RUN_TASK_RUNNING)
			update(a, i, live[i]);
	if (a->request->progress)
		a->request->progress(a->request->context, count(a, RUN_TASK_DONE),
				     count(a, RUN_TASK_RUNNING));
}

static int wait_for_tasks(struct array *a)
{
	enum run_task *live = rd_xcalloc(a->request->shards, sizeof *live);
	int err = 0;

	a->pause_ms = PAUSE_FIRST_MS;
	while (!err && !a->stopped && count(a, RUN_TASK_WAITING) + count(a, RUN_TASK_RUNNING)) {
		look(a, live);
		if (a->failures > PATIENCE)
			err = rd_fail(RD_ETOOL, "slurm: squeue does not answer; job %s may still run",
				      a->job);
		else if (count(a, RUN_TASK_WAITING) + count(a, RUN_TASK_RUNNING))
			pause_a_while(a);
	}
	free(live);
	return err;
}

/* Cancels the array and waits until its processes have ended.  They may still write to their logs,
 * and the next command may resume the campaign. */
static void stop(struct array *a)
{
	enum run_task *live = rd_xcalloc(a->request->shards, sizeof *live);
	bool busy = true;

	cancel(a);
	for (unsigned i = 0; busy && i < STOP_TURNS && ask(a, live); i++) {
		busy = false;
		for (unsigned k = 0; k < a->request->shards; k++)
			busy |= live[k] != RUN_TASK_FAILED;
		if (busy && rd_interrupt_wait(&a->signals, PAUSE_FIRST_MS))
			break;
	}
	free(live);
}

/* ---- failed tasks ---- */

static void again(struct array *a)
{
	for (unsigned i = 0; i < a->request->shards; i++) {
		char *path = rd_xasprintf("%s/%u.status", a->folder, i);

		if (a->tasks[i] == RUN_TASK_FAILED) {
			a->tasks[i] = RUN_TASK_WAITING;
			a->ended[i] = 0;
			unlink(path);
		}
		free(path);
	}
}

static int tell_failure(const struct array *a)
{
	unsigned first = 0;
	int status;

	while (a->tasks[first] != RUN_TASK_FAILED)
		first++;
	status = read_status(a, first);
	if (status < 0)
		return rd_fail(
			RD_ETOOL,
			"slurm: %u of %u shards failed twice; shard %u ended without a status, see %s/%u.out",
			count(a, RUN_TASK_FAILED), a->request->shards, first, a->folder, first);
	return rd_fail(RD_ETOOL,
		       "slurm: %u of %u shards failed twice; shard %u with status %d, see %s/%u.out",
		       count(a, RUN_TASK_FAILED), a->request->shards, first, status, a->folder, first);
}

static int run_rounds(struct array *a)
{
	int err = 0;

	for (unsigned round = 0;
	     round < ROUNDS && !err && !a->stopped && count(a, RUN_TASK_DONE) < a->request->shards; round++) {
		if (round)
			rd_warn("slurm: %u of %u shards failed and are submitted again",
				count(a, RUN_TASK_FAILED), a->request->shards);
		again(a);
		err = submit(a);
		if (!err)
			err = wait_for_tasks(a);
	}
	if (a->stopped)
		stop(a);
	else if (!err && count(a, RUN_TASK_FAILED))
		err = tell_failure(a);
	return err;
}

int run_slurm_run(const struct run_slurm *request, int *stopped)
{
	RD_ASSERT(request->command && request->command[0]);
	struct array a = {.request = request};
	int err;

	if (request->shards < 1 || request->shards > RUN_SLURM_SHARDS_MAX)
		return rd_fail(RD_EUSAGE, "--shards %u: it must be from 1 to %d", request->shards,
			       RUN_SLURM_SHARDS_MAX);
	a.tasks = rd_xcalloc(request->shards, sizeof *a.tasks);
	a.ended = rd_xcalloc(request->shards, sizeof *a.ended);
	rd_interrupt_begin(&a.signals);
	err = prepare(&a);
	if (!err)
		err = run_rounds(&a);
	rd_interrupt_end(&a.signals);
	*stopped = a.stopped;
	RD_FREE(a.tasks, a.ended, a.folder, a.script);
	return err;
}
