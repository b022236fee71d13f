// SPDX-License-Identifier: Apache-2.0
/*
 * Reads the slots of a steered program, and its threads in /proc.  In: the steering memory, whose
 * content is not trusted.  Out: a board on which every number used as an index is in range.
 */
#include "replay/board-int.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/name.h"
#include "run/proc.h"

#include <stdlib.h>
#include <sys/syscall.h>

#define DEPTH_MAX 64 /* maximum number of levels of creation in a thread name */
/* maximum number of threads whose times are read from /proc per board; bounds its cost */
#define ASKED_MAX 128

static void read_held(struct board_row *r, struct raddle_slot *slot)
{
	uint32_t count = atomic_load(&slot->held_count);

	r->held_count = count < RADDLE_SLOT_HELD ? count : RADDLE_SLOT_HELD;
	if (!r->held_count)
		return;
	r->held = rd_xcalloc(r->held_count, sizeof *r->held);
	for (uint32_t i = 0; i < r->held_count; i++)
		r->held[i] = atomic_load(&slot->held[i]);
}

static void read_row(struct board_row *r, struct raddle_slot *slot, uint32_t number)
{
	*r = (struct board_row){.state = atomic_load(&slot->state), .parent = RADDLE_STEER_NONE};
	if (r->state == RADDLE_SLOT_UNUSED)
		return;
	if (r->state > RADDLE_SLOT_ENDED)
		r->state = RADDLE_SLOT_RUNS;
	r->thread = slot->thread;
	r->parent = slot->parent < number ? slot->parent : RADDLE_STEER_NONE;
	r->index = slot->index;
	r->tid = slot->tid;
	r->kind = atomic_load(&slot->kind);
	r->site = atomic_load(&slot->site);
	r->n = atomic_load(&slot->n);
	r->object = atomic_load(&slot->object);
	r->accesses = atomic_load(&slot->accesses);
	r->yields = atomic_load(&slot->yields);
	r->slept = atomic_load(&slot->slept);
	r->timed = atomic_load(&slot->timed) != 0;
	r->own = r->state == RADDLE_SLOT_BLOCKED && !r->timed && atomic_load(&slot->inside);
	r->futex = r->own && atomic_load(&slot->inside) == RADDLE_INSIDE_FUTEX;
	r->ready = atomic_load(&slot->ready) != 0;
	r->point_n = slot->point_n;
	r->point = slot->point < RADDLE_POINTS ? slot->point : RADDLE_POINT_OP;
	r->point_count = slot->point_count;
	r->arrivals = slot->arrivals;
	r->touched = atomic_load(&slot->touched);
	read_held(r, slot);
}

static void clear(struct board *b)
{
	RD_FREE_EACH(b->rows, b->count, .held);
	b->count = 0;
	b->strangers = b->others = b->catches = b->held_up = false;
	b->held_in = 0;
}

/* Returns true if the program has left the plan.  It has not left the plan if the replayer gave up.
 * Nor has it if a thread waits in a loop, because the runtime then still watches for the change
 * that ends the loop. */
static bool has_left(const struct raddle_steer *steer)
{
	if (atomic_load(&steer->phase) != RADDLE_DIVERGED)
		return false;
	return steer->difference.cause != RADDLE_CAUSE_SPINS &&
	       steer->difference.cause != RADDLE_CAUSE_GIVE_UP;
}

static enum raddle_limit limit_of(uint32_t ran_on)
{
	return ran_on == RADDLE_LIMIT_POINTS || ran_on == RADDLE_LIMIT_OUTSIDE ? ran_on : RADDLE_LIMIT_NONE;
}

void board_read(struct board *b, struct raddle_steer *steer, struct raddle_slot *slots)
{
	RD_ASSERT(steer != NULL && slots != NULL);
	uint32_t count = atomic_load(&steer->slot_count);

	clear(b);
	b->phase = atomic_load(&steer->phase);
	b->turn = atomic_load(&steer->turn);
	b->stops_reached = atomic_load(&steer->stops_reached);
	b->left = has_left(steer);
	b->livelocked = atomic_load(&steer->livelock) == 1;
	b->ran_on = limit_of(atomic_load(&steer->ran_on));
	b->running = atomic_load(&steer->running);
	b->idle = steer->flags & RADDLE_STEER_TURNS && b->running == RADDLE_STEER_NONE;
	b->one = steer->flags & RADDLE_STEER_ONE;
	b->stuck = b->idle && atomic_load(&steer->stuck) == 1;
	if (count > RADDLE_SLOTS)
		count = RADDLE_SLOTS;
	RD_GROW(b->rows, b->capacity, count);
	for (uint32_t i = 0; i < count; i++)
		read_row(&b->rows[i], &slots[i], i);
	b->count = count;
}

