// SPDX-License-Identifier: Apache-2.0
/*
 * Races whose threads cannot be stopped at their accesses at the same time.
 * Example: one thread writes data and sets a flag in relaxed order; the other spins until the flag
 * is set and reads the data.  By the C standard this is a race: on another machine, or with another
 * compiler, the reader may see old data.  But while the writer is stopped before its write, the
 * reader never reaches its read.
 *
 * For such races the detector (rt/detect/detect.c) decides.  It knows every operation that orders
 * accesses.  So if both accesses happen in a run and the detector sees no order between them, no
 * operation orders them.  The detector runs in every replay of a race.  That run is mostly
 * sufficient, because all threads are released when one is found to spin.  If one of the accesses
 * still does not happen, a free run follows.
 *
 * The detector does not know orders by other means, such as files.  So it decides only about some
 * races.  It decides about speculative predictions, because in their case a different value
 * explains why the threads did not meet.  The threads of a sound prediction would have met if
 * nothing hidden had prevented it.  The exception is a thread that spins on memory, since the trace
 * has only the first of its reads.  Such a thread spends its time in user mode and hardly any in
 * the kernel.  In that case, the detector decides.
 *
 * Nor does the detector know code that Raddle did not compile.  Examples are a spin lock in a
 * library, and inline assembler that accesses memory which it does not declare.  If a program has
 * such code (bitcode/foreign-int.h), the report states what the detector saw, and the finding stays
 * unconfirmed.
 */
#include "replay/replay.h"

#include "base/error.h"

#include <inttypes.h>
#include <stdlib.h>

static const char *action_of(const struct replay_race *race, int which)
{
	return race->write[which] ? "write" : "read";
}

static bool doubt(const struct rd_flavour *flavour, struct finding_set *set, struct finding *f)
{
	char *foreign = f->unordered ? NULL : rd_flavour_foreign(flavour);

	if (!foreign)
		return f->unordered;
	f->status = FINDING_UNCONFIRMED;
	f->unordered = true;
	f->reason = finding_textf(set,
				  "apparently unordered: code that Raddle did not compile (%s) could have "
				  "ordered them; %s",
				  foreign, f->reason);
	free(foreign);
	return true;
}

/* A memory barrier in inline assembler can order two plain accesses.  The detector does not know
 * such barriers, but the walk over the recorded run does (predict/unordered.c). */
static bool doubt_barriers(const struct trace_sites *sites, struct finding_set *set, struct finding *f)
{
	if (f->firm || !trace_sites_have_barriers(sites))
		return false;
	f->status = FINDING_UNCONFIRMED;
	f->unordered = true;
	f->reason = finding_textf(set,
				  "apparently unordered: memory barriers in the program's assembler code "
				  "could have ordered them; %s",
				  f->reason);
	return true;
}

bool replay_doubt(const struct replay_policy *p, struct finding_set *set, struct finding *f)
{
	const struct replay_program *program = p->request.program;

	return doubt(&program->program->flavour, set, f) || doubt_barriers(program->sites, set, f);
}

void replay_confirm_recorded(struct finding_set *set, struct finding *f)
{
	finding_note(set, f, f->firm);
	f->status = FINDING_CONFIRMED;
	f->recorded = f->observed = true;
	f->unordered = false;
	f->reason = NULL;
}

void replay_trust_recorded(const struct rd_flavour *flavour, struct finding_set *set, struct finding *f)
{
	if (!f->firm || f->status == FINDING_CONFIRMED)
		return;
	f->reason = f->reason ? f->reason : f->firm;
	if (!doubt(flavour, set, f))
		replay_confirm_recorded(set, f);
}

/* Called if the detector saw the two accesses unordered.  They are a race, unless something that
 * the detector does not know orders them. */
static void conclude(const struct replay_policy *p, struct finding_set *set, struct finding *f,
		     const struct replay_race *race)
{
	finding_note(set, f,
		     finding_textf(set,
				   "the detector saw the %s of %s and the later %s of %s, %" PRIu64
				   " bytes at 0x%" PRIx64 ", without an order between them",
				   action_of(race, 0), race->thread[0], action_of(race, 1), race->thread[1],
				   race->size, race->address));
	if (replay_doubt(p, set, f))
		return;
	finding_note(set, f,
		     finding_textf(set, "they cannot be stopped there at the same time: %s", f->reason));
	f->status = FINDING_CONFIRMED;
	f->observed = true;
	f->reason = NULL;
}

bool replay_is_observable(const struct finding *f, const struct replay_result *result)
{
	/* Communication through files orders threads, but the detector does not know this order. */
	return f->kind == FINDING_RACE && f->status != FINDING_CONFIRMED && result->observable &&
	       f->object.kind != FINDING_DESCRIPTOR && (!f->sound || result->in_memory);
}

static bool is_of(const struct replay_race *race, const struct schedule *s)
{
	if (s->goal_count != 2)
		return false;
	return (race->site[0] == s->goals[0].site && race->site[1] == s->goals[1].site) ||
	       (race->site[0] == s->goals[1].site && race->site[1] == s->goals[0].site);
}

static bool look_for(const struct replay_policy *p, struct finding_set *set, struct finding *f, bool planned,
		     const struct replay_result *result)
{
	for (size_t i = 0; i < result->race_count; i++) {
		if (!is_of(&result->races[i], f->schedule) && !(planned && result->races[i].planned))
			continue;
		conclude(p, set, f, &result->races[i]);
		return true;
	}
	return false;
}

bool replay_observed(const struct replay_policy *p, struct finding_set *set, struct finding *f,
		     const struct replay_result *result)
{
	return look_for(p, set, f, true, result);
}

int replay_observe(const struct replay_policy *p, struct finding_set *set, struct finding **findings,
		   size_t count)
{
	RD_ASSERT(count > 0);
	struct replay_request request = p->request;
	struct replay_result result = {0};
	int err;

	request.schedule = findings[0]->schedule;
	request.free = request.detect = true;
	request.record_into = NULL;
	request.met = NULL;
	request.progress = NULL;
	err = replay_run(&request, &result);
	for (size_t i = 0; i < count && !err; i++)
		look_for(p, set, findings[i], i == 0, &result);
	replay_result_release(&result);
	return err;
}
