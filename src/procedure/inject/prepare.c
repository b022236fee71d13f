// SPDX-License-Identifier: Apache-2.0
/*
 * The setup of a campaign.  In: the user's options, as texts and numbers.  Out: a setup that can be
 * run, or a message that names the option.  No program is run here.
 */
#include "inject/prepare.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "inject/runlog.h"
#include "inject/until-int.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

/* Random seeds are below this number, so they have at most nine digits.  Users type them. */
#define SEED_END 1000000000

uint64_t inject_seed(uint64_t wanted)
{
	uint64_t seed;

	if (wanted != INJECT_SEED_CHANCE)
		return wanted;
	if (getrandom(&seed, sizeof seed, 0) != (ssize_t)sizeof seed)
		seed = (uint64_t)getpid();
	return seed % SEED_END;
}

/* Returns one and a half times the number of processors, because runs wait for files and for
 * processes to end. */
unsigned inject_jobs(unsigned processors)
{
	return processors + (processors + 1) / 2;
}

const char *inject_input_name(const char *path)
{
	while (!strncmp(path, "./", 2))
		path += 2;
	return *path == '/' || strstr(path, "..") ? rd_base_name(path) : path;
}

static int add_input(struct inject_setup *s, const char *path)
{
	char full[PATH_MAX];
	struct stat st;

	if (!realpath(path, full) || stat(full, &st))
		return rd_fail_errno("cannot read %s", path);
	if (!S_ISREG(st.st_mode))
		return rd_fail(RD_EUSAGE, "%s: --input takes files", path);
	inject_list_add(&s->inputs, full);
	inject_list_add(&s->names, inject_input_name(path));
	return 0;
}

/* Warns about arguments that name files in the current directory.  Users easily forget that each
 * run has its own directory. */
static void warn_of_arguments(const struct inject_setup *s)
{
	for (size_t i = 1; i < s->argv.count; i++) {
		const char *argument = s->argv.items[i];
		struct stat st;
		bool given = *argument == '/' || stat(argument, &st) || !S_ISREG(st.st_mode);

		for (size_t k = 0; k < s->names.count && !given; k++)
			given = !strcmp(inject_input_name(argument), s->names.items[k]);
		if (!given)
			rd_warn("inject: %s is a file here, but runs have directories of their own; --input "
				"%s puts it there",
				argument, argument);
	}
}

int inject_prepare_files(struct inject_setup *s, const char *inputs, const char *input)
{
	struct inject_list given = {0};
	char full[PATH_MAX];
	int r = 0;

	inject_list_split(&given, inputs);
	for (size_t i = 0; i < given.count && !r; i++)
		r = add_input(s, given.items[i]);
	inject_list_release(&given);
	if (!r && input) {
		if (!realpath(input, full))
			return rd_fail_errno("cannot read %s", input);
		s->input = rd_xstrdup(full);
	}
	if (!r)
		warn_of_arguments(s);
	return r;
}

static int check_word(const char *option, const char *word, const char *words)
{
	const char *at = strstr(words, word);

	if (*word && at && (at == words || at[-1] == ' ') && strchr(" ", at[strlen(word)]))
		return 0;
	return rd_fail(RD_EUSAGE, "inject: --%s %s: must be one of: %s", option, word, words);
}

int inject_check_words(const struct inject_setup *s)
{
	int r = check_word("sampling", s->sampling, "uniform function opcode thread");

	if (!r)
		r = check_word("keep-traces", s->keep, "all deviating none");
	return r || !s->level ? r : check_word("level", s->level, "source optimised");
}

static int check_until(const struct inject_setup *s)
{
	enum runlog_outcome outcome;

	if (!runlog_outcome_find(s->until_outcome, &outcome) || outcome == RUNLOG_INACTIVE)
		return rd_fail(RD_EUSAGE,
			       "inject: --outcome %s: must be one of: crash hang detected sdc masked",
			       s->until_outcome);
	if (strcmp(s->sampling, "uniform") != 0)
		return rd_fail(RD_EUSAGE, "inject: --until needs --sampling uniform");
	return RD_OK;
}

int inject_prepare_runs(struct inject_setup *s, uint64_t runs, const char *until, const char *outcome)
{
	int r = until ? inject_until_parse(until, &s->until) : 0;

	s->runs = runs == INJECT_RUNS_UNSET ? 1 : runs;
	if (r || !until)
		return r;
	RD_ASSERT(s->sampling);
	s->until_outcome = rd_xstrdup(outcome ? outcome : "sdc");
	r = check_until(s);
	if (r)
		return r;
	if (runs == INJECT_RUNS_UNSET)
		s->runs = inject_until_most(s->until);
	return s->runs ? 0
		       : rd_fail(RD_ELIMIT, "inject: --until %s: may take more than %d runs; -n limits them",
				 until, INJECT_RUNS_MAX);
}

/* Returns true if the user listed the kind by its name, not by a group. */
static bool is_named(const char *faults, const char *kind)
{
	size_t n = strlen(kind);

	for (const char *at = faults; at && *at; at += strcspn(at, ",") + (at[strcspn(at, ",")] ? 1 : 0))
		if (strcspn(at, ",") == n && !strncasecmp(at, kind, n))
			return true;
	return false;
}

int inject_prepare_kinds(struct inject_setup *s, const struct inject_ground *ground, const char *faults)
{
	bool *set = rd_xcalloc(inject_kind_count(), sizeof *set);
	int r = inject_kind_parse(faults, set);

	for (size_t i = 0; i < inject_kind_count() && !r; i++) {
		const char *name = inject_kind_at(i)->name;
		if (!set[i])
			continue;
		if (inject_fits(ground, i).instances)
			inject_list_add(&s->kinds, name);
		else if (is_named(faults, name))
			r = rd_fail(RD_EUSAGE,
				    "inject: %s (%s) fits no place that the program executes and the options "
				    "allow; "
				    "'raddle inject --list' shows what fits",
				    name, inject_kind_at(i)->help);
		else
			rd_info("inject: %s fits nothing in this program", name);
	}
	free(set);
	if (!r && !s->kinds.count)
		r = rd_fail(RD_EUSAGE,
			    "inject: no fault of '%s' fits a place that the program executes and the options "
			    "allow",
			    faults);
	return r;
}
