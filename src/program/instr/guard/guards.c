// SPDX-License-Identifier: Apache-2.0
/* Reads the file of guards into maps.  This file does not use LLVM, so that it can be tested
 * without it. */
#include "instr/guard/guards.h"

#include "base/error.h"
#include "raddle/guard.h"

#include <stdlib.h>
#include <string.h>

static int parse_line(struct instr_guards *g, const char *line, size_t length, uint32_t *guards)
{
	char *end;
	if (length > 2 && line[0] == 'x' && line[1] == ' ') {
		rd_names_put(&g->outside, line + 2, length - 2);
		return 0;
	}
	rd_buf_add(&g->table, line, length);
	rd_buf_addc(&g->table, '\n');
	if (length < 3 || line[1] != ' ' || line[0] == 'c')
		return 0;
	if (line[0] != 'a' || *guards == RADDLE_GUARDS)
		return -1;
	unsigned long long site = strtoull(line + 2, &end, 10);
	if (end != line + length)
		return -1;
	*rd_umap_put(&g->sites, site, NULL) = (*guards)++;
	return 0;
}

int instr_guards_parse(struct instr_guards *g, const char *text, const char *name)
{
	uint32_t guards = 0;
	size_t number = 0;
	*g = (struct instr_guards){.table = RD_BUF_INIT};
	if (strncmp(text, RADDLE_GUARD_TITLE, strlen(RADDLE_GUARD_TITLE)) != 0)
		return rd_fail(RD_EFORMAT, "instr: %s: not a file of guards", name);
	while (*text != '\0') {
		size_t length = strcspn(text, "\n");
		number++;
		if (parse_line(g, text, length, &guards))
			return rd_fail(RD_EFORMAT, "instr: %s:%zu: not a guard", name, number);
		text += length + (text[length] == '\n');
	}
	return 0;
}

void instr_guards_release(struct instr_guards *g)
{
	rd_umap_release(&g->sites);
	rd_names_release(&g->outside);
	rd_buf_release(&g->table);
}
