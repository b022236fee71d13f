// SPDX-License-Identifier: Apache-2.0
/*
 * Reads and writes baselines.  Findings that a baseline lists are marked as known, so that they are
 * not reported as new.  A baseline is the finding document of an earlier run, or a text with one id
 * per line, which is easier to keep under version control.  An id may be that of a bug, which stands
 * for all its findings, or that of a single finding.
 */
#include "finding/bug.h"
#include "finding/filter.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "base/hex.h"
#include "base/map.h"
#include "base/printable.h"

#include <stdlib.h>
#include <string.h>

static int names_of_document(struct rd_names *ids, const void *data, size_t length, const char *name)
{
	struct finding_set *set;
	int err = finding_parse(&set, data, length, name);

	if (err)
		return err;
	finding_group(set);
	for (size_t i = 0; i < set->count; i++)
		rd_names_put(ids, set->items[i]->bug, FINDING_ID_SIZE - 1);
	finding_set_free(set);
	return RD_OK;
}

static int names_of_text(struct rd_names *ids, const char *text, const char *name)
{
	size_t number = 0;

	while (*text) {
		size_t length = strcspn(text, "\n"), blank = strspn(text, " \t\r");
		const char *line = text + (blank < length ? blank : length);
		size_t word = strspn(line, RD_HEX_DIGITS), rest = word + strspn(line + word, " \t\r");

		number++;
		if (word == FINDING_ID_SIZE - 1 && strchr("#\n", line[rest]))
			rd_names_put(ids, line, word);
		else if (word || !strchr("#\n", line[rest]))
			return rd_fail(RD_EFORMAT, "baseline: %s: line %zu: not an id of 16 hex digits", name,
				       number);
		text += length + (text[length] == '\n');
	}
	return RD_OK;
}

/* Marks the findings whose ids, or the ids of whose bugs, are listed.  Returns how many listed ids
 * occurred. */
static size_t mark(struct finding_set *set, const struct rd_names *ids)
{
	bool *occurred = rd_xcalloc(ids->count + 1, sizeof *occurred);
	size_t count = 0;
	uint32_t number;

	finding_group(set);
	for (size_t i = 0; i < set->count; i++) {
		struct finding *f = set->items[i];

		if (!rd_names_find(ids, f->id, strlen(f->id), &number) &&
		    !rd_names_find(ids, f->bug, strlen(f->bug), &number))
			continue;
		f->known = true;
		count += !occurred[number];
		occurred[number] = true;
	}
	free(occurred);
	return count;
}

int finding_baseline_parse(struct finding_set *set, const void *data, size_t length, const char *name,
			   size_t *fixed)
{
	RD_ASSERT(name != NULL);
	struct rd_names ids = RD_NAMES_INIT;
	struct rd_buf text = RD_BUF_INIT;

	rd_buf_add(&text, data, length);
	int err = text.data[strspn(text.data, " \t\r\n")] == '{' ? names_of_document(&ids, data, length, name)
								 : names_of_text(&ids, text.data, name);
	if (!err && strlen(text.data) != length)
		err = rd_fail(RD_EFORMAT, "baseline: %s: not a text file", name);
	if (!err) {
		size_t marked = mark(set, &ids);

		if (fixed)
			*fixed = ids.count - marked;
	}
	rd_buf_release(&text);
	rd_names_release(&ids);
	return err;
}

int finding_baseline_read(struct finding_set *set, const char *path, size_t *fixed)
{
	return RD_WITH_FILE(path, RD_TEXT_MAX, text,
			    finding_baseline_parse(set, text.data, text.length, path, fixed));
}

int finding_baseline_write(const struct finding_set *set, FILE *out)
{
	struct finding_bugs bugs;

	finding_bugs_list(&bugs, set);
	fputs("# Bugs known to 'raddle check --baseline'; one id per line.\n", out);
	for (size_t i = 0; i < bugs.count; i++) {
		const struct finding *f = bugs.items[i].findings[0];
		struct rd_buf title = RD_BUF_INIT;

		if (f->status != FINDING_CONFIRMED || f->suppressed)
			continue;
		finding_bug_title(&title, &bugs.items[i]);
		rd_make_printable(title.data, title.length, false);
		fprintf(out, "%s # %s\n", bugs.items[i].id, title.data);
		rd_buf_release(&title);
	}
	finding_bugs_release(&bugs);
	return RD_OK;
}
