// SPDX-License-Identifier: Apache-2.0
/*
 * Builds a flavour of a program, or finds it in the cache.  Given the program's path, it returns
 * paths in the cache.  The steps:
 *
 *   1. open the program and its libraries, number their sites (modules.c);
 *   2. hash everything into the key; if the cache has an entry for it, this is all; if the caller
 *      asked for neither quick nor fast code, choose one (cost-int.h);
 *   3. let raddle-instr make the objects that are not in the cache;
 *   4. link libraries, then the program; write the site table;
 *   5. move the result into the cache.
 */
#include "bitcode/flavour.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/deadline.h"
#include "base/edit.h"
#include "base/error.h"
#include "base/file.h"
#include "base/process.h"
#include "base/scratch.h"
#include "bitcode/cache-int.h"
#include "bitcode/cost-int.h"
#include "bitcode/foreign-int.h"
#include "bitcode/modules-int.h"
#include "bitcode/plugin-int.h"
#include "bitcode/relink-int.h"
#include "bitcode/sites-int.h"
#include "raddle/abi.h"
#include "raddle/event.h"
#include "raddle/flavour.h"
#include "raddle/plugin.h"

#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The largest number of attempts to build a flavour.  An attempt fails if other processes empty
 * the cache meanwhile.  Set by hand. */
enum { ATTEMPTS = 5 };

struct flavour_build {
	const struct rd_flavour_opts *opts;
	const struct raddle_flavour *kind;
	bool fast, by_cost; /* as in struct rd_flavour, which has the same members */
	struct bitcode_cache cache;
	struct bitcode_modules all;
	char *worker, *hooks;  /* paths of raddle-instr and of the bitcode of the hooks */
	XXH128_hash_t tools;   /* a hash of all programs and files that influence objects */
	XXH128_hash_t runtime; /* a hash of all files that are linked to the objects */
	char key[BITCODE_KEY_TEXT];
	char *final;	  /* the path in the cache where the flavour will be */
	char *stage;	  /* the path of the directory in which the flavour is built */
	uint64_t missing; /* the number of bytes of bitcode whose objects are not in the cache */
};

static int find_kind(struct flavour_build *b)
{
	b->kind = raddle_flavour_find(b->opts->name);
	if (!b->kind)
		return rd_fail(RD_EUSAGE, "%s: unknown flavour", b->opts->name);
	return 0;
}

/* ----------------------------------------------------------------- keys --- */

static int hash_file(XXH3_state_t *state, const char *path)
{
	struct rd_map map;
	int err = rd_map_open(&map, path);

	if (!err) {
		XXH3_128bits_update(state, map.data, map.length);
		rd_map_close(&map);
	}
	return err;
}

static void hash_string(XXH3_state_t *state, const char *s)
{
	XXH3_128bits_update(state, s, strlen(s) + 1);
}

static void hash_options(XXH3_state_t *state, const struct flavour_build *b)
{
	uint32_t numbers[3] = {RADDLE_ABI_VERSION, b->fast, b->opts->debug | b->opts->optimised << 1};

	hash_string(state, "raddle " RADDLE_VERSION " llvm " RADDLE_LLVM);
	hash_string(state, b->opts->name);
	XXH3_128bits_update(state, numbers, sizeof numbers);
	if (b->opts->edits)
		hash_string(state, b->opts->edits);
	if (b->opts->guards)
		hash_string(state, b->opts->guards);
}

static int hash_tools(struct flavour_build *b, XXH3_state_t *state)
{
	const char *const libraries[] = {b->kind->runtime, b->kind->static_runtime};
	int err = rd_support_file("raddle-instr", &b->worker);

	if (!err)
		err = rd_support_file(b->kind->hooks, &b->hooks);
	XXH3_128bits_reset(state);
	hash_options(state, b);
	if (!err)
		err = hash_file(state, b->worker);
	if (!err)
		err = hash_file(state, b->hooks);
	b->tools = XXH3_128bits_digest(state);
	for (size_t i = 0; i < 2 && !err; i++) {
		char *path;

		err = rd_support_file(libraries[i], &path);
		if (err)
			break;
		err = hash_file(state, path);
		free(path);
	}
	b->runtime = XXH3_128bits_digest(state);
	return err;
}

