// SPDX-License-Identifier: Apache-2.0
/*
 * The status of a hive as JSON.  The programs are locked while the text is being made in memory.
 * During that time nothing may be allocated through base/alloc.h, because a failed allocation
 * would end the request without unlocking.
 */
#include "hive/status-int.h"

#include "base/alloc.h"
#include "base/context.h"
#include "base/error.h"
#include "base/json.h"
#include "protocol/context.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void write_counts(struct rd_json *j, const char *name, const uint64_t *counts,
			 const char *const *names, size_t count)
{
	rd_json_object(j, name);
	for (size_t i = 0; i < count; i++)
		if (names[i])
			rd_json_unsigned(j, names[i], counts[i]);
	rd_json_end(j);
}

/* Writes the consequences that occurred. */
static void write_consequences(struct rd_json *j, const char *name, const uint64_t *counts)
{
	rd_json_object(j, name);
	for (size_t i = 1; i < HIVE_CONSEQUENCES; i++)
		if (counts[i])
			rd_json_unsigned(j, hive_consequence_names[i], counts[i]);
	rd_json_end(j);
}

static enum hive_verdict verdict_of(const struct hive_candidate *c, enum hive_reason *reason)
{
	enum hive_verdict v = hive_tally_verdict(&c->tally, reason);

	if (c->unguarded && v == HIVE_UNKNOWN)
		*reason = HIVE_UNGUARDED;
	return v;
}

/* Writes the JSON text of an array, which was checked when it was received. */
static void write_text(struct rd_json *j, const char *name, const char *text)
{
	json_t *value = json_loads(text, 0, NULL);
	size_t i;
	json_t *element;

	rd_json_array(j, name);
	json_array_foreach(value, i, element)
	{
		const char *key;
		json_t *member;

		if (json_is_string(element)) {
			rd_json_string(j, NULL, json_string_value(element));
			continue;
		}
		rd_json_object(j, NULL);
		json_object_foreach(element, key, member)
		{
			if (json_is_string(member))
				rd_json_string(j, key, json_string_value(member));
			else if (json_is_integer(member))
				rd_json_number(j, key, json_integer_value(member));
			else
				rd_json_bool(j, key, json_is_true(member));
		}
		rd_json_end(j);
	}
	rd_json_end(j);
	json_decref(value);
}

static void write_changes(struct rd_json *j, const struct hive_tally *t)
{
	rd_json_array(j, "history");
	for (unsigned i = 0; i < t->change_count; i++) {
		const struct hive_change *c = &t->changes[i];

		rd_json_object(j, NULL);
		RD_JSON(j, RD_JN("at", c->at / 1000), RD_JS("verdict", hive_verdict_names[c->verdict]),
			RD_JS("reason", hive_reason_names[c->reason]));
		rd_json_end(j);
	}
	rd_json_end(j);
}

/* Writes the members of a race into the open object. */
static void write_race(struct rd_json *j, const struct hive_program *p, const struct hive_candidate *c)
{
	const struct hive_tally *t = &c->tally;
	enum hive_reason reason;
	enum hive_verdict verdict = verdict_of(c, &reason);

	RD_JSON(j, RD_JS("id", c->id), RD_JS("program", p->name), RD_JS("build", p->build),
		RD_JS("object", c->object), RD_JU("rank", c->rank),
		RD_JS("verdict", hive_verdict_names[verdict]), RD_JS("reason", hive_reason_names[reason]),
		RD_JS("class", c->class_name), RD_JS("class_consequence", c->class_consequence),
		RD_JS("unguarded", c->unguarded), RD_JB("stopped", hive_canary_stops(&c->canary)));
	write_text(j, "accesses", c->accesses);
	write_counts(j, "reports", t->reports, hive_result_names, HIVE_RESULTS);
	write_counts(j, "orders", t->races, hive_order_names, HIVE_ORDERS);
	write_counts(j, "proofs", t->proofs, hive_proof_names, HIVE_PROOFS);
	write_consequences(j, "consequences", t->consequences);
	write_consequences(j, "suspected", t->suspected);
	protocol_context_write(j, t->context);
	if (verdict == HIVE_LIKELY_FALSE)
		rd_json_double(j, "bound", hive_tally_bound(t));
	else
		rd_json_null(j, "bound");
	RD_JSON(j, RD_JN("first_report", t->first_at / 1000), RD_JN("last_report", t->last_at / 1000));
	write_changes(j, t);
}

static void count_verdicts(const struct hive_program *p, uint64_t counts[HIVE_VERDICTS])
{
	enum hive_reason reason;

	memset(counts, 0, HIVE_VERDICTS * sizeof *counts);
	for (size_t i = 0; i < p->count; i++)
		counts[hive_tally_verdict(&p->candidates[i].tally, &reason)]++;
}

