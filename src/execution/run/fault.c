// SPDX-License-Identifier: Apache-2.0
/*
 * The fault plan.  It is made from faults, given as text or as structures, and stored in the
 * session's memory.  It contains a table of the threads that the faults name and of the ancestors
 * of these threads, parents first.
 */
#include "run/fault.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/name.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char *const actions[] = {
	[RADDLE_FAULT_FLIP] = "flip",	    [RADDLE_FAULT_CLEAR] = "clear",
	[RADDLE_FAULT_RAISE] = "raise",	    [RADDLE_FAULT_ADD] = "add",
	[RADDLE_FAULT_SET] = "set",	    [RADDLE_FAULT_SCALE] = "scale",
	[RADDLE_FAULT_CALL] = "call",	    [RADDLE_FAULT_FORMER] = "former",
	[RADDLE_FAULT_MEMORY] = "memory",   [RADDLE_FAULT_AWAY] = "away",
	[RADDLE_FAULT_DELAY] = "delay",	    [RADDLE_FAULT_KILL] = "kill",
	[RADDLE_FAULT_EXHAUST] = "exhaust",
};

const char *run_fault_action_name(enum raddle_fault_action action)
{
	RD_ASSERT(action < sizeof actions / sizeof *actions);
	return actions[action];
}

/* --- text ------------------------------------------------------------------------------ */

static bool get_number(const char **at, uint64_t *out)
{
	char *end;

	if (**at != '-' && (**at < '0' || **at > '9'))
		return false;
	errno = 0;
	*out = **at == '-' ? (uint64_t)strtoll(*at, &end, 0) : strtoull(*at, &end, 0);
	if (errno || end == *at || (*end && *end != ':'))
		return false;
	*at = *end ? end + 1 : end;
	return true;
}

bool run_fault_process(struct run_fault *f, const char *name, size_t length)
{
	RD_ASSERT(f != NULL && name != NULL);
	int forks = rd_process_path(name, length, f->process, RADDLE_FAULT_FORKS);

	f->forks = forks < 0 ? 0 : (uint32_t)forks;
	return forks >= 0;
}

static bool get_thread(const char **at, struct run_fault *f)
{
	size_t length = strcspn(*at, ":"), process = strcspn(*at, "/:");
	int depth;

	if ((*at)[process] == '/') {
		if (!run_fault_process(f, *at, process))
			return false;
		*at += process + 1;
		length -= process + 1;
	}
	depth = rd_thread_path(*at, length, f->thread, RUN_FAULT_DEPTH);

	if (depth < 0 || (*at)[length] != ':')
		return false;
	f->depth = (uint32_t)depth;
	*at += length + 1;
	return true;
}

static bool get_action(const char **at, struct run_fault *f)
{
	size_t n = strcspn(*at, ":");

	for (size_t i = 0; i < sizeof actions / sizeof *actions; i++)
		if (strlen(actions[i]) == n && strncmp(actions[i], *at, n) == 0) {
			f->action = (enum raddle_fault_action)i;
			*at += (*at)[n] ? n + 1 : n;
			return true;
		}
	return false;
}

int run_fault_parse(struct run_fault *f, const char *text)
{
	const char *at = text;
	uint64_t site = 0;
	bool good;

	*f = (struct run_fault){.repeat = 1};
	good = get_thread(&at, f) && get_number(&at, &site) && get_number(&at, &f->instance) &&
	       get_action(&at, f) && get_number(&at, &f->mask[0]);
	if (good && *at)
		good = get_number(&at, &f->mask[1]);
	if (good && *at)
		good = get_number(&at, &f->repeat);
	if (good && *at)
		good = get_number(&at, &f->chance) && !*at;
	f->site = (uint32_t)site;
	if (!good || site == 0 || site > UINT32_MAX || f->instance == 0)
		return rd_fail(RD_EUSAGE,
			       "%s: a fault is [PROCESS/]THREAD:SITE:INSTANCE:ACTION:MASK, as in "
			       "T_0_1:0x10005:3:flip:0x80",
			       text);
	return 0;
}

/* --- the plan ---------------------------------------------------------------------------- */

struct fault_plan {
	struct raddle_fault_thread *threads;
	size_t count, capacity;
};

