// SPDX-License-Identifier: Apache-2.0
/*
 * The runs of campaigns as data for the page's script.  A browser cannot handle a table of a
 * hundred thousand rows.  So the page contains one array per run, and the script shows those that
 * match the filter, one page at a time.  The same texts occur in many runs.  So each text is stored
 * once, and a run refers to it by its index in "texts".
 *
 * 	{"runs":[[campaign, run, fault, ...], ...], "texts":["", "BitFlip", ...], ...}
 *
 * If there are more than RUNS_MAX runs, runs that are masked or not activated are left out first.
 * Only the beginning of each diff of the output is included.  Equal diffs are stored once, and
 * their total size is limited.
 */
#include "report/campaign-html-int.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/json.h"
#include "base/name.h"
#include "report/html-int.h"
#include "report/source-int.h"

#include <stdlib.h>
#include <string.h>

/* Set by hand: a browser opens a page of some ten megabytes without delay. */
#define RUNS_MAX 60000 /* maximum number of runs in the list */
/* maximum number of bytes that are shown from the beginning of a diff; they fill a screen or two */
#define DIFF_SHOWN 4000
/* maximum size, in bytes, of a file that contains a diff; larger files are not read */
#define DIFF_FILE_MAX (4 << 20)
#define DIFFS_MAX (8 << 20) /* maximum number of bytes of all diffs of a page */

struct data {
	FILE *out;
	struct rd_names texts;
	size_t diff_bytes;
	bool first;
};

/* Writes a text as a JSON string.  The string is part of an HTML page, so '<' and similar
 * characters are escaped. */
static void put_string(FILE *out, const char *text)
{
	fputc('"', out);
	for (const unsigned char *s = (const unsigned char *)text; *s;) {
		size_t n = *s < 0x80 ? 1 : rd_utf8_length(s);

		if (*s < 0x80 && (*s < 0x20 || *s == 0x7f || strchr("<>&\"\\'", *s)))
			fprintf(out, "\\u%04x", *s);
		else if (!n)
			fputs("\\ufffd", out);
		else
			fwrite(s, 1, n, out);
		s += n ? n : 1;
	}
	fputc('"', out);
}

static void put_number(struct data *d, uint64_t number)
{
	fprintf(d->out, ",%llu", (unsigned long long)number);
}

static void put_text(struct data *d, const char *text)
{
	put_number(d, text ? rd_names_put(&d->texts, text, strlen(text)) : 0);
}

