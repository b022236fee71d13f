// SPDX-License-Identifier: Apache-2.0
/* The agent's side of the memory that it shares with a guarded program: makes it, fills it and
 * reads it. */
#include "site/session-int.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
	/* If the agent's last beat is older than this, guards become inactive.  Set by hand: the
	 * agent beats ten times a second, but on a busy machine it may be stopped for a while. */
	AGENT_LOST_MS = 5000,
	/* The maximum time for which an access is tracked, and the share of the run time that
	 * tracking may take, in thousandths.  Set by hand, so that the cost is at most 5 %
	 * (doc/design/guard.md). */
	TRACKED_MAX_US = 20000,
	TRACKED_PERMIL = 50,
};

/* Fills in, for each guard, the list of pairs that contain it. */
static void fill_lists(struct site_session *s)
{
	uint32_t *starts = (void *)((char *)s->shared + RADDLE_GUARD_STARTS_AT);
	uint32_t *lists = (void *)((char *)s->shared + RADDLE_GUARD_LISTS_AT);
	const struct guard_table *t = s->table;
	for (size_t i = 0; i < t->count; i++)
		for (int k = 0; k < 2; k++)
			if (k == 0 || t->candidates[i].guard[1] != t->candidates[i].guard[0])
				starts[t->candidates[i].guard[k] + 1]++;
	for (uint32_t g = 0; g < t->guards; g++)
		starts[g + 1] += starts[g];
	RD_ASSERT(starts[t->guards] <= 2 * t->count);
	uint32_t *at = rd_xcalloc(t->guards + 1, sizeof *at);
	memcpy(at, starts, t->guards * sizeof *at);
	for (size_t i = 0; i < t->count; i++) {
		s->pairs[i].guard[0] = t->candidates[i].guard[0];
		s->pairs[i].guard[1] = t->candidates[i].guard[1];
		for (int k = 0; k < 2; k++)
			if (k == 0 || t->candidates[i].guard[1] != t->candidates[i].guard[0])
				lists[at[t->candidates[i].guard[k]]++] = (uint32_t)i;
	}
	free(at);
}

/* Fills in the regions of each guard.  Each pair of a guard and a region is a place.  The places of
 * a region are linked in a ring. */
static void fill_places(struct site_session *s)
{
	const struct guard_table *t = s->table;
	uint32_t *first = (void *)((char *)s->shared + RADDLE_GUARD_FIRST_AT(t->count));
	struct raddle_guard_place *places = (void *)((char *)s->shared + RADDLE_GUARD_PLACES_AT(t->count));
	/* For each region, the number of its last place so far, counted from 1; 0 if it has none
	 * yet. */
	uint32_t *last = rd_xcalloc(RADDLE_GUARDS, sizeof *last);
	memcpy(first, t->first, (t->guards + 1) * sizeof *first);
	for (uint32_t g = 0; g < t->guards; g++)
		for (uint32_t i = t->first[g]; i < t->first[g + 1]; i++) {
			RD_ASSERT(t->regions[i] < RADDLE_GUARDS); /* the table was checked */
			uint32_t before = last[t->regions[i]];
			places[i] = (struct raddle_guard_place){g, t->regions[i],
								before != 0 ? places[before - 1].next : i};
			if (before != 0)
				places[before - 1].next = i;
			last[t->regions[i]] = i + 1;
		}
	free(last);
	s->shared->place_count = t->first[t->guards];
}

int site_session_open(struct site_session *s, const struct guard_table *table)
{
	*s = (struct site_session){.fd = memfd_create("raddle-guard", MFD_CLOEXEC), .table = table};
	s->size = RADDLE_GUARD_WHOLE_SIZE(table->count, table->first[table->guards]);
	if (s->fd < 0 || ftruncate(s->fd, (off_t)s->size))
		return rd_fail_errno("cannot create the memory that is shared with the program");
	s->shared = mmap(NULL, s->size, PROT_READ | PROT_WRITE, MAP_SHARED, s->fd, 0);
	if (s->shared == MAP_FAILED) {
		s->shared = NULL;
		return rd_fail_errno("cannot create the memory that is shared with the program");
	}
	s->flags = (uint8_t *)s->shared + RADDLE_GUARD_FLAGS_AT;
	s->regions = (uint8_t *)s->shared + RADDLE_GUARD_REGIONS_AT;
	s->left = (uint8_t *)s->shared + RADDLE_GUARD_LEFT_AT;
	s->pairs = (void *)((char *)s->shared + RADDLE_GUARD_PAIRS_AT(table->count));
	s->shared->magic = RADDLE_GUARD_MAGIC;
	s->shared->version = RADDLE_GUARD_VERSION;
	s->shared->pair_count = (uint32_t)table->count;
	s->shared->guard_count = table->guards;
	atomic_store(&s->shared->patience_ms, AGENT_LOST_MS);
	atomic_store(&s->shared->track_us, TRACKED_MAX_US);
	atomic_store(&s->shared->track_permil, TRACKED_PERMIL);
	fill_lists(s);
	fill_places(s);
	site_session_wake(s, INT64_MAX);
	site_session_beat(s);
	return 0;
}

