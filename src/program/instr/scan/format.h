/* SPDX-License-Identifier: Apache-2.0 */
/* What printf, scanf and related functions do with the arguments that their format describes. */
#ifndef INSTR_FORMAT_H
#define INSTR_FORMAT_H

#include <llvm-c/Core.h>
#include <stdbool.h>
#include <stdint.h>

/* Memory that one conversion reads or writes. */
struct instr_conversion {
	unsigned argument; /* of the call: points to it */
	bool write, is_string;
	bool is_scanned; /* only if the result of the call is more than `least` */
	unsigned least;
	uint64_t size; /* bytes, of a string the most; UINT64_MAX: no limit */
	int limit;     /* the argument that states the most instead; -1: none */
};
typedef void instr_conversion_fn(void *context, const struct instr_conversion *c);

/* Calls `found` for each conversion.  Nothing is found in a format that is not constant or that
 * numbers its arguments. */
void instr_format_read(LLVMValueRef call, const char *name, instr_conversion_fn *found, void *context);

#endif
