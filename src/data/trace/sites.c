/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads site tables, which list the instrumented places of a program.  A table is text, which may
 * be compressed as one zstd frame.  The text is cut into strings in place, so a table of hundreds
 * of thousands of sites needs only one buffer and a few arrays.
 *
 * The input is not trusted: every number has a maximum, the checksum is verified before anything
 * is used, and error messages name the line.
 *
 * Invariants: the sites of a unit are contiguous, in ascending order of n; units own disjoint
 * slots; the members of a type are contiguous; if a type name is defined several times, only the
 * first definition is found.
 */
#include "trace/sites.h"

#include "base/compare.h"
#include "base/field.h"
#include "base/alloc.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "base/map.h"
#include "raddle/event.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#define SLOT_COUNT ((RADDLE_SITE_MAX >> RADDLE_SITE_LOCAL_BITS) + 1)
/* The largest size of the text in bytes.  The largest tables of our programs have some tens of
 * MiB. */
#define TEXT_MAX (1ull << 29)
/* The maximum ratio between the length of the text and the length of the compressed table.  This
 * limit rejects decompression bombs. */
#define EXPANSION_MAX 500
/* The text of any table may be longer than EXPANSION_MAX allows by this many bytes. */
#define EXPANSION_FREE (16ull << 20)

struct trace_sites_private {
	char *text;
	uint32_t *unit_of_slot; /* 1 + the index of the unit of each slot; SLOT_COUNT entries */
	struct rd_names types;	/* numbers the type names */
	struct type_range {
		size_t first, count;
	} * ranges; /* the range of members of each type, by number of the type */
	size_t range_capacity;
	struct rd_names linkages; /* numbers the linkage names */
	/* For each linkage name, by its number, the index of the first global with that name. */
	size_t *global_of;
	size_t global_of_capacity;
};

/* The state of parsing one table. */
struct sites_parser {
	struct trace_sites *sites;
	struct trace_sites_private *private;
	const char *name;
	size_t line;
	char **fields;
	size_t field_count, field_capacity;
	size_t file_base;	 /* index of the first file of the current unit */
	const char *member_type; /* type of the previous record, if that was a T record */
	size_t site_capacity, chain_capacity, unit_capacity, global_capacity, member_capacity,
		placed_capacity, file_capacity, piece_capacity;
};

static const char *const kind_names[TRACE_SITE_KINDS] = {"r", "w",  "rr", "rw", "al", "as", "ax", "ac",
							 "f", "c",  "e",  "a",	"x",  "g",  "st", "b",
							 "v", "cp", "i",  "ia", "k",  "o"};

const char *trace_site_kind_name(enum trace_site_kind kind)
{
	RD_ASSERT(kind < TRACE_SITE_KINDS);
	return kind_names[kind];
}

static int fail_line(const struct sites_parser *p, const char *what, const char *value)
{
	return rd_fail(RD_EFORMAT, "sites: %s: line %zu: %s \"%.60s\"", p->name, p->line, what, value);
}

static int get_number(const struct sites_parser *p, size_t field, uint64_t max, uint64_t *out)
{
	const char *s = p->fields[field];
	uint64_t v = 0;
	if (!*s)
		return fail_line(p, "a number is missing", s);
	for (const char *c = s; *c; c++) {
		if (*c < '0' || *c > '9')
			return fail_line(p, "not a number:", s);
		unsigned digit = (unsigned)(*c - '0');
		if (v > (UINT64_MAX - digit) / 10 || v * 10 + digit > max)
			return fail_line(p, "a number is too large:", s);
		v = v * 10 + digit;
	}
	*out = v;
	return RD_OK;
}

static int get_u32(const struct sites_parser *p, size_t field, uint32_t *out)
{
	uint64_t v;
	int err = get_number(p, field, UINT32_MAX, &v);
	if (!err)
		*out = (uint32_t)v;
	return err;
}

/* Reads a file number of the unit. -1 means that there is no file. */
static int get_file(const struct sites_parser *p, size_t field, uint32_t *out)
{
	uint64_t v;
	if (strcmp(p->fields[field], "-1") == 0) {
		*out = TRACE_NO_FILE;
		return RD_OK;
	}
	int err = get_number(p, field, UINT32_MAX, &v);
	if (err)
		return err;
	if (v >= p->sites->file_count - p->file_base)
		return fail_line(p, "the unit has no file number", p->fields[field]);
	*out = (uint32_t)(p->file_base + v);
	return RD_OK;
}

