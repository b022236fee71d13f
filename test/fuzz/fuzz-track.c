// SPDX-License-Identifier: Apache-2.0
/*
 * Takes any bytes as what a tracked program left in the shared memory.  Accepted data refers only
 * to existing gates, is in order, and has terminated strings.
 *
 * The input is the number of slots, the number of the next event, eight bytes, and then the content
 * of the slots.  The failure is made from the same bytes.
 */
#include "base/error.h"
#include "sketch/track-int.h"

#include <stdlib.h>
#include <string.h>

enum { GATES = 5, SLOTS = 64 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static _Alignas(4096) char memory[RADDLE_TRACK_SIZE(SLOTS)];
	struct raddle_track *s = (struct raddle_track *)memory;
	struct track_left left;
	uint64_t head = 0;

	if (size < 9)
		return 0;
	memset(memory, 0, sizeof memory);
	memcpy(&head, data + 1, sizeof head);
	s->event_count = data[0];
	s->head = head;
	size -= 9;
	data += 9;
	memcpy(memory + RADDLE_TRACK_EVENTS_AT, data,
	       size < SLOTS * sizeof(struct raddle_track_event) ? size
								: SLOTS * sizeof(struct raddle_track_event));
	memcpy((void *)&s->failure, data, size < sizeof s->failure ? size : sizeof s->failure);
	track_read(&left, memory, sizeof memory, GATES);
	for (size_t i = 0; i < left.count; i++) {
		RD_ASSERT(left.items[i].gate < GATES || left.items[i].gate == RADDLE_TRACK_HARDWARE);
		RD_ASSERT(left.items[i].number < left.seen && left.items[i].size <= 8);
		RD_ASSERT(i == 0 || left.items[i].number > left.items[i - 1].number);
	}
	RD_ASSERT(strlen(left.text) < RADDLE_TRACK_TEXT && strlen(left.file) < RADDLE_TRACK_TEXT);
	track_left_release(&left);
	track_read(&left, memory, sizeof memory % (head % 8192 + 1), GATES);
	track_left_release(&left);
	return 0;
}
