// SPDX-License-Identifier: Apache-2.0
/*
 * Failure sketches as one HTML page.  For each sketch, the page shows the failing run beside the
 * most similar passing run, with a column for each thread.  The predictors with their counts
 * follow, and then the sketch as text.  Each value links to the row of the step that wrote it.  The
 * page is self-contained and can be read without its script.
 */
#include "report/sketch.h"

#include "base/error.h"
#include "base/file.h"
#include "report/html-int.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS 8 /* maximum number of columns of threads; further threads share the last column */

static const char style[] =
	".runs{display:grid;grid-template-columns:repeat(auto-fit,minmax(24rem,1fr));gap:1.2rem;align-items:"
	"start}"
	".runs>section{overflow-x:auto}"
	".steps{border-collapse:collapse;width:100%;font-size:.86rem}"
	".steps th,.steps td{border-bottom:1px solid var(--line);padding:.25rem .45rem;text-align:left;"
	"vertical-align:top}"
	".steps code{white-space:pre-wrap;overflow-wrap:break-word}"
	".steps .at{opacity:.65;margin-right:.5em;font-variant-numeric:tabular-nums}"
	".steps tr.differs td:first-child{box-shadow:inset 3px 0 0 var(--amber)}"
	".steps tr.predictor td.here{outline:2px dotted var(--red);outline-offset:-2px}"
	".steps tr.failure td{background:var(--redbg)}"
	".steps tr.failure td:first-child{box-shadow:inset 3px 0 0 var(--red)}"
	".steps tr:target,.steps tr.found{background:var(--bluebg)}"
	".value{display:inline-block;margin:0 .5em .1em 0;overflow-wrap:anywhere;font-family:monospace}"
	"a.value{text-decoration:underline dotted}"
	".bar{display:inline-block;height:.7em;width:6em;background:var(--line);vertical-align:middle;margin-"
	"right:.5em}"
	".bar i{display:block;height:100%;background:var(--blue)}"
	".cause{color:var(--red);font-weight:600}"
	".why td,.why th{padding:.25rem .6rem .25rem 0;text-align:left;vertical-align:top}"
	"pre.text{overflow-x:auto;font-size:.78rem;line-height:1.35}"
	"@media print{.runs{display:block}button{display:none}}";

static const char script[] =
	"document.addEventListener('click',function(e){"
	"var v=e.target.closest('a.value');if(!v)return;"
	"document.querySelectorAll('tr.found').forEach(function(r){r.classList.remove('found')});"
	"var r=document.getElementById(v.getAttribute('href').slice(1));if(r)r.classList.add('found')});"
	"document.querySelectorAll('button.copy').forEach(function(b){b.addEventListener('click',function(){"
	"var t=b.parentNode.querySelector('pre').textContent;"
	"if(navigator.clipboard)navigator.clipboard.writeText(t);b.textContent='copied'})});";

/* ---- steps ---- */

struct columns {
	uint32_t threads[COLUMNS];
	size_t count;
};

static void add_thread(struct columns *c, uint32_t thread)
{
	size_t at = c->count;

	for (size_t i = 0; i < c->count; i++)
		if (c->threads[i] == thread)
			return;
	if (c->count == COLUMNS)
		return;
	for (; at && c->threads[at - 1] > thread; at--)
		c->threads[at] = c->threads[at - 1];
	c->threads[at] = thread;
	c->count++;
}

static size_t column_of(const struct columns *c, uint32_t thread)
{
	for (size_t i = 0; i < c->count; i++)
		if (c->threads[i] == thread)
			return i;
	return c->count - 1;
}

static void put_values(FILE *out, const struct sketch_step *step, const char *id)
{
	char value[32];

	for (size_t i = 0; i < step->value_count; i++) {
		uint32_t writer = step->writers ? step->writers[i] : 0;

		sketch_value_text(&step->values[i], value);
		if (writer)
			fprintf(out,
				"<a class=\"value\" href=\"#%s-%" PRIu32 "\" title=\"written in step %" PRIu32
				"\">",
				id, writer, writer);
		else
			fputs("<span class=\"value\">", out);
		html_text(out, step->values[i].name);
		fputs(" = ", out);
		html_text(out, value);
		fputs(writer ? "</a>" : "</span>", out);
	}
}