static void write_program(struct rd_json *j, const struct hive_program *p)
{
	uint64_t counts[HIVE_VERDICTS];

	count_verdicts(p, counts);
	rd_json_object(j, NULL);
	RD_JSON(j, RD_JS("name", p->name), RD_JS("build", p->build),
		RD_JS("state", protocol_mode_names[p->state]), RD_JU("rollout", p->rollout),
		RD_JU("poll_s", p->poll_s), RD_JN("added", p->added / 1000), RD_JU("candidates", p->count),
		RD_JU("sites", p->site_count), RD_JB("stopped", hive_canary_stops(&p->canary)));
	write_counts(j, "verdicts", counts, hive_verdict_names, HIVE_VERDICTS);
	write_text(j, "unsound", p->unsound);
	rd_json_end(j);
}

static void write_sketch(struct rd_json *j, const struct hive_program *p, const struct hive_sketch *s)
{
	const struct sketch_failure *f = &s->plan.failure;

	rd_json_object(j, NULL);
	RD_JSON(j, RD_JS("id", s->plan.id), RD_JS("program", p->name), RD_JS("build", p->build),
		RD_JS("kind", sketch_outcome_name(f->kind)), RD_JS("what", f->what), RD_JS("file", f->file),
		RD_JU("line", f->line), RD_JS("function", f->function),
		RD_JS("state", hive_sketch_state_names[s->state]), RD_JU("sigma", s->sigma),
		RD_JU("statements", s->plan.sigma), RD_JU("failing", s->failing),
		RD_JU("passing", s->passing), RD_JN("added", s->added / 1000));
	rd_json_end(j);
}

static void write_sketches(struct rd_json *j, const struct hive *h, const char *build)
{
	rd_json_array(j, "sketches");
	for (size_t i = 0; i < h->count; i++)
		for (size_t k = 0; k < h->programs[i]->sketch_count; k++)
			if (!build || !strcmp(h->programs[i]->build, build))
				write_sketch(j, h->programs[i], &h->programs[i]->sketches[k]);
	rd_json_end(j);
}

bool hive_status_write(struct hive *h, const char *build, bool with_races, FILE *out)
{
	struct rd_json j;
	bool found = !build;

	rd_json_begin(&j, out);
	rd_json_object(&j, NULL);
	rd_json_unsigned(&j, "version", 1);
	rd_json_array(&j, "programs");
	pthread_rwlock_rdlock(&h->lock);
	for (size_t i = 0; i < h->count; i++)
		if (!build || !strcmp(h->programs[i]->build, build)) {
			write_program(&j, h->programs[i]);
			found = true;
		}
	rd_json_end(&j);
	if (with_races)
		rd_json_array(&j, "races");
	for (size_t i = 0; i < h->count && with_races; i++) {
		const struct hive_program *p = h->programs[i];

		for (size_t k = 0; k < p->count && (!build || !strcmp(p->build, build)); k++) {
			rd_json_object(&j, NULL);
			write_race(&j, p, &p->candidates[k]);
			rd_json_end(&j);
		}
	}
	if (with_races) {
		rd_json_end(&j);
		write_sketches(&j, h, build);
	}
	pthread_rwlock_unlock(&h->lock);
	rd_json_end(&j);
	return found;
}

enum {
	/* maximum number of sites shown for a race; set by hand, since people do not read more */
	SITES_SHOWN = 50,
	EVIDENCE_SHOWN = 50, /* number of a race's latest reports that are shown; set by hand */
	/* Maximum number of rows read for a race; set by hand to bound how long the connection is
	 * in use. */
	ROWS_READ_MAX = 1000000,
};

/* Data about one race that its tally lacks and that is read from the rows: the sites, and the
 * latest reports. */
struct race_rows {
	char sites[SITES_SHOWN][HIVE_SITE];
	struct {
		uint64_t reports, races;
		int64_t last_at;
	} of[SITES_SHOWN];
	size_t sites_shown;
	bool more_sites;
	/* A ring buffer of the latest reports.  Reports that contain only a context are left
	 * out. */
	struct hive_row evidence[EVIDENCE_SHOWN];
	size_t evidence_count;
};

static void count_site(struct race_rows *t, const struct hive_row *row)
{
	size_t i = 0;

	while (i < t->sites_shown && strcmp(t->sites[i], row->site))
		i++;
	if (i == SITES_SHOWN) {
		t->more_sites = true;
		return;
	}
	if (i == t->sites_shown)
		strcpy(t->sites[t->sites_shown++], row->site);
	RD_ASSERT(i < t->sites_shown && t->sites_shown <= SITES_SHOWN);
	t->of[i].reports += row->report.weight;
	t->of[i].races += row->report.result == HIVE_RACE;
	t->of[i].last_at = row->report.received;
}

static void take_row(void *context, const struct hive_row *row)
{
	struct race_rows *t = context;

	count_site(t, row);
	if (row->report.result != HIVE_CONTEXT)
		t->evidence[t->evidence_count++ % EVIDENCE_SHOWN] = *row;
}

