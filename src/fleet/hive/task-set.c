// SPDX-License-Identifier: Apache-2.0
/*
 * Makes task sets and caches them.  Each task becomes a signed document, in the form of a response
 * that many connections share.  The serial number and the times of issue and expiry depend only on
 * the epoch and the revision, so a set has the same bytes in every hive.
 */
#include "hive/task-set-int.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/context.h"

#include <inttypes.h>
#include <microhttpd.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	/* How long a site continues without a hive, in seconds.  Set by hand: a day is longer than
	 * an outage. */
	LIFE_S = 86400,
	/* The number of bits of a serial number that contain the revision.  The other bits contain
	 * the epoch. */
	REVISION_BITS = 20,
	/* The task sets of a candidate differ in three respects.  The task is from the current or
	 * an earlier epoch.  Its order is primary or alternate.  And it is of one of KINDS kinds:
	 * observing, looking, or validating at one of the levels. */
	KINDS = 2 + HIVE_LEVELS,
	VARIANTS = 2 * 2 * KINDS,
};

struct entry {
	struct hive_task_answer answer;
	uint64_t epoch;
};

struct hive_task_cache {
	pthread_mutex_t lock;
	struct entry idle[PROTOCOL_MODES]; /* the sets that contain no task */
	struct entry tracks[HIVE_SKETCHES_MAX][PROTOCOL_MODES];
	uint32_t sigmas[HIVE_SKETCHES_MAX]; /* the σ for which the sets of each failure were made */
	struct entry **sets;		    /* VARIANTS sets for each candidate, made when first needed */
	size_t count;
};

struct hive_task_cache *hive_task_cache_new(size_t candidates)
{
	struct hive_task_cache *c = rd_xcalloc(1, sizeof *c);

	c->sets = rd_xcalloc(candidates + 1, sizeof *c->sets);
	c->count = candidates;
	pthread_mutex_init(&c->lock, NULL);
	return c;
}

static void drop(struct entry *e)
{
	if (e->answer.response)
		MHD_destroy_response(e->answer.response);
	e->answer.response = NULL;
}

void hive_task_cache_free(struct hive_task_cache *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < PROTOCOL_MODES; i++) {
		drop(&c->idle[i]);
		for (size_t k = 0; k < HIVE_SKETCHES_MAX; k++)
			drop(&c->tracks[k][i]);
	}
	for (size_t i = 0; i < c->count; i++) {
		for (size_t k = 0; c->sets[i] && k < VARIANTS; k++)
			drop(&c->sets[i][k]);
		free(c->sets[i]);
	}
	pthread_mutex_destroy(&c->lock);
	free(c->sets);
	free(c);
}

static uint64_t serial_of(const struct hive_program *p, const struct hive_time *time)
{
	return (hive_epoch(time) << REVISION_BITS) + (p->revision & ((1u << REVISION_BITS) - 1));
}

static int fill_track(struct protocol_task *to, const struct hive_sketch *s, uint64_t epoch)
{
	const struct sketch_failure *f = &s->plan.failure;

	if (strlen(f->file) >= sizeof to->file)
		return rd_fail(
			RD_ELIMIT,
			"sketch %s: the name of the source file in which the program fails is too long",
			s->plan.id);
	*to = (struct protocol_task){
		.mode = PROTOCOL_OBSERVE, .track = true, .line = f->line, .sigma = s->sigma};
	hive_sketch_task_id(s, epoch, to->id);
	strcpy(to->plan, s->plan.id);
	strcpy(to->file, f->file);
	return 0;
}

static void fill_task(struct protocol_task *to, const struct hive_program *p, const struct hive_task *task)
{
	*to = (struct protocol_task){
		.mode = task->validate ? PROTOCOL_VALIDATE : PROTOCOL_OBSERVE,
		.order = task->order == HIVE_ALTERNATE ? RADDLE_GUARD_ALTERNATE : RADDLE_GUARD_PRIMARY,
		.tau_us = task->look ? 0 : hive_tau_us(task->level),
	};
	hive_task_id(p, task, to->id);
	strcpy(to->candidate, p->candidates[task->candidate].id);
}

static int write_set(struct rd_buf *body, const struct hive_program *p, const struct hive_task_ask *ask)
{
	const struct hive_time *time = &ask->time;
	uint64_t issued = hive_epoch(time) * time->bound;
	struct protocol_task_set set = {
		.serial = serial_of(p, time),
		.issued = issued,
		.expires = issued + time->bound + LIFE_S,
		.poll_s = p->poll_s,
		.state = ask->state,
		.count = ask->sketch || ask->task,
	};
	int err = 0;

	if (ask->sketch)
		err = fill_track(set.tasks, ask->sketch, hive_epoch(time));
	else if (ask->task)
		fill_task(set.tasks, p, ask->task);
	return err ? err : protocol_task_set_write(&set, p->build, body);
}

