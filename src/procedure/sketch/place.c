// SPDX-License-Identifier: Apache-2.0
/* Places in code (sketch/place.h).  In: a program and an offset in its code.  Out: function, file
 * and line. */
#include "sketch/place.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "base/process.h"

#include <elf.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* HEAD_BYTES is the number of bytes at the start of an executable in which its program headers are
 * expected.  ANSWER_MAX is the maximum size, in bytes, of an answer of addr2line, which usually has
 * a few lines.  Both were chosen by hand. */
enum { HEAD_BYTES = 4096, ANSWER_MAX = 65536 };

/* Returns the lowest address of the program's segments.  Distances are counted from this
 * address. */
static uint64_t base_of(const char *executable)
{
	_Alignas(Elf64_Ehdr) char head[HEAD_BYTES];
	size_t length = rd_file_head(executable, head, sizeof head);
	const Elf64_Ehdr *header = (const void *)head;
	uint64_t base = UINT64_MAX;
	if (length < sizeof *header || header->e_phentsize != sizeof(Elf64_Phdr))
		return 0;
	for (uint64_t i = 0; i < header->e_phnum; i++) {
		uint64_t at = header->e_phoff + i * sizeof(Elf64_Phdr);
		Elf64_Phdr segment;
		if (header->e_phoff > length || at + sizeof segment > length)
			break;
		memcpy(&segment, head + at, sizeof segment);
		if (segment.p_type == PT_LOAD && segment.p_vaddr < base)
			base = segment.p_vaddr;
	}
	return base != UINT64_MAX ? base : 0;
}

bool sketch_is_system_file(const char *file)
{
	static const char *const system[] = {"/usr/include/", "/usr/lib", "/usr/bin/../",
					     "/usr/local/include/"};

	for (size_t i = 0; i < sizeof system / sizeof *system; i++)
		if (!strncmp(file, system[i], strlen(system[i])))
			return true;
	return false;
}

/* Returns the length of a function's name without the types of its arguments.  Names in facts and
 * sites do not include these types either. */
static size_t name_length(const char *text, size_t length)
{
	size_t depth = 0, at = length;
	if (length == 0 || text[length - 1] != ')')
		return length;
	do {
		at--;
		depth += text[at] == ')';
		depth -= text[at] == '(';
	} while (at > 0 && depth > 0);
	RD_ASSERT(at < length);
	return depth == 0 && at > 0 ? at : length;
}

/* Parses "function\nfile:line ...\n", with question marks for what is unknown. */
static void parse_frame(struct sketch_place *place, const char *text)
{
	size_t first = strcspn(text, "\n");
	const char *file = text + first + (text[first] != '\0');
	size_t second = strcspn(file, "\n");
	const char *colon = memrchr(file, ':', second);
	if (first != 0 && text[0] != '?')
		place->function = rd_xstrndup(text, name_length(text, first));
	if (colon == NULL || file[0] == '?')
		return;
	place->line = (uint32_t)strtoul(colon + 1, NULL, 10);
	if (place->line != 0)
		place->file = rd_xstrndup(file, (size_t)(colon - file));
}

/* Parses an answer of addr2line.  The answer lists the innermost function first, followed by the
 * functions into which it was inlined.  Uses the first function that is not in a system header or,
 * if all of them are, the innermost one. */
static void parse(struct sketch_place *place, const char *text)
{
	const char *at = text;

	while (*at) {
		struct sketch_place frame = {0};

		parse_frame(&frame, at);
		if (!place->file || (frame.file && !sketch_is_system_file(frame.file))) {
			RD_FREE(place->function, place->file);
			*place = frame;
		} else {
			RD_FREE(frame.function, frame.file);
		}
		if (place->file && !sketch_is_system_file(place->file))
			return;
		for (int i = 0; i < 2; i++) {
			at += strcspn(at, "\n");
			at += *at != '\0';
		}
	}
}

const struct sketch_place *sketch_place(struct sketch_places *p, const char *executable, uint64_t distance)
{
	bool is_new;
	uint64_t *number = rd_umap_put(&p->known, distance, &is_new);
	RD_ASSERT(is_new || *number < p->count);
	if (!is_new)
		return &p->items[*number];
	*number = p->count;
	RD_GROW(p->items, p->capacity, p->count + 1);
	struct sketch_place *place = &p->items[p->count++];
	*place = (struct sketch_place){0};
	if (distance == 0)
		return place;
	struct rd_argv command = RD_ARGV_INIT;
	struct rd_buf answer = RD_BUF_INIT;
	char *llvm = rd_find_program("llvm-addr2line-" RADDLE_LLVM);

	/* The addr2line of binutils does not understand all that clang records about inlining. */
	rd_argv_add(&command, llvm ? llvm : "addr2line");
	rd_argv_add(&command, "-fiCe");
	rd_argv_add(&command, executable);
	rd_argv_addf(&command, "0x%" PRIx64, base_of(executable) + distance);
	if (rd_run_capture(command.items, ANSWER_MAX, &answer) == 0 && answer.length != 0)
		parse(place, answer.data);
	else
		rd_warn("%s: addr2line cannot find the place of an address in it", executable);
	free(llvm);
	rd_argv_release(&command);
	rd_buf_release(&answer);
	return place;
}

const struct sketch_place *sketch_crash_place(struct sketch_places *p, const char *executable,
					      const uint64_t places[RADDLE_CRASH_PLACES], sketch_own_fn *own,
					      const void *context)
{
	size_t first = SIZE_MAX;
	for (size_t i = 0; i < RADDLE_CRASH_PLACES && places[i] != 0; i++) {
		const struct sketch_place *at = sketch_place(p, executable, places[i]);
		if (at->line == 0 || at->file == NULL || (own != NULL && !own(context, at->file)))
			continue;
		if (!sketch_is_system_file(at->file))
			return at;
		if (first == SIZE_MAX)
			first = i;
	}
	return first != SIZE_MAX ? sketch_place(p, executable, places[first]) : NULL;
}

void sketch_places_release(struct sketch_places *p)
{
	for (size_t i = 0; i < p->count; i++)
		RD_FREE(p->items[i].function, p->items[i].file);
	free(p->items);
	rd_umap_release(&p->known);
	*p = (struct sketch_places){0};
}
