// SPDX-License-Identifier: Apache-2.0
/*
 * Reads any bytes as a file of faults.  The file is rejected with a message, or each of its faults
 * has a name, a place and an action that fit each other.
 */
#include "base/error.h"
#include "inject/fault-model.h"

#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct inject_fault_models m = {0};
	int r = inject_fault_models_parse(&m, (const char *)data, size, "input");

	for (size_t i = 0; i < m.count && !r; i++) {
		const struct inject_fault_model *one = &m.items[i];

		RD_ASSERT(one->kind.name && *one->kind.name && !strcmp(one->kind.name, one->rule.kind));
		RD_ASSERT(one->rule.places != 0 && one->rule.argument <= 255);
		RD_ASSERT((one->rule.draw == INJECT_CALL) <= (one->rule.places == INJECT_CALLEE));
		RD_ASSERT(one->kind.bits <= INJECT_BITS_MAX);
		RD_ASSERT(!one->kind.permanent || !one->kind.times);
	}
	RD_ASSERT(r || m.count);
	inject_fault_models_release(&m);
	return 0;
}
