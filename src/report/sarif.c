// SPDX-License-Identifier: Apache-2.0
/*
 * Findings as SARIF 2.1.0, for code scanning services and editors.
 *
 * Each bug is a result.  The first place of its worst finding becomes the location of the result, and
 * the other places of its findings become related locations.  Each access has its stack.  The schedule
 * becomes a code flow with a thread flow for each thread.  The steps of these flows carry the execution
 * order.  Finding IDs become partial fingerprints, the baseline becomes the baseline state, and suppressed
 * findings are marked.  Unconfirmed findings are notes; dropped findings are left out.  The class of a
 * confirmed race determines its level and rank.
 */
#include "report/report.h"

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/map.h"
#include "base/name.h"
#include "report/sarif-parts-int.h"
#include "report/source-int.h"
#include "finding/bug.h"
#include "report/words-int.h"
#include "trace/words.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct writer {
	struct rd_json j;
	const struct finding_set *set;
	const struct report_opts *opts;
	struct rd_buf words;
	struct uri_root root;
	bool quoting; /* true if places are written with their source lines */
};

/* A build may define a web site (make HOMEPAGE=https://...).  Otherwise the link leads to the
 * manual. */
#ifndef RADDLE_HOMEPAGE
#define RADDLE_HOMEPAGE "man:raddle(1)"
#endif

static const struct rule {
	const char *id, *name, *brief, *full, *help, *uri;
} rules[FINDING_KINDS] = {
#define FINDING_KIND(constant, name, words, ...) {name, __VA_ARGS__},
#include "finding/kind.inc"
#undef FINDING_KIND
};

/* Writes the collected words as a message. */
static void put_message(struct writer *w, const char *name)
{
	sarif_text(&w->j, name, w->words.data);
	rd_buf_clear(&w->words);
}

/* ---- places ---- */

/* Returns the source line of a place, or NULL if there is no source. */
static char *snippet_of(const struct writer *w, const struct finding_frame *f)
{
	struct rd_buf text = RD_BUF_INIT;
	const char *line = source_of(f, w->opts->root, &text) ? source_line(text.data, f->line) : NULL;
	char *copy = line ? rd_xasprintf("%.*s", (int)strcspn(line, "\r\n"), line) : NULL;

	rd_buf_release(&text);
	return copy;
}

static void put_physical(struct writer *w, const struct finding_frame *f)
{
	char *snippet = w->quoting && f->file && *f->file && f->line ? snippet_of(w, f) : NULL;

	sarif_physical(&w->j, &w->root, &(struct sarif_place){f->file, f->line, f->column, snippet});
	free(snippet);
}

/* Writes the members of a location into the open object. */
static void put_place(struct writer *w, const struct finding_frame *f)
{
	put_physical(w, f);
	if (f->function) {
		rd_json_array(&w->j, "logicalLocations");
		rd_json_object(&w->j, NULL);
		rd_json_string(&w->j, "name", f->function);
		rd_json_string(&w->j, "kind", "function");
		rd_json_end(&w->j);
		rd_json_end(&w->j);
	}
	if (w->words.length)
		put_message(w, "message");
}

static void put_location(struct writer *w, const char *name, const struct finding_frame *f)
{
	rd_json_object(&w->j, name);
	put_place(w, f);
	rd_json_end(&w->j);
}

static void put_related(struct writer *w, size_t id, const struct finding_frame *f)
{
	rd_json_object(&w->j, NULL);
	rd_json_unsigned(&w->j, "id", id);
	put_place(w, f);
	rd_json_end(&w->j);
}

static void put_stack(struct writer *w, const struct finding_stack *s)
{
	rd_json_object(&w->j, NULL);
	put_message(w, "message");
	RD_JSON_OBJECTS (&w->j, "frames", i, s->count) {
		put_location(w, "location", &s->frames[i]);
		if (s->frames[i].module)
			rd_json_string(&w->j, "module", s->frames[i].module);
	}
	rd_json_end(&w->j);
}

/* ---- what a finding is about ---- */

static void access_words(struct writer *w, const struct finding *f, const struct finding_access *a)
{
	word_access(&w->words, a);
	rd_buf_addf(&w->words, " of %s by ", f->object.name ? f->object.name : RD_UNKNOWN_MEMORY);
	word_thread(&w->words, f, a->thread);
	rd_buf_adds(&w->words, ", ");
	word_locks(&w->words, a->locks, a->lock_count);
}