void site_session_close(struct site_session *s)
{
	if (s->shared != NULL)
		munmap(s->shared, s->size);
	if (s->fd > 0)
		close(s->fd);
	*s = (struct site_session){0};
}

void site_session_beat(struct site_session *s)
{
	atomic_store(&s->shared->beat_ns, (uint64_t)rd_now_ns());
}

static void set_flag(struct site_session *s, uint32_t guard, uint8_t flag)
{
	RD_ASSERT(guard < s->table->guards);
	__atomic_fetch_or(&s->flags[guard], flag, __ATOMIC_RELEASE);
	for (uint32_t i = s->table->first[guard]; i < s->table->first[guard + 1]; i++)
		s->regions[s->table->regions[i]] = 1;
}

/* Sets each region to the state that the flags of its guards require.  If `wake` is false,
 * inactive regions stay inactive. */
static void settle(struct site_session *s, bool wake)
{
	uint8_t *used = rd_xcalloc(RADDLE_GUARDS, 1);
	const struct guard_table *t = s->table;
	for (uint32_t g = 0; g < t->guards; g++)
		for (uint32_t i = t->first[g]; s->flags[g] != 0 && i < t->first[g + 1]; i++)
			used[t->regions[i]] = 1;
	for (uint32_t i = 0; i < t->first[t->guards]; i++)
		if (wake || !used[t->regions[i]])
			s->regions[t->regions[i]] = used[t->regions[i]];
	free(used);
}

void site_session_settle(struct site_session *s)
{
	settle(s, false);
}

void site_session_wake(struct site_session *s, int64_t calls)
{
	atomic_store(&s->shared->calls_left, calls);
	for (uint32_t k = 0; k < RADDLE_GUARD_TASKS; k++) {
		const struct raddle_guard_task *t = &s->shared->tasks[k];
		for (int i = 0; atomic_load(&t->generation) != 0 && !atomic_load(&t->over) && i < 2; i++)
			if (t->guard[i] < s->table->guards)
				set_flag(s, t->guard[i], RADDLE_GUARD_TASK);
	}
	settle(s, true);
}

void site_session_rest(struct site_session *s)
{
	memset(s->regions, 0, RADDLE_GUARDS);
}

bool site_session_is_busy(const struct site_session *s)
{
	bool busy = false;
	for (uint32_t k = 0; k < RADDLE_GUARD_TASKS; k++)
		busy |= atomic_load(&s->shared->tasks[k].generation) != 0 &&
			atomic_load(&s->shared->tasks[k].active) != 0;
	return busy;
}

void site_session_quiet(struct site_session *s)
{
	memset(s->flags, 0, s->table->guards);
	site_session_settle(s);
	for (uint32_t k = 0; k < RADDLE_GUARD_TASKS; k++)
		atomic_store(&s->shared->tasks[k].generation, 0);
}

void site_session_observe(struct site_session *s, uint8_t times)
{
	for (size_t i = 0; i < s->table->count; i++) {
		if (atomic_load(&s->pairs[i].context) & RADDLE_GUARD_TWO_THREADS)
			continue;
		for (int k = 0; k < 2; k++) {
			uint32_t g = s->table->candidates[i].guard[k];
			s->left[g] = times;
			set_flag(s, g, RADDLE_GUARD_OBSERVE);
		}
	}
}

