// SPDX-License-Identifier: Apache-2.0
/*
 * Probes of the environment: kernel, processors, memory, container, cache directory, limits.  Most
 * results are only for information, and few can prevent Raddle from working.
 */
#include "doctor/probe-int.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"

#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>

/* Returns the first line of a file, or `otherwise` if it cannot be read. */
static char *first_line(const char *path, const char *otherwise)
{
	RD_ASSERT(path && otherwise);
	struct rd_buf b = RD_BUF_INIT;

	if (rd_file_read(path, &b))
		rd_buf_adds(&b, otherwise);
	b.data[strcspn(b.data, "\n")] = '\0';
	return rd_buf_detach(&b);
}

static bool file_contains(const char *path, const char *text)
{
	struct rd_buf b = RD_BUF_INIT;
	bool found = rd_file_read(path, &b) == 0 && strstr(b.data, text);

	rd_buf_release(&b);
	return found;
}

void doctor_machine(struct doctor_item *item)
{
	long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
	struct utsname name;
	cpu_set_t cpus;
	int count = sched_getaffinity(0, sizeof cpus, &cpus) ? 0 : CPU_COUNT(&cpus);

	uname(&name);
	item->found = rd_xasprintf("Linux %s, %s, %d processor%s, %.1f GiB", name.release, name.machine,
				   count, count == 1 ? "" : "s", (double)pages * (double)page / (1 << 30));
	if (count == 1)
		doctor_conclude(item, DOCTOR_LIMITED, "Threads will hardly ever run at the same time.",
				"Give the machine or container a second processor.");
}

void doctor_surroundings(struct doctor_item *item)
{
	bool container =
		getenv("container") || rd_file_exists("/.dockerenv") || rd_file_exists("/run/.containerenv");
	struct rd_buf found = RD_BUF_INIT;

	rd_buf_adds(&found, container ? "a container" : "no container");
	if (file_contains("/proc/cpuinfo", " hypervisor"))
		rd_buf_adds(&found, ", a virtual machine");
	rd_buf_adds(&found, file_contains("/proc/self/status", "Seccomp:\t2")
				    ? ", system calls filtered (seccomp)"
				    : ", system calls not filtered");
	rd_buf_adds(&found, getuid() ? "" : ", root");
	item->found = rd_buf_detach(&found);
}

void doctor_cache(struct doctor_item *item)
{
	struct statvfs fs;
	char *path;
	double free_bytes;

	if (rd_cache_dir(&path)) {
		item->found = rd_xstrdup("no cache directory");
		doctor_conclude(item, DOCTOR_MISSING, "Instrumented programs are kept there.",
				"Set RADDLE_CACHE to a directory you may write to.");
		return;
	}
	if (access(path, W_OK) || statvfs(path, &fs)) {
		item->found = rd_xasprintf("%s is not writable", path);
		doctor_conclude(item, DOCTOR_MISSING, "Instrumented programs are kept there.",
				"Set RADDLE_CACHE to a directory you may write to.");
	} else {
		free_bytes = (double)fs.f_bavail * (double)fs.f_frsize;
		item->found = rd_xasprintf("%s, %.1f GiB free", path, free_bytes / (1 << 30));
		if (free_bytes < 1 << 30)
			doctor_conclude(item, DOCTOR_LIMITED,
					"Instrumented copies of large programs need more room.",
					"Free some space, or set RADDLE_CACHE to another disk.");
	}
	free(path);
}

/* The number of open files that Raddle needs.  Set by hand: the writer of a trace keeps at most 64
 * files open (trace/writer.c), and the rest is for everything else. */
enum { FILES_NEEDED = 128 };

/* Tests the limits on open files, file size and address space.  A trace has many files and can be
 * large, and a program needs more memory while it is recorded. */
void doctor_limits(struct doctor_item *item)
{
	static const struct {
		int resource;
		const char *before, *after, *effect, *cure;
	} sizes[] = {{RLIMIT_FSIZE, "files of at most ", " MiB",
		      "Recording stops when a file of the trace gets that large.", "ulimit -f unlimited"},
		     {RLIMIT_AS, "", " MiB of address space",
		      "A recorded program needs a few MiB more for each thread.", "ulimit -v unlimited"}};
	struct rlimit l;

	getrlimit(RLIMIT_NOFILE, &l);
	item->found = rd_xasprintf(l.rlim_max < FILES_NEEDED ? "only %llu open files"
							     : "%llu open files, files and memory unlimited",
				   (unsigned long long)l.rlim_max);
	if (l.rlim_max < FILES_NEEDED) {
		doctor_conclude(item, DOCTOR_LIMITED,
				"While a program is recorded, up to 64 files of its trace are open.",
				"ulimit -n 4096");
		return;
	}
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		getrlimit(sizes[i].resource, &l);
		if (l.rlim_cur == RLIM_INFINITY)
			continue;
		free(item->found);
		item->found = rd_xasprintf("%s%llu%s", sizes[i].before, (unsigned long long)l.rlim_cur >> 20,
					   sizes[i].after);
		doctor_conclude(item, DOCTOR_LIMITED, sizes[i].effect, sizes[i].cure);
		return;
	}
}

void doctor_aslr(struct doctor_item *item)
{
	char *bits = first_line("/proc/sys/vm/mmap_rnd_bits", "unknown");

	item->found = rd_xasprintf("%s (any value will do)", bits);
	free(bits);
}

void doctor_cores(struct doctor_item *item)
{
	char *pattern = first_line("/proc/sys/kernel/core_pattern", "unknown");
	struct rlimit core;

	getrlimit(RLIMIT_CORE, &core);
	item->found = rd_xasprintf("%s%s", pattern, core.rlim_cur ? "" : ", but the limit is 0");
	if (!core.rlim_cur && pattern[0] != '|')
		doctor_conclude(item, DOCTOR_LIMITED, "Crashes leave no core file; traces do not need one.",
				"ulimit -c unlimited, if you want them.");
	free(pattern);
}
