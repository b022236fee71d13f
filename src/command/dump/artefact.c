// SPDX-License-Identifier: Apache-2.0
/*
 * `raddle dump` of artefacts that are not traces: findings, schedules, programs, facts.  A file is
 * recognised by its first bytes, and a directory by the files in it.  Names that users can choose
 * do not matter.
 */
#include "dump/dump-int.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "bitcode/program.h"
#include "facts/facts.h"
#include "finding/finding.h"
#include "finding/schedule.h"
#include "report/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static int dump_findings(const char *path, bool json, FILE *out)
{
	struct report_opts opts = {.colour = report_wants_colour(out), .all = true, .others = true};
	struct finding_set *set = NULL;
	int err = finding_read(&set, path);

	if (!err)
		err = json ? finding_write(set, out) : report_text(set, &opts, out);
	finding_set_free(set);
	return err;
}

static int dump_schedule(const char *path, bool json, FILE *out)
{
	struct report_opts opts = {.colour = report_wants_colour(out), .steps = SIZE_MAX};
	struct schedule s;
	int err = schedule_read(&s, path);

	if (!err)
		err = json ? finding_write_schedule(&s, out) : report_schedule(&s, &opts, out);
	schedule_release(&s);
	return err;
}

static uint64_t bitcode_bytes(const struct bitcode_program *p)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < p->unit_count; i++)
		bytes += p->units[i].length;
	return bytes;
}

/* Returns the role of an item of the link line, as human-readable text. */
static const char *item_role(enum bitcode_item_kind kind)
{
	switch (kind) {
	case BITCODE_ITEM_LINKER: return "for the linker";
	case BITCODE_ITEM_INPUT: return "file";
	case BITCODE_ITEM_COVERED: return "with bitcode";
	case BITCODE_ITEM_NATIVE: return "without bitcode";
	case BITCODE_ITEM_PARTIAL: return "partly bitcode";
	case BITCODE_ITEM_ARCHIVE: return "archive";
	case BITCODE_ITEM_MEMBER: return "member without bitcode";
	case BITCODE_ITEM_FILE: return "option with a file";
	default: return "argument";
	}
}

static void print_program(const struct bitcode_program *p, FILE *out)
{
	char bytes[24];

	fprintf(out, "program    %s\n", p->path);
	fprintf(out, "bitcode    %zu unit%s, %s\n", p->unit_count, p->unit_count == 1 ? "" : "s",
		dump_bytes(bitcode_bytes(p), bytes));
	fprintf(out, "native     %zu object%s without bitcode\n", p->native_count,
		p->native_count == 1 ? "" : "s");
	fprintf(out, "linked in  %s\n", p->line.directory);
	fprintf(out, "by         %s\n", p->line.driver);
	fprintf(out, "as         %s\n", p->line.output);
	for (size_t i = 0; i < p->line.count; i++)
		fprintf(out, "%-10s %s  (%s)\n", i ? "" : "of", p->line.items[i].text,
			item_role(p->line.items[i].kind));
}

static void write_program(const struct bitcode_program *p, FILE *out)
{
	struct rd_json j;

	rd_json_begin(&j, out);
	rd_json_object(&j, NULL);
	RD_JSON(&j, RD_JN("version", 1), RD_JS("program", p->path), RD_JU("units", p->unit_count),
		RD_JU("bitcode_bytes", bitcode_bytes(p)), RD_JU("natives", p->native_count),
		RD_JS("directory", p->line.directory), RD_JS("driver", p->line.driver),
		RD_JS("output", p->line.output));
	rd_json_array(&j, "line");
	for (size_t i = 0; i < p->line.count; i++) {
		rd_json_object(&j, NULL);
		rd_json_string(&j, "text", p->line.items[i].text);
		rd_json_string(&j, "role", item_role(p->line.items[i].kind));
		rd_json_end(&j);
	}
	rd_json_end(&j);
	rd_json_end(&j);
	putc('\n', out);
}

static int dump_program(const char *path, bool json, FILE *out)
{
	struct bitcode_program p;
	int err = bitcode_program_open(&p, path);

	if (err)
		return err;
	if (json)
		write_program(&p, out);
	else
		print_program(&p, out);
	bitcode_program_close(&p);
	return RD_OK;
}

static bool has_file(const char *directory, const char *name)
{
	char *path = rd_xasprintf("%s/%s", directory, name);
	bool has = rd_file_exists(path);

	free(path);
	return has;
}

static int dump_directory(const char *path, bool json, FILE *out)
{
	if (has_file(path, "meta.json"))
		return DUMP_OTHER;
	if (has_file(path, "campaign.json"))
		return rd_fail(RD_EUSAGE, "dump: %s is a campaign; 'raddle campaign' shows it", path);
	if (!has_file(path, "findings.json"))
		return DUMP_OTHER;
	char *file = rd_xasprintf("%s/findings.json", path);
	int err = dump_findings(file, json, out);
	free(file);
	return err;
}

int dump_artefact(const char *path, bool json, FILE *out)
{
	static const char schedule[] = "raddle-schedule\t";
	_Static_assert(sizeof FACTS_MAGIC < sizeof schedule, "every mark fits into the bytes that are read");
	char start[sizeof schedule - 1] = {0};
	struct stat st;

	if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
		return dump_directory(path, json, out);
	/* If the file cannot be read, the caller reports why. */
	size_t n = rd_file_head(path, start, sizeof start);
	RD_ASSERT(n <= sizeof start);
	if (n >= 4 && !memcmp(start, "\177ELF", 4))
		return dump_program(path, json, out);
	if (n >= strlen(FACTS_MAGIC) && !memcmp(start, FACTS_MAGIC, strlen(FACTS_MAGIC)))
		return dump_facts(path, json, out);
	if (n == sizeof start && !memcmp(start, schedule, n))
		return dump_schedule(path, json, out);
	if (n && start[0] == '{')
		return dump_findings(path, json, out);
	return DUMP_OTHER;
}
