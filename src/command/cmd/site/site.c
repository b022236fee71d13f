// SPDX-License-Identifier: Apache-2.0
/* `raddle site run`: runs a program in production, together with an agent that looks for races at
 * the request of a hive. */
#include "cmd/cmd-int.h"

#include "base/error.h"
#include "base/hex.h"
#include "protocol/sign.h"
#include "run/launch.h"
#include "site/agent.h"

#include <string.h>

#define KILL_FILE "/run/raddle/off"

static const struct cmd_usage usage = {
	"raddle site run --hive URL [OPTION]... -- PROG [ARG]...",
	"Runs a program that 'raddle cc' built, or its guard flavour, and looks for races at the\n"
	"request of a hive.  The program behaves as it would without Raddle, and runs even if the\n"
	"hive fails.  The exit status is that of the program.",
	"hive token key ca state_dir kill_file site_mode max_tau poll_now dump_upload send_values ask "
	"verbose",
	"  raddle site run --hive http://127.0.0.1:8787 -- ./server -p 80\n"
	"  raddle site run --hive https://hive.example --mode observe -- ./server\n",
	true,
};

static int run(char **argv)
{
	struct site_opts how = {.hive = opt.hive,
				.token_file = opt.token,
				.key = opt.key,
				.ca = opt.ca,
				.state_dir = opt.state_dir,
				.kill_file = opt.kill_file ? opt.kill_file : KILL_FILE,
				.mode = PROTOCOL_VALIDATE,
				.max_tau_ms = (uint32_t)opt.max_tau,
				.poll_now = opt.poll_now,
				.dump = opt.dump_upload,
				.values = opt.send_values,
				.ask = opt.ask,
				.verbose = opt.verbose};

	if (!how.hive || (strncmp(how.hive, "http://", 7) && strncmp(how.hive, "https://", 8))) {
		rd_fail(RD_EUSAGE, "site run: --hive URL is needed, with http:// or https://");
		return CMD_FAILED;
	}
	if (opt.site_mode && !protocol_mode_find(opt.site_mode, &how.mode)) {
		rd_fail(RD_EUSAGE, "site run: --mode %s: it must be off, observe or validate", opt.site_mode);
		return CMD_FAILED;
	}
	if (how.key && !rd_is_hex(how.key, PROTOCOL_KEY_TEXT - 1)) {
		rd_fail(RD_EUSAGE, "site run: --key %s: it must be 64 hexadecimal digits", how.key);
		return CMD_FAILED;
	}
	int status = site_run(&how, argv);

	return status < 0 ? CMD_FAILED : run_exit_like(status);
}

int cmd_site(int argc, char **argv)
{
	struct cmd_words words;
	int status = cmd_program(argc, argv, &usage, "command (run)", &words);

	if (status != CMD_GO_ON)
		return status;
	if (!words.operand || strcmp(words.operand, "run")) {
		rd_fail(RD_EUSAGE, "site: the command is 'site run'");
		return CMD_FAILED;
	}
	if (!*words.program)
		return cmd_which("site run", "program");
	return run(words.program);
}