/* Returns the entry of the index-th child of a thread, adding it if necessary. */
static uint32_t child_of(struct fault_plan *p, uint32_t parent, uint32_t index)
{
	for (size_t i = 1; i < p->count; i++)
		if (p->threads[i].parent == parent && p->threads[i].index == index)
			return (uint32_t)i;
	RD_GROW(p->threads, p->capacity, p->count + 1);
	p->threads[p->count] =
		(struct raddle_fault_thread){.parent = parent, .index = index, .number = RADDLE_FAULT_NONE};
	return (uint32_t)p->count++;
}

static uint32_t thread_of(struct fault_plan *p, const struct run_fault *f)
{
	uint32_t at = 0;

	for (uint32_t i = 0; i < f->depth; i++)
		at = child_of(p, at, f->thread[i]);
	return at;
}

/* Copies the faults of one thread, in order. */
static uint32_t copy_thread(struct fault_plan *p, uint32_t thread, const struct run_fault *faults,
			    size_t count, struct raddle_fault *out)
{
	uint32_t n = 0;

	for (size_t i = 0; i < count; i++)
		if (thread_of(p, &faults[i]) == thread)
			out[n++] = (struct raddle_fault){.thread = thread,
							 .site = faults[i].site,
							 .instance = faults[i].instance,
							 .repeat = faults[i].repeat,
							 .action = faults[i].action,
							 .mask = {faults[i].mask[0], faults[i].mask[1]},
							 .chance = faults[i].chance,
							 .number = (uint32_t)i};
	return n;
}

int run_fault_plan(struct run_session *s, const struct run_fault *faults, size_t count)
{
	RD_ASSERT(faults != NULL || count == 0);
	struct fault_plan p = {0};
	struct raddle_faults *out;
	uint32_t done = 0;
	int r;

	for (size_t i = 1; i < count; i++)
		if (faults[i].forks != faults[0].forks ||
		    memcmp(faults[i].process, faults[0].process,
			   faults[0].forks * sizeof *faults[0].process) != 0)
			return rd_fail(RD_EUSAGE, "all faults of a run must be in the same process");
	RD_GROW(p.threads, p.capacity, 1);
	p.threads[p.count++] = (struct raddle_fault_thread){.parent = RADDLE_FAULT_NONE};
	for (size_t i = 0; i < count; i++)
		thread_of(&p, &faults[i]);
	r = run_session_faults(s, RADDLE_FAULTS_SIZE(p.count, count));
	if (!r) {
		out = (struct raddle_faults *)((char *)s->shared + s->faults);
		*out = (struct raddle_faults){.version = RADDLE_FAULT_VERSION,
					      .thread_count = (uint32_t)p.count,
					      .fault_count = (uint32_t)count,
					      .forks = count ? faults[0].forks : 0};
		if (count)
			memcpy(out->process, faults[0].process, sizeof out->process);
		for (uint32_t i = 0; i < p.count; i++) {
			p.threads[i].first = done;
			p.threads[i].count = copy_thread(&p, i, faults, count, raddle_fault_list(out) + done);
			done += p.threads[i].count;
			raddle_fault_threads(out)[i] = p.threads[i];
		}
	}
	free(p.threads);
	return r;
}

void run_fault_look(const struct run_session *s, struct run_fault *faults, size_t count)
{
	RD_ASSERT(s->faults == 0 || s->faults < s->size);
	struct raddle_faults *plan = (struct raddle_faults *)((char *)s->shared + s->faults);

	/* The program may have overwritten the counts in the plan. */
	if (!s->faults || RADDLE_FAULTS_SIZE((uint64_t)plan->thread_count, count) > s->size - s->faults)
		return;
	for (size_t i = 0; i < count; i++) {
		const struct raddle_fault *f = &raddle_fault_list(plan)[i];
		if (f->number >= count)
			continue;
		faults[f->number].seen = f->seen;
		faults[f->number].fired = f->fired;
		faults[f->number].before = f->before[0];
		faults[f->number].after = f->after[0];
		faults[f->number].number = f->thread < plan->thread_count
						   ? raddle_fault_threads(plan)[f->thread].number
						   : RADDLE_FAULT_NONE;
	}
}

int run_faults_parse(const char *list, struct run_fault **faults, size_t *count)
{
	size_t capacity = 0;
	int r = 0;

	*faults = NULL;
	*count = 0;
	for (const char *at = list; *at && !r;) {
		size_t n = strcspn(at, ",");
		char *one = rd_xstrndup(at, n);

		RD_GROW(*faults, capacity, *count + 1);
		r = run_fault_parse(&(*faults)[(*count)++], one);
		free(one);
		at += at[n] ? n + 1 : n;
	}
	return r;
}
