/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the memory that printf, scanf and related functions access because of their format. */
#ifndef INSTR_FORMAT_H
#define INSTR_FORMAT_H

#include <llvm-c/Core.h>
#include <stdbool.h>
#include <stdint.h>

/* Memory that one conversion reads or writes. */
struct instr_conversion {
	unsigned argument; /* the number of the argument that points to the memory */
	bool write, is_string;
	/* True if the memory is accessed only when the result of the call is more than `least`. */
	bool is_scanned;
	unsigned least;
	uint64_t size; /* the number of bytes; for a string, the maximum; UINT64_MAX for no limit */
	/* The number of the argument that states the maximum instead of `size`, or -1 if there is
	 * none. */
	int limit;
};
typedef void instr_conversion_fn(void *context, const struct instr_conversion *c);

/* Calls `found` for each conversion.  A format that is not constant, or that numbers its arguments,
 * is ignored. */
void instr_format_read(LLVMValueRef call, const char *name, instr_conversion_fn *found, void *context);

#endif
