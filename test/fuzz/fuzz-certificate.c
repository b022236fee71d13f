// SPDX-License-Identifier: Apache-2.0
/*
 * Reads any bytes as a certificate of `raddle reversible`.  An accepted certificate refers only to
 * threads that it lists.
 */
#include "base/error.h"
#include "reversible/certificate.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rev_certificate c;

	rd_log_set(rd_log_discard, NULL);
	if (rev_certificate_parse(&c, data, size, "fuzz") != 0)
		return 0;
	for (size_t i = 0; i < c.step_count; i++)
		RD_ASSERT(c.steps[i].thread < c.thread_count && c.steps[i].of < c.thread_count &&
			  c.steps[i].n && c.steps[i].m && c.steps[i].rule < REV_RULES);
	for (size_t i = 0; i < c.proved_count; i++)
		RD_ASSERT(c.proved[i].t < c.thread_count && c.proved[i].u < c.thread_count);
	rev_certificate_release(&c);
	return 0;
}
