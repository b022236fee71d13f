// SPDX-License-Identifier: Apache-2.0
/*
 * Decides what a replay means for a finding.  In: a finding with a schedule.  Out: its status, the
 * reason, the consequence, and the observations as evidence.  If the run diverged from the
 * schedule, ended early or spun, this replay's verdict is "dropped", with the first difference as
 * the reason.  If the replay proves nothing (chance decided, the system refused a resource, or the
 * detector saw the accesses unordered), the finding stays unconfirmed. settle.h then tries other
 * ways.
 */
#include "replay/replay.h"

#include "base/buf.h"
#include "base/error.h"
#include "finding/place.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* ---- words ---- */

const char *replay_outcome_name(enum replay_outcome outcome)
{
	RD_ASSERT((unsigned)outcome < REPLAY_OUTCOMES);
	static const char *const names[REPLAY_OUTCOMES] = {
		[REPLAY_CONFIRMED] = "confirmed", [REPLAY_DIVERGED] = "diverged",
		[REPLAY_DEADLOCK] = "deadlock",	  [REPLAY_LIVELOCK] = "livelock",
		[REPLAY_CRASHED] = "crashed",	  [REPLAY_ENDED] = "ended",
		[REPLAY_STUCK] = "stuck",	  [REPLAY_STOPPED] = "stopped",
	};

	return names[outcome];
}

static void add_waits(const struct replay_result *result, struct rd_buf *out);

/* Appends a fault: "the program was ended for a use after free: T_0_1 used memory at a.c:12 that
 * T_0_0 had freed at a.c:3". */
static void add_fault(const struct replay_fault *f, struct rd_buf *out)
{
	if (f->predicate) {
		rd_buf_addf(out, "the program was ended: '%s' %s when %s reached %s", f->predicate, f->what,
			    f->thread, f->place);
		return;
	}
	if (!strcmp(f->what, REPLAY_OVERRUN) || !strcmp(f->what, REPLAY_OUTSIDE)) {
		rd_buf_addf(
			out,
			"the program was ended for %s %s: %s accessed memory at %s that is not part of %s",
			!strcmp(f->what, REPLAY_OVERRUN) ? "a" : "an", f->what, f->thread, f->place,
			!strcmp(f->what, REPLAY_OVERRUN) ? "a block" : "the variable or array");
		return;
	}
	rd_buf_addf(out, "the program was ended for a %s: %s %s memory at %s that %s had freed at %s",
		    f->what, f->thread, !strcmp(f->what, "double free") ? "freed" : "used", f->place,
		    f->freed ? f->freed : "another thread", f->freed_place);
}

const char *replay_limit_text(const struct replay_result *result)
{
	switch (result->limit) {
	case REPLAY_LIMIT_TIME: return "the program did not end within the time limit of a run";
	case REPLAY_LIMIT_POINTS: return "the program did not end within the limit of points of a run";
	case REPLAY_LIMIT_SCHEDULE: return "the program left its schedule";
	case REPLAY_LIMIT_OUTSIDE: return "the program waited for a signal from outside";
	default: return "the program did not end";
	}
}

const char *replay_end_text(struct replay_result *result)
{
	struct rd_buf text = RD_BUF_INIT;
	const char *copy;

	switch (result->end) {
	case REPLAY_EXITED: rd_buf_addf(&text, "the program ended with status %d", result->status); break;
	case REPLAY_SIGNALLED:
		if (result->fault.what)
			add_fault(&result->fault, &text);
		else
			rd_buf_addf(&text, "the program was ended by signal %d (%s)", result->status,
				    strsignal(result->status));
		break;
	case REPLAY_DEADLOCKED:
		rd_buf_adds(&text, "the program was deadlocked and was killed: ");
		add_waits(result, &text);
		break;
	case REPLAY_LIVELOCKED:
		rd_buf_adds(&text,
			    "the program was livelocked and was killed: all threads that could continue "
			    "waited in loops for each other");
		break;
	case REPLAY_HUNG: rd_buf_adds(&text, "the program made no more progress and was killed"); break;
	case REPLAY_RAN_ON: rd_buf_addf(&text, "%s, so it was killed", replay_limit_text(result)); break;
	}
	copy = rd_arena_strndup(result->arena, text.data, text.length);
	rd_buf_release(&text);
	return copy;
}

const char *replay_wait_holder(const struct replay_wait *w)
{
	return strcmp(w->kind, "thread-join") != 0 ? w->waits_on : NULL;
}