/* Reads a place, which consists of a file and a line in two successive fields. */
static int get_place(const struct sites_parser *p, size_t field, uint32_t *file, uint32_t *line)
{
	int err = get_file(p, field, file);
	return err ? err : get_u32(p, field + 1, line);
}

static int need_unit(const struct sites_parser *p)
{
	return p->sites->unit_count > 0 ? RD_OK : fail_line(p, "no U record before", p->fields[0]);
}

static int parse_unit(struct sites_parser *p)
{
	uint64_t slot, slots;
	int err = get_number(p, 1, SLOT_COUNT - 1, &slot);
	if (!err)
		err = get_number(p, 2, SLOT_COUNT - slot, &slots);
	if (err)
		return err;
	struct trace_sites *s = p->sites;
	RD_GROW(s->units, p->unit_capacity, s->unit_count + 1);
	s->units[s->unit_count++] = (struct trace_unit){.name = p->fields[3],
							.slot = (uint32_t)slot,
							.slots = (uint32_t)slots,
							.site = s->site_count,
							.piece = s->piece_count};
	for (uint64_t i = slot; i < slot + slots; i++) {
		if (p->private->unit_of_slot[i])
			return fail_line(p, "two units own slot", p->fields[1]);
		p->private->unit_of_slot[i] = (uint32_t)s->unit_count;
	}
	p->file_base = s->file_count;
	return RD_OK;
}

static int parse_file(struct sites_parser *p)
{
	struct trace_sites *s = p->sites;
	uint64_t n;
	int err = need_unit(p);
	if (!err)
		err = get_number(p, 1, UINT32_MAX, &n);
	if (err)
		return err;
	if (n != s->file_count - p->file_base)
		return fail_line(p, "file numbers are not consecutive:", p->fields[1]);
	RD_GROW(s->files, p->file_capacity, s->file_count + 1);
	s->files[s->file_count++] = p->fields[2];
	return RD_OK;
}

static int parse_flags(const struct sites_parser *p, const char *flags, struct trace_site *site)
{
	for (const char *c = flags; *c; c++) {
		switch (*c) {
		case 'v': site->flags |= TRACE_SITE_VOLATILE; break;
		case 'l': site->flags |= TRACE_SITE_WAIT_LOOP; break;
		case 't': site->flags |= TRACE_SITE_TLS; break;
		case 's': site->flags |= TRACE_SITE_STACK; break;
		case 'n': site->flags |= TRACE_SITE_UNSEEN; break;
		case 'x':
		case 'a':
		case 'r':
		case 'q':
		case 'S': site->order = *c; break;
		default: return fail_line(p, "unknown flag in", flags);
		}
	}
	return RD_OK;
}

static int parse_chain(struct sites_parser *p, struct trace_site *site)
{
	struct trace_sites *s = p->sites;
	site->chain = (uint32_t)s->chain_count;
	for (size_t f = 11; f < p->field_count; f += 3) {
		struct trace_inlined in = {.function = p->fields[f + 2]};
		int err = get_place(p, f, &in.file, &in.line);
		if (err)
			return err;
		RD_GROW(s->chains, p->chain_capacity, s->chain_count + 1);
		s->chains[s->chain_count++] = in;
		site->chain_length++;
	}
	return RD_OK;
}

static int parse_kind(const struct sites_parser *p, const char *kind, struct trace_site *site)
{
	for (unsigned k = 0; k < TRACE_SITE_KINDS; k++) {
		if (strcmp(kind, kind_names[k]) == 0) {
			site->kind = (uint8_t)k;
			return RD_OK;
		}
	}
	return fail_line(p, "unknown kind of site", kind);
}

/* Checks a site number.  It must be in the range of numbers of its unit, and larger than the
 * number of the previous site. */
static int check_site_number(const struct sites_parser *p, const struct trace_unit *unit, uint32_t n)
{
	if (n == 0 || (uint64_t)n >> RADDLE_SITE_LOCAL_BITS >= unit->slots)
		return fail_line(p, "the unit's slots have no site number", p->fields[1]);
	if (unit->site_count > 0 && p->sites->sites[p->sites->site_count - 1].n >= n)
		return fail_line(p, "site numbers do not ascend:", p->fields[1]);
	return RD_OK;
}

static int get_argument(const struct sites_parser *p, struct trace_site *site)
{
	uint32_t n = 0;
	int err = get_u32(p, 4, &n);
	site->argument = n < UINT8_MAX ? (uint8_t)n : UINT8_MAX;
	return err;
}

