// SPDX-License-Identifier: Apache-2.0
/* Counts the runs of campaigns.  In: directories of campaigns, finished or not.  Out: statistics,
 * and a comparison. */
#include "inject/counted.h"

#include "base/alloc.h"
#include "base/error.h"

#include <stdlib.h>

static int count_one(struct campaign_counted *c, const char *directory, const char *kinds)
{
	struct campaign_results *r = &c->results[c->count];
	int err = campaign_results_read(r, directory);

	if (!err && kinds) {
		err = campaign_results_choose(r, kinds);
		if (err)
			campaign_results_release(r);
	}
	if (!err)
		campaign_statistics(&c->statistics[c->count++], r);
	return err;
}

int campaign_count(struct campaign_counted *c, char *const *directories, size_t count, const char *kinds,
		   const char *baseline)
{
	int err = 0;

	RD_ASSERT(!baseline || count == 1);
	*c = (struct campaign_counted){.results = rd_xcalloc(count + 1, sizeof *c->results),
				       .statistics = rd_xcalloc(count + 1, sizeof *c->statistics)};
	for (size_t i = 0; i < count && !err; i++)
		err = count_one(c, directories[i], kinds);
	if (!err && baseline)
		err = count_one(c, baseline, kinds);
	if (!err && baseline)
		err = campaign_against(&c->against, &c->statistics[1], &c->statistics[0]);
	return err;
}

void campaign_counted_release(struct campaign_counted *c)
{
	campaign_against_release(&c->against);
	for (size_t i = 0; i < c->count; i++) {
		campaign_statistics_release(&c->statistics[i]);
		campaign_results_release(&c->results[i]);
	}
	RD_FREE(c->results, c->statistics);
}