static void wait_words(struct writer *w, const struct finding *f, const struct finding_wait *wait)
{
	word_thread(&w->words, f, wait->thread);
	rd_buf_addc(&w->words, ' ');
	word_wait(&w->words, wait->kind, wait->wants);
	rd_buf_adds(&w->words, ", ");
	word_locks(&w->words, wait->holds, wait->hold_count);
}

static size_t side_count(const struct finding *f)
{
	return f->access_count + f->cycle_count;
}

/* Collects the words about one side of a finding, which is an access or a wait.  Returns the stack
 * of that side. */
static const struct finding_stack *side(struct writer *w, const struct finding *f, size_t i)
{
	if (i < f->access_count) {
		access_words(w, f, &f->accesses[i]);
		return &f->accesses[i].stack;
	}
	wait_words(w, f, &f->cycle[i - f->access_count]);
	return &f->cycle[i - f->access_count].stack;
}

static void put_result_message(struct writer *w, const struct finding_bug *bug)
{
	const struct finding *f = bug->findings[0];
	struct rd_buf text = RD_BUF_INIT;

	finding_bug_title(&text, bug);
	rd_buf_addf(&text, " (%s). ", word_status(f));
	for (size_t i = 0; i < side_count(f); i++) {
		const struct finding_stack *s = side(w, f, i);

		rd_buf_adds(&text, w->words.data);
		rd_buf_adds(&text, " at ");
		word_place_in(&text, finding_own_code_frame(s));
		rd_buf_adds(&text, i + 1 < side_count(f) ? "; " : ".");
		rd_buf_clear(&w->words);
	}
	rd_buf_adds(&text, f->kind == FINDING_FAILURE ? "" : " ");
	finding_why(&text, bug);
	if (f->class != FINDING_NO_CLASS)
		rd_buf_addf(&text, " Class: %s: %s.", finding_class_name(f->class), word_class(f->class));
	if (f->consequence)
		rd_buf_addf(&text, " Consequence: %s.", f->consequence);
	rd_buf_adds(&w->words, text.data);
	rd_buf_release(&text);
	put_message(w, "message");
}

/* The ids of related locations are smaller.  Chosen by hand: services limit their number. */
#define RELATED_MOST 30

/* Adds the sides of a finding that is further evidence of the bug.  Returns the next id. */
static size_t put_evidence(struct writer *w, const struct finding *f, size_t id)
{
	for (size_t i = 0; i < side_count(f) && id < RELATED_MOST; i++) {
		const struct finding_stack *s = side(w, f, i);

		put_related(w, id++, finding_own_code_frame(s));
	}
	return id;
}

/* The primary location is in the program's own sources, even if a library makes the access. */
static void put_locations(struct writer *w, const struct finding_bug *bug)
{
	const struct finding *f = bug->findings[0];
	size_t next = side_count(f) + 1;

	w->quoting = true;
	rd_json_array(&w->j, "locations");
	if (side_count(f)) {
		const struct finding_stack *s = side(w, f, 0);

		put_location(w, NULL, finding_own_code_frame(s));
	}
	rd_json_end(&w->j);
	rd_json_array(&w->j, "relatedLocations");
	for (size_t i = 1; i < side_count(f); i++) {
		const struct finding_stack *s = side(w, f, i);

		put_related(w, i, finding_own_code_frame(s));
	}
	if (f->object.name && f->object.stack.count) {
		word_object(&w->words, &f->object);
		put_related(w, side_count(f), finding_own_code_frame(&f->object.stack));
	}
	for (size_t i = 1; i < bug->count && next < RELATED_MOST; i++)
		next = put_evidence(w, bug->findings[i], next);
	rd_json_end(&w->j);
	w->quoting = false;
}

static void put_stacks(struct writer *w, const struct finding *f)
{
	rd_json_array(&w->j, "stacks");
	for (size_t i = 0; i < side_count(f); i++) {
		const struct finding_stack *s = side(w, f, i);

		put_stack(w, s);
	}
	for (size_t i = 0; i < f->thread_count; i++) {
		if (!f->threads[i].created.count)
			continue;
		word_thread(&w->words, f, f->threads[i].name);
		rd_buf_adds(&w->words, " created");
		put_stack(w, &f->threads[i].created);
	}
	rd_json_end(&w->j);
}

