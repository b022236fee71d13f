// SPDX-License-Identifier: Apache-2.0
/*
 * Turns the race candidates of a program into guards.  It describes the flavour to build, and
 * writes the file that raddle-instr reads.  The file numbers the accesses to guard, and lists the
 * functions that might order threads without the runtime noticing.
 */
#include "guard/guards.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "base/map.h"
#include "bitcode/facts.h"

#include <stdlib.h>
#include <string.h>

/* Functions whose effect on the order of threads is known: either the runtime interposes them, or
 * they do not order threads. */
static const char *const known[] = {
#define GUARDED(name) #name,
#include "raddle/guard.inc"
#define LIBC_QUIET(name) #name,
#include "raddle/libc.inc"
#define LIBC_INTERPOSED(group, name) KNOWN_##group(name)
#define KNOWN_sync(name)
#define KNOWN_memory(name) #name,
#define KNOWN_process(name) #name,
#define KNOWN_cxx(name) #name,
#define KNOWN_world(name) #name,
#include "raddle/libc.inc"
};

/* Functions that the recorder interposes but that do not order threads by themselves.  They open or
 * set up descriptors, sleep, or use a stream, which is usually a file. */
static const char *const harmless[] = {
	"bind",
	"socket",
	"socketpair",
	"pipe",
	"pipe2",
	"dup",
	"open",
	"open64",
	"openat",
	"openat64",
	"creat",
	"fopen",
	"fopen64",
	"fclose",
	"fflush",
	"fgetc",
	"fgets",
	"fprintf",
	"fputc",
	"fputs",
	"fread",
	"fwrite",
	"getc",
	"getdelim",
	"__getdelim",
	"getline",
	"putc",
	"vfprintf",
	"__fgets_chk",
	"__fprintf_chk",
	"__fread_chk",
	"__vfprintf_chk",
	"__isoc99_fscanf",
	"__isoc99_vfscanf",
	"epoll_create1",
	"epoll_ctl",
	"eventfd",
	"nanosleep",
	"clock_nanosleep",
	"sleep",
	"usleep",
	"thrd_sleep",
	"thrd_yield",
	"sched_yield",
	"sem_init",
	"sem_destroy",
	"sem_open",
	"sem_close",
	"mtx_init",
	"mtx_destroy",
	"cnd_init",
	"cnd_destroy",
	"pthread_setname_np",
	"pthread_barrier_init",
	"pthread_barrier_destroy",
	"pthread_cond_init",
	"pthread_cond_destroy",
	"pthread_mutex_init",
	"pthread_mutex_destroy",
	"pthread_rwlock_init",
	"pthread_rwlock_destroy",
	"pthread_spin_init",
	"pthread_spin_destroy",
};

/* Functions of libc and libm that raddle/libc.inc lists for reasons other than synchronisation. */
static const char *const described[] = {
#define LIBC_RANGE(name, argument, direction, length, a, b) #name,
#define LIBC_FORMAT(name, what, argument) #name,
#define LIBC_STREAM(name, argument) #name,
#define LIBC_VARIES(name, of) #name,
#define LIBC_STATE(name, state) #name,
#include "raddle/libc.inc"
};

/* Functions that the recorder interposes because they synchronise. */
static const char *const ordering[] = {
#define LIBC_INTERPOSED(group, name) ORDERING_##group(name)
#define ORDERING_sync(name) #name,
#define ORDERING_memory(name)
#define ORDERING_process(name)
#define ORDERING_cxx(name)
#define ORDERING_world(name)
#include "raddle/libc.inc"
};

static void put_all(struct rd_names *names, const char *const *items, size_t count)
{
	for (size_t i = 0; i < count; i++)
		rd_names_put(names, items[i], strlen(items[i]));
}
#define PUT_ALL(names, list) put_all(names, list, sizeof(list) / sizeof *(list))

static bool has(const struct rd_names *names, const char *s)
{
	uint32_t number;
	return rd_names_find(names, s, strlen(s), &number);
}

/* Recognises, by prefix, functions of the C++ library that do not order threads.  Strings, trees,
 * hash tables and lists work on memory of the caller; throwing affects only the throwing thread. */
static bool is_quiet_cxx(const char *name)
{
	static const char *const quiet[] = {
		"_ZNSt7__cxx1112basic_string",
		"_ZNKSt7__cxx1112basic_string",
		"_ZSt18_Rb_tree_",
		"_ZSt28_Rb_tree_",
		"_ZSt29_Rb_tree_",
		"_ZSt11_Hash_bytes",
		"_ZSt15_Fnv_hash_bytes",
		"_ZNKSt8__detail20_Prime_rehash_policy",
		"_ZNSt8__detail15_List_node_base",
	};
	if (strncmp(name, "_ZSt", 4) == 0 && strstr(name, "__throw_") != NULL)
		return true;
	for (size_t i = 0; i < sizeof quiet / sizeof *quiet; i++)
		if (strncmp(name, quiet[i], strlen(quiet[i])) == 0)
			return true;
	return false;
}

