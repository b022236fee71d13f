// SPDX-License-Identifier: Apache-2.0
/* Techniques by name.  In: a list of techniques to leave out.  Out: the other techniques. */
#include "classify/techniques.h"

#include "base/error.h"

#include <string.h>

int classify_techniques_without(const char *text, struct classify_techniques *techniques)
{
	struct classify_techniques all = CLASSIFY_TECHNIQUES;
	struct {
		const char *name;
		bool *technique;
	} table[] = {{"schedules", &all.schedules},
		     {"control", &all.control},
		     {"adhoc", &all.adhoc},
		     {"paths", &all.paths}};

	for (const char *at = text; at && *at; at += *at == ',') {
		size_t length = strcspn(at, ","), i = 0;

		while (i < 4 && (strlen(table[i].name) != length || strncmp(table[i].name, at, length) != 0))
			i++;
		if (i == 4)
			return rd_fail(
				RD_EUSAGE,
				"classify: --without takes schedules, control, adhoc or paths, not %.*s",
				(int)length, at);
		*table[i].technique = false;
		at += length;
	}
	*techniques = all;
	return RD_OK;
}