/* Appends a deadlock: "T_0_1 waits in mutex-lock of b, which T_0_2 holds; T_0_2 ...". */
static void add_waits(const struct replay_result *result, struct rd_buf *out)
{
	const char *separator = "";

	for (size_t i = 0; i < result->wait_count; i++) {
		const struct replay_wait *w = &result->waits[i];
		const char *holder = replay_wait_holder(w);

		if (!w->core)
			continue;
		rd_buf_addf(out, "%s%s waits in %s of %s", separator, w->thread, w->kind, w->name);
		if (holder)
			rd_buf_addf(out, ", which %s holds",
				    strcmp(holder, w->thread) ? holder : "it itself");
		separator = "; ";
	}
}

/* ---- evidence ---- */

static struct finding_stack stack_of(struct finding_set *set, const struct trace_sites *sites,
				     const struct replay_spot *spot)
{
	struct finding_stack s = {.count = finding_put_frames(set, sites, spot->site, NULL)};
	size_t n = 0;

	for (size_t i = 0; i < spot->frame_count; i++)
		s.count += finding_put_frames(set, sites, spot->frames[i], NULL);
	s.frames = finding_array(set, s.count, sizeof *s.frames);
	n = finding_put_frames(set, sites, spot->site, s.frames);
	for (size_t i = 0; i < spot->frame_count; i++)
		n += finding_put_frames(set, sites, spot->frames[i], s.frames + n);
	return s;
}

static void show_spot(const struct trace_sites *sites, struct finding_set *set, struct finding_access *a,
		      const struct replay_spot *spot)
{
	if (!a->thread || strcmp(a->thread, spot->thread) != 0)
		return;
	a->size = spot->size <= UINT32_MAX ? (uint32_t)spot->size : a->size;
	a->atomic = spot->atomic;
	if (sites)
		a->stack = stack_of(set, sites, spot);
}

/* Notes the threads that met, if they are not the predicted ones. */
static void show_other_threads(struct finding_set *set, struct finding *f, const struct replay_result *result)
{
	for (size_t i = 0; i < result->spot_count && i < f->access_count && i < f->schedule->goal_count;
	     i++) {
		f->accesses[i].thread = finding_text(set, result->spots[i].thread);
		f->schedule->goals[i].thread = schedule_text(f->schedule, result->spots[i].thread);
	}
	finding_note(set, f,
		     "no order of operations was kept: a thread that reached one of these places was "
		     "stopped there for a moment, until another reached the other place");
}

/* Replaces the predicted accesses by the observed ones. */
static void show_spots(const struct replay_policy *p, struct finding_set *set, struct finding *f,
		       const struct replay_result *result)
{
	for (size_t i = 0; i < result->spot_count; i++)
		for (size_t k = 0; k < f->access_count; k++)
			show_spot(p->request.program->sites, set, &f->accesses[k], &result->spots[i]);
}

static void note_race(struct finding_set *set, struct finding *f, struct replay_result *result)
{
	const struct replay_spot *a = &result->spots[0], *b = &result->spots[1];

	finding_note(set, f,
		     finding_textf(set,
				   "replayed: %s was stopped before its %s of %" PRIu64 " bytes at 0x%" PRIx64
				   " while %s was stopped before its %s of %" PRIu64 " bytes at 0x%" PRIx64,
				   a->thread, a->write ? "write" : "read", a->size, a->address, b->thread,
				   b->write ? "write" : "read", b->size, b->address));
	finding_note(set, f, finding_textf(set, "after that %s", replay_end_text(result)));
}

/* Notes the result of a schedule that is an order of operations, in which no thread had to stop. */
static void note_order(struct finding_set *set, struct finding *f, struct replay_result *result)
{
	if (result->planned || !f->schedule->turns)
		finding_note(set, f,
			     finding_textf(set, "replayed: %" PRIu64 " operations were done in this order",
					   result->done));
	if (f->schedule->turns)
		finding_note(set, f,
			     finding_textf(set,
					   "replayed: %" PRIu64 " decisions were taken as in the schedule",
					   result->turns.taken));
	finding_note(set, f, finding_textf(set, "after that %s", replay_end_text(result)));
}

static void note_deadlock(struct finding_set *set, struct finding *f, const struct replay_result *result)
{
	struct rd_buf text = RD_BUF_INIT;

	rd_buf_adds(&text, "replayed: ");
	add_waits(result, &text);
	finding_note(set, f, text.data);
	rd_buf_release(&text);
}

/* Returns how the replay of a deadlock ended, or NULL.  A race has no consequence yet: one run in which
 * it happened does not show that what happened later was caused by it, since that may be a finding of its
 * own.  Only classification finds out (doc/design/classify.md). */