uint32_t site_session_give(struct site_session *s, const struct site_order *order)
{
	RD_ASSERT(order->candidate < s->table->count);
	const struct guard_candidate *c = &s->table->candidates[order->candidate];
	for (uint32_t k = 0; k < RADDLE_GUARD_TASKS; k++) {
		struct raddle_guard_task *t = &s->shared->tasks[k];
		if (atomic_load(&t->generation) != 0)
			continue;
		t->guard[0] = c->guard[0];
		t->guard[1] = c->guard[1];
		t->order = order->order;
		t->tau_us = order->tau_us;
		t->skip = order->skip;
		atomic_store(&t->ordered, 0);
		atomic_store(&t->active, 0);
		atomic_store(&t->raced, 0);
		atomic_store(&t->over, 0);
		atomic_store(&t->generation, ++s->generation);
		for (int i = 0; i < 2; i++)
			set_flag(s, c->guard[i], RADDLE_GUARD_TASK);
		return s->generation;
	}
	return 0;
}

struct raddle_guard_task *site_session_task(const struct site_session *s, uint32_t generation)
{
	for (uint32_t k = 0; generation != 0 && k < RADDLE_GUARD_TASKS; k++)
		if (atomic_load(&s->shared->tasks[k].generation) == generation)
			return &s->shared->tasks[k];
	return NULL;
}

/* Returns true if a report is valid.  The program may have written anything there. */
static bool is_valid(const struct raddle_guard_report *r)
{
	return r->order <= RADDLE_GUARD_ALTERNATE && r->result >= RADDLE_GUARD_RACE &&
	       r->result <= RADDLE_GUARD_TIMEOUT && r->proof <= RADDLE_GUARD_COLLISION;
}

bool site_session_report(struct site_session *s, struct raddle_guard_report *report)
{
	for (uint32_t i = 0; i < RADDLE_GUARD_REPORTS; i++, s->next++) {
		struct raddle_guard_report *r = &s->shared->reports[s->next % RADDLE_GUARD_REPORTS];
		if (!atomic_load(&r->ready))
			continue;
		report->generation = r->generation;
		report->result = r->result;
		report->order = r->order;
		report->proof = r->proof;
		report->tau_us = r->tau_us;
		report->pause_us = r->pause_us;
		report->watched = r->watched;
		atomic_store(&r->ready, 0);
		if (!is_valid(report))
			continue;
		s->next++;
		return true;
	}
	return false;
}

enum { DESCRIPTORS = sizeof((struct site_inherited *)0)->open };

void site_inherited_look(struct site_inherited *all)
{
	for (int fd = 0; fd < DESCRIPTORS; fd++)
		all->open[fd] = fcntl(fd, F_GETFD) >= 0;
}

static void keep_others_out(const struct site_inherited *inherited)
{
	for (int fd = 3; fd < DESCRIPTORS; fd++)
		if (!inherited->open[fd])
			fcntl(fd, F_SETFD, FD_CLOEXEC);
}

/* Runs in the child: passes the descriptor to the runtime and executes the program.  The program
 * inherits the original signal handling, because the agent has not installed its handlers yet. */
static void become(const struct site_given *given, const char *executable, char *const *argv)
{
	char number[16];
	if (given != NULL && given->inherited != NULL)
		keep_others_out(given->inherited);
	if (given != NULL) {
		int fd = fcntl(given->fd, F_DUPFD, 3);
		snprintf(number, sizeof number, "%d", fd);
		if (fd >= 0)
			setenv(given->variable, number, 1);
	}
	execv(executable, argv);
	fprintf(stderr, "raddle: %s: %s\n", executable, strerror(errno));
	_exit(errno == ENOENT ? 127 : 126);
}

int site_start_with(const struct site_given *given, const char *executable, char *const *argv, pid_t *pid)
{
	fflush(NULL);
	*pid = fork();
	if (*pid < 0)
		return rd_fail_errno("%s: cannot be started", executable);
	if (*pid == 0)
		become(given, executable, argv);
	return 0;
}

int site_start(const struct site_session *s, const char *executable, char *const *argv, pid_t *pid)
{
	struct site_given given = {.fd = s != NULL ? s->fd : -1,
				   .variable = RADDLE_GUARD_ENV,
				   .inherited = s != NULL ? s->inherited : NULL};
	return site_start_with(s != NULL ? &given : NULL, executable, argv, pid);
}