static int parse_site(struct sites_parser *p)
{
	struct trace_sites *s = p->sites;
	struct trace_site site = {.function = p->fields[8],
				  .what = p->fields[9],
				  .type = p->fields[10],
				  .holder = "",
				  .result = ""};
	int err = need_unit(p);
	if (!err && (p->field_count - 11) % 3 != 0)
		err = fail_line(p, "the chain is not made of triples at site", p->fields[1]);
	if (!err)
		err = get_u32(p, 1, &site.n);
	if (!err)
		err = check_site_number(p, &s->units[s->unit_count - 1], site.n);
	if (!err)
		err = parse_kind(p, p->fields[2], &site);
	if (!err)
		err = get_u32(p, 3, &site.size);
	if (!err && (site.kind == TRACE_SITE_ARGUMENT || site.kind == TRACE_SITE_OPERAND))
		err = get_argument(p, &site);
	else if (!err)
		err = parse_flags(p, p->fields[4], &site);
	if (!err)
		err = get_place(p, 5, &site.file, &site.line);
	if (!err)
		err = get_u32(p, 7, &site.column);
	if (!err)
		err = parse_chain(p, &site);
	if (err)
		return err;
	RD_GROW(s->sites, p->site_capacity, s->site_count + 1);
	s->sites[s->site_count++] = site;
	s->units[s->unit_count - 1].site_count++;
	return RD_OK;
}

/* Stores the last site in *out.  The records after a site refer to it. */
static int get_last_site(const struct sites_parser *p, struct trace_site **out)
{
	const struct trace_sites *s = p->sites;
	uint32_t n = 0;
	int err = need_unit(p);
	if (!err)
		err = get_u32(p, 1, &n);
	if (!err && (s->units[s->unit_count - 1].site_count == 0 || s->sites[s->site_count - 1].n != n))
		err = fail_line(p, "the previous site is not number", p->fields[1]);
	if (!err)
		*out = &s->sites[s->site_count - 1];
	return err;
}

static int parse_holder(struct sites_parser *p)
{
	struct trace_site *site = NULL;
	int err = get_last_site(p, &site);
	if (err)
		return err;
	site->holder = p->fields[2];
	return get_u32(p, 3, &site->holder_offset);
}

static int parse_result(struct sites_parser *p)
{
	struct trace_site *site = NULL;
	int err = get_last_site(p, &site);
	if (!err)
		site->result = p->fields[2];
	return err;
}

static int parse_global(struct sites_parser *p)
{
	struct trace_sites *s = p->sites;
	struct trace_global g = {.name = p->fields[1], .linkage = p->fields[2], .type = p->fields[6]};
	int err = need_unit(p);
	if (!err)
		err = get_number(p, 3, UINT64_MAX, &g.size);
	if (!err)
		err = get_place(p, 4, &g.file, &g.line);
	if (err)
		return err;
	g.unit = (uint32_t)(s->unit_count - 1);
	struct trace_sites_private *x = p->private;
	size_t known = x->linkages.count;
	RD_GROW(x->global_of, x->global_of_capacity, known + 1);
	if (rd_names_put(&x->linkages, g.linkage, strlen(g.linkage)) == known)
		x->global_of[known] = s->global_count;
	RD_GROW(s->globals, p->global_capacity, s->global_count + 1);
	s->globals[s->global_count++] = g;
	return RD_OK;
}

static int parse_member(struct sites_parser *p)
{
	struct trace_sites *s = p->sites;
	struct trace_sites_private *x = p->private;
	struct trace_member m = {.type = p->fields[1], .name = p->fields[3], .member_type = p->fields[6]};
	int err = get_number(p, 2, UINT64_MAX, &m.size);
	if (!err)
		err = get_number(p, 4, UINT64_MAX, &m.offset);
	if (!err)
		err = get_number(p, 5, UINT64_MAX, &m.member_size);
	if (err)
		return err;
	uint32_t number = rd_names_put(&x->types, m.type, strlen(m.type));
	size_t had = x->range_capacity;
	if (number >= x->range_capacity) {
		RD_GROW(x->ranges, x->range_capacity, (size_t)number + 1);
		memset(x->ranges + had, 0, (x->range_capacity - had) * sizeof *x->ranges);
	}
	struct type_range *r = &x->ranges[number];
	bool runs_on = p->member_type && strcmp(p->member_type, m.type) == 0 &&
		       r->first + r->count == s->member_count;
	if (r->count == 0)
		r->first = s->member_count;
	if (r->count == 0 || runs_on)
		r->count++;
	RD_GROW(s->members, p->member_capacity, s->member_count + 1);
	s->members[s->member_count++] = m;
	return RD_OK;
}

