/* SPDX-License-Identifier: Apache-2.0 */
/* Finds a library function in the table of raddle/libc.inc by its name. */
#include "ir/extern.h"

#include "base/error.h"
#include "base/map.h"
#include "ir/value.h"

#include <string.h>

static const struct ir_extern rows[] = {
#define LIBC_POINTERS(name, role, subject, effects) {name, FACTS_ROLE_##role, subject, effects},
#include "raddle/libc.inc"
};

static const struct ir_extern quiet = {"", FACTS_ROLE_NONE, -1, ""};

/* Functions that neither keep pointers nor call back; they get a row without effects. */
static const char *const quiet_names[] = {
#define LIBC_QUIET(name) name,
#include "raddle/libc.inc"
};

enum { ROWS = sizeof rows / sizeof *rows, QUIETS = sizeof quiet_names / sizeof *quiet_names };

/* Built on first use.  No lock is needed, because the worker is single-threaded. */
static struct rd_names names;

static void index_names(void)
{
	for (size_t i = 0; i < ROWS; i++)
		rd_names_put(&names, rows[i].name, strlen(rows[i].name));
	for (size_t i = 0; i < QUIETS; i++)
		rd_names_put(&names, quiet_names[i], strlen(quiet_names[i]));
}

const struct ir_extern *ir_extern_find(const char *name)
{
	RD_ASSERT(name != NULL);
	uint32_t number;
	if (names.count == 0)
		index_names();
	if (!rd_names_find(&names, name, strlen(name), &number))
		return NULL;
	return number < ROWS ? &rows[number] : &quiet;
}
