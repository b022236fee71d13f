// SPDX-License-Identifier: Apache-2.0
/* Reports what a prediction left out.  In: its counts.  Out: lines after a report. */
#include "report/prediction.h"

#include <inttypes.h>

void report_prediction_rest(const struct predict_batch *p, FILE *out, const char *done)
{
	if (p->not_recorded)
		fprintf(out,
			"The run was long: %" PRIu64
			" accesses of busy places to busy memory are not in the trace; --all-accesses "
			"records them.\n",
			p->not_recorded);
	if (p->parts)
		fprintf(out,
			"The trace was too large for the memory and was examined in %" PRIu64
			" parts; errors across two parts are missed; --memory makes the parts larger.\n",
			p->parts);
	if (p->skipped)
		fprintf(out, "There was no time for %" PRIu64 " of the parts.\n", p->skipped);
	if (p->late)
		fputs("The time for prediction was up before everything was decided; --time raises it.\n",
		      out);
	if (p->left_out)
		fprintf(out, "%" PRIu64 " more were not %s; --limit raises the number.\n", p->left_out, done);
	if (p->unknown)
		fprintf(out, "%" PRIu64 " candidates are undecided; --work raises the effort.\n", p->unknown);
}