static void write_evidence(struct rd_json *j, const struct race_rows *t)
{
	size_t first = t->evidence_count > EVIDENCE_SHOWN ? t->evidence_count - EVIDENCE_SHOWN : 0;

	rd_json_array(j, "evidence");
	for (size_t i = t->evidence_count; i > first; i--) {
		const struct hive_row *row = &t->evidence[(i - 1) % EVIDENCE_SHOWN];
		const struct hive_report *r = &row->report;

		rd_json_object(j, NULL);
		RD_JSON(j, RD_JN("at", r->received / 1000), RD_JS("site", row->site), RD_JS("run", r->run),
			RD_JS("result", hive_result_names[r->result]),
			RD_JS("order", hive_order_names[r->order]),
			RD_JS("proof", hive_proof_names[r->proof]),
			RD_JS("consequence", hive_consequence_names[r->consequence]),
			RD_JU("tau_us", r->tau_us), RD_JU("signal", r->signal));
		rd_json_end(j);
	}
	rd_json_end(j);
}

static void write_sites(struct rd_json *j, const struct race_rows *t)
{
	RD_JSON_OBJECTS (j, "sites", i, t->sites_shown) {
		RD_JSON(j, RD_JS("site", t->sites[i]), RD_JU("reports", t->of[i].reports),
			RD_JU("races", t->of[i].races), RD_JN("last_report", t->of[i].last_at / 1000));
	}
	rd_json_bool(j, "more_sites", t->more_sites);
}

static void unlock(void *lock)
{
	pthread_mutex_unlock(lock);
}

/* Reads the rows of a race through the connection for readers. */
static int look(struct hive *h, uint64_t program, const char *candidate, struct race_rows *t)
{
	struct hive_range range = {.program = program, .candidate = candidate, .limit = ROWS_READ_MAX};
	struct rd_cleanup cleanup;
	int err;

	pthread_mutex_lock(&h->look);
	rd_cleanup_add(&cleanup, unlock, &h->look);
	err = hive_store_each(h->reader, &range, take_row, t);
	rd_cleanup_remove(&cleanup);
	pthread_mutex_unlock(&h->look);
	return err;
}

int hive_race_write(struct hive *h, const char *build, const char *candidate, FILE *out)
{
	struct race_rows *t = rd_xcalloc(1, sizeof *t);
	const struct hive_program *p;
	struct rd_json j;
	int64_t i = -1;
	uint64_t number = 0;
	int err = 0;

	rd_json_begin(&j, out);
	rd_json_object(&j, NULL);
	rd_json_unsigned(&j, "version", 1);
	pthread_rwlock_rdlock(&h->lock);
	p = hive_find(h, build);
	if (p)
		i = hive_program_find(p, candidate);
	if (i >= 0) {
		number = p->number;
		write_race(&j, p, &p->candidates[i]);
	}
	pthread_rwlock_unlock(&h->lock);
	if (i < 0)
		err = rd_fail(RD_ENOTFOUND, "there is no such race");
	if (!err)
		err = look(h, number, candidate, t);
	write_sites(&j, t);
	write_evidence(&j, t);
	rd_json_end(&j);
	free(t);
	return err;
}

void hive_status_metrics(struct hive *h, FILE *out)
{
	uint64_t races[HIVE_VERDICTS] = {0}, sites = 0, queued, programs;

	pthread_rwlock_rdlock(&h->lock);
	programs = h->count;
	for (size_t i = 0; i < h->count; i++) {
		uint64_t counts[HIVE_VERDICTS];

		count_verdicts(h->programs[i], counts);
		for (size_t k = 0; k < HIVE_VERDICTS; k++)
			races[k] += counts[k];
		sites += h->programs[i]->site_count;
	}
	pthread_rwlock_unlock(&h->lock);
	pthread_mutex_lock(&h->queue_lock);
	queued = h->queued;
	pthread_mutex_unlock(&h->queue_lock);
	fprintf(out, "# HELP raddle_hive_races Candidates by verdict.\n# TYPE raddle_hive_races gauge\n");
	for (size_t k = 0; k < HIVE_VERDICTS; k++)
		fprintf(out, "raddle_hive_races{verdict=\"%s\"} %" PRIu64 "\n", hive_verdict_names[k],
			races[k]);
	fprintf(out,
		"# HELP raddle_hive_programs Builds.\n# TYPE raddle_hive_programs gauge\n"
		"raddle_hive_programs %" PRIu64 "\n"
		"# HELP raddle_hive_sites Sites that have reported, for each build.\n"
		"# TYPE raddle_hive_sites gauge\nraddle_hive_sites %" PRIu64 "\n"
		"# HELP raddle_hive_queued Reports that wait to be stored.\n"
		"# TYPE raddle_hive_queued gauge\nraddle_hive_queued %" PRIu64 "\n",
		programs, sites, queued);
}
