// SPDX-License-Identifier: Apache-2.0
/* Classes as text.  In: a set of findings with classes, and the counts of the classification.  Out:
 * lines that follow a report. */
#include "report/classes.h"

#include "base/error.h"
#include "base/file.h"
#include "base/name.h"
#include "base/printable.h"
#include "report/words-int.h"

#include <inttypes.h>

static void print_one(const struct finding_set *set, const struct finding *f, FILE *out)
{
	RD_ASSERT(f->access_count > 0 && f->class != FINDING_NO_CLASS);
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

/* Prints the classes of findings that were printed before they had a class. */
static void print_reported(const struct finding_set *set, FILE *out)
{
	for (size_t i = 0; i < set->count; i++) {
		const struct finding *f = set->items[i];
		if (f->printed && f->class != FINDING_NO_CLASS && f->access_count)
			print_one(set, f, out);
	}
}

void report_classes(const struct finding_set *set, const struct classify_result *result, FILE *out)
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
	print_reported(set, out);
	if (result->undecided)
		fprintf(out, "Not classified: %" PRIu64 "; their notes state why.\n", result->undecided);
	if (result->untried)
		fprintf(out, "Not classified %s: %" PRIu64 ".\n",
			result->interrupted ? "before the interrupt" : "in the time given (--time raises it)",
			result->untried);
}