static int parse_placed(struct sites_parser *p)
{
	struct trace_sites *s = p->sites;
	struct trace_placed a = {.module = p->fields[1], .linkage = p->fields[4]};
	int err = get_number(p, 2, UINT64_MAX, &a.offset);
	if (!err)
		err = get_number(p, 3, UINT64_MAX, &a.size);
	if (err)
		return err;
	RD_GROW(s->placed, p->placed_capacity, s->placed_count + 1);
	s->placed[s->placed_count++] = a;
	return RD_OK;
}

static int parse_piece(struct sites_parser *p)
{
	struct trace_sites *s = p->sites;
	struct trace_piece_text piece = {.op_count = (uint32_t)(p->field_count - 4),
					 .ops = p->field_count > 4 ? p->fields[4] : ""};
	uint32_t n = 0;
	int err = need_unit(p);
	if (!err)
		err = get_u32(p, 1, &n);
	if (!err)
		err = get_u32(p, 2, &piece.function);
	if (!err)
		err = get_u32(p, 3, &piece.size);
	if (err)
		return err;
	struct trace_unit *unit = &s->units[s->unit_count - 1];
	if (n != unit->piece_count + 1 || (uint64_t)n >> RADDLE_SITE_LOCAL_BITS >= unit->slots)
		return fail_line(p, "piece numbers are not consecutive:", p->fields[1]);
	RD_GROW(s->pieces, p->piece_capacity, s->piece_count + 1);
	s->pieces[s->piece_count++] = piece;
	unit->piece_count++;
	return RD_OK;
}

static const struct {
	char letter;
	size_t least; /* smallest number of fields, including the letter */
	bool more;    /* true if more than `least` fields are allowed */
	int (*parse)(struct sites_parser *p);
} records[] = {
	{'U', 4, false, parse_unit},   {'F', 3, false, parse_file},   {'S', 11, true, parse_site},
	{'G', 7, false, parse_global}, {'T', 7, false, parse_member}, {'A', 5, false, parse_placed},
	{'P', 4, true, parse_piece},   {'O', 4, false, parse_holder}, {'R', 3, false, parse_result},
};

static int split_line(struct sites_parser *p, char *line)
{
	p->field_count = 0;
	for (char *at = line; at;) {
		char *tab = strchr(at, '\t');
		if (tab)
			*tab = '\0';
		RD_GROW(p->fields, p->field_capacity, p->field_count + 1);
		p->fields[p->field_count++] = at;
		at = tab ? tab + 1 : NULL;
	}
	for (size_t i = 0; i < p->field_count; i++) {
		if (!rd_field_undo(p->fields[i]))
			return fail_line(p, "bad escape in field", p->fields[i]);
	}
	return RD_OK;
}

static int parse_line(struct sites_parser *p, char *line)
{
	int err = split_line(p, line);
	if (err)
		return err;
	const char *letter = p->fields[0];
	for (size_t i = 0; i < sizeof records / sizeof *records; i++) {
		if (letter[0] != records[i].letter || letter[1])
			continue;
		if (p->field_count < records[i].least ||
		    (p->field_count > records[i].least && !records[i].more))
			return fail_line(p, "wrong number of fields in record", letter);
		err = records[i].parse(p);
		p->member_type = letter[0] == 'T' ? p->fields[1] : NULL;
		return err;
	}
	return fail_line(p, "unknown record", letter);
}

/* Finds the last line and compares its checksum.  Stores the offset at which the line begins in
 * *end. */
static int check_end(const struct sites_parser *p, const char *text, size_t length, size_t *end,
		     uint64_t *count)
{
	size_t at = length;
	unsigned long long n = 0, sum = 0;
	int used = 0;
	if (length < 2 || text[length - 1] != '\n' || memchr(text, '\0', length))
		return rd_fail(RD_EFORMAT, "sites: %s: the table is cut off or is not text", p->name);
	for (at = length - 1; at > 0 && text[at - 1] != '\n'; at--)
		;
	if (sscanf(text + at, "end\t%20llu\t%16llx%n", &n, &sum, &used) != 2 ||
	    at + (size_t)used + 1 != length)
		return rd_fail(RD_EFORMAT, "sites: %s: offset 0x%zx: no valid last line", p->name, at);
	if (XXH64(text, at, 0) != sum)
		return rd_fail(RD_EFORMAT, "sites: %s: wrong checksum in the last line, at offset 0x%zx",
			       p->name, at);
	*end = at;
	*count = n;
	return RD_OK;
}

