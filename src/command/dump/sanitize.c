// SPDX-License-Identifier: Apache-2.0
/*
 * Writes a full trace in the notation of the TraceSanitizer paper (algorithms 1 and 2, figure 4),
 * without anything that depends on the schedule or the address space.
 *
 * If no directory is given, all records are printed in one order, with their objects and threads,
 * as in figure 4.  If a directory is given, each thread gets a file in it.  The bytes of these
 * files are the same in every run of a pseudo-deterministic program, so diff -r can compare two
 * runs.
 */
#include "dump/sanitize.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "epa/show.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The number of bytes of a thread's text that are gathered in memory before they are written.  The
 * thread's file is opened anew for each write. */
#define FILE_BUFFER 32768

struct sanitize {
	const struct dump_sanitize_options *opt;
	FILE *out;
	struct epa_walk *walk;
	struct epa_sanitizer *sanitizer;
	struct epa_names names;
	struct epa_show show;
	struct rd_json json;
	struct rd_buf *files; /* for -o: the text that is still to be written to each thread's file */
	FILE *objects;	      /* the text about objects, until all records are printed */
	uint64_t number;
	struct rd_buf line;
};

static bool is_wanted(const struct sanitize *s, size_t place)
{
	return !s->opt->thread || strcmp(s->opt->thread, epa_walk_name(s->walk, place)) == 0;
}

/* --- text ------------------------------------------------------------------------------------------ */

static void print_record(struct sanitize *s, const struct epa_record *r)
{
	size_t start;
	rd_buf_clear(&s->line);
	rd_buf_addf(&s->line, "%" PRIu64 " %s ", s->number, epa_walk_name(s->walk, r->place));
	while (s->line.length < 16)
		rd_buf_addc(&s->line, ' ');
	start = s->line.length;
	epa_show_record(&s->show, r, &s->line);
	while (s->line.length < start + 56)
		rd_buf_addc(&s->line, ' ');
	rd_buf_adds(&s->line, "  ");
	epa_show_place(s->show.sites, r->site, &s->line);
	fprintf(s->out, "%s\n", s->line.data);
}

/* Closes the file after each write, because a program may have more threads than a process may
 * have open files. */
static int write_file(struct sanitize *s, size_t place, int flags)
{
	RD_ASSERT(s->files && place < epa_walk_threads(s->walk));
	char *path = rd_xasprintf("%s/%s", s->opt->directory, epa_walk_name(s->walk, place));
	int fd = open(path, O_WRONLY | O_CLOEXEC | flags, 0666);
	int err = fd < 0 || rd_write_all(fd, s->files[place].data, s->files[place].length)
			  ? rd_fail_errno("cannot write %s", path)
			  : RD_OK;
	if (fd >= 0 && close(fd) && !err)
		err = rd_fail_errno("cannot write %s", path);
	rd_buf_clear(&s->files[place]);
	free(path);
	return err;
}

/* Does the same as print_record(), but omits the number, which differs from run to run, and the
 * thread, which is the name of the file. */
static int write_record(struct sanitize *s, const struct epa_record *r)
{
	RD_ASSERT(s->files && r->place < epa_walk_threads(s->walk));
	struct rd_buf *out = &s->files[r->place];
	epa_show_record(&s->show, r, out);
	rd_buf_adds(out, "  ; ");
	epa_show_place(s->show.sites, r->site, out);
	rd_buf_addc(out, '\n');
	return out->length < FILE_BUFFER ? RD_OK : write_file(s, r->place, O_APPEND);
}

static void json_record(struct sanitize *s, const struct epa_record *r)
{
	struct rd_json *j = &s->json;
	const struct trace_site *site = trace_sites_find(s->show.sites, r->site);
	rd_json_object(j, NULL);
	rd_json_unsigned(j, "number", s->number);
	rd_json_string(j, "thread", epa_walk_name(s->walk, r->place));
	rd_buf_clear(&s->line);
	epa_show_operation(&s->show, r, &s->line);
	rd_json_string(j, "operation", s->line.data);
	rd_json_array(j, "values");
	for (unsigned i = 0; i < r->count; i++) {
		rd_buf_clear(&s->line);
		epa_show_slot(&s->show, r, i, &s->line);
		rd_json_string(j, NULL, s->line.data);
	}
	rd_json_end(j);
	RD_JSON(j, RD_JU("site", r->site),
		RD_JS("file", site && site->file != TRACE_NO_FILE
				      ? trace_sites_file(s->show.sites, site->file)
				      : NULL),
		RD_JU("line", site ? site->line : 0), RD_JS("function", site ? site->function : NULL));
	if (r->unfinished)
		rd_json_bool(j, "unfinished", true);
	rd_json_end(j);
}

/* --- objects and threads --------------------------------------------------------------------------- */

/* Returns true if the object is a variable of the program, not of a library or the runtime. */
static bool is_program_variable(const struct sanitize *s, const struct epa_object *o)
{
	const struct trace_sites *sites = s->show.sites;
	return o->kind == EPA_VARIABLE && o->index < sites->placed_count &&
	       trace_sites_global(sites, sites->placed[o->index].linkage);
}

/* Prints an object as in figure 4: its base address, its thread, its number among the thread's
 * objects, its size, and its first and last record. */
