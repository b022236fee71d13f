// SPDX-License-Identifier: Apache-2.0
/* Reads any bytes as a task set with a valid signature.  An accepted set must be within its limits,
 * and a site must read the same set from what a hive would write.  The bytes must not be accepted
 * as their own signature. */
#include "base/error.h"
#include "protocol/sign.h"
#include "protocol/task-set.h"

#include <string.h>

static const char build[] = "0123456789abcdef";

static void check_task(const struct protocol_task *t)
{
	RD_ASSERT(t->mode != PROTOCOL_OFF && *t->id && strlen(t->id) < PROTOCOL_TASK_ID);
	RD_ASSERT(strlen(t->candidate) < CANDIDATE_ID_SIZE && strlen(t->plan) < SKETCH_PLAN_ID);
	RD_ASSERT(!t->track || (*t->file && t->line && t->sigma && t->sigma <= SKETCH_PLAN_MAX));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char key[] = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a";
	struct protocol_task_set set, again;
	struct rd_buf body = RD_BUF_INIT;
	char signature[PROTOCOL_SIGNATURE_TEXT] = "";

	rd_log_set(rd_log_discard, NULL);
	memcpy(signature, data, size < sizeof signature - 1 ? size : sizeof signature - 1);
	RD_ASSERT(!protocol_is_signed(key, signature, data, size));
	if (protocol_task_set_read(&set, build, data, size, "fuzz") != RD_OK)
		return 0;
	for (size_t i = 0; i < set.count; i++)
		check_task(&set.tasks[i]);
	RD_ASSERT(protocol_task_set_write(&set, build, &body) == RD_OK);
	if (body.length <= PROTOCOL_SET_MAX) {
		RD_ASSERT(protocol_task_set_read(&again, build, body.data, body.length, "again") == RD_OK);
		RD_ASSERT(!memcmp(&set, &again, sizeof set));
	}
	rd_buf_release(&body);
	return 0;
}