static int check_first(const struct sites_parser *p, const char *line)
{
	unsigned version = 0;
	int used = 0;
	if (sscanf(line, "raddle-sites\t%9u%n", &version, &used) != 1 || line[used])
		return rd_fail(RD_EFORMAT, "sites: %s: line 1: not a site table", p->name);
	if (version != 1)
		return rd_fail(RD_EVERSION, "sites: %s: line 1: format version %u, this Raddle reads 1",
			       p->name, version);
	return RD_OK;
}

static int parse_text(struct sites_parser *p, char *text, size_t length)
{
	size_t end = 0;
	uint64_t count = 0;
	int err = check_end(p, text, length, &end, &count);
	if (err)
		return err;
	for (char *line = text; line < text + end; p->line++) {
		char *newline = memchr(line, '\n', (size_t)(text + end - line));
		RD_ASSERT(newline);
		*newline = '\0';
		err = p->line == 1 ? check_first(p, line) : parse_line(p, line);
		if (err)
			return err;
		line = newline + 1;
	}
	if (p->line < 2 || count != p->line - 2)
		return rd_fail(RD_EFORMAT, "sites: %s: %zu records, but the last line counts %llu", p->name,
			       p->line - 2, (unsigned long long)count);
	return RD_OK;
}

static bool is_zstd(const uint8_t *p, size_t length)
{
	static const uint8_t magic[4] = {0x28, 0xb5, 0x2f, 0xfd};
	return length >= 4 && memcmp(p, magic, 4) == 0;
}

/* Decompresses in steps, because the size that a frame claims is not trusted. */
static int inflate_text(const char *name, const void *data, size_t length, struct rd_buf *out)
{
	ZSTD_DCtx *zstd = ZSTD_createDCtx();
	ZSTD_inBuffer in = {data, length, 0};
	size_t left = 1,
	       most = length < TEXT_MAX / EXPANSION_MAX ? EXPANSION_FREE + length * EXPANSION_MAX : TEXT_MAX;
	int err = RD_OK;
	RD_ASSERT(zstd);
	while (!err && left != 0) {
		rd_buf_reserve(out, ZSTD_DStreamOutSize());
		ZSTD_outBuffer to = {out->data + out->length, ZSTD_DStreamOutSize(), 0};
		size_t before = in.pos;
		left = ZSTD_decompressStream(zstd, &to, &in);
		out->length += ZSTD_isError(left) ? 0 : to.pos;
		if (ZSTD_isError(left))
			err = rd_fail(RD_EFORMAT, "sites: %s: offset 0x%zx: %s", name, in.pos,
				      ZSTD_getErrorName(left));
		else if (left != 0 && to.pos == 0 && in.pos == before)
			err = rd_fail(RD_EFORMAT, "sites: %s: offset 0x%zx: the compressed table is cut off",
				      name, in.pos);
		else if (out->length > most)
			err = rd_fail(RD_ELIMIT, "sites: %s: more than %zu bytes of text", name, most);
	}
	if (!err && in.pos != length)
		err = rd_fail(RD_EFORMAT, "sites: %s: offset 0x%zx: bytes after the table", name, in.pos);
	ZSTD_freeDCtx(zstd);
	return err;
}

static int get_text(const char *name, const void *data, size_t length, struct rd_buf *text)
{
	if (is_zstd(data, length))
		return inflate_text(name, data, length, text);
	if (length > TEXT_MAX)
		return rd_fail(RD_ELIMIT, "sites: %s: more than %llu bytes of text", name, TEXT_MAX);
	rd_buf_add(text, data, length);
	return RD_OK;
}

