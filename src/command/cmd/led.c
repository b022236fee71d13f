// SPDX-License-Identifier: Apache-2.0
/*
 * Programs under Raddle's control (led-int.h).  Makes the flavour `led` of a program, and ensures
 * that every run gets the same standard input.
 */
#include "cmd/led-int.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/scratch.h"
#include "cmd/cmd-int.h"
#include "cmd/output-int.h"
#include "cmd/option-int.h"

#include <stdlib.h>

int cmd_led_open(struct cmd_led *l, const char *command, char **argv, bool lines)
{
	struct run_build how = {
		.verbose = opt.verbose, .plugins = opt.plugins, .often = true, .debug = lines};
	RD_ASSERT(argv && argv[0] && !l->scratch);
	char *name = rd_xasprintf("raddle-%s", command), *spool;
	int err = rd_scratch_open(&l->scratch, NULL, name);

	free(name);
	if (err)
		return err;
	spool = rd_xasprintf("%s/stdin", l->scratch);
	err = run_input_open_whole(&l->input, spool);
	free(spool);
	if (!err)
		err = replay_led_open(&l->flavour, argv[0], &how);
	l->program = (struct replay_program){
		.program = &l->flavour.program, .argv = argv, .sites = l->flavour.sites};
	return err;
}

void cmd_led_close(struct cmd_led *l)
{
	replay_led_close(&l->flavour);
	run_input_close(&l->input);
	rd_scratch_close(l->scratch);
}

struct replay_conditions cmd_led_runs(const struct cmd_led *l)
{
	return (struct replay_conditions){.program = &l->program,
					  .input = &l->input,
					  .companion = opt.with,
					  .setup = opt.setup,
					  .kernel_threads = opt.kernel_threads,
					  .no_snapshots = opt.no_snapshots,
					  .limit_ns = rd_ms_to_ns(cmd_limit(opt.timeout, CMD_FOREVER))};
}
