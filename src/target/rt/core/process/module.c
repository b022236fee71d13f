// SPDX-License-Identifier: Apache-2.0
/*
 * Reports loaded objects.  In: the loader's list, and the file that the program passes to dlopen().
 * Out: a module event for each object, and the flavoured form of a plug-in, if there is one
 * (raddle/plugin.h).
 *
 * The search path of dlopen() depends on its caller.  So if an object has no flavoured form, this
 * code jumps to the real function instead of calling it.  The events of such objects are written
 * later, at the next dlopen() or at the end of the process.  This is harmless, since modules are
 * not ordered against other events.  The event of a flavoured plug-in is written immediately.  In a
 * static program, dlopen() is not interposed.
 */
#include "rt/core/real.h"
#include "rt/core/tables.h"

#include <link.h>

static uint64_t hash(const char *name)
{
	uint64_t h = 0;

	while (*name)
		h = (h ^ (unsigned char)*name++) * 0x100000001b3ull;
	return h;
}

static bool was_reported(uintptr_t base, const char *name)
{
	uint64_t h = hash(name);

	for (size_t i = 0; i < rt_tables.modules.count; i++)
		if (rt_tables.modules.items[i].base == base && rt_tables.modules.items[i].name == h)
			return true;
	if (rt_tables.modules.count < RT_MODULES) {
		rt_tables.modules.items[rt_tables.modules.count].base = base;
		rt_tables.modules.items[rt_tables.modules.count++].name = h;
	}
	return false;
}

static int module_event(struct dl_phdr_info *info, size_t size, void *context)
{
	struct rt_thread *t = context;
	uintptr_t low = UINTPTR_MAX, high = 0;
	const char *name = info->dlpi_name[0] ? info->dlpi_name : rt.program;
	struct rt_record r = {.code = RADDLE_MODULE, .count = 3, .bytes = name};

	(void)size;
	for (size_t i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		if (p->p_type != PT_LOAD)
			continue;
		low = p->p_vaddr < low ? p->p_vaddr : low;
		high = p->p_vaddr + p->p_memsz > high ? p->p_vaddr + p->p_memsz : high;
	}
	if (low > high || was_reported(info->dlpi_addr + low, name))
		return 0;
	r.operand[0] = info->dlpi_addr + low;
	r.operand[1] = high - low;
	r.operand[2] = info->dlpi_addr;
	while (r.length < RT_BYTES_MAX && name[r.length])
		r.length++;
	rt_emit(t, &r);
	return 0;
}

void rt_modules(struct rt_thread *t)
{
	dl_iterate_phdr(module_event, t);
}

void rt_modules_forget(void)
{
	rt_tables.modules.count = 0;
}

#ifndef RADDLE_STATIC
#include "raddle/plugin.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/syscall.h>

#define PATH_SIZE 4096 /* PATH_MAX of Linux */

typedef void *open_fn(const char *, int);

/* Reads the text of a symbolic link.  Returns false if the link does not exist or its text is too
 * long. */
static bool read_link(const char *path, char out[PATH_SIZE])
{
	long n = syscall(SYS_readlink, path, out, PATH_SIZE);

	if (n <= 0 || n >= PATH_SIZE)
		return false;
	out[n] = '\0';
	return true;
}

/* Stores the path of a file in `out`, with symbolic links resolved. */
static bool real_path(const char *path, char out[PATH_SIZE])
{
	long fd = syscall(SYS_open, path, O_PATH | O_CLOEXEC, 0);
	char link[32] = "/proc/self/fd/", digits[12];
	size_t n = 0, at = 14;
	bool found;

	if (fd < 0)
		return false;
	for (long rest = fd; n == 0 || rest; rest /= 10)
		digits[n++] = (char)('0' + rest % 10);
	while (n)
		link[at++] = digits[--n];
	link[at] = '\0';
	found = read_link(link, out);
	syscall(SYS_close, fd);
	return found;
}

/* Stores in `out` the path of the link for `key`.  The links are in a directory beside the
 * executable. */
static bool link_path(const char *key, char out[PATH_SIZE])
{
	static const char directory[] = "/" RADDLE_PLUGIN_DIRECTORY "/";
	char *slash;

	if (!read_link("/proc/self/exe", out))
		return false;
	slash = __builtin_strrchr(out, '/');
	if (!slash || slash - out + sizeof directory + RADDLE_PLUGIN_KEY_SIZE > PATH_SIZE)
		return false;
	__builtin_memcpy(slash, directory, sizeof directory - 1);
	__builtin_memcpy(slash + sizeof directory - 1, key, RADDLE_PLUGIN_KEY_SIZE);
	return true;
}

/* Stores the path of the flavoured plug-in in `out`.  Returns false if there is none.  Preserves
 * errno. */
static bool find_flavoured(const char *path, char out[PATH_SIZE])
{
	char key[RADDLE_PLUGIN_KEY_SIZE], link[PATH_SIZE];
	bool has_directory = path && __builtin_strchr(path, '/');
	int saved = errno;
	bool found = path && rt.session && (!has_directory || real_path(path, link));

	if (found) {
		raddle_plugin_key(has_directory ? link : path, key);
		found = link_path(key, link) && read_link(link, out);
	}
	errno = saved;
	return found;
}

static void report_modules(void)
{
	struct rt_thread *t = rt_self();
	int saved = errno;

	if (t)
		rt_modules(t);
	errno = saved;
}

/* Opens the flavoured form of a plug-in.  Returns NULL if there is none or it cannot be loaded. */
static __attribute__((noinline)) void *open_flavoured(open_fn *next, const char *path, int flags)
{
	char flavoured[PATH_SIZE];
	void *handle = find_flavoured(path, flavoured) ? next(flavoured, flags) : NULL;

	report_modules();
	return handle;
}

__attribute__((weak, visibility("default"))) void *dlopen(const char *path, int flags)
{
	open_fn *next = atomic_load_explicit(&rt_tables.modules.open, memory_order_relaxed);
	void *handle;

	if (!next) {
		next = (open_fn *)dlsym(RTLD_NEXT, "dlopen");
		atomic_store_explicit(&rt_tables.modules.open, next, memory_order_relaxed);
	}
	handle = open_flavoured(next, path, flags);
	if (handle)
		return handle;
	__attribute__((musttail)) return next(path, flags);
}
#endif
