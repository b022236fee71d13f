// SPDX-License-Identifier: Apache-2.0
/*
 * Finds assembler in a unit that may order threads without being recorded.  The unit's object gets
 * a section that names each function with such code.  The linker concatenates these sections, and
 * bitcode/foreign.c reads them.  Fences are left out.  They order threads only together with
 * accesses, and these are either recorded or made by code that does not belong to the program.
 */
#include "instr/unit-int.h"

#include "base/alloc.h"
#include "base/buf.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static bool is_word(const char *word)
{
	static const char *const words[] = {"pause",  "nop",   "rep",	"mfence", "lfence",
					    "sfence", "cpuid", "rdtsc", "rdtscp", "xgetbv"};

	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
		if (!strcmp(word, words[i]))
			return true;
	return false;
}

bool instr_is_fence(const char *text)
{
	char *copy = rd_xstrdup(text), *rest = copy, *word;
	bool fence = true;

	while ((word = strsep(&rest, " \t\n;")) != NULL && fence)
		fence = !*word || is_word(word);
	free(copy);
	/* A locked addition of 0 to the thread's own stack is an older way to write a fence. */
	return fence || (strstr(text, "lock") && strstr(text, "$$0") && strstr(text, "sp)"));
}

static void note(struct instr_unit *u, const char *what, const char *name)
{
	struct rd_buf text = RD_BUF_INIT;

	rd_buf_addf(&text, ".pushsection .rad.as,\"\",@progbits\n.asciz \"assembler %s ", what);
	for (; *name; name++)
		rd_buf_addc(&text, isalnum((unsigned char)*name) || strchr("._-/$", *name) ? *name : '?');
	rd_buf_adds(&text, "\"\n.popsection\n");
	LLVMAppendModuleInlineAsm(u->module, text.data, text.length);
	rd_buf_release(&text);
}

void instr_note_assembler(struct instr_unit *u, LLVMValueRef function)
{
	size_t n;

	note(u, "in", LLVMGetValueName2(function, &n));
}

/* Returns true if the text contains code, not only directives and labels. */
static bool has_code(const char *text)
{
	char *copy = rd_xstrdup(text), *rest = copy, *line;
	bool code = false;

	while ((line = strsep(&rest, "\n;")) != NULL && !code) {
		line += strspn(line, " \t");
		code = *line && *line != '.' && *line != '#' && line[strlen(line) - 1] != ':';
	}
	free(copy);
	return code;
}

void instr_note_module_assembler(struct instr_unit *u)
{
	size_t n;
	const char *text = LLVMGetModuleInlineAsm(u->module, &n);
	char *copy = rd_xstrndup(text, n);
	const char *slash = strrchr(u->name, '/');

	if (has_code(copy))
		note(u, "of", slash ? slash + 1 : u->name);
	free(copy);
}
