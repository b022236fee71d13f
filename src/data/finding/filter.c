// SPDX-License-Identifier: Apache-2.0
/*
 * Marks findings that the user already knows or has suppressed, according to a baseline and a file
 * of suppressions.
 */
#include "finding/filter.h"

#include "base/error.h"
#include "finding/suppress.h"

static int suppress(const char *path, struct finding_set *set, bool tell)
{
	struct suppressions s = SUPPRESSIONS_INIT;
	int err = suppressions_read(&s, path);

	if (!err)
		suppressions_apply(&s, set);
	for (size_t i = 0; i < s.count && !err && tell; i++)
		if (!s.rules[i].hits)
			rd_info("suppressions: %s: line %zu: the rule %s:%s hid nothing", path,
				s.rules[i].line, suppress_type_name(s.rules[i].type), s.rules[i].pattern);
	suppressions_release(&s);
	return err;
}

int finding_filter(const struct finding_filter *filter, struct finding_set *set, bool tell)
{
	int err = filter->suppressions ? suppress(filter->suppressions, set, tell) : RD_OK;
	size_t fixed = 0; /* number of ids in the baseline that match no finding */

	if (!err && filter->baseline)
		err = finding_baseline_read(set, filter->baseline, &fixed);
	if (!err && tell && fixed)
		rd_info("baseline: %s: %zu of its findings did not occur this time", filter->baseline, fixed);
	return err;
}
