// SPDX-License-Identifier: Apache-2.0
/* Classes as text.  In: a set of findings with classes, and the counts of the classification.  Out:
 * lines that follow a report. */
#include "report/classes.h"

#include <inttypes.h>

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
	if (result->undecided)
		fprintf(out, "Not classified: %" PRIu64 "; their notes state why.\n", result->undecided);
	if (result->untried)
		fprintf(out, "Not classified %s: %" PRIu64 ".\n",
			result->interrupted ? "before the interrupt" : "in the time given (--time raises it)",
			result->untried);
}