static const char *consequence_of(const struct replay_policy *p, const struct finding *f,
				  const struct replay_result *result)
{
	if (f->kind == FINDING_RACE)
		return NULL;
	if (result->end == REPLAY_DEADLOCKED)
		return "deadlock";
	if (result->fault.what)
		return result->fault.predicate ? "predicate" : "memory-error";
	if (result->end != REPLAY_SIGNALLED || result->status == p->request.recorded_signal)
		return NULL;
	switch (result->status) {
	case SIGSEGV:
	case SIGBUS:
	case SIGILL:
	case SIGFPE: return "crash";
	case SIGABRT: return "abort";
	default: return NULL;
	}
}

static void confirm(const struct replay_policy *p, struct finding_set *set, struct finding *f,
		    struct replay_result *result)
{
	f->status = FINDING_CONFIRMED;
	f->reason = NULL;
	f->unordered = false;
	f->consequence = finding_text(set, consequence_of(p, f, result));
	if (f->kind == FINDING_FAILURE || (f->kind == FINDING_RACE && !result->spot_count)) {
		note_order(set, f, result);
	} else if (f->kind == FINDING_RACE) {
		if (f->schedule->anywhere)
			show_other_threads(set, f, result);
		show_spots(p, set, f, result);
		note_race(set, f, result);
	} else {
		note_deadlock(set, f, result);
	}
}

/* ---- the same deadlock by other threads ---- */

static bool is_at(const struct trace_sites *sites, uint32_t site, const struct finding_frame *place)
{
	struct trace_frame frame = trace_sites_frame(sites, site);

	return place->file && !strcmp(frame.file, place->file) && frame.line == place->line &&
	       frame.column == place->column;
}

/* Returns true if each wait of the finding was observed, each in a different thread. */
static bool is_same_deadlock(const struct trace_sites *sites, const struct finding *f,
			     const struct replay_result *result)
{
	bool *used = rd_xcalloc(result->wait_count + 1, sizeof *used);
	size_t found = 0;

	for (size_t i = 0; i < f->cycle_count; i++) {
		const struct finding_frame *place = finding_top(&f->cycle[i].stack);

		for (size_t k = 0; k < result->wait_count; k++) {
			if (used[k] || !result->waits[k].core || !is_at(sites, result->waits[k].site, place))
				continue;
			used[k] = true;
			found++;
			break;
		}
	}
	free(used);
	return f->cycle_count && found == f->cycle_count;
}

/* ---- the verdict ---- */

static bool is_confirmed(const struct replay_policy *p, const struct finding *f, struct replay_result *result)
{
	if (result->outcome == REPLAY_CONFIRMED)
		return true;
	if (f->kind != FINDING_DEADLOCK || result->end != REPLAY_DEADLOCKED ||
	    !is_same_deadlock(p->request.program->sites, f, result))
		return false;
	result->outcome = REPLAY_CONFIRMED;
	return true;
}

/* Returns true if the run diverged in a way that a new prediction can follow.  A thread that spins
 * because another one is stopped would only spin again. */
bool replay_has_diverged(const struct replay_result *result)
{
	return result->outcome == REPLAY_DIVERGED || result->outcome == REPLAY_ENDED ||
	       result->outcome == REPLAY_DEADLOCK;
}

static void add_lack(const struct replay_result *result, struct rd_buf *out)
{
	static const char *const words[] = {"memory", "threads or processes", "descriptors"};
	const char *separator = "; that proves nothing, because the system refused the program ";

	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		if (!(result->lacked & 1u << i))
			continue;
		rd_buf_addf(out, "%s%s", separator, words[i]);
		separator = " and ";
	}
	if (result->lacked & RADDLE_LACK_SLOTS)
		rd_buf_addf(out, "; threads after the first %u of a run cannot be led", RADDLE_SLOTS);
}

static void reject(const struct replay_policy *p, struct finding_set *set, struct finding *f,
		   struct replay_result *result, unsigned runs)
{
	static const char outside[] = "a file, a signal or another process may have ordered them";
	struct rd_buf why = RD_BUF_INIT;
	bool drop = !result->unordered && !result->lacked && !result->chance && !f->schedule->anywhere &&
		    (result->outcome == REPLAY_DIVERGED || result->outcome == REPLAY_ENDED ||
		     result->outcome == REPLAY_LIVELOCK);

