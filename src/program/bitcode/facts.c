// SPDX-License-Identifier: Apache-2.0
/*
 * Makes the facts of a program, or finds them in the cache.  The result is the path of a file in
 * the cache.  The key of the file is a hash of the bitcode and of raddle-instr, which makes the
 * facts.  Site numbers are those of the flavour `record`.
 */
#include "bitcode/facts.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "base/process.h"
#include "bitcode/cache-int.h"
#include "bitcode/modules-int.h"
#include "facts/facts.h"

#include <stdlib.h>
#include <string.h>

/* Makes the key.  It includes the bytes of raddle-instr, because another version may make
 * different facts. */
static int make_key(const struct bitcode_modules *all, const char *worker, char key[BITCODE_KEY_TEXT])
{
	XXH3_state_t *state = XXH3_createState();
	struct rd_map map;
	int err = rd_map_open(&map, worker);

	RD_ASSERT(state);
	XXH3_128bits_reset(state);
	if (!err) {
		XXH3_128bits_update(state, "facts", 5);
		XXH3_128bits_update(state, map.data, map.length);
		rd_map_close(&map);
	}
	for (size_t m = 0; m < all->count; m++) {
		const struct bitcode_module *module = &all->items[m];

		XXH3_128bits_update(state, module->name, strlen(module->name) + 1);
		for (size_t i = 0; i < module->program->unit_count; i++) {
			XXH3_128bits_update(state, &module->units[i].hash, sizeof module->units[i].hash);
			XXH3_128bits_update(state, &module->units[i].slot, sizeof module->units[i].slot);
		}
	}
	bitcode_key_text(XXH3_128bits_digest(state), key);
	XXH3_freeState(state);
	return err;
}

/* Lists the units.  The program precedes its libraries, because its definition of a symbol has
 * priority. */
static void list_units(const struct bitcode_modules *all, struct rd_buf *jobs)
{
	for (size_t m = all->count; m-- > 0;)
		for (size_t i = 0; i < all->items[m].program->unit_count; i++) {
			const struct bitcode_program *p = all->items[m].program;

			rd_buf_addf(jobs, "%s\t%llu\t%llu\t%u\t-\t-\t%s\n", p->path,
				    (unsigned long long)p->units[i].offset,
				    (unsigned long long)p->units[i].length, all->items[m].units[i].slot,
				    all->items[m].role == BITCODE_PROGRAM ? "-" : "library");
		}
}

static int make(struct bitcode_cache *cache, const struct bitcode_modules *all, const char *worker,
		const char *unit)
{
	struct rd_argv command = RD_ARGV_INIT;
	struct rd_buf units = RD_BUF_INIT;
	char *work = rd_xasprintf("%s/made", cache->work), *made = rd_xasprintf("%s.facts", work),
	     *jobs = rd_xasprintf("%s/jobs", cache->work);
	int err;

	list_units(all, &units);
	err = rd_file_write(jobs, units.data, units.length);
	rd_argv_add(&command, worker);
	rd_argv_add(&command, "--facts");
	rd_argv_add(&command, made);
	rd_argv_add(&command, "--program");
	rd_argv_add(&command, rd_base_name(all->program.path));
	rd_argv_add(&command, jobs);
	if (!err)
		err = rd_run(command.items);
	if (err > 0)
		err = rd_fail(RD_ETOOL, "%s: no facts could be made from its bitcode", all->program.path);
	if (!err)
		err = bitcode_cache_store_unit(work, unit);
	if (!err)
		bitcode_cache_trim(cache, BITCODE_CACHE_LIMIT, BITCODE_CACHE_RECENT);
	rd_argv_release(&command);
	rd_buf_release(&units);
	RD_FREE(work, made, jobs);
	return err;
}

int rd_facts_build(const char *program, char **path)
{
	struct bitcode_modules all = {0};
	struct bitcode_cache cache;
	char key[BITCODE_KEY_TEXT], *worker = NULL, *unit = NULL;
	int err = bitcode_cache_open(&cache);

	if (!err)
		err = bitcode_modules_open(&all, program, NULL, raddle_flavour(RADDLE_FLAVOUR_RECORD));
	if (!err)
		err = rd_support_file("raddle-instr", &worker);
	if (!err)
		err = make_key(&all, worker, key);
	if (!err) {
		unit = bitcode_cache_unit(&cache, key);
		if (!bitcode_cache_has_unit(&cache, unit) && (err = bitcode_cache_begin(&cache)) == 0)
			err = make(&cache, &all, worker, unit);
	}
	if (!err)
		*path = rd_xasprintf("%s.facts", unit);
	free(unit);
	free(worker);
	bitcode_modules_close(&all);
	bitcode_cache_close(&cache);
	return err;
}

int rd_facts_open(const char *program, struct facts **f)
{
	char *path;
	int err = rd_facts_build(program, &path);

	if (err)
		return err;
	err = facts_read(f, path);
	free(path);
	return err;
}