static void put_classes(FILE *out, unsigned marks)
{
	if (marks & SKETCH_MARK_PREDICTOR)
		fputs(" predictor", out);
	if (marks & SKETCH_MARK_FAILURE)
		fputs(" failure", out);
	if (marks & SKETCH_MARK_DIFFERS)
		fputs(" differs", out);
}

static void put_statement(const struct sketch_report *r, const struct sketch_step *step, FILE *out)
{
	char *source = sketch_source(r, step);

	fputs("<span class=\"at\" title=\"", out);
	html_text(out, step->file);
	fprintf(out, "\">%" PRIu32 "</span><code title=\"", step->line);
	html_text(out, step->event);
	fputs("\">", out);
	html_text(out, source ? source : step->event);
	fputs("</code>", out);
	if (step->marks & SKETCH_MARK_FAILURE)
		fputs(" <b class=\"cause\">fails</b>", out);
	free(source);
}

static void put_row(const struct sketch_report *r, const struct columns *c, const struct sketch_step *step,
		    const char *id, size_t number, FILE *out)
{
	fprintf(out, "<tr id=\"%s-%zu\" class=\"", id, number);
	put_classes(out, step->marks);
	fprintf(out, "\"><td>%zu</td>", number);
	for (size_t i = 0; i < c->count; i++) {
		bool here = column_of(c, step->thread) == i;

		fputs(here ? "<td class=\"here\">" : "<td>", out);
		if (here)
			put_statement(r, step, out);
		fputs("</td>", out);
	}
	fputs("<td>", out);
	put_values(out, step, id);
	fputs("</td></tr>\n", out);
}

static void put_steps(const struct sketch_report *r, const struct sketch_steps *steps, const char *title,
		      const char *id, FILE *out)
{
	struct columns c = {{0}, 0};

	for (size_t i = 0; i < steps->count; i++)
		add_thread(&c, steps->items[i].thread);
	fprintf(out, "<section><h3>%s</h3><table class=\"steps\"><thead><tr><th>step</th>", title);
	for (size_t i = 0; i < c.count; i++)
		if (c.threads[i])
			fprintf(out, "<th>thread %" PRIu32 "</th>", c.threads[i]);
		else
			fputs("<th>main</th>", out);
	fputs("<th>values</th></tr></thead><tbody>\n", out);
	for (size_t i = 0; i < steps->count; i++)
		put_row(r, &c, &steps->items[i], id, i + 1, out);
	fputs("</tbody></table></section>\n", out);
}

/* ---- predictors ---- */

static void put_predictor(const struct sketch *s, size_t i, FILE *out)
{
	const struct sketch_predictor *p = &s->predictors.items[i];
	char tries[96];

	fprintf(out, "<tr><td>%s</td><td><code>%s</code></td><td>", sketch_type_name(p->type),
		sketch_pattern_name(p->pattern));
	html_text(out, s->texts[i]);
	fprintf(out,
		"</td><td><span class=\"bar\"><i style=\"width:%d%%\"></i></span>%.2f</td>"
		"<td>%zu/%zu</td><td>%zu/%zu</td><td>%zu/%zu</td><td>",
		(int)(p->f * 100 + 0.5), p->f, p->failing, p->failing + p->passing, p->failing,
		p->all_failing, p->passing, p->all_passing);
	sketch_tries_text(p, tries, sizeof tries);
	html_text(out, tries);
	if (sketch_is_confirmed(p))
		fputs(" <span class=\"cause\">the cause</span>", out);
	fputs("</td></tr>\n", out);
}

