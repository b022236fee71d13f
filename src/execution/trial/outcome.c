// SPDX-License-Identifier: Apache-2.0
/*
 * What the end of a run means.  In: the result of a replay.  Out: whether the run counts, its
 * consequence if it failed (`fault` in the code), and how long a run may take.  This file starts no
 * program.
 *
 * If a run left its schedule or did not end by itself, it does not count, because it shows nothing
 * about the race.
 */
#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "trial/trial.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* The limit of one run, in program time, is this many times the length of the recorded run, since
 * turns and stops slow a program down.  A program that ends at once gets the minimum. */
#define WORK_TIMES_RECORDED 20
#define WORK_MIN_NS (10 * RD_NS_PER_S)

int64_t trial_work_ns(const struct replay_conditions *c)
{
	int64_t work = WORK_TIMES_RECORDED * c->recorded_ns;

	RD_ASSERT(c->recorded_ns >= 0);
	return c->limit_ns ? 0 : work > WORK_MIN_NS ? work : WORK_MIN_NS;
}

int64_t trial_limit_ns(const struct replay_conditions *c, int64_t now_ns)
{
	int64_t limit = c->limit_ns, left = c->deadline_ns - now_ns;

	RD_ASSERT(c->limit_ns >= 0);
	if (c->deadline_ns && (!limit || left < limit))
		limit = left > RD_NS_PER_MS ? left : RD_NS_PER_MS;
	return limit && limit < RD_NS_PER_MS ? RD_NS_PER_MS : limit;
}

/* ---- whether the run counts ---- */

bool trial_is_cut(const struct replay_result *r)
{
	return r->end == REPLAY_RAN_ON && r->outcome == REPLAY_CONFIRMED && !r->assumed &&
	       (!r->turns.strayed || r->turns.early);
}

const char *trial_why_not(const struct replay_result *r)
{
	if (r->assumed)
		return "an assumption of the program did not hold (raddle_assume)";
	if (r->outcome != REPLAY_CONFIRMED)
		return r->explanation ? r->explanation
				      : "the threads did not reach the places that they were led to";
	if (r->turns.strayed && !r->turns.early)
		return r->turns.strayed;
	if (r->end == REPLAY_HUNG)
		return "the program made no more progress";
	if (r->end == REPLAY_RAN_ON)
		return replay_limit_text(r);
	if (r->end == REPLAY_SIGNALLED && !r->outside.ended && !(r->called_off && r->status == SIGTERM) &&
	    (r->status == SIGKILL || r->status == SIGINT || r->status == SIGTERM))
		return "a signal from outside ended the program";
	return NULL;
}

/* ---- the fault ---- */

/* Returns true if the program's standard error contains a message that glibc writes before it
 * aborts a program whose memory is damaged. */
static bool is_about_memory(const char *errors)
{
	static const char *const words[] = {"double free",	   "free(): ",
					    "malloc(): ",	   "realloc(): ",
					    "corrupted size vs.",  "corrupted double-linked list",
					    "*** stack smashing",  "*** buffer overflow",
					    "munmap_chunk(): ",	   "invalid fastbin",
					    "invalid stdio handle"};

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (strstr(errors, words[i]))
			return true;
	return false;
}

static const char *fault_of_signal(int number, const char *errors)
{
	switch (number) {
	case SIGSEGV:
	case SIGBUS:
	case SIGILL:
	case SIGFPE:
	case SIGSYS:
	case SIGTRAP: return "crash";
	case SIGABRT:
		return strstr(errors, "Assertion `") ? "assertion"
		       : is_about_memory(errors)     ? "memory-error"
						     : "abort";
	default: return NULL;
	}
}

const char *trial_fault(enum replay_end end, int status, const char *errors)
{
	switch (end) {
	case REPLAY_DEADLOCKED: return "deadlock";
	case REPLAY_LIVELOCKED: return "hang";
	case REPLAY_SIGNALLED: return fault_of_signal(status, errors);
	default: return NULL;
	}
}

/* Returns true if `place`, in the form "file:line", and `thread` are those of the goal. */
static bool is_goal(const struct schedule_goal *g, const char *thread, const char *place)
{
	size_t length = g->place.file ? strlen(rd_base_name(g->place.file)) : 0;

	return length && thread && place && !strcmp(g->thread, thread) &&
	       !strncmp(rd_base_name(g->place.file), place, length) && place[length] == ':' &&
	       strtoul(place + length + 1, NULL, 10) == g->place.line;
}

bool trial_is_at_race(const struct schedule *s, const struct replay_fault *f)
{
	for (unsigned i = 0; i < 2 && s->goal_count == 2; i++)
		if (f->what && is_goal(&s->goals[i], f->thread, f->place) &&
		    is_goal(&s->goals[1 - i], f->freed, f->freed_place))
			return true;
	return false;
}

static bool is_same_fault(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

/* Returns true if all runs of this schedule have the same trail.  The threads of a livelock
 * continue to make choices until Raddle ends the program, so the length of their trail depends on
 * time. */
static bool has_fixed_trail(const struct trial *t)
{
	return !t->unsure && t->end != REPLAY_LIVELOCKED;
}

bool trial_differs(const struct trial *a, const struct trial *b)
{
	if (!a->counts || !b->counts)
		return a->counts != b->counts && !a->cut && !b->cut;
	return a->end != b->end || a->status != b->status || !is_same_fault(a->fault, b->fault) ||
	       (has_fixed_trail(a) && has_fixed_trail(b) && a->trail != b->trail);
}