static void note_object(void *context, const struct epa_object *o, uint64_t end)
{
	struct sanitize *s = context;
	bool made = o->kind == EPA_STACK || o->kind == EPA_HEAP || o->kind == EPA_MAP;
	struct rd_buf b = RD_BUF_INIT;
	RD_ASSERT(s->objects);
	if (!made && o->kind != EPA_ARGUMENT && !is_program_variable(s, o))
		return;
	if (s->opt->thread && (!made || strcmp(s->opt->thread, epa_names_text(&s->names, o->thread)) != 0))
		return;
	epa_name_text(&s->names, s->show.sites, epa_name_base(o->name), &b);
	fprintf(s->objects,
		"%s := {ba=%" PRIx64 ", t=%s, l_idx=%" PRIu64 ", s=%" PRIu64 ", v=[%" PRIu64 ",%" PRIu64
		"]}\n",
		b.data, o->start, made ? epa_names_text(&s->names, o->thread) : "_", o->local, o->size,
		o->begin, end);
	rd_buf_release(&b);
}

static void json_threads(struct sanitize *s)
{
	rd_json_array(&s->json, "threads");
	for (size_t i = 0; i < epa_walk_threads(s->walk); i++) {
		rd_json_object(&s->json, NULL);
		rd_json_unsigned(&s->json, "number", epa_walk_number(s->walk, i));
		rd_json_string(&s->json, "name", epa_walk_name(s->walk, i));
		rd_json_end(&s->json);
	}
	rd_json_end(&s->json);
}

static int print_tables(struct sanitize *s)
{
	int c;
	if (fflush(s->objects) || ferror(s->objects))
		return rd_fail_errno("sanitize: cannot write a temporary file");
	putc('\n', s->out);
	rewind(s->objects);
	while ((c = getc(s->objects)) != EOF)
		putc(c, s->out);
	putc('\n', s->out);
	for (size_t i = 0; i < epa_walk_threads(s->walk); i++)
		fprintf(s->out, "M(%u) := %s\n", epa_walk_number(s->walk, i), epa_walk_name(s->walk, i));
	return RD_OK;
}

/* --- files ------------------------------------------------------------------------------------------ */

static int open_files(struct sanitize *s)
{
	int err = rd_mkdirs(s->opt->directory);
	s->files = rd_xcalloc(epa_walk_threads(s->walk) + 1, sizeof *s->files);
	for (size_t i = 0; i < epa_walk_threads(s->walk); i++)
		s->files[i] = (struct rd_buf)RD_BUF_INIT;
	for (size_t i = 0; i < epa_walk_threads(s->walk) && !err; i++)
		if (is_wanted(s, i))
			err = write_file(s, i, O_CREAT | O_TRUNC);
	return err;
}

static int close_files(struct sanitize *s, int err)
{
	for (size_t i = 0; s->files && i < epa_walk_threads(s->walk); i++) {
		if (!err && s->files[i].length)
			err = write_file(s, i, O_APPEND);
		rd_buf_release(&s->files[i]);
	}
	free(s->files);
	return err;
}

/* --- the whole trace --------------------------------------------------------------------------- */

static int check_thread(const struct sanitize *s)
{
	for (size_t i = 0; i < epa_walk_threads(s->walk); i++)
		if (is_wanted(s, i))
			return RD_OK;
	return s->opt->thread ? rd_fail(RD_ENOTFOUND, "sanitize: there is no thread %s", s->opt->thread)
			      : RD_OK;
}

static int begin(struct sanitize *s)
{
	int err = check_thread(s);
	if (err)
		return err;
	if (s->opt->directory)
		return open_files(s);
	if (s->opt->json) {
		rd_json_begin(&s->json, s->out);
		rd_json_object(&s->json, NULL);
		rd_json_number(&s->json, "version", 1);
		json_threads(s);
		rd_json_array(&s->json, "records");
		return RD_OK;
	}
	s->objects = tmpfile();
	if (!s->objects)
		return rd_fail_errno("sanitize: cannot create a temporary file");
	epa_objects_watch(epa_sanitizer_objects(s->sanitizer), note_object, s);
	return RD_OK;
}

static int end(struct sanitize *s)
{
	if (s->opt->json && !s->opt->directory) {
		rd_json_end(&s->json);
		rd_json_end(&s->json);
	}
	if (!s->objects)
		return RD_OK;
	epa_objects_finish(epa_sanitizer_objects(s->sanitizer));
	return print_tables(s);
}

static int sanitize_all(struct sanitize *s)
{
	struct epa_record r;
	int err = begin(s);
	RD_ASSERT(!s->files || !s->objects);
	while (!err && epa_sanitizer_next(s->sanitizer, &r) > 0) {
		if (!is_wanted(s, r.place)) {
			s->number++;
			continue;
		}
		if (s->opt->directory)
			err = write_record(s, &r);
		else if (s->opt->json)
			json_record(s, &r);
		else
			print_record(s, &r);
		s->number++;
	}
	if (!err)
		err = end(s);
	if (s->objects)
		fclose(s->objects);
	err = close_files(s, err);
	return err ? err : epa_walk_error(s->walk);
}

int dump_sanitized(const char *path, const struct dump_sanitize_options *options, FILE *out)
{
	struct sanitize s = {.opt = options, .out = out, .line = RD_BUF_INIT};
	struct epa_source *source;
	int err;
	RD_ASSERT(!options->json || !options->directory);
	err = epa_source_open(&source, path);
	if (err)
		return err;
	err = epa_walk_open(&s.walk, source);
	if (!err) {
		epa_names_init(&s.names, NULL);
		s.show = (struct epa_show){&s.names, epa_source_sites(source)};
		s.sanitizer = epa_sanitizer_new(s.walk, &s.names);
		err = sanitize_all(&s);
		epa_sanitizer_free(s.sanitizer);
		epa_names_release(&s.names);
		epa_walk_close(s.walk);
	}
	rd_buf_release(&s.line);
	epa_source_close(source);
	return err;
}
