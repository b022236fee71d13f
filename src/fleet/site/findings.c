// SPDX-License-Identifier: Apache-2.0
/* Makes reports for the hive from what the program found. */
#include "site/agent-int.h"
#include "base/error.h"
#include "site/report-int.h"

#include <stdlib.h>
#include <string.h>

static const char *order_name(uint32_t order)
{
	return order == RADDLE_GUARD_ALTERNATE ? "alternate" : "primary";
}

static void add(struct site_agent *a, struct site_report r)
{
	if (a->lines.length > SITE_SPOOL_MAX / 2)
		return;
	r.run = a->run;
	r.seq = a->seq++;
	site_report_add(&a->lines, &r);
}

static struct agent_task *task_of(struct site_agent *a, uint32_t generation)
{
	for (size_t i = 0; i < a->task_count; i++)
		if (a->tasks[i].generation == generation)
			return &a->tasks[i];
	return NULL;
}

static void collect(struct site_agent *a, struct agent_task *t, const struct raddle_guard_report *r)
{
	static const char *const results[] = {"", "race", "no-race", "timeout"};
	RD_ASSERT(t != NULL && r->result >= RADDLE_GUARD_RACE && r->result <= RADDLE_GUARD_TIMEOUT);
	RD_ASSERT(r->order <= RADDLE_GUARD_ALTERNATE); /* both were checked when they were read */
	struct site_report report = {.candidate = t->task.candidate,
				     .task = t->task.id,
				     .result = results[r->result],
				     .order = order_name(r->order),
				     .pause_us = r->pause_us};
	if (r->result == RADDLE_GUARD_RACE) {
		report.proof = r->proof == RADDLE_GUARD_COLLISION ? "collision" : "happens-before";
		t->raced |= 1u << r->order;
	}
	if (r->result == RADDLE_GUARD_TIMEOUT) {
		report.has_tau = true;
		report.tau_us = r->tau_us;
		report.capped = t->capped;
	}
	if (r->result == RADDLE_GUARD_TIMEOUT || r->proof == RADDLE_GUARD_COLLISION)
		a->memory.steered = true;
	a->memory.settled = true;
	t->reported = true;
	add(a, report);
}

void agent_collect(struct site_agent *a)
{
	struct raddle_guard_report r;
	while (site_session_report(&a->session, &r)) {
		struct agent_task *t = task_of(a, r.generation);
		if (t != NULL)
			collect(a, t, &r);
	}
}

void agent_contexts(struct site_agent *a)
{
	for (size_t i = 0; i < a->table.count; i++) {
		uint32_t bits = atomic_load(&a->session.pairs[i].context) & 15;
		if ((bits | a->sent_contexts[i]) == a->sent_contexts[i])
			continue;
		a->sent_contexts[i] |= (uint8_t)bits;
		RD_ASSERT(a->sent_contexts[i] < 16);
		add(a, (struct site_report){.candidate = a->table.candidates[i].id,
					    .result = "context",
					    .context = a->sent_contexts[i]});
	}
}

void agent_consequence(struct site_agent *a, const char *what, int signal)
{
	for (size_t i = 0; i < a->task_count; i++) {
		struct agent_task *t = &a->tasks[i];
		const struct raddle_guard_task *shared = site_session_task(&a->session, t->generation);
		uint32_t raced = t->raced | (shared != NULL ? shared->raced & 3 : 0);
		RD_ASSERT(t->candidate < a->table.count);
		struct site_report r = {.candidate = t->task.candidate,
					.task = t->task.id,
					.consequence = what,
					.signal = signal};
		if (raced != 0) {
			r.result = "race";
			r.order = order_name(raced & 1u << t->task.order ? t->task.order : !t->task.order);
			r.proof = "happens-before";
			t->reported = true;
		} else if (shared != NULL && (shared->active || a->memory.steered)) {
			r.result = "not-seen";
			r.context = a->sent_contexts[t->candidate];
			t->reported = true;
		} else {
			continue;
		}
		add(a, r);
	}
}

void agent_finish_tasks(struct site_agent *a, bool at_end)
{
	for (size_t i = 0; i < a->task_count; i++) {
		struct agent_task *t = &a->tasks[i];
		const struct raddle_guard_task *shared = site_session_task(&a->session, t->generation);
		struct site_report r = {.candidate = t->task.candidate, .task = t->task.id};
		if (t->reported || shared == NULL)
			continue;
		if (shared->ordered != 0) {
			r.result = "no-race";
			r.order = order_name(t->task.order);
			a->memory.settled = true;
		} else if (at_end) {
			r.result = "not-seen";
			r.context = a->sent_contexts[t->candidate];
		} else {
			continue;
		}
		add(a, r);
	}
}