/* ---- the schedule ---- */

static void put_step(struct writer *w, size_t order, const struct schedule_place *place,
		     const char *importance)
{
	RD_ASSERT(order > 0);
	struct finding_frame frame = {.file = place->file,
				      .function = place->function,
				      .line = place->line,
				      .column = place->column};

	rd_json_object(&w->j, NULL);
	rd_json_unsigned(&w->j, "executionOrder", order);
	rd_json_string(&w->j, "importance", importance);
	put_location(w, "location", &frame);
	rd_json_end(&w->j);
}

static void put_thread_flow(struct writer *w, const struct schedule *s, const char *thread)
{
	rd_json_object(&w->j, NULL);
	rd_json_string(&w->j, "id", thread);
	rd_json_array(&w->j, "locations");
	for (size_t i = 0; i < s->op_count; i++) {
		if (strcmp(s->ops[i].thread, thread) != 0)
			continue;
		rd_buf_addf(&w->words, "%s ", thread);
		trace_words(&w->words, s->ops[i].kind, s->ops[i].object);
		put_step(w, i + 1, &s->ops[i].place, "important");
	}
	for (size_t i = 0; i < s->goal_count; i++) {
		if (strcmp(s->goals[i].thread, thread) != 0)
			continue;
		rd_buf_addf(&w->words, "%s is stopped before its %s", thread,
			    s->goals[i].write ? "write" : "read");
		put_step(w, s->op_count + 1, &s->goals[i].place, "essential");
	}
	for (size_t i = 0; i < s->stop_count; i++) {
		if (strcmp(s->stops[i].thread, thread) != 0)
			continue;
		rd_buf_addf(&w->words, "%s is stuck in ", thread);
		trace_words_brief(&w->words, s->stops[i].kind, s->stops[i].object);
		put_step(w, s->op_count + 1, &s->stops[i].place, "essential");
	}
	rd_json_end(&w->j);
	rd_json_end(&w->j);
}

static void find_threads(const struct schedule *s, struct rd_names *threads)
{
	for (size_t i = 0; i < s->op_count; i++)
		rd_names_put(threads, s->ops[i].thread, strlen(s->ops[i].thread));
	for (size_t i = 0; i < s->goal_count; i++)
		rd_names_put(threads, s->goals[i].thread, strlen(s->goals[i].thread));
	for (size_t i = 0; i < s->stop_count; i++)
		rd_names_put(threads, s->stops[i].thread, strlen(s->stops[i].thread));
}

/* Writes the schedule as a code flow.  SARIF requires at least one thread flow in it. */
static void put_code_flow(struct writer *w, const struct schedule *s)
{
	struct rd_names threads = RD_NAMES_INIT;

	find_threads(s, &threads);
	if (threads.count) {
		rd_json_array(&w->j, "codeFlows");
		rd_json_object(&w->j, NULL);
		rd_buf_adds(&w->words, "The order of operations that leads there");
		put_message(w, "message");
		rd_json_array(&w->j, "threadFlows");
		for (size_t i = 0; i < threads.count; i++)
			put_thread_flow(w, s, threads.items[i]);
		rd_json_end(&w->j);
		rd_json_end(&w->j);
		rd_json_end(&w->j);
	}
	rd_names_release(&threads);
}

/* ---- results ---- */

static void put_identity(struct writer *w, const struct finding *f)
{
	rd_json_object(&w->j, "partialFingerprints");
	rd_json_string(&w->j, "raddleBug/v1", f->bug);
	rd_json_string(&w->j, "raddleId/v1", f->id);
	rd_json_string(&w->j, "raddlePlaces/v1", f->fingerprint);
	rd_json_end(&w->j);
	if (w->opts->baseline)
		rd_json_string(&w->j, "baselineState", f->known ? "unchanged" : "new");
	if (f->suppressed) {
		rd_json_array(&w->j, "suppressions");
		rd_json_object(&w->j, NULL);
		rd_json_string(&w->j, "kind", "external");
		rd_json_string(&w->j, "justification", f->suppressed);
		rd_json_end(&w->j);
		rd_json_end(&w->j);
	}
	if (f->count > 0)
		rd_json_unsigned(&w->j, "occurrenceCount", f->count);
}