#define PUT_COLUMNS(d, ...)                                                                                  \
	put_columns(d, (const char *const[]){__VA_ARGS__},                                                   \
		    sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

static void put_columns(struct data *d, const char *const *texts, size_t count)
{
	for (size_t i = 0; i < count; i++)
		put_text(d, texts[i]);
}

/* Writes the beginning of a diff, or the reason why it is missing. */
static void put_diff(struct data *d, const struct campaign_results *r, const char *name)
{
	struct rd_buf text = RD_BUF_INIT;
	char *path;

	/* The name comes from the log, and must not name a file outside the campaign's
	 * directory. */
	if (!name || *name == '/' || strstr(name, "..")) {
		put_number(d, 0);
		return;
	}
	path = rd_xasprintf("%s/%s", r->directory, name);
	if (d->diff_bytes > DIFFS_MAX || !source_read(path, DIFF_FILE_MAX, &text)) {
		rd_buf_clear(&text);
		rd_buf_addf(&text, "(see %s)", path);
	} else if (text.length > DIFF_SHOWN) {
		size_t more = text.length - DIFF_SHOWN;

		text.length = DIFF_SHOWN;
		text.data[text.length] = '\0';
		rd_buf_addf(&text, "\n... %zu more bytes in %s", more, path);
	}
	size_t known = d->texts.count;
	put_text(d, text.data);
	d->diff_bytes += d->texts.count > known ? text.length : 0;
	rd_buf_release(&text);
	free(path);
}

static void put_end(struct data *d, const struct runlog_run *run)
{
	struct rd_buf text = RD_BUF_INIT;

	if (run->signal)
		rd_buf_adds(&text, run->signal);
	else if (run->exit >= 0)
		rd_buf_addf(&text, "exit %lld", (long long)run->exit);
	if (run->place)
		rd_buf_addf(&text, "%sat %s", text.length ? " " : "", run->place);
	put_text(d, text.data);
	rd_buf_release(&text);
}

static void put_run(struct data *d, size_t campaign, const struct campaign_results *r,
		    const struct runlog_run *run)
{
	fprintf(d->out, "%s[%zu", d->first ? "" : ",\n", campaign);
	d->first = false;
	put_number(d, run->run);
	put_text(d, run->fault);
	put_number(d, run->outcome);
	put_number(d, run->deviation);
	PUT_COLUMNS(d, run->thread, run->where, run->opcode);
	put_number(d, run->instance);
	PUT_COLUMNS(d, run->action, run->mask, run->before, run->after);
	put_end(d, run);
	PUT_COLUMNS(d, run->deviation_at, run->deviation_thread);
	fprintf(d->out, ",%.6g", run->cpu_ms);
	put_diff(d, r, run->outcome == RUNLOG_SDC ? run->diff : NULL);
	fputs("]", d->out);
}

static bool is_dull(const struct runlog_run *run)
{
	return run->outcome >= RUNLOG_MASKED;
}

/* Returns how many masked and not activated runs fit in the list when all other runs are in it.
 * Stores the number of all runs in *all. */
static size_t room_for_dull(const struct report_campaigns *c, size_t *all)
{
	size_t telling = 0;

	*all = 0;
	for (size_t i = 0; i < c->count; i++) {
		*all += c->items[i].results->count;
		for (size_t k = 0; k < c->items[i].results->count; k++)
			telling += !is_dull(&c->items[i].results->runs[k]);
	}
	return telling < RUNS_MAX ? RUNS_MAX - telling : 0;
}

static void put_texts(struct data *d)
{
	fputs("],\"texts\":[", d->out);
	for (size_t i = 0; i < d->texts.count; i++) {
		fputs(i ? ",\n" : "", d->out);
		put_string(d->out, d->texts.items[i]);
	}
	fputs("]", d->out);
}

static void put_names(struct data *d, const struct report_campaigns *c)
{
	fputs(",\"campaigns\":[", d->out);
	for (size_t i = 0; i < c->count; i++) {
		const struct campaign_results *r = c->items[i].results;

		fputs(i ? ",[" : "[", d->out);
		put_string(d->out, r->name ? r->name : RD_UNKNOWN);
		fputs(",", d->out);
		put_string(d->out, r->directory ? r->directory : RD_UNKNOWN);
		fputs("]", d->out);
	}
	fputs("],\"outcomes\":[", d->out);
	for (unsigned i = 0; i < RUNLOG_OUTCOMES; i++)
		fprintf(d->out, "%s\"%s\"", i ? "," : "", runlog_outcome_name(i));
	fputs("],\"deviations\":[", d->out);
	for (unsigned i = 0; i < RUNLOG_DEVIATIONS; i++)
		fprintf(d->out, "%s\"%s\"", i ? "," : "", runlog_deviation_name(i));
	fputs("]", d->out);
}

void campaign_runs(FILE *out, const struct report_campaigns *c, size_t *shown, size_t *all)
{
	RD_ASSERT(shown != NULL && all != NULL);
	struct data d = {.out = out, .texts = RD_NAMES_INIT, .first = true};
	size_t room = room_for_dull(c, all), telling = RUNS_MAX;

	*shown = 0;
	rd_names_put(&d.texts, "", 0);
	fputs("<script type=\"application/json\" id=\"data\">{\"runs\":[", out);
	for (size_t i = 0; i < c->count; i++) {
		const struct campaign_results *r = c->items[i].results;

		for (size_t k = 0; k < r->count; k++) {
			size_t *left = is_dull(&r->runs[k]) ? &room : &telling;

			if (!*left)
				continue;
			--*left;
			++*shown;
			put_run(&d, i, r, &r->runs[k]);
		}
	}
	put_texts(&d);
	put_names(&d, c);
	fputs("}</script>\n", out);
	rd_names_release(&d.texts);
}
