// SPDX-License-Identifier: Apache-2.0
/* Programs in the flavour `led`.  In: a program's name.  Out: the flavour and its site table. */
#include "replay/led.h"

#define FLAVOUR "led"

int replay_led_open(struct replay_led *l, const char *name, const struct run_build *how)
{
	int err;

	*l = (struct replay_led){.program = {.kind = FLAVOUR}};
	err = run_program_open(&l->program, name, how);
	return err ? err : trace_sites_read(&l->sites, l->program.flavour.sites);
}

void replay_led_close(struct replay_led *l)
{
	trace_sites_free(l->sites);
	run_program_close(&l->program);
}
