// SPDX-License-Identifier: Apache-2.0
/* Reads any bytes as the report of a failure, which gdb, a sanitizer or libc may have written
 * (sketch/outcome.c). */
#include "base/error.h"
#include "sketch/outcome.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sketch_failure f;
	char *signature;

	rd_log_set(rd_log_discard, NULL);
	if (sketch_read_text(&f, (const char *)data, size, "input") == RD_OK) {
		RD_ASSERT(f.kind != SKETCH_PASSED && f.line && f.file && *f.file);
		signature = sketch_signature(&f);
		free(signature);
	}
	sketch_failure_release(&f);
	return 0;
}