static void put_witnesses(struct writer *w, const struct finding *f)
{
	if (!f->witness_count)
		return;
	rd_json_array(&w->j, "witnesses");
	for (size_t i = 0; i < f->witness_count; i++) {
		word_witness(&w->words, &f->witnesses[i]);
		rd_json_string(&w->j, NULL, w->words.data);
		rd_buf_clear(&w->words);
	}
	rd_json_end(&w->j);
}

static void put_properties(struct writer *w, const struct finding *f)
{
	rd_json_object(&w->j, "properties");
	rd_json_string(&w->j, "status", finding_status_name(f->status));
	if (finding_detail(f))
		rd_json_string(&w->j, "detail", finding_detail_name(finding_detail(f)));
	rd_json_string(&w->j, "class", finding_class_name(f->class));
	word_models(&w->words, f);
	if (w->words.length)
		rd_json_string(&w->j, "classes", w->words.data);
	rd_buf_clear(&w->words);
	rd_json_string(&w->j, "consequence", f->consequence);
	rd_json_bool(&w->j, "sound", f->sound);
	put_witnesses(w, f);
	if (f->schedule_path) {
		word_reproduce(&w->words, w->set, f->schedule_path);
		rd_json_string(&w->j, "reproduce", w->words.data);
		rd_buf_clear(&w->words);
	}
	rd_json_end(&w->j);
}

/* Writes level and rank.  A finding of unknown class gets the highest level, because it may have
 * the worst consequence. */
static void put_level(struct writer *w, const struct finding *f)
{
	static const struct {
		const char *level;
		unsigned rank; /* from 0 to 100 */
	} rows[FINDING_CLASSES] = {
		[FINDING_NO_CLASS] = {"error", 0},	  [FINDING_SPEC_VIOLATED] = {"error", 100},
		[FINDING_OUTPUT_DIFFERS] = {"error", 80}, [FINDING_K_WITNESS_HARMLESS] = {"warning", 30},
		[FINDING_SINGLE_ORDERING] = {"note", 10},
	};
	const struct finding_access *plain = finding_plain_side(f);
	const char *level = rows[f->class].level;

	if (f->class == FINDING_NO_CLASS && plain && plain->op == FINDING_READ)
		level = "warning"; /* the read returns one of the values that were written */
	rd_json_string(&w->j, "level", f->status == FINDING_CONFIRMED ? level : "note");
	if (f->class != FINDING_NO_CLASS)
		rd_json_double(&w->j, "rank", rows[f->class].rank);
}

static void put_result(struct writer *w, const struct finding_bug *bug)
{
	const struct finding *f = bug->findings[0];

	rd_json_object(&w->j, NULL);
	rd_json_string(&w->j, "ruleId", rules[f->kind].id);
	rd_json_unsigned(&w->j, "ruleIndex", f->kind);
	put_level(w, f);
	put_result_message(w, bug);
	put_locations(w, bug);
	put_stacks(w, f);
	if (f->schedule)
		put_code_flow(w, f->schedule);
	put_identity(w, f);
	put_properties(w, f);
	rd_json_end(&w->j);
}

/* ---- the log ---- */

/* Writes the advice of a rule, as text and as Markdown. */
static void put_help(struct writer *w, const struct rule *r)
{
	rd_json_object(&w->j, "help");
	rd_buf_addf(&w->words, "%s %s", r->full, r->help);
	rd_json_string(&w->j, "text", w->words.data);
	rd_buf_clear(&w->words);
	rd_buf_addf(&w->words, "**%s**\n\n%s\n\n%s", r->brief, r->full, r->help);
	rd_json_string(&w->j, "markdown", w->words.data);
	rd_buf_clear(&w->words);
	rd_json_end(&w->j);
}

/* GitHub filters and sorts by these properties.  The precision is high, because each confirmed
 * finding was reproduced. */
static void put_rule_properties(struct writer *w)
{
	rd_json_object(&w->j, "properties");
	rd_json_string(&w->j, "precision", "very-high");
	rd_json_string(&w->j, "problem.severity", "error");
	rd_json_array(&w->j, "tags");
	rd_json_string(&w->j, NULL, "concurrency");
	rd_json_string(&w->j, NULL, "correctness");
	rd_json_end(&w->j);
	rd_json_end(&w->j);
}