	f->status = drop ? FINDING_DROPPED : FINDING_UNCONFIRMED;
	f->unordered = false;
	switch (result->outcome) {
	case REPLAY_DEADLOCK:
		rd_buf_adds(&why, "another deadlock came first: ");
		add_waits(result, &why);
		break;
	case REPLAY_CRASHED:
	case REPLAY_ENDED:
		rd_buf_addf(&why, "%s too early: %s", replay_end_text(result), result->explanation);
		break;
	case REPLAY_LIVELOCK:
		rd_buf_addf(&why, "a thread spins, waiting for something that a stopped thread would do: %s",
			    result->explanation);
		break;
	case REPLAY_STUCK:
		rd_buf_addf(&why, "there was no progress for too long: %s", result->explanation);
		break;
	default: rd_buf_adds(&why, result->explanation ? result->explanation : "it did not happen");
	}
	if (result->detect_over)
		finding_note(set, f, "the detector ran out of memory and saw only part of the run");
	if (result->unordered)
		rd_buf_adds(&why, "; the detector saw no order between the two accesses in that run");
	if (result->chance)
		rd_buf_addf(&why, "; %s", result->chance);
	add_lack(result, &why);
	rd_buf_addf(&why, " (%u replay%s)", runs, runs == 1 ? "" : "s");
	f->reason = finding_text(set, why.data);
	if (result->unordered && !replay_doubt(p, set, f))
		f->reason = finding_textf(set, "%s; %s", f->reason, outside);
	rd_buf_release(&why);
}

/* Decides after a run that followed a schedule in which the threads do not meet (`nowhere`).  The
 * race is confirmed if the detector saw its two accesses unordered. */
static void judge_order(const struct replay_policy *p, struct finding_set *set, struct finding *f,
			struct replay_result *result)
{
	f->status = FINDING_UNCONFIRMED;
	f->reason = "in no replay did both threads get there at the same time";
	if (replay_observed(p, set, f, result)) {
		f->consequence = finding_text(set, consequence_of(p, f, result));
		return;
	}
	f->reason = "the detector did not see the two accesses without an order in a run of that schedule";
	result->outcome = REPLAY_ENDED;
}

/* Returns true if the run diverged while input from outside could not be replayed completely.  The
 * run may have diverged because of that, as with a program that renames the socket it has bound.
 * Then a run with real input from outside decides. */
static bool lacks_input(const struct replay_result *result)
{
	return result->outside.lack && (result->outcome == REPLAY_DIVERGED ||
					result->outcome == REPLAY_ENDED || result->outcome == REPLAY_CRASHED);
}

/* Returns true if the run did not get to its end because a thread waited in the kernel.  A library
 * may have waited there for another thread, for instance for a lock of libc.  If the library's
 * calls are trapped, it no longer waits in the kernel. */
static bool may_need_trap(const struct schedule *s, const struct replay_result *result)
{
	return s->turns && result->turns.unsure &&
	       (result->outcome == REPLAY_DIVERGED || result->outcome == REPLAY_STUCK ||
		result->end == REPLAY_HUNG);
}

/* Runs the schedule again with the system calls of libraries trapped.  If the program cannot be run
 * that way, runs it without. */
static int run_trapped(struct replay_request *request, struct replay_result *result)
{
	int err;

	replay_result_release(result);
	request->trap = true;
	err = replay_run(request, result);
	if (err || !result->unfit)
		return err;
	replay_result_release(result);
	request->trap = false;
	return replay_run(request, result);
}

int replay_once(const struct replay_policy *p, struct finding_set *set, struct finding *f, unsigned runs,
		struct replay_result *result)
{
	struct replay_request request = p->request;
	struct schedule s = *f->schedule;
	int err;

	replay_result_release(result);
	request.schedule = &s;
	request.detect &= f->kind == FINDING_RACE;
	s.nowhere = false;
	if (f->schedule->nowhere)
		s.goal_count = 0;
	err = replay_run(&request, result);
	if (!err && !request.no_world && lacks_input(result)) {
		replay_result_release(result);
		request.no_world = true;
		err = replay_run(&request, result);
	}
	if (!err && may_need_trap(&s, result))
		err = run_trapped(&request, result);
	if (err)
		return err;
	if (f->schedule->nowhere && result->outcome == REPLAY_CONFIRMED)
		judge_order(p, set, f, result);
	else if (is_confirmed(p, f, result))
		confirm(p, set, f, result);
	else
		reject(p, set, f, result, runs + 1);
	return 0;
}

int replay_finding(const struct replay_policy *p, struct finding_set *set, struct finding *f,
		   struct replay_result *last)
{
	RD_ASSERT(f->schedule != NULL);
	struct replay_result result = {0};
	int err = f->schedule ? 0 : rd_fail(RD_EUSAGE, "replay: finding %s has no schedule", f->id);

	if (!err)
		err = replay_once(p, set, f, 0, &result);
	if (!err && p->observe && replay_is_observable(f, &result) && !replay_observed(p, set, f, &result))
		err = replay_observe(p, set, &f, 1);
	if (!err && f->status == FINDING_CONFIRMED)
		result.outcome = REPLAY_CONFIRMED;
	if (last && !err)
		*last = result;
	else
		replay_result_release(&result);
	return err;
}