/* Adds a module to the hash: the hashes of its units, the link line and the native objects. */
static void hash_module(XXH3_state_t *state, const struct bitcode_module *m)
{
	static const char *const sections[] = {BITCODE_LINK_SECTION, BITCODE_NATIVE_SECTION};
	struct bitcode_elf_section s;

	hash_string(state, m->name);
	for (size_t i = 0; i < m->program->unit_count; i++)
		XXH3_128bits_update(state, &m->units[i].hash, sizeof m->units[i].hash);
	for (int k = 0; k < 2; k++)
		for (uint32_t at = 0; bitcode_elf_find(&m->program->elf, sections[k], at, &s); at = s.index)
			XXH3_128bits_update(state, s.data, s.size);
	XXH3_128bits_update(state, &m->role, sizeof m->role);
	for (size_t i = 0; m->aliases && i < m->aliases->count; i++)
		hash_string(state, m->aliases->items[i]);
	if (m->role == BITCODE_PLUGIN || bitcode_relink_uses_origin(&m->program->line))
		hash_string(state, m->program->path);
}

static int make_key(struct flavour_build *b)
{
	XXH3_state_t *state = XXH3_createState();
	int err;

	RD_ASSERT(state);
	err = hash_tools(b, state);
	if (!err) {
		XXH3_128bits_reset(state);
		XXH3_128bits_update(state, &b->runtime, sizeof b->runtime);
		for (size_t i = 0; i < b->all.count; i++)
			hash_module(state, &b->all.items[i]);
		bitcode_key_text(XXH3_128bits_digest(state), b->key);
		b->final = bitcode_cache_flavour(&b->cache, b->key);
	}
	XXH3_freeState(state);
	return err;
}

static void name_unit(struct flavour_build *b, struct bitcode_module_unit *u)
{
	struct {
		XXH128_hash_t tools, unit;
		uint64_t slot;
	} all = {b->tools, u->hash, u->slot};
	char key[BITCODE_KEY_TEXT];

	bitcode_key_text(XXH3_128bits(&all, sizeof all), key);
	u->base = bitcode_cache_unit(&b->cache, key);
	u->object = rd_xasprintf("%s.o", u->base);
	u->sites = rd_xasprintf("%s.sites", u->base);
	u->made = bitcode_cache_has_unit(&b->cache, u->base);
}

/* ---------------------------------------------------------------- units --- */

/* Called for each unit, with the unit's number, until a call fails. */
typedef int unit_fn(struct flavour_build *b, const struct bitcode_module *m, size_t unit, size_t number);

static int each_unit(struct flavour_build *b, unit_fn *fn)
{
	size_t number = 0;
	int err = 0;

	for (size_t m = 0; m < b->all.count; m++)
		for (size_t i = 0; i < b->all.items[m].program->unit_count && !err; i++)
			err = fn(b, &b->all.items[m], i, number++);
	return err;
}

/* Returns true if the unit contains the table of guards, which is in the first unit of the
 * program. */
static bool carries_table(const struct flavour_build *b, size_t module, size_t unit)
{
	return b->opts->guards && module + 1 == b->all.count && unit == 0;
}

static int write_jobs(struct flavour_build *b, const char *path, size_t *count)
{
	struct rd_buf jobs = RD_BUF_INIT;
	size_t number = 0;
	int err = 0;

	*count = 0;
	for (size_t k = 0; k < b->all.count; k++)
		for (size_t i = 0; i < b->all.items[k].program->unit_count; i++, number++) {
			const struct bitcode_program *p = b->all.items[k].program;
			struct bitcode_module_unit *u = &b->all.items[k].units[i];

			name_unit(b, u);
			if (u->made)
				continue;
			rd_buf_addf(&jobs, "%s\t%llu\t%llu\t%u\t%s/u%zu.o\t%s/u%zu.sites\t%s\n", p->path,
				    (unsigned long long)p->units[i].offset,
				    (unsigned long long)p->units[i].length, u->slot, b->cache.work, number,
				    b->cache.work, number, carries_table(b, k, i) ? "table" : "-");
			++*count;
		}
	if (*count)
		err = rd_file_write(path, jobs.data, jobs.length);
	rd_buf_release(&jobs);
	return err;
}