static void put_rule(struct writer *w, const struct rule *r)
{
	rd_json_object(&w->j, NULL);
	rd_json_string(&w->j, "id", r->id);
	rd_json_string(&w->j, "name", r->name);
	rd_buf_adds(&w->words, r->brief);
	put_message(w, "shortDescription");
	rd_buf_adds(&w->words, r->full);
	put_message(w, "fullDescription");
	put_help(w, r);
	rd_json_string(&w->j, "helpUri", r->uri);
	rd_json_object(&w->j, "defaultConfiguration");
	rd_json_string(&w->j, "level", "error");
	rd_json_end(&w->j);
	put_rule_properties(w);
	rd_json_end(&w->j);
}

static void put_tool(struct writer *w)
{
	rd_json_object(&w->j, "tool");
	rd_json_object(&w->j, "driver");
	rd_json_string(&w->j, "name", "Raddle");
	rd_buf_addf(&w->words, "Raddle%s%s", w->set->tool ? " " : "", w->set->tool ? w->set->tool : "");
	rd_json_string(&w->j, "fullName", w->words.data);
	rd_buf_clear(&w->words);
	if (w->set->tool)
		rd_json_string(&w->j, "version", w->set->tool);
	rd_json_string(&w->j, "informationUri", RADDLE_HOMEPAGE);
	rd_json_array(&w->j, "rules");
	for (size_t i = 0; i < FINDING_KINDS; i++)
		put_rule(w, &rules[i]);
	rd_json_end(&w->j);
	rd_json_end(&w->j);
	rd_json_end(&w->j);
}

/* Writes the automation ID.  Services use it to distinguish sets of results, so the results for one
 * program do not replace those for another. */
static void put_automation(struct writer *w)
{
	const char *program = w->set->argc ? rd_base_name(w->set->argv[0]) : "";

	rd_json_object(&w->j, "automationDetails");
	rd_buf_addf(&w->words, "raddle/%s%s", program, *program ? "/" : "");
	rd_json_string(&w->j, "id", w->words.data);
	rd_buf_clear(&w->words);
	rd_json_end(&w->j);
}

static void put_invocation(struct writer *w)
{
	rd_json_array(&w->j, "invocations");
	rd_json_object(&w->j, NULL);
	rd_json_bool(&w->j, "executionSuccessful", true);
	rd_json_strings(&w->j, "arguments", w->set->argv, w->set->argc);
	rd_json_end(&w->j);
	rd_json_end(&w->j);
}

/* Writes the directory to which the URIs of source files are relative.  This is the top of the
 * source tree on this machine.  A code scanning service uses the top of its own checkout
 * instead. */
static void put_bases(struct writer *w)
{
	struct uri_root above = {.here = w->root.top, .top = w->root.top};
	struct rd_buf uri = RD_BUF_INIT;

	uri_add(&uri, &above, w->root.top);
	rd_json_object(&w->j, "originalUriBaseIds");
	rd_json_object(&w->j, SARIF_BASE);
	rd_json_string(&w->j, "uri", uri.data);
	rd_buf_adds(&w->words, "The top of the source tree.");
	put_message(w, "description");
	rd_json_end(&w->j);
	rd_json_end(&w->j);
	rd_buf_release(&uri);
}

int report_sarif(const struct finding_set *set, const struct report_opts *opts, FILE *out)
{
	RD_ASSERT(opts != NULL && out != NULL);
	struct writer w = {.set = set, .opts = opts, .words = RD_BUF_INIT};
	struct finding_bugs bugs;

	uri_root_find(&w.root, opts->root);
	sarif_begin(&w.j, out, true);
	put_tool(&w);
	put_automation(&w);
	put_invocation(&w);
	put_bases(&w);
	rd_json_string(&w.j, "columnKind", "utf16CodeUnits");
	rd_json_array(&w.j, "results");
	finding_bugs_list(&bugs, set);
	for (size_t i = 0; i < bugs.count; i++)
		if (bugs.items[i].findings[0]->status != FINDING_DROPPED)
			put_result(&w, &bugs.items[i]);
	finding_bugs_release(&bugs);
	rd_json_end(&w.j);
	sarif_end(&w.j);
	rd_buf_release(&w.words);
	uri_root_release(&w.root);
	return fflush(out) == 0 && !ferror(out) ? RD_OK : rd_fail_errno("cannot write the report");
}
