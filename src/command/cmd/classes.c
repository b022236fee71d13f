// SPDX-License-Identifier: Apache-2.0
/* Handles classes on the command line: which classes make the command fail, which memory models
 * are considered, and the progress line. */
#include "cmd/classes-int.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/progress.h"
#include "cmd/option-int.h"
#include "cmd/output-int.h"
#include "run/orphan.h"

#include <stdlib.h>
#include <string.h>

int cmd_classes_option(const char *text, const char *name, enum finding_class *class)
{
	*class = FINDING_NO_CLASS;
	for (unsigned i = 1; text && i < FINDING_CLASSES; i++)
		if (!strcmp(text, finding_class_name(i)))
			*class = i;
	if (text && *class == FINDING_NO_CLASS)
		return rd_fail(RD_EUSAGE,
			       "%s: --fail-on is spec-violated, output-differs, k-witness-harmless or "
			       "single-ordering, not %s",
			       name, text);
	return RD_OK;
}

static bool add_model(const char *name, unsigned *models)
{
	for (unsigned i = 0; i < FINDING_MODELS; i++)
		if (!strcmp(name, finding_model_name(i))) {
			*models |= 1u << i;
			return true;
		}
	return false;
}

int cmd_classes_models(const char *text, const char *name, const char *option, unsigned *models)
{
	char *copy = rd_xstrdup(text ? text : ""), *rest = copy, *model;
	int err = RD_OK;

	while (text && !err && (model = strsep(&rest, ",")) != NULL)
		if (!add_model(model, models))
			err = rd_fail(RD_EUSAGE, "%s: %s: '%s' is not one of sc, tso, pso, weak", name,
				      option, model);
	RD_ASSERT(!(*models >> FINDING_MODELS));
	if (!err && opt.coherent && !(*models >> FINDING_WEAK & 1))
		err = rd_fail(RD_EUSAGE, "%s: --coherent needs %s weak", name, option);
	free(copy);
	return err;
}

/* ---- running ---- */

void cmd_classes_progress(struct rd_progress *progress, const struct classify_progress *so_far)
{
	char *detail = so_far->seconds_left > 0 ? rd_xasprintf("at most %.0f s more", so_far->seconds_left)
						: rd_xstrdup("");

	progress->total = so_far->total;
	rd_progress_update(progress, so_far->done, detail);
	free(detail);
}

static void show_progress(void *context, const struct classify_progress *so_far)
{
	cmd_classes_progress(context, so_far);
}

int cmd_classes_run(struct replay_led *p, struct classify how, char **argv, struct finding_set *set,
		    struct classify_result *result)
{
	struct replay_program program = {.program = &p->program, .argv = argv, .sites = p->sites};
	struct rd_progress progress;
	int err;

	RD_ASSERT(!how.progress && !how.context);
	how.runs.program = &program;
	how.progress = show_progress;
	how.context = &progress;
	cmd_progress_start(&progress, "classifying", 0);
	err = classify_races(&how, set, result);
	run_orphans_end(NULL, 0);
	rd_progress_end(&progress);
	return err;
}

void cmd_classes_stats(struct finding_set *set, const struct classify_result *result)
{
	finding_stat(set, "classified", (double)result->classified);
	finding_stat(set, "undecided", (double)result->undecided);
	finding_stat(set, "unclassified", (double)result->untried);
	finding_stat(set, "classify_runs", (double)result->runs);
	finding_stat(set, "classify_misfits", (double)result->misfits);
}