static int store_unit(struct flavour_build *b, const struct bitcode_module *m, size_t unit, size_t number)
{
	struct bitcode_module_unit *u = &m->units[unit];
	char *base;
	int err;

	if (u->made)
		return 0;
	base = rd_xasprintf("%s/u%zu", b->cache.work, number);
	u->made = true; /* stays true even if another process removes the files from the cache */
	err = bitcode_cache_store_unit(base, u->base);
	free(base);
	return err;
}

static int make_units(struct flavour_build *b)
{
	char *jobs = rd_xasprintf("%s/jobs", b->cache.work);
	struct rd_argv command = RD_ARGV_INIT;
	long processors = sysconf(_SC_NPROCESSORS_ONLN);
	size_t count;
	int err = write_jobs(b, jobs, &count);

	if (!err && count) {
		if (b->opts->verbose)
			rd_info("%s: instrumenting %zu units", b->all.program.path, count);
		rd_argv_add(&command, b->worker);
		rd_argv_add(&command, "--flavour");
		rd_argv_add(&command, b->opts->name);
		rd_argv_add(&command, "--mode");
		rd_argv_add(&command, b->fast ? "fast" : "quick");
		if (b->opts->debug)
			rd_argv_add(&command, "--debug");
		if (b->opts->optimised)
			rd_argv_add(&command, "--optimised");
		if (b->opts->edits) {
			rd_argv_add(&command, "--edits");
			rd_argv_add(&command, b->opts->edits);
		}
		if (b->opts->guards) {
			char *guards = rd_xasprintf("%s/guards", b->cache.work);

			err = rd_file_write(guards, b->opts->guards, strlen(b->opts->guards));
			rd_argv_add(&command, "--guards");
			rd_argv_add(&command, guards);
			free(guards);
		}
		rd_argv_add(&command, "--hooks");
		rd_argv_add(&command, b->hooks);
		rd_argv_add(&command, "--jobs");
		rd_argv_addf(&command, "%ld", processors > 0 ? processors : 1);
		rd_argv_add(&command, jobs);
		if (!err)
			err = rd_run_until(command.items, b->opts->end_ns);
		if (err > 0 && rd_deadline_passed(b->opts->end_ns))
			err = rd_fail(RD_ELIMIT,
				      "%s: the time was up while its %zu units were instrumented; 'raddle "
				      "flavour' does that beforehand",
				      b->all.program.path, count);
		else if (err == RD_EDIT_WRONG)
			err = RD_EUSAGE; /* raddle-instr has reported what is wrong */
		else if (err > 0)
			err = rd_fail(RD_ETOOL, "%s: its bitcode could not be instrumented",
				      b->all.program.path);
		if (!err)
			err = each_unit(b, store_unit);
	}
	rd_argv_release(&command);
	free(jobs);
	return err;
}

static int count_gone(struct flavour_build *b, const struct bitcode_module *m, size_t unit, size_t number)
{
	const struct bitcode_module_unit *u = &m->units[unit];

	(void)b;
	(void)number;
	return u->made && (!rd_file_exists(u->object) || !rd_file_exists(u->sites));
}

static bool cache_was_emptied(struct flavour_build *b)
{
	return !b->cache.work || !rd_file_exists(b->cache.work) || each_unit(b, count_gone);
}

/* -------------------------------------------------------------- linking --- */

/* Returns the path of a module below `directory`.  Plug-ins may have equal names, so each has its
 * own directory. */
static char *module_path(const struct flavour_build *b, const char *directory, const struct bitcode_module *m)
{
	switch (m->role) {
	case BITCODE_LIBRARY: return rd_xasprintf("%s/lib/%s", directory, m->name);
	case BITCODE_PLUGIN:
		return rd_xasprintf("%s/plugin-%zu/%s", directory, (size_t)(m - b->all.items), m->name);
	default: return rd_xasprintf("%s/%s", directory, m->name);
	}
}

static void note_string(void *context, const char *string)
{
	(void)string;
	*(bool *)context = true;
}

static void link_alias(const struct flavour_build *b, const struct bitcode_module *m, const char *alias)
{
	char *path = rd_xasprintf("%s/lib/%s", b->stage, alias);

	if (strcmp(alias, m->name) && symlink(m->name, path) && errno != EEXIST && b->opts->verbose)
		rd_info("%s: cannot link it to %s", path, m->name);
	free(path);
}

/* Creates links for `name` and for its shorter forms.  For instance, libx.so.1.0.0 also gets the
 * names libx.so.1.0, libx.so.1 and libx.so. */
