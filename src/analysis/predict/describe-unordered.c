/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes findings about accesses that are unordered in the recorded run itself.  These need no
 * search, because the walk over the run reports the pairs of accesses.  A finding describes the
 * object and the accesses by their sites, because their history may be missing from the model.
 */
#include "predict/describe-parts-int.h"

#include <inttypes.h>

/* Names the memory by the sites alone, because the model may not have the history of the
 * accesses. */
static void name_unordered(const struct describer *d, const struct predict_unordered *u, struct meeting *at)
{
	const struct model_object *o = &d->m->objects[at->object];
	struct rd_buf b = RD_BUF_INIT, place = RD_BUF_INIT;
	struct model_access seen[2];
	const struct model_access *accesses[2];
	size_t count = 0;

	for (int i = 0; i < 2; i++) {
		const struct trace_site *site = trace_sites_find(d->m->sites, u->sites[i]);
		if (!site || site->kind == TRACE_SITE_CALL || at->offset < u->before[i])
			continue;
		if (site->flags & (o->kind == MODEL_STACK ? TRACE_SITE_STACK : TRACE_SITE_TLS) &&
		    (o->kind == MODEL_STACK || o->kind == MODEL_PAGE) && *site->what)
			at->variable = (struct model_variable){site, u->threads[i], u->before[i],
							       o->kind == MODEL_PAGE};
		seen[count] = (struct model_access){.object = at->object,
						    .site = u->sites[i],
						    .size = site->size ? site->size : 1,
						    .offset = at->offset - u->before[i]};
		accesses[count] = &seen[count];
		count += site->size && site->size <= 8; /* the start of a larger access is not known */
	}
	if (at->variable.site) {
		model_name_variable(d->m, &at->variable, &b);
	} else if (model_name_pointed(d->m, at->object, at->offset, accesses, count, &b)) {
		model_name_place(d->m, at->object, at->offset, &place);
		at->place = describe_take_name(d->set, &place);
	} else {
		model_name_place(d->m, at->object, at->offset, &b);
	}
	at->name = describe_take_name(d->set, &b);
}

static void describe_side(const struct describer *d, const struct predict_unordered *u, int i,
			  struct finding_access *out)
{
	const struct trace_site *site = trace_sites_find(d->m->sites, u->sites[i]);

	out->thread = finding_text(d->set, d->m->threads[u->threads[i]].name);
	out->op = !u->writes[i]				  ? FINDING_READ
		  : site && site->kind == TRACE_SITE_CALL ? FINDING_FREE
							  : FINDING_WRITE;
	out->atomic = u->atomic[i];
	out->size = site ? site->size : 0;
	out->stack = describe_stack(d, u->sites[i], 0);
	if (site)
		describe_subject(d, site, out);
}

void predict_describe_firm(const struct model *m, const struct predict_unordered *u, struct finding_set *set,
			   struct finding *f)
{
	f->firm = finding_textf(set,
				"the recorded run had the %s of %s and the %s of %s at 0x%" PRIx64
				" without an order between them",
				u->writes[0] ? "write" : "read", m->threads[u->threads[0]].name,
				u->writes[1] ? "write" : "read", m->threads[u->threads[1]].name, u->address);
}

/* Adds a schedule without operations, because the threads may meet at the two places again. */
static void add_meeting(const struct describer *d, const struct predict_unordered *u, struct finding *f)
{
	struct schedule *s = finding_schedule_add(d->set, f);

	s->program = schedule_text(s, trace_get_meta(d->m->trace)->program);
	s->trace = schedule_text(s, trace_path(d->m->trace));
	s->speculative = s->anywhere = true;
	for (int i = 0; i < 2; i++) {
		struct schedule_goal *h = schedule_add_goal(s);

		h->thread = schedule_text(s, f->accesses[i].thread);
		h->occurrence = 1;
		h->site = u->sites[i];
		h->write = u->writes[i];
		h->place = describe_place(d, s, u->sites[i]);
		h->object = schedule_text(s, f->object.name);
	}
}

void predict_describe_unordered(const struct model *m, const struct predict_unordered *u, const char *reason,
				struct finding_set *set)
{
	struct describer d = {.m = m, .set = set};
	struct finding *f = finding_add(set, FINDING_RACE);
	struct meeting at = {.object = model_find(m, u->address, u->part.from)};

	f->reason = reason;
	if (at.object != MODEL_NONE) {
		at.offset = u->address - m->objects[at.object].base;
		name_unordered(&d, u, &at);
		describe_object(&d, &at, f);
	}
	f->accesses = finding_array(set, 2, sizeof *f->accesses);
	f->access_count = 2;
	f->threads = finding_array(set, 2, sizeof *f->threads);
	for (int i = 0; i < 2; i++) {
		describe_side(&d, u, i, &f->accesses[i]);
		describe_thread(&d, u->threads[i], &f->threads[f->thread_count++]);
	}
	if (u->firm) {
		predict_describe_firm(m, u, set, f);
		add_meeting(&d, u, f);
	}
	describe_note_plain_side(set, f);
}

void predict_describe_end(const struct model *m, uint32_t thread, struct finding_set *set,
			  struct finding_wait *out)
{
	const struct describer d = {.m = m, .set = set};
	const struct model_history *h = &m->histories[thread];

	out->thread = finding_text(set, m->threads[thread].name);
	out->stack = describe_stack(&d, h->end_site, h->end_stack);
	out->holds = describe_locks(&d, thread, h->operation_count, &out->hold_count);
}

void predict_describe_thread(const struct model *m, uint32_t thread, struct finding_set *set,
			     struct finding_thread *out)
{
	describe_thread(&(struct describer){.m = m, .set = set}, thread, out);
}