/* Returns the set that tracks a failure.  When the σ of the failure changes, all its sets are made
 * again. */
static struct entry *track_of(struct hive_task_cache *c, size_t number, const struct hive_task_ask *ask)
{
	RD_ASSERT(number < HIVE_SKETCHES_MAX);
	if (c->sigmas[number] != ask->sketch->sigma)
		for (size_t i = 0; i < PROTOCOL_MODES; i++)
			drop(&c->tracks[number][i]);
	c->sigmas[number] = ask->sketch->sigma;
	return &c->tracks[number][ask->state];
}

/* Returns the cache entry for a request, or NULL if there is no memory. */
static struct entry *entry_of(struct hive_task_cache *c, const struct hive_program *p,
			      const struct hive_task_ask *ask)
{
	const struct hive_task *t = ask->task;

	RD_ASSERT(ask->state < PROTOCOL_MODES);
	if (ask->sketch)
		return track_of(c, (size_t)(ask->sketch - p->sketches), ask);
	if (!t)
		return &c->idle[ask->state];
	RD_ASSERT(t->candidate < c->count && t->level < HIVE_LEVELS);
	if (!c->sets[t->candidate])
		c->sets[t->candidate] = calloc(VARIANTS, sizeof **c->sets);
	if (!c->sets[t->candidate])
		return NULL;
	size_t kind = t->look ? 1 : t->validate ? 2 + t->level : 0;
	size_t side = (size_t)(t->order == HIVE_ALTERNATE), age = t->epoch != hive_epoch(&ask->time);
	return &c->sets[t->candidate][(age * 2 + side) * KINDS + kind];
}

static int fill(struct entry *e, const struct hive_program *p, const struct hive_task_ask *ask)
{
	struct rd_buf body = RD_BUF_INIT;
	char signature[PROTOCOL_SIGNATURE_TEXT], id[PROTOCOL_TASK_ID] = "none";

	int err = write_set(&body, p, ask);
	if (!err)
		err = protocol_sign(ask->signer, body.data, body.length, signature);
	if (!err) {
		e->answer.response =
			MHD_create_response_from_buffer(body.length, body.data, MHD_RESPMEM_MUST_COPY);
		err = e->answer.response ? 0 : rd_fail(RD_ENOMEM, "out of memory");
	}
	rd_buf_release(&body);
	if (err)
		return err;
	if (ask->sketch)
		hive_sketch_task_id(ask->sketch, hive_epoch(&ask->time), id);
	else if (ask->task)
		hive_task_id(p, ask->task, id);
	snprintf(e->answer.tag, sizeof e->answer.tag, "\"%" PRIx64 "-%s-%u\"", serial_of(p, &ask->time), id,
		 ask->state);
	MHD_add_response_header(e->answer.response, "Content-Type", "application/json");
	MHD_add_response_header(e->answer.response, "Cache-Control", "no-cache");
	MHD_add_response_header(e->answer.response, "Raddle-Signature", signature);
	MHD_add_response_header(e->answer.response, "ETag", e->answer.tag);
	e->epoch = hive_epoch(&ask->time);
	return 0;
}

/* Releases the lock when a request runs out of memory. */
static void unlock(void *lock)
{
	pthread_mutex_unlock(lock);
}

int hive_task_cache_use(const struct hive_program *p, const struct hive_task_ask *ask, hive_task_use_fn *use,
			void *context)
{
	struct hive_task_cache *c = p->cache;
	struct rd_cleanup cleanup;
	struct entry *e;
	int err = 0;

	RD_ASSERT(c && ask->time.bound > 0);
	pthread_mutex_lock(&c->lock);
	rd_cleanup_add(&cleanup, unlock, &c->lock);
	e = entry_of(c, p, ask);
	if (e && e->epoch != hive_epoch(&ask->time))
		drop(e);
	if (!e)
		err = rd_fail(RD_ENOMEM, "out of memory");
	else if (!e->answer.response)
		err = fill(e, p, ask);
	if (!err)
		err = use(context, &e->answer);
	rd_cleanup_remove(&cleanup);
	pthread_mutex_unlock(&c->lock);
	return err;
}