static void link_versions(const struct flavour_build *b, const struct bitcode_module *m, const char *name)
{
	char *alias = rd_xstrdup(name);
	const char *so = strstr(alias, ".so");

	link_alias(b, m, alias);
	while (so) {
		char *last = strrchr(alias, '.');

		if (last <= so)
			break;
		*last = '\0';
		link_alias(b, m, alias);
	}
	free(alias);
}

/*
 * Makes links to a library, which is stored under the name that the loader uses.  The link line
 * may use another name: -lNAME looks for libNAME.so, and build systems put the whole version into
 * the file name.
 */
static void link_other_names(const struct flavour_build *b, const struct bitcode_module *m)
{
	char *real = realpath(m->program->path, NULL);

	link_versions(b, m, m->name);
	if (real)
		link_versions(b, m, strrchr(real, '/') + 1);
	free(real);
}

static int link_module(struct flavour_build *b, const struct bitcode_module *m)
{
	char *output = module_path(b, b->stage, m), *found = rd_xasprintf("%s/lib", b->final);
	char *from = rd_xasprintf("%s/lib", b->stage);
	struct rd_argv objects = RD_ARGV_INIT;
	bool has_soname = false;
	int err;

	for (size_t i = 0; i < m->program->unit_count; i++)
		rd_argv_add(&objects, m->units[i].object);
	bitcode_elf_dynamic(&m->program->elf, DT_SONAME, note_string, &has_soname);
	err = bitcode_relink(&(struct bitcode_relink){
		.program = m->program,
		.objects = &objects,
		.work = b->cache.work,
		.output = output,
		.soname = m->role == BITCODE_LIBRARY && !has_soname ? m->name : NULL,
		.found_in = b->all.libraries.count ? found : NULL,
		.linked_from = b->all.libraries.count ? from : NULL,
		.runtime = b->kind->runtime,
		.static_runtime = b->kind->static_runtime,
		.verbose = b->opts->verbose,
	});
	if (!err && m->role == BITCODE_LIBRARY)
		link_other_names(b, m);
	rd_argv_release(&objects);
	RD_FREE(output, found, from);
	return err;
}

/* Makes a link through which the runtime finds an instrumented plug-in (raddle/plugin.h). */
static void link_key(const struct flavour_build *b, const char *what, const char *to)
{
	char key[RADDLE_PLUGIN_KEY_SIZE], *path;

	raddle_plugin_key(what, key);
	path = rd_xasprintf("%s/" RADDLE_PLUGIN_DIRECTORY "/%s", b->stage, key);
	if (symlink(to, path) && errno != EEXIST)
		rd_warn("%s will be loaded without instrumentation: cannot create %s", what, path);
	free(path);
}

/* Links a plug-in again.  If this fails, it is not an error, because the program does not depend
 * on the plug-in.  The plug-in then runs uninstrumented. */
static int link_plugin(struct flavour_build *b, struct bitcode_module *m)
{
	char *made = module_path(b, b->stage, m), *known = module_path(b, b->final, m);
	char *directory = rd_xstrndup(made, (size_t)(rd_base_name(made) - 1 - made));
	char *keys = rd_xasprintf("%s/" RADDLE_PLUGIN_DIRECTORY, b->stage);
	int err = rd_mkdirs(directory);

	if (!err)
		err = rd_mkdirs(keys);
	if (!err)
		err = link_module(b, m);
	if (err && !cache_was_emptied(b)) {
		rd_warn("%s: this plug-in will be loaded as it is, without instrumentation",
			m->program->path);
		m->left_out = true;
		err = rd_remove_tree(directory);
	} else if (!err) {
		m->left_out = false;
		link_key(b, m->program->path, known);
		link_key(b, m->name, known);
		for (size_t i = 0; i < m->aliases->count; i++)
			link_key(b, m->aliases->items[i], known);
	}
	RD_FREE(made, known, directory, keys);
	return err;
}

static int link_modules(struct flavour_build *b)
{
	char *libraries = rd_xasprintf("%s/lib", b->stage);
	int err = rd_mkdirs(b->all.libraries.count ? libraries : b->stage);

	for (size_t i = 0; i < b->all.count && !err; i++)
		err = b->all.items[i].role == BITCODE_PLUGIN ? link_plugin(b, &b->all.items[i])
							     : link_module(b, &b->all.items[i]);
	free(libraries);
	return err;
}

