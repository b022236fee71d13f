// SPDX-License-Identifier: Apache-2.0
/* Writes the numbers of a diagnosis as sentences.  The sketches of the diagnosis are written
 * elsewhere. */
#include "report/diagnosis.h"

#include <inttypes.h>

void report_diagnosis_text(const struct diagnosis *d, const struct sketch_failure *wanted, FILE *out)
{
	if (d->untracked)
		fprintf(out, "The program was only run with threads taking turns: %s\n", d->untracked);
	if (d->discarded)
		fprintf(out, "%zu runs could not be judged: %s\n", d->discarded, d->why);
	if (!d->set.count && wanted)
		fprintf(out, "No run of %zu failed at %s:%" PRIu32 "; %zu failed elsewhere.\n", d->set.runs,
			wanted->file, wanted->line, d->failed);
	else if (!d->set.count)
		fprintf(out, "No run of %zu failed.\n", d->set.runs);
	if (d->set.unexplained)
		fprintf(out,
			"%zu more kinds of failures occurred and are not explained; more time (--time) may "
			"help.\n",
			d->set.unexplained);
}
