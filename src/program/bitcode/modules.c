// SPDX-License-Identifier: Apache-2.0
/*
 * Opens a program and those of its libraries and plug-ins that contain bitcode, and numbers their
 * sites.  The program is given by a path, or by a name that is searched for in PATH.  For every
 * unit of the resulting modules, its hash and its range of site numbers (its slots) are computed.
 *
 * A unit's slot is derived from the hash of its bitcode.  So a unit has the same sites in every
 * program, unless the slots of two units collide.  Then the later unit moves to the next free
 * slot.
 */
#include "bitcode/modules-int.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/process.h"
#include "bitcode/plugin-int.h"
#include "raddle/event.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SLOT_COUNT = (RADDLE_SITE_MAX >> RADDLE_SITE_LOCAL_BITS) + 1 };

static int open_program(struct bitcode_modules *all, const char *name)
{
	char *found = rd_find_program(name);
	char real[PATH_MAX];
	int err;

	if (!found)
		return rd_fail(RD_ENOTFOUND, "%s: not found in PATH", name);
	if (!realpath(found, real))
		err = rd_fail_errno("cannot open %s", found);
	else
		err = bitcode_program_open(&all->program, real);
	free(found);
	return err;
}

static void add_module(struct bitcode_modules *all, struct bitcode_program *p, const char *name,
		       enum bitcode_role role)
{
	struct bitcode_module *m = &all->items[all->count++];

	*m = (struct bitcode_module){
		.program = p,
		.name = name,
		.units = rd_xcalloc(p->unit_count, sizeof *m->units),
		.role = role,
	};
	for (size_t i = 0; i < p->unit_count; i++)
		m->units[i].hash = XXH3_128bits(p->map.data + p->units[i].offset, p->units[i].length);
}

static void add_modules(struct bitcode_modules *all, struct bitcode_libraries *l, enum bitcode_role role)
{
	for (size_t i = 0; i < l->count; i++) {
		add_module(all, &l->items[i].program, l->items[i].name, role);
		all->items[all->count - 1].aliases = &l->items[i].aliases;
	}
}

/* Libraries are searched for a second time when the plug-ins are known, because plug-ins need
 * libraries too.  A shared object that a plug-in needs is a library, not a plug-in. */
static int find_modules(struct bitcode_modules *all, const char *plugins)
{
	int err;

	bitcode_libraries_find(&all->libraries, &all->program, &all->plugins);
	err = bitcode_plugins_find(&all->plugins, &all->libraries, &all->program, plugins);
	if (!err && all->plugins.count) {
		bitcode_libraries_release(&all->libraries);
		bitcode_libraries_find(&all->libraries, &all->program, &all->plugins);
		bitcode_plugins_leave_out(&all->plugins, &all->libraries);
	}
	return err;
}

static int open_modules(struct bitcode_modules *all, const char *plugins)
{
	int err = find_modules(all, plugins);

	all->items = rd_xcalloc(all->libraries.count + all->plugins.count + 1, sizeof *all->items);
	add_modules(all, &all->libraries, BITCODE_LIBRARY);
	add_modules(all, &all->plugins, BITCODE_PLUGIN);
	add_module(all, &all->program, strrchr(all->program.path, '/') + 1, BITCODE_PROGRAM);
	return err;
}

static bool is_free(const uint8_t *used, uint32_t slot, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (used[slot + i])
			return false;
	return true;
}

static int assign_slot(const struct raddle_flavour *flavour, uint8_t *used, struct bitcode_module_unit *u,
		       uint64_t length)
{
	uint64_t count = 1 + length / (flavour->bytes << RADDLE_SITE_LOCAL_BITS), places;

	if (count >= SLOT_COUNT)
		return rd_fail(RD_ELIMIT, "a source file has %llu bytes of bitcode; that is too much",
			       (unsigned long long)length);
	places = SLOT_COUNT - count; /* slot 0 is not used */
	for (uint64_t i = 0; i < places; i++) {
		uint32_t slot = 1 + (uint32_t)((u->hash.low64 + i) % places);

		if (!is_free(used, slot, (uint32_t)count))
			continue;
		memset(used + slot, 1, count);
		u->slot = slot;
		return 0;
	}
	return rd_fail(RD_ELIMIT, "the program has too many source files for the %d ranges of site numbers",
		       SLOT_COUNT);
}

static int assign_slots(struct bitcode_modules *all, const struct raddle_flavour *flavour)
{
	uint8_t *used = rd_xcalloc(SLOT_COUNT, 1);
	int err = 0;

	for (size_t m = 0; m < all->count; m++)
		for (size_t i = 0; i < all->items[m].program->unit_count && !err; i++)
			err = assign_slot(flavour, used, &all->items[m].units[i],
					  all->items[m].program->units[i].length);
	free(used);
	return err;
}

int bitcode_modules_open(struct bitcode_modules *all, const char *program, const char *plugins,
			 const struct raddle_flavour *flavour)
{
	int err = open_program(all, program);

	if (!err)
		err = open_modules(all, plugins);
	return err ? err : assign_slots(all, flavour);
}

static void release_units(struct bitcode_module *m)
{
	for (size_t i = 0; i < m->program->unit_count; i++)
		RD_FREE(m->units[i].base, m->units[i].object, m->units[i].sites);
	free(m->units);
}

void bitcode_modules_keep_program(struct bitcode_modules *all)
{
	while (all->count > 1) {
		release_units(&all->items[0]);
		memmove(all->items, all->items + 1, --all->count * sizeof *all->items);
	}
	bitcode_libraries_release(&all->libraries);
	bitcode_libraries_release(&all->plugins);
}

void bitcode_modules_close(struct bitcode_modules *all)
{
	for (size_t m = 0; m < all->count; m++)
		release_units(&all->items[m]);
	free(all->items);
	bitcode_libraries_release(&all->libraries);
	bitcode_libraries_release(&all->plugins);
	bitcode_program_close(&all->program);
}
