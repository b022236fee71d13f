// SPDX-License-Identifier: Apache-2.0
/*
 * Takes any bytes as what a steered program leaves in the steering memory.  A program with a race
 * may write anything there.  The replayer must always reach a verdict and describe it.
 *
 * The first byte selects a race or a deadlock.  Then follow snapshots of the memory, each with the
 * words of the header, the difference, and SLOTS slots with the locks that they hold.
 */
#include "base/error.h"
#include "replay/graph-int.h"
#include "replay/watch-int.h"

#include <stdlib.h>
#include <string.h>

#define SLOTS 6
#define HELD 4
#define STEP_MS 150

struct input {
	const uint8_t *data;
	size_t left;
};

/* Takes bytes of the input, and zeros after its end. */
static void take(struct input *in, void *to, size_t size)
{
	size_t n = size < in->left ? size : in->left;

	memset(to, 0, size);
	if (n)
		memcpy(to, in->data, n);
	in->data += n;
	in->left -= n;
}

static uint8_t take_byte(struct input *in)
{
	uint8_t byte;

	take(in, &byte, 1);
	return byte;
}

static void make_race(struct schedule *s)
{
	*schedule_add_op(s) =
		(struct schedule_op){.thread = "T_0_1", .n = 2, .kind = "mutex-lock", .object = "m"};
	*schedule_add_goal(s) = (struct schedule_goal){
		.thread = "T_0_0", .after = 1, .occurrence = 1, .site = 1, .write = true};
	*schedule_add_goal(s) =
		(struct schedule_goal){.thread = "T_0_1", .after = 2, .occurrence = 1, .site = 2};
}

static void make_deadlock(struct schedule *s)
{
	*schedule_add_op(s) =
		(struct schedule_op){.thread = "T_0_0", .n = 2, .kind = "mutex-lock", .object = "a"};
	*schedule_add_stop(s) =
		(struct schedule_stop){.thread = "T_0_0", .n = 3, .kind = "mutex-lock", .object = "b"};
	*schedule_add_stop(s) =
		(struct schedule_stop){.thread = "T_0_1", .n = 4, .kind = "mutex-lock", .object = "a"};
}

static void fill(struct input *in, struct raddle_steer *steer, struct raddle_slot *slots)
{
	uint8_t count = take_byte(in);

	steer->slot_count = count == 255 ? UINT32_MAX : count % (SLOTS + 1);
	steer->phase = take_byte(in);
	steer->turn = take_byte(in);
	take(in, &steer->difference, sizeof steer->difference);
	for (uint32_t i = 0; i < SLOTS; i++) {
		take(in, &slots[i], offsetof(struct raddle_slot, held));
		take(in, slots[i].held, HELD * sizeof slots[i].held[0]);
		slots[i].timed = take_byte(in) & 1;
	}
}

/* Describes the slots that are filled.  If the header claims thousands of slots, empty ones are
 * skipped. */
static void use(const struct watch *w, const struct plan *plan, const struct raddle_steer *steer)
{
	const struct board *b = &w->before;
	struct explainer e = {plan, b, NULL, 0};
	struct rd_buf text = RD_BUF_INIT;
	bool *core = calloc(b->count + 1, sizeof *core);

	RD_ASSERT(core);
	graph_core(b, w->closed, core);
	for (uint32_t i = 0; i < b->count; i++)
		RD_ASSERT(!core[i] || w->closed[i]);
	for (uint32_t i = 0; i < b->count && i <= SLOTS; i++) {
		explain_object(&e, &b->rows[i], &text);
		board_name(b, graph_owner(b, w->closed, i), &text);
	}
	explain_difference(&e, steer, &text);
	explain_missing(&e, &text);
	rd_buf_release(&text);
	free(core);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct raddle_steer steer;
	static struct raddle_slot slots[RADDLE_SLOTS];
	struct input in = {data, size};
	struct schedule schedule;
	struct plan plan;
	struct watch w;
	struct board board = {0};

	schedule_init(&schedule);
	(take_byte(&in) & 1 ? make_deadlock : make_race)(&schedule);
	RD_ASSERT(plan_compile(&plan, &schedule, NULL) == 0);
	watch_start(&w, &plan, NULL);
	w.patience_ms = 2000;
	w.limit_ms = 20000;
	for (uint64_t now = 1000; in.left; now += STEP_MS) {
		fill(&in, &steer, slots);
		board_read(&board, &steer, slots);
		watch_step(&w, &board, now);
		use(&w, &plan, &steer);
	}
	board_release(&board);
	watch_release(&w);
	plan_release(&plan);
	schedule_release(&schedule);
	return 0;
}