void board_release(struct board *b)
{
	clear(b);
	free(b->rows);
	*b = (struct board){0};
}

/* ---- /proc ---- */

bool board_is_on_cpu(pid_t pid, uint32_t tid)
{
	struct run_task task;

	return run_task_read(pid, (pid_t)tid, &task) && task.state == 'R';
}

/* Reads the processor times of a thread.  These are coarse, so the number of context switches,
 * voluntary or not, is added to `ran`. */
static void read_times(struct board_row *r, pid_t pid, pid_t tid)
{
	RD_ASSERT(r->state == RADDLE_SLOT_RUNS);
	struct run_task task;

	if (!run_task_read(pid, tid, &task))
		return;
	r->user = task.user;
	r->system = task.system;
	r->ran = task.user + task.system + run_task_switches(pid, tid);
}

/* Returns true if the only kernel thread of the process waits in the kernel while a thread of the
 * program has the turn.  Returns false while the kernel thread sleeps, or waits for a child process
 * as in system(), because such a wait ends by itself. */
static bool is_held_up(struct board *b, pid_t pid)
{
	struct run_call call;

	if (!b->one || b->running >= b->count || b->rows[b->running].state != RADDLE_SLOT_RUNS ||
	    !run_task_call(pid, pid, &call) || call.number < 0 || call.number == SYS_nanosleep ||
	    call.number == SYS_clock_nanosleep || call.number == SYS_wait4)
		return false;
	b->held_in = call.number + 1;
	return true;
}

void board_ask_kernel(struct board *b, pid_t pid)
{
	struct run_process process;
	size_t alive = 0, asked = 0;

	for (size_t i = 0; i < b->count; i++) {
		struct board_row *r = &b->rows[i];

		alive += board_is_alive(r);
		if (r->state == RADDLE_SLOT_RUNS && asked++ < ASKED_MAX)
			read_times(r, pid, b->one ? pid : (pid_t)r->tid);
	}
	if (run_process_read(pid, &process)) {
		b->strangers = process.threads > (b->one ? 1 : alive);
		b->catches = process.catches;
	}
	b->held_up = is_held_up(b, pid);
}

/* ---- threads ---- */

/* Returns true if the thread has an index.  A thread that libc created for itself has an index but
 * no parent. */
static bool has_index(const struct board *b, uint32_t number)
{
	return number < b->count && b->rows[number].state != RADDLE_SLOT_UNUSED && b->rows[number].index &&
	       b->rows[number].index != RADDLE_STEER_NONE;
}

void board_name(const struct board *b, uint32_t number, struct rd_buf *out)
{
	uint32_t index[DEPTH_MAX];
	size_t depth = 0;
	char *name;

	while (number < b->count && b->rows[number].parent != RADDLE_STEER_NONE && depth < DEPTH_MAX) {
		index[depth++] = b->rows[number].index;
		number = b->rows[number].parent;
	}
	name = number == 0	      ? rd_thread_name(NULL, 0)
	       : has_index(b, number) ? rd_thread_name(NULL, b->rows[number].index)
				      : rd_thread_unknown(number);
	while (depth) {
		char *creator = name;

		name = rd_thread_name(creator, index[--depth]);
		free(creator);
	}
	rd_buf_adds(out, name);
	free(name);
}

const struct board_row *board_of_plan(const struct board *b, uint32_t position)
{
	for (size_t i = 0; i < b->count; i++)
		if (b->rows[i].state != RADDLE_SLOT_UNUSED && b->rows[i].thread == position)
			return &b->rows[i];
	return NULL;
}

uint64_t board_extent(const struct board *b)
{
	uint64_t extent = 0;

	for (size_t i = 0; i < b->count; i++)
		if (b->rows[i].state != RADDLE_SLOT_UNUSED)
			extent += BOARD_EXTENT_THREAD + b->rows[i].arrivals +
				  b->rows[i].accesses / BOARD_EXTENT_ACCESSES;
	return extent;
}

bool board_has_moved(const struct board *b, const struct board *before)
{
	if (b->count != before->count || b->phase != before->phase || b->turn != before->turn)
		return true;
	for (size_t i = 0; i < b->count; i++)
		if (b->rows[i].n != before->rows[i].n || b->rows[i].state != before->rows[i].state)
			return true;
	return false;
}
