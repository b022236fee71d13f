// SPDX-License-Identifier: Apache-2.0
/*
 * Describes a recorded run that failed by itself, because it aborted, crashed or did not end.
 *
 * From the model of its trace, and the signal, it makes a finding with the thread that failed and
 * the position of that thread.  If the thread is not known, the finding contains the last position
 * of each thread.  A thread is known to have failed if it called abort() or failed an assertion, or
 * if all other threads had ended or were waiting.  A SIGSEGV is also attributed to a thread whose
 * last access was to the lowest 64 KiB of addresses, where nothing is mapped.  In each case, there
 * must be only one such thread.
 */
#include "predict/failure.h"

#include "base/error.h"
#include "predict/describe-int.h"

#include <signal.h>
#include <string.h>

/* The largest number of threads in a report, which must stay readable; set by hand. */
#define THREADS_SHOWN 16
/* Nothing is mapped below this address: the default of vm.mmap_min_addr. */
#define UNMAPPED_BELOW 0x10000

static const struct {
	int number;
	const char *name, *consequence;
} signals[] = {
	{SIGABRT, "SIGABRT", "abort"}, {SIGSEGV, "SIGSEGV", "crash"}, {SIGBUS, "SIGBUS", "crash"},
	{SIGILL, "SIGILL", "crash"},   {SIGFPE, "SIGFPE", "crash"},   {SIGTRAP, "SIGTRAP", "crash"},
	{SIGSYS, "SIGSYS", "crash"},
};

static size_t row_of(int signal)
{
	size_t i = 0;

	while (i < sizeof signals / sizeof *signals && signals[i].number != signal)
		i++;
	return i;
}

bool predict_is_failure(int signal)
{
	return row_of(signal) < sizeof signals / sizeof *signals;
}

static const struct model_operation *last_operation(const struct model *m, uint32_t thread)
{
	RD_ASSERT(thread < m->thread_count);
	const struct model_history *h = &m->histories[thread];

	return h->operation_count ? &h->operations[h->operation_count - 1] : NULL;
}

static bool did_something(const struct model *m, uint32_t thread)
{
	return m->histories[thread].end_site || m->histories[thread].end_stack;
}

/* Returns true if the thread called abort() or failed an assertion.  A failed assertion allocates
 * memory for its message; the function skips this allocation when it looks for the last event. */
static bool has_aborted(const struct model *m, uint32_t thread)
{
	const struct model_history *h = &m->histories[thread];
	size_t n = h->operation_count;

	while (n && raddle_class(h->operations[n - 1].kind) == RADDLE_CLASS_MEMORY)
		n--;
	return n && h->operations[n - 1].kind == RADDLE_ABORT;
}

/* Returns true if the thread had not ended and was not waiting for another one. */
static bool was_running(const struct model *m, uint32_t thread)
{
	const struct model_operation *last = last_operation(m, thread);

	return !m->threads[thread].end_q && last && raddle_role(last->kind) != RADDLE_ROLE_REQUEST &&
	       raddle_role(last->kind) != RADDLE_ROLE_WAIT;
}

static bool touched_nothing(const struct model *m, uint32_t thread)
{
	const struct model_history *h = &m->histories[thread];

	return was_running(m, thread) && h->end_site && h->end_address < UNMAPPED_BELOW;
}

/* Returns the only thread for which `holds` returns true, or MODEL_NONE if there is no such thread
 * or several. */
static uint32_t only_one(const struct model *m, bool (*holds)(const struct model *, uint32_t))
{
	uint32_t found = MODEL_NONE;

	for (uint32_t i = 0; i < m->thread_count; i++) {
		if (!holds(m, i))
			continue;
		if (found != MODEL_NONE)
			return MODEL_NONE;
		found = i;
	}
	return found;
}

bool predict_has_aborted(const struct model *model)
{
	return only_one(model, has_aborted) != MODEL_NONE;
}

static uint32_t failed_thread(const struct model *m, int signal)
{
	uint32_t thread = only_one(m, has_aborted);

	if (signal == SIGABRT && thread != MODEL_NONE)
		return thread;
	thread = signal == SIGSEGV ? only_one(m, touched_nothing) : MODEL_NONE;
	if (thread == MODEL_NONE)
		thread = only_one(m, was_running);
	return thread != MODEL_NONE && did_something(m, thread) ? thread : MODEL_NONE;
}

static struct finding_wait *add_entry(struct finding *f, const char *kind, int signal)
{
	struct finding_wait *w = &f->cycle[f->cycle_count++];

	w->kind = kind;
	w->wants = signal ? signals[row_of(signal)].name : NULL;
	return w;
}

static void add_thread(const struct model *m, uint32_t thread, struct finding_set *set, struct finding *f)
{
	RD_ASSERT(thread < m->thread_count);
	predict_describe_end(m, thread, set, &f->cycle[f->cycle_count - 1]);
	predict_describe_thread(m, thread, set, &f->threads[f->thread_count++]);
}

/* Adds the threads that existed when the run ended, if the failed one is not known. */
static void add_threads(const struct model *m, struct finding_set *set, struct finding *f)
{
	for (uint32_t i = 0; i < m->thread_count && f->thread_count < THREADS_SHOWN; i++) {
		if (m->threads[i].end_q)
			continue;
		add_entry(f, "alive", 0);
		add_thread(m, i, set, f);
	}
}

static bool any_thread_did_something(const struct model *m)
{
	uint32_t i = 0;

	while (i < m->thread_count && !did_something(m, i))
		i++;
	return i < m->thread_count;
}

bool predict_failure(const struct model *m, int signal, struct finding_set *set)
{
	RD_ASSERT(m->histories != NULL || m->thread_count == 0);
	uint32_t failed = signal ? failed_thread(m, signal) : MODEL_NONE;
	struct finding *f;

	if (!any_thread_did_something(m))
		return false;
	f = finding_add(set, FINDING_FAILURE);
	f->sound = f->recorded = true;
	f->status = signal ? FINDING_CONFIRMED : FINDING_UNCONFIRMED;
	f->reason = signal ? NULL : "it had to be ended; whether it would have ended by itself is not known";
	f->consequence = signal ? signals[row_of(signal)].consequence : "hang";
	f->cycle = finding_array(set, THREADS_SHOWN + 1, sizeof *f->cycle);
	f->threads = finding_array(set, THREADS_SHOWN, sizeof *f->threads);
	if (signal)
		add_entry(f, "signal", signal);
	if (failed != MODEL_NONE)
		add_thread(m, failed, set, f);
	else
		add_threads(m, set, f);
	return true;
}
