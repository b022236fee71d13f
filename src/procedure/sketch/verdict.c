// SPDX-License-Identifier: Apache-2.0
/* Turns verdicts of the user's command into failures, which have a kind but no place. */
#include "sketch/verdict-int.h"

#include "base/alloc.h"
#include "base/error.h"

int verdict_judge(struct judge *j, const struct trial *t, struct sketch_failure *f)
{
	bool failed;
	int err;

	if (!j->command || f->kind == SKETCH_CRASH || f->kind == SKETCH_ASSERTION || f->kind == SKETCH_HANG)
		return RD_OK;
	err = judge_run(j, t, &failed);
	if (err)
		return err;
	sketch_failure_release(f);
	if (!failed)
		return RD_OK;
	f->kind = t->status ? SKETCH_EXIT : SKETCH_OUTPUT;
	f->what = t->status ? rd_xasprintf("status %d", t->status) : rd_xstrdup("judged by the test command");
	return RD_OK;
}