static void list_outside(const struct facts *f, struct rd_buf *out)
{
	struct rd_names sure = RD_NAMES_INIT, listed = RD_NAMES_INIT, orders = RD_NAMES_INIT;
	PUT_ALL(&sure, known);
	PUT_ALL(&sure, harmless);
	PUT_ALL(&listed, described);
	PUT_ALL(&orders, ordering);
	for (size_t i = 0; i < f->function_count; i++) {
		const struct facts_function *function = &f->functions[i];
		const char *name = facts_string(f, function->linkage);
		if (!(function->flags & FACTS_FUNCTION_EXTERNAL) ||
		    (function->flags & FACTS_FUNCTION_INTRINSIC) || *name == '\0' || strpbrk(name, " \n\t"))
			continue;
		bool fine = is_quiet_cxx(name) || has(&sure, name) ||
			    (has(&listed, name) && !has(&orders, name)) ||
			    ((function->flags & FACTS_FUNCTION_MODELLED) && !has(&orders, name));
		if (!fine)
			rd_buf_addf(out, "x %s\n", name);
	}
	rd_names_release(&sure);
	rd_names_release(&listed);
	rd_names_release(&orders);
}

/* Assigns a number to the guard of each site, and collects the lines of the file that describe the
 * guarded accesses. */
struct numbering {
	struct rd_umap guards;
	struct rd_buf accesses;
};

/* Returns the guard of an access, which is created if there is room.  Returns RADDLE_GUARDS if all
 * guards are used. */
static uint32_t guard_of(struct numbering *n, const struct candidate_access *access)
{
	RD_ASSERT(access->site != 0);
	const uint64_t *known_one = rd_umap_get(&n->guards, access->site);
	if (known_one != NULL)
		return (uint32_t)*known_one;
	if (n->guards.count == RADDLE_GUARDS)
		return RADDLE_GUARDS;
	rd_buf_addf(&n->accesses, "a %u\n", access->site);
	uint32_t guard = (uint32_t)n->guards.count;
	*rd_umap_put(&n->guards, access->site, NULL) = guard;
	return guard;
}

/* Writes the file; candidates whose accesses cannot have guards are left out. */
static void write_guards(const struct candidates *c, const char *build, struct rd_buf *out)
{
	struct numbering n = {.accesses = RD_BUF_INIT};
	struct rd_buf pairs = RD_BUF_INIT;
	RD_ASSERT(strlen(build) < RD_BUILD_ID_SIZE);
	size_t count = 0;
	for (size_t i = 0; i < c->count && count < RADDLE_GUARD_PAIRS; i++) {
		const struct candidate *it = &c->items[i];
		if (candidate_unguarded(c, it) != NULL)
			continue;
		uint32_t first = guard_of(&n, &it->accesses[0]);
		uint32_t second = guard_of(&n, &it->accesses[1]);
		if (first == RADDLE_GUARDS || second == RADDLE_GUARDS)
			continue;
		rd_buf_addf(&pairs, "c %s %u %u\n", it->id, first, second);
		count++;
	}
	rd_buf_addf(out, RADDLE_GUARD_TITLE "%s\n", build);
	rd_buf_add(out, n.accesses.data, n.accesses.length);
	rd_buf_add(out, pairs.data, pairs.length);
	list_outside(c->facts, out);
	rd_umap_release(&n.guards);
	rd_buf_release(&n.accesses);
	rd_buf_release(&pairs);
}

static int make_text(const char *program, struct rd_buf *text)
{
	char build[RD_BUILD_ID_SIZE], *path = NULL;
	struct candidates c;
	struct facts *f;
	path = rd_find_program(program);
	if (path == NULL)
		return rd_fail(RD_ENOTFOUND, "%s: program not found", program);
	int err = rd_build_id(path, build);
	free(path);
	if (!err)
		err = rd_facts_open(program, &f);
	if (err)
		return err;
	candidates_find(&c, f);
	write_guards(&c, build, text);
	candidates_release(&c);
	facts_free(f);
	return 0;
}

int guard_build(const char *program, bool verbose, struct rd_flavour *out)
{
	struct rd_buf text = RD_BUF_INIT;
	int err = make_text(program, &text);
	if (!err) {
		struct rd_flavour_opts how = {
			.name = "guard", .fast = true, .verbose = verbose, .guards = text.data};
		err = rd_flavour_build(program, &how, out);
	}
	rd_buf_release(&text);
	return err;
}
