// SPDX-License-Identifier: Apache-2.0
/*
 * Classes on the command line: which of them count, in which order findings are shown, where witnesses go.
 */
#include "cmd/classes.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "base/name.h"
#include "base/progress.h"
#include "base/printable.h"
#include "report/words.h"
#include "cmd/option.h"
#include "run/orphan.h"

#include <inttypes.h>
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

int cmd_classes_techniques(const char *text, struct classify_techniques *techniques)
{
	struct classify_techniques all = CLASSIFY_TECHNIQUES;
	struct {
		const char *name;
		bool *technique;
	} table[] = {{"schedules", &all.schedules},
		     {"control", &all.control},
		     {"adhoc", &all.adhoc},
		     {"paths", &all.paths}};

	for (const char *at = text; at && *at; at += *at == ',') {
		size_t length = strcspn(at, ","), i = 0;

		while (i < 4 && (strlen(table[i].name) != length || strncmp(table[i].name, at, length) != 0))
			i++;
		if (i == 4)
			return rd_fail(RD_EUSAGE,
				       "classify: --without: schedules, control, adhoc, paths; not %.*s",
				       (int)length, at);
		*table[i].technique = false;
		at += length;
	}
	*techniques = all;
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
			err = rd_fail(RD_EUSAGE, "%s: %s: '%s' is none of sc, tso, pso, weak", name, option,
				      model);
	if (!err && opt.coherent && !(*models >> FINDING_WEAK & 1))
		err = rd_fail(RD_EUSAGE, "%s: --coherent is about %s weak", name, option);
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

	how.program = &program;
	how.progress = show_progress;
	how.context = &progress;
	rd_progress_start(&progress, "classifying", 0);
	err = classify_races(&how, set, result);
	run_orphans_end(0);
	rd_progress_end(&progress);
	return err;
}

/* ---- words ---- */

static void say_one(const struct finding_set *set, const struct finding *f, FILE *out)
{
	const struct finding_frame *top = finding_top(&f->accesses[0].stack);

	fprintf(out, "  %s: race on %s, %s:%" PRIu32, f->id,
		f->object.name ? f->object.name : RD_UNKNOWN_MEMORY,
		top->file ? rd_base_name(top->file) : RD_UNKNOWN, top->line);
	fprintf(out, ": %s%s%s\n", finding_class_name(f->class), f->consequence ? ", " : "",
		f->consequence ? f->consequence : "");
	if (f->witness_count && f->witnesses[0].schedule_path) {
		struct rd_buf line = RD_BUF_INIT;

		word_reproduce(&line, set, f->witnesses[0].schedule_path);
		rd_make_printable(line.data, line.length, false);
		fprintf(out, "    %s\n", line.data);
		rd_buf_release(&line);
	}
}

/* Reports that are out already have no class. */
static void say_told(const struct finding_set *set, FILE *out)
{
	for (size_t i = 0; i < set->count; i++) {
		const struct finding *f = set->items[i];
		if (f->told && f->class != FINDING_NO_CLASS && f->access_count)
			say_one(set, f, out);
	}
}

void cmd_classes_say(const struct finding_set *set, const struct classify_result *result, FILE *out)
{
	const char *separator = "Classes: ";
	bool any = false;

	for (unsigned c = 1; c < FINDING_CLASSES; c++) {
		size_t n = 0;

		for (size_t i = 0; i < set->count; i++)
			n += set->items[i]->class == c;
		if (n)
			fprintf(out, "%s%zu %s", separator, n, finding_class_name(c));
		separator = n ? ", " : separator;
		any |= n != 0;
	}
	if (any)
		fputs(".\n", out);
	say_told(set, out);
	if (result->undecided)
		fprintf(out, "Not classified: %" PRIu64 "; the notes say why.\n", result->undecided);
	if (result->untried)
		fprintf(out, "Not classified %s: %" PRIu64 ".\n",
			result->interrupted ? "before the interrupt" : "in the time given (--time raises it)",
			result->untried);
}

void cmd_classes_stats(struct finding_set *set, const struct classify_result *result)
{
	finding_stat(set, "classified", (double)result->classified);
	finding_stat(set, "undecided", (double)result->undecided);
	finding_stat(set, "unclassified", (double)result->untried);
	finding_stat(set, "classify_runs", (double)result->runs);
}