static void put_predictors(const struct sketch *s, FILE *out)
{
	fputs("<h3>Why</h3><table "
	      "class=\"why\"><thead><tr><th>type</th><th>pattern</th><th>what</th><th>F</th>"
	      "<th>precision</th><th>recall</th><th>passing "
	      "runs</th><th>intervention</th></tr></thead><tbody>\n",
	      out);
	for (size_t i = 0; i < s->predictors.count; i++)
		if (sketch_is_shown(s, i))
			put_predictor(s, i, out);
	fputs("</tbody></table>\n", out);
	if (!s->passing)
		fputs("<p>No run passed: the above holds in every run, and may not be a cause.</p>\n", out);
}

/* Writes the sketch as text, for an email or a ticket. */
static int put_text(const struct sketch_report *r, const struct sketch *s, FILE *out)
{
	struct sketch_set one = {.items = (struct sketch *)s, .count = 1, .program = r->set->program};
	struct sketch_report text = {.set = &one, .root = r->root};
	char *data = NULL;
	size_t size = 0;
	FILE *memory = open_memstream(&data, &size);
	int err;

	if (!memory)
		return rd_fail_errno("sketch: cannot write the page");
	err = sketch_text(&text, memory);
	fclose(memory);
	fputs("<details><summary>as text</summary><button class=\"copy\">copy</button><pre class=\"text\">",
	      out);
	html_text(out, data);
	fputs("</pre></details>\n", out);
	free(data);
	return err;
}

static int put_sketch(const struct sketch_report *r, size_t number, FILE *out)
{
	const struct sketch *s = &r->set->items[number];
	const struct sketch_failure *f = &s->failure;
	char fails[32], passes[32];

	snprintf(fails, sizeof fails, "f%zu", number + 1);
	snprintf(passes, sizeof passes, "p%zu", number + 1);
	fprintf(out, "<article><h2>%s", sketch_title(s));
	if (f->what) {
		fputs(": ", out);
		html_text(out, f->what);
	}
	fputs("</h2><p>", out);
	if (f->file) {
		fputs("<code>", out);
		html_text(out, f->function ? f->function : "");
		fputs(f->function ? "() " : "", out);
		html_text(out, rd_base_name(f->file));
		fprintf(out, ":%" PRIu32 "</code>. ", f->line);
	}
	fprintf(out, "%zu failing and %zu passing runs", s->failing, s->passing);
	if (s->perturbed)
		fprintf(out, "; %zu of the failures occurred under schedules that Raddle chose",
			s->perturbed);
	fprintf(out, "; %" PRIu32 " statements of the slice were tracked.</p>\n<div class=\"runs\">\n",
		s->sigma);
	put_steps(r, &s->fails, "A run that fails", fails, out);
	if (s->passes.count)
		put_steps(r, &s->passes, "The passing run that is most like it", passes, out);
	fputs("</div>\n<p>Dotted: what distinguishes failing from passing runs. A bar at the left: the "
	      "other run does not have this step. A value links to the step that wrote it.</p>\n",
	      out);
	put_predictors(s, out);
	if (put_text(r, s, out))
		return RD_ESYSTEM;
	fputs("</article>\n", out);
	return RD_OK;
}

int sketch_html(const struct sketch_report *r, FILE *out)
{
	int err = RD_OK;

	html_head(out, "Why it fails", style);
	fputs("<header><h1>Why ", out);
	html_text(out, r->set->program ? rd_base_name(r->set->program) : "it");
	fputs(" fails</h1><button id=\"theme\" type=\"button\">light / dark</button></header><main>\n", out);
	if (!r->set->count)
		fprintf(out, "<p>No run of %zu failed.</p>\n", r->set->runs);
	for (size_t i = 0; i < r->set->count && !err; i++)
		err = put_sketch(r, i, out);
	fprintf(out, "</main><script>%s%s</script></body></html>\n", html_theme, script);
	return err ? err : ferror(out) ? rd_fail_errno("sketch: cannot write the page") : RD_OK;
}
