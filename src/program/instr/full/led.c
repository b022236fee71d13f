/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The flavour `led` is the flavour `full` with additional calls of the runtime: before each
 * access, before each call that may leave the unit, and at fences.  The runtime may stop the
 * thread before an access or call.  A program that is only recorded does not have these calls.
 */
#include "instr/unit-int.h"

int instr_led(struct instr_unit *u)
{
	u->stops = true;
	return instr_full(u);
}

int instr_led_generate(struct instr_unit *u)
{
	instr_keep_waiting(u);
	instr_mark_progress(u);
	return instr_full_generate(u);
}