static int write_sites(struct flavour_build *b)
{
	struct bitcode_sites table;
	char *path = rd_xasprintf("%s/.sites", b->stage);
	int err = 0;

	bitcode_sites_begin(&table);
	for (size_t m = 0; m < b->all.count; m++)
		for (size_t i = 0; i < b->all.items[m].program->unit_count && !err; i++)
			err = bitcode_sites_add_unit(&table, b->all.items[m].units[i].sites);
	for (size_t m = 0; m < b->all.count && !err; m++) {
		if (b->all.items[m].left_out)
			continue;
		char *made = module_path(b, b->stage, &b->all.items[m]);
		char *known = module_path(b, b->final, &b->all.items[m]);

		err = bitcode_sites_add_module(&table, made, known);
		free(made);
		free(known);
	}
	if (!err)
		err = bitcode_sites_write(&table, path);
	bitcode_sites_release(&table);
	free(path);
	return err;
}

static int make(struct flavour_build *b)
{
	int err = bitcode_cache_begin(&b->cache);

	if (err)
		return err;
	b->stage = rd_xasprintf("%s/flavour", b->cache.work);
	err = make_units(b);
	if (!err)
		err = link_modules(b);
	if (!err)
		err = write_sites(b);
	if (!err)
		err = bitcode_cache_store_tree(b->stage, b->final);
	if (!err)
		bitcode_cache_trim(&b->cache, BITCODE_CACHE_LIMIT, BITCODE_CACHE_RECENT);
	return err;
}

static int forget_unit(struct flavour_build *b, const struct bitcode_module *m, size_t unit, size_t number)
{
	struct bitcode_module_unit *u = &m->units[unit];

	(void)b;
	(void)number;
	RD_FREE(u->base, u->object, u->sites);
	u->base = u->object = u->sites = NULL;
	return 0;
}

/* Builds the flavour.  If the cache is emptied while it is in use, everything is built again. */
static int make_with_retries(struct flavour_build *b)
{
	int err = make(b);

	for (int i = 1; i < ATTEMPTS && err && cache_was_emptied(b); i++) {
		rd_info("%s: the cache was emptied meanwhile; trying once more", b->all.program.path);
		each_unit(b, forget_unit);
		rd_scratch_close(b->cache.work);
		b->cache.work = NULL;
		free(b->stage);
		b->stage = NULL;
		err = make(b);
	}
	return err;
}

/* -------------------------------------------------------------- one build --- */

static void release(struct flavour_build *b)
{
	bitcode_modules_close(&b->all);
	bitcode_cache_close(&b->cache);
	RD_FREE(b->worker, b->hooks, b->final, b->stage);
}

/* Lists the files of the flavour that exist.  A plug-in that could not be linked has no file. */
static void list_files(const struct flavour_build *b, struct rd_flavour *f)
{
	for (size_t i = 0; i < b->all.count; i++) {
		char *path = module_path(b, b->final, &b->all.items[i]);

		if (rd_file_exists(path) || b->all.items[i].role != BITCODE_PLUGIN)
			rd_argv_add(&f->files, path);
		if (rd_file_exists(path) && b->all.items[i].role == BITCODE_PLUGIN)
			rd_argv_add(&f->plugins, b->all.items[i].program->path);
		free(path);
	}
}

static bool loads_more(const struct flavour_build *b)
{
	for (size_t i = 0; i < b->all.count; i++)
		if (bitcode_loads_more(b->all.items[i].program))
			return true;
	return false;
}

static void fill(const struct flavour_build *b, struct rd_flavour *out, bool cached)
{
	*out = (struct rd_flavour){
		.executable = module_path(b, b->final, &b->all.items[b->all.count - 1]),
		.sites = rd_xasprintf("%s/.sites", b->final),
		.key = rd_xstrdup(b->key),
		.loads_more = loads_more(b),
		.cached = cached,
		.fast = b->fast,
		.by_cost = b->by_cost,
	};
	list_files(b, out);
	bitcode_foreign_list(&b->all, &out->files, &out->foreign);
	rd_argv_add(&out->files, out->sites);
}

/* Selects fast or quick code.  Computes the cache key for it, and sets *cached to true if the
 * cache has that entry. */