int trace_sites_parse(struct trace_sites **out, const void *data, size_t length, const char *name)
{
	RD_ASSERT(out != NULL && name != NULL);
	struct rd_buf text = RD_BUF_INIT;
	int err = get_text(name, data, length, &text);
	if (err) {
		rd_buf_release(&text);
		return err;
	}
	struct trace_sites *s = rd_xcalloc(1, sizeof *s);
	s->private = rd_xcalloc(1, sizeof *s->private);
	s->private->unit_of_slot = rd_xcalloc(SLOT_COUNT, sizeof *s->private->unit_of_slot);
	struct sites_parser p = {.sites = s, .private = s->private, .name = name, .line = 1};
	size_t text_length = text.length;
	s->private->text = rd_buf_detach(&text);
	err = parse_text(&p, s->private->text, text_length);
	free(p.fields);
	if (err)
		trace_sites_free(s);
	else
		*out = s;
	return err;
}

int trace_sites_read(struct trace_sites **out, const char *path)
{
	return RD_WITH_FILE(path, TEXT_MAX, text, trace_sites_parse(out, text.data, text.length, path));
}

void trace_sites_free(struct trace_sites *s)
{
	if (!s)
		return;
	struct trace_sites_private *x = s->private;
	rd_names_release(&x->types);
	rd_names_release(&x->linkages);
	RD_FREE(x->text, x->unit_of_slot, x->ranges, x->global_of, x, s->sites, s->chains, s->units,
		s->globals, s->members, s->placed, s->files, s->pieces, s);
}

uint32_t trace_sites_number(const struct trace_sites *sites, size_t unit, const struct trace_site *site)
{
	RD_ASSERT(unit < sites->unit_count);
	return (sites->units[unit].slot << RADDLE_SITE_LOCAL_BITS) + site->n;
}

const struct trace_site *trace_sites_find(const struct trace_sites *s, uint32_t site)
{
	uint32_t slot = site >> RADDLE_SITE_LOCAL_BITS;
	if (!s || slot >= SLOT_COUNT || !s->private->unit_of_slot[slot])
		return NULL;
	const struct trace_unit *unit = &s->units[s->private->unit_of_slot[slot] - 1];
	if (unit->site_count == 0)
		return NULL;
	const struct trace_site *sites = s->sites + unit->site;
	uint32_t n = site - (unit->slot << RADDLE_SITE_LOCAL_BITS);
	if (n - 1 < unit->site_count && sites[n - 1].n == n)
		return &sites[n - 1];
	size_t i = 0;
	RD_BISECT(i, unit->site_count, at, sites[at].n < n);
	return i < unit->site_count && sites[i].n == n ? &sites[i] : NULL;
}

size_t trace_sites_frames(const struct trace_sites *s, uint32_t site, struct trace_frame *frames, size_t max)
{
	RD_ASSERT(frames != NULL || max == 0);
	const struct trace_site *at = trace_sites_find(s, site);

	if (!at) {
		if (max)
			frames[0] = (struct trace_frame){"", "", 0, 0};
		return 1;
	}
	for (size_t i = 0; i <= at->chain_length && i < max; i++) {
		const struct trace_inlined *in = &s->chains[at->chain + i - (i > 0)];

		frames[i] = i ? (struct trace_frame){in->function, trace_sites_file(s, in->file), in->line, 0}
			      : (struct trace_frame){at->function, trace_sites_file(s, at->file), at->line,
						     at->column};
	}
	return 1 + at->chain_length;
}

struct trace_frame trace_sites_frame(const struct trace_sites *s, uint32_t site)
{
	struct trace_frame frame;

	trace_sites_frames(s, site, &frame, 1);
	return frame;
}

const char *trace_sites_file(const struct trace_sites *s, uint32_t file)
{
	return file < s->file_count ? s->files[file] : "";
}

size_t trace_sites_members(const struct trace_sites *s, const char *type, size_t *first)
{
	RD_ASSERT(type != NULL && first != NULL);
	uint32_t number;
	if (!rd_names_find(&s->private->types, type, strlen(type), &number))
		return 0;
	*first = s->private->ranges[number].first;
	return s->private->ranges[number].count;
}

const struct trace_global *trace_sites_global(const struct trace_sites *s, const char *linkage)
{
	RD_ASSERT(linkage != NULL);
	uint32_t number;
	if (!rd_names_find(&s->private->linkages, linkage, strlen(linkage), &number))
		return NULL;
	return &s->globals[s->private->global_of[number]];
}

bool trace_sites_have_barriers(const struct trace_sites *sites)
{
	for (size_t i = 0; sites && i < sites->site_count; i++)
		if (sites->sites[i].kind == TRACE_SITE_FENCE && sites->sites[i].flags & TRACE_SITE_VOLATILE)
			return true;
	return false;
}
