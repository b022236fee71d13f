// SPDX-License-Identifier: Apache-2.0
/* `raddle hive`: the service that collects the reports of sites about race candidates, and the
 * commands that are its clients. */
#include "cmd/cmd-int.h"

#include "base/error.h"
#include "base/file.h"
#include "cmd/hive/hive.h"
#include "hive/serve.h"
#include "hive/server.h"
#include "hive/token.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct cmd_usage usage = {
	"raddle hive serve|add|status|set|track|sketch|simulate|token|backup ...",
	"A hive assigns race candidates of programs in production to the sites that run these\n"
	"programs, and derives verdicts from the reports of the sites.  It explains failures in the\n"
	"same way.\n\n"
	"  serve               run a hive; prints its URL\n"
	"  add PROG            send a program and its candidates to the hive\n"
	"  status              show programs and races\n"
	"  set BUILD|PROG      change what sites may do: --state, --rollout, --poll\n"
	"  track PROG          let sites track a failure: --report\n"
	"  sketch BUILD|PROG   show the explanations of failures\n"
	"  simulate -- PROG    run many sites on this machine\n"
	"  token NAME          make a token for a fleet, or revoke it with --revoke\n"
	"  backup FILE         copy the database of a hive, which may be running",
	"hive listen hive_db tls_cert tls_key rate bound token ca admin revoke state rollout poll "
	"hive_classes hive_sites rounds "
	"jobs failure_report html json verbose",
	"  raddle hive serve --listen 127.0.0.1:8787 &\n"
	"  raddle hive add --hive http://127.0.0.1:8787 ./server\n"
	"  raddle hive simulate --hive http://127.0.0.1:8787 --sites 20 -- ./server\n"
	"  raddle hive status --hive http://127.0.0.1:8787\n",
	false,
};

static const char *database(void)
{
	return opt.hive_db ? opt.hive_db : "raddle-hive.db";
}

static void say_url(const char *url)
{
	puts(url);
	fflush(stdout);
}

static int do_serve(char **words)
{
	const char *listen = opt.listen ? opt.listen : "127.0.0.1:8787";
	long cores = sysconf(_SC_NPROCESSORS_ONLN);
	struct hive_serve_opts o = {
		.hive = {.db = database(),
			 .bound_s = opt.bound < 1000 ? 1 : (uint32_t)(opt.bound / 1000),
			 .rate = (uint32_t)opt.rate,
			 .open = hive_is_loopback(listen)},
		.listen = listen,
		.certificate = opt.tls_cert,
		.private_key = opt.tls_key,
		.threads = cores < 2 ? 2 : (unsigned)cores,
	};

	if (*words)
		return rd_fail(RD_EUSAGE, "hive serve: unexpected argument '%s'", *words), CMD_FAILED;
	if (!opt.tls_cert != !opt.tls_key)
		return rd_fail(RD_EUSAGE, "hive serve: --tls-cert and --tls-key go together"), CMD_FAILED;
	return hive_serve(&o, say_url) ? CMD_FAILED : CMD_OK;
}

/* Returns the only word after the action.  Reports an error and returns NULL if there is not
 * exactly one. */
static const char *only_word(char **words, const char *action, const char *what)
{
	if (*words && !words[1])
		return *words;
	rd_fail(RD_EUSAGE, "hive %s: needs %s; 'raddle help hive' shows the usage", action, what);
	return NULL;
}

static int make_token(struct hive_db *db, const char *name)
{
	char token[HIVE_TOKEN_TEXT], hash[HIVE_HASH_TEXT];
	int err = hive_token_make(token);

	if (err)
		return err;
	hive_hash(token, hash);
	err = hive_store_token_add(db, hash, name, opt.admin ? HIVE_ADMIN : HIVE_FLEET);
	if (!err)
		puts(token);
	return err;
}

static int change_token(struct hive_db *db, const char *name)
{
	return opt.revoke ? hive_store_token_revoke(db, name) : make_token(db, name);
}

/* Runs an action on the database with the given word.  `word` is NULL if only_word() has already
 * reported an error. */
static int do_with_word(const char *word, int (*action)(struct hive_db *db, const char *word))
{
	struct hive_db *db;
	int err;

	if (!word || hive_store_open(&db, database()))
		return CMD_FAILED;
	err = action(db, word);
	hive_db_close(db);
	return err ? CMD_FAILED : CMD_OK;
}

static int do_token(char **words)
{
	return do_with_word(only_word(words, "token", "the name of a fleet"), change_token);
}

static int do_backup(char **words)
{
	return do_with_word(only_word(words, "backup", "a file to write"), hive_db_backup);
}

static const struct {
	const char *name;
	int (*run)(char **words);
} actions[] = {
	{"serve", do_serve},	    {"add", hive_do_add},
	{"status", hive_do_status}, {"simulate", hive_do_simulate},
	{"token", do_token},	    {"backup", do_backup},
	{"set", hive_do_set},	    {"track", hive_do_track},
	{"sketch", hive_do_sketch},
};

int cmd_hive(int argc, char **argv)
{
	struct cmd_words words;
	int status = cmd_program(argc, argv, &usage,
				 "action: serve, add, status, set, track, sketch, simulate, token or backup",
				 &words);

	if (status != CMD_GO_ON)
		return status;
	for (size_t i = 0; i < sizeof actions / sizeof *actions; i++)
		if (!strcmp(actions[i].name, words.operand))
			return actions[i].run(words.program);
	rd_fail(RD_EUSAGE, "hive: there is no action '%s'; 'raddle help hive' lists them", words.operand);
	return CMD_FAILED;
}