static int select_mode(struct flavour_build *b, bool fast, bool *cached)
{
	int err;

	RD_FREE(b->worker, b->hooks, b->final);
	b->worker = b->hooks = b->final = NULL;
	b->fast = fast;
	err = make_key(b);
	*cached = !err && bitcode_cache_has_flavour(&b->cache, b->final);
	return err;
}

static int add_missing(struct flavour_build *b, const struct bitcode_module *m, size_t unit, size_t number)
{
	name_unit(b, &m->units[unit]);
	if (!m->units[unit].made)
		b->missing += m->program->units[unit].length;
	return forget_unit(b, m, unit, number);
}

/* Returns the cost of building the flavour with the selected code. */
static double cost_to_make(struct flavour_build *b)
{
	b->missing = 0;
	each_unit(b, add_missing);
	return bitcode_cost_to_make(b->missing, b->fast);
}

/* Returns the CPU seconds that a build may take, or 0 if there is no deadline.  The build may use a
 * quarter of the remaining time, but only those processors that the present load leaves to it. */
static double most_to_make(int64_t end_ns)
{
	double load[1], processors = (double)sysconf(_SC_NPROCESSORS_ONLN);
	double left = (double)(end_ns - rd_now_ns()) / 1e9 / 4;

	if (!end_ns)
		return 0;
	if (getloadavg(load, 1) != 1)
		load[0] = 0;
	return left > 0 ? left * processors * processors / (load[0] + processors) : 1e-9;
}

/* If the cache contains quick code without a recorded cost, the user has requested quick code
 * explicitly.  It is then used again. */
static int choose_mode(struct flavour_build *b, bool *cached)
{
	struct bitcode_cost cost = {.expected = b->opts->expected, .most = most_to_make(b->opts->end_ns)};
	int err = select_mode(b, true, cached);

	if (err || *cached)
		return err;
	cost.make_fast = cost_to_make(b);
	err = select_mode(b, false, cached);
	if (err)
		return err;
	cost.spent = bitcode_cost_spent(&b->cache, b->key);
	if (*cached && cost.spent < 0)
		return 0;
	cost.spent = cost.spent > 0 ? cost.spent : 0;
	cost.make_quick = *cached ? 0 : cost_to_make(b);
	b->by_cost = !bitcode_cost_wants_fast(&cost);
	if (b->opts->verbose)
		rd_info("%s: %s code; optimising it takes about %.0f CPU seconds", b->all.program.path,
			b->by_cost ? "quick" : "fast", cost.make_fast);
	return b->by_cost ? 0 : select_mode(b, true, cached);
}

int rd_flavour_build(const char *program, const struct rd_flavour_opts *opts, struct rd_flavour *out)
{
	RD_ASSERT(program != NULL && opts != NULL && opts->name != NULL);
	struct flavour_build b = {.opts = opts};
	bool cached = false;
	int err = bitcode_cache_open(&b.cache);

	if (!err)
		err = find_kind(&b);
	if (!err)
		err = bitcode_modules_open(&b.all, program, opts->plugins, b.kind);
	/* The program is deployed on other machines and uses the libraries that are installed
	 * there. */
	if (!err && opts->guards)
		bitcode_modules_keep_program(&b.all);
	if (!err)
		err = opts->choose ? choose_mode(&b, &cached) : select_mode(&b, opts->fast, &cached);
	if (!err && !cached)
		err = make_with_retries(&b);
	if (!err)
		fill(&b, out, cached);
	release(&b);
	return err;
}

void rd_flavour_spend(const struct rd_flavour *f, double seconds)
{
	RD_ASSERT(seconds >= 0);
	struct bitcode_cache cache;

	if (!f->by_cost || bitcode_cache_open(&cache))
		return;
	bitcode_cost_spend(&cache, f->key, seconds);
	bitcode_cache_close(&cache);
}

void rd_flavour_release(struct rd_flavour *f)
{
	RD_FREE(f->executable, f->sites, f->key);
	rd_argv_release(&f->foreign);
	rd_argv_release(&f->plugins);
	rd_argv_release(&f->files);
	*f = (struct rd_flavour){0};
}

bool rd_flavour_is_there(const struct rd_flavour *f)
{
	for (size_t i = 0; i < f->files.count; i++)
		if (!rd_file_exists(f->files.items[i]))
			return false;
	return true;
}
