/* SPDX-License-Identifier: Apache-2.0 */
#include "instr/event.h"
void instr_mark_wait_loops(struct instr_function *f)
{
	(void)f;
}
