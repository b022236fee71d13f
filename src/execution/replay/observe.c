// SPDX-License-Identifier: Apache-2.0
/*
 * Races whose threads cannot stand at their accesses at once.
 *
 * One thread writes data and sets a flag in relaxed order, the other spins until the flag is
 * set and reads the data: by the language that is a race, and on another machine, or with
 * another compiler, the reader sees old data.  But while the writer stands before its write
 * the reader never comes to its read.  For these the detector (rt/detect/detect.c) decides: it knows every
 * operation that orders accesses, so in a run in which both happen and it sees no
 * order there is none.  It looks on in every replay of a race, and mostly that is the run: once the thread
 * was found to spin nobody is made to stand any more.  Where the two did not come about then, a free run
 * follows.
 *
 * It does not know what other means, files or pipes, order.  So it is asked about speculative
 * predictions: there a read that got another value explains why the threads were kept apart.
 * A sound one would have been brought about if nothing hidden had stood in its way, unless a
 * thread spins on memory (of which only the first look is in the trace): then it spends its time in
 * the program and none in the kernel.
 *
 * And it does not know what code does that Raddle did not compile: a spin lock in a library, an instruction
 * that works on memory which its assembler does not name.  Where a program has such code (bitcode/foreign.h)
 * what the detector sees is said, and the finding stays unconfirmed.
 */
#include "replay/replay.h"

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
	f->reason =
		finding_textf(set,
			      "unordered as far as seen: code that Raddle did not compile (%s) could have "
			      "ordered them; %s",
			      foreign, f->reason);
	free(foreign);
	return true;
}

/* Barriers of assembler order what is handed on by plain accesses, which the detector does not know.  The
 * walk over the recorded run does (model/unordered.c). */
static bool doubt_barriers(const struct trace_sites *sites, struct finding_set *set, struct finding *f)
{
	if (f->firm || !trace_sites_have_barriers(sites))
		return false;
	f->status = FINDING_UNCONFIRMED;
	f->unordered = true;
	f->reason = finding_textf(set,
				  "unordered as far as seen: barriers of assembler, which the program has, "
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

/* What the detector saw is a race unless somebody else ordered the two. */
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
	finding_note(set, f, finding_textf(set, "they cannot stand there at once: %s", f->reason));
	f->status = FINDING_CONFIRMED;
	f->observed = true;
	f->reason = NULL;
}

bool replay_is_observable(const struct finding *f, const struct replay_result *result)
{
	/* What passes through files orders threads, and the detector does not know it. */
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
