// SPDX-License-Identifier: Apache-2.0
/*
 * A run.  In: the flavour, faults, a scratch directory.  Out: how the program ended, what it wrote, and
 * the raw buffers of its threads in memory.
 *
 * The program is a process group of its own that is killed as a whole when the run is over, and it dies with
 * us.  Standard output and error are memory files.  Limits are those of setrlimit(); they are set in the new
 * process only.
 *
 * A program hangs if it has used more CPU than it may, or if its time is up and all of its threads sleep and
 * have for a while.  One that computes when its time is up, or would if it got a CPU, gets four times as
 * long.
 */
#include "inject/run.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "record/collector.h"
#include "run/launch.h"
#include "run/proc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define BLOCK (1u << 20)
#define LOOK_MS 20
#define PATIENCE 4
#define STILL_NS 200000000 /* without using CPU */

struct running {
	const struct inject_target *target;
	const char *scratch;
	struct inject_run *run;
	struct run_session session;
	int64_t started_ns;
	uint64_t last_cpu_us;
	int64_t moved_ns; /* when that changed */
	pid_t parent;
	bool killed;
	bool interrupted; /* the program knows nothing of the terminal, so this is for us */
};

/* --- memory for buffers ------------------------------------------------------------------- */

static uint8_t *raw_room(struct inject_raw *raw, size_t length)
{
	uint8_t *at;

	RD_ASSERT(length <= BLOCK);
	if (raw->block < raw->block_count && raw->used + length > BLOCK) {
		raw->block++;
		raw->used = 0;
	}
	if (raw->block == raw->block_count) {
		RD_GROW(raw->blocks, raw->block_capacity, raw->block_count + 1);
		raw->blocks[raw->block_count++] = rd_xmalloc(BLOCK);
	}
	at = raw->blocks[raw->block] + raw->used;
	raw->used += (length + 7) & ~(size_t)7;
	return at;
}

static void raw_reset(struct inject_raw *raw)
{
	raw->count = raw->block = raw->used = 0;
	raw->bytes = 0;
}

void inject_raw_release(struct inject_raw *raw)
{
	for (size_t i = 0; i < raw->block_count; i++)
		free(raw->blocks[i]);
	free(raw->blocks);
	free(raw->buffers);
	*raw = (struct inject_raw){0};
}

static void take(void *context, uint32_t thread, const void *records, size_t length)
{
	struct running *r = context;
	struct inject_raw *raw = &r->run->raw;
	uint64_t limit = r->target->setup->trace_size;
	uint8_t *copy;

	if (r->run->cut)
		return;
	if (limit && raw->bytes + length > limit) {
		r->run->cut = true;
		run_session_stop(&r->session, RADDLE_STOP_LIMIT);
		return;
	}
	copy = raw_room(raw, length);
	memcpy(copy, records, length);
	RD_GROW(raw->buffers, raw->capacity, raw->count + 1);
	raw->buffers[raw->count++] = (struct inject_buffer){thread, length, copy};
	raw->bytes += length;
}

/* --- time ----------------------------------------------------------------------------------- */

static uint64_t cpu_of(pid_t pid)
{
	struct timespec t;
	clockid_t clock;

	if (clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &t))
		return 0;
	return (uint64_t)t.tv_sec * 1000000u + (uint64_t)t.tv_nsec / 1000u;
}

static bool hangs(struct running *r, pid_t pid, int64_t now)
{
	const struct inject_setup *s = r->target->setup;
	uint64_t wall_ms = (uint64_t)(now - r->started_ns) / 1000000u, cpu = cpu_of(pid);

	if (cpu != r->last_cpu_us) {
		r->last_cpu_us = cpu;
		r->moved_ns = now;
	}
	if (s->cpu_ms && cpu > s->cpu_ms * 1000)
		return true;
	if (!s->wall_ms || wall_ms <= s->wall_ms)
		return false;
	return wall_ms > s->wall_ms * PATIENCE ||
	       (now - r->moved_ns > STILL_NS && run_process_is_asleep(pid));
}

static void look(void *context, pid_t pid)
{
	struct running *r = context;
	int64_t now = rd_now_ns();

	r->interrupted = run_launch_interrupted();
	if (r->killed ||
	    (!r->interrupted && (now - r->started_ns < LOOK_MS * 1000000 || !hangs(r, pid, now))))
		return;
	r->killed = true;
	r->run->hang = !r->interrupted;
	kill(-pid, SIGKILL);
	kill(pid, SIGKILL);
}

/* --- the new process ------------------------------------------------------------------------ */

static void limit(int what, uint64_t value)
{
	struct rlimit old, now;

	if (!value || getrlimit(what, &old))
		return;
	now = (struct rlimit){value, value};
	if (old.rlim_max != RLIM_INFINITY && old.rlim_max < value)
		now = (struct rlimit){old.rlim_max, old.rlim_max};
	setrlimit(what, &now);
}

static int prepare(void *context)
{
	const struct running *r = context;
	const struct inject_setup *s = r->target->setup;
	struct rlimit none = {0, 0};

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != r->parent)
		return ESRCH;
	if (chdir(r->scratch))
		return errno;
	setrlimit(RLIMIT_CORE, &none);
	limit(RLIMIT_DATA, s->memory);
	limit(RLIMIT_FSIZE, s->file_size);
	return 0;
}

/* --- the scratch directory -------------------------------------------------------------------- */

static bool is_empty(const char *directory)
{
	DIR *d = opendir(directory);
	const struct dirent *e;
	bool empty = d != NULL;

	while (d && empty && (e = readdir(d)))
		empty = !strcmp(e->d_name, ".") || !strcmp(e->d_name, "..");
	if (d)
		closedir(d);
	return empty;
}

/* Only names below the scratch directory. */
static bool is_below(const char *name)
{
	return *name && *name != '/' && strcmp(name, "..") != 0 && strncmp(name, "../", 3) != 0 &&
	       !strstr(name, "/../");
}

static int copy_input(const char *from, const char *scratch, const char *name)
{
	struct rd_buf data = RD_BUF_INIT;
	char *to = rd_xasprintf("%s/%s", scratch, name), *slash = strrchr(to, '/');
	struct stat st;
	int r = is_below(name) ? 0 : rd_fail(RD_EFORMAT, "inject: %s: an input cannot be called so", name);

	*slash = '\0';
	if (!r)
		r = rd_mkdirs(to);
	*slash = '/';
	if (!r)
		r = rd_file_read(from, &data);
	if (!r)
		r = rd_file_write(to, data.data, data.length);
	if (!r && !stat(from, &st))
		chmod(to, st.st_mode & 0777);
	rd_buf_release(&data);
	free(to);
	return r;
}

static int prepare_scratch(const struct inject_setup *s, const char *scratch)
{
	int r = is_empty(scratch) ? 0 : rd_remove_tree(scratch);

	if (!r)
		r = rd_mkdirs(scratch);
	for (size_t i = 0; i < s->inputs.count && !r; i++)
		r = copy_input(s->inputs.items[i], scratch, s->names.items[i]);
	return r;
}

/* --- the run ------------------------------------------------------------------------------------ */

static int open_streams(const struct inject_setup *s, int *streams)
{
	const char *input = s->input ? s->input : "/dev/null";

	streams[0] = open(input, O_RDONLY | O_CLOEXEC);
	streams[1] = memfd_create("raddle-stdout", MFD_CLOEXEC);
	streams[2] = memfd_create("raddle-stderr", MFD_CLOEXEC);
	if (streams[0] < 0)
		return rd_fail_errno("%s: cannot read it", input);
	return streams[1] < 0 || streams[2] < 0 ? rd_fail_errno("inject: cannot make memory files") : 0;
}

static void close_streams(const int *streams)
{
	for (int i = 0; i < 3; i++)
		if (streams[i] >= 0)
			close(streams[i]);
}

static void add_usage(struct inject_run *run, const struct rusage *before)
{
	struct rusage now;

	getrusage(RUSAGE_CHILDREN, &now);
	run->cpu_us = (uint64_t)(now.ru_utime.tv_sec - before->ru_utime.tv_sec + now.ru_stime.tv_sec -
				 before->ru_stime.tv_sec) *
			      1000000u +
		      (uint64_t)(now.ru_utime.tv_usec - before->ru_utime.tv_usec + now.ru_stime.tv_usec -
				 before->ru_stime.tv_usec);
	run->peak_kb = (uint64_t)now.ru_maxrss;
}

static int run_collected(struct running *r, const int *streams)
{
	const struct inject_target *t = r->target;
	struct trace_meta meta = {0}, last;
	struct record_options options = {.meta = &meta,
					 .layout = t->layout,
					 .take = take,
					 .look = look,
					 .context = r,
					 .look_ms = LOOK_MS};
	struct run_launch launch = {.executable = t->executable,
				    .argv = t->setup->argv.items,
				    .library_path = t->library_path,
				    .streams = streams,
				    .prepare = prepare,
				    .context = r,
				    .session_fd = r->session.fd,
				    .wake = &r->session.shared->sealed_futex};
	struct record_collector *c;
	struct rusage before;
	pid_t pid;
	int err = record_collector_open(&c, &r->session, &options);

	if (err)
		return err;
	getrusage(RUSAGE_CHILDREN, &before);
	r->started_ns = rd_now_ns();
	err = run_launch(&launch, &pid);
	if (!err) {
		err = record_collector_run(c, pid, &r->run->status, &last);
		run_launch_done();
		kill(-pid, SIGKILL); /* what it left running */
		r->run->wall_us = (uint64_t)(rd_now_ns() - r->started_ns) / 1000u;
		add_usage(r->run, &before);
	}
	record_collector_close(c);
	return !err && r->interrupted ? rd_fail(RD_ESYSTEM, "inject: interrupted") : err;
}

static int run_session(struct running *r, const struct inject_fault *fault, const int *streams)
{
	struct run_fault faults[INJECT_FAULTS_MAX];
	size_t count = fault ? fault->count : 0;
	int err = run_session_open(&r->session, r->target->setup->program, 0);

	if (err)
		return err;
	if (count) {
		memcpy(faults, fault->faults, count * sizeof *faults);
		err = run_fault_plan(&r->session, faults, count);
	}
	if (!err)
		err = run_collected(r, streams);
	if (!err && count) {
		run_fault_look(&r->session, faults, count);
		r->run->seen = faults[0].seen;
		r->run->fired = faults[0].fired;
		r->run->before = faults[0].before;
		r->run->after = faults[0].after;
		r->run->thread = faults[0].number;
	}
	run_session_close(&r->session);
	return err;
}

int inject_run(const struct inject_target *target, const char *scratch, const struct inject_fault *fault,
	       struct inject_run *run)
{
	struct running r = {.target = target, .scratch = scratch, .run = run, .parent = getpid()};
	struct inject_raw raw = run->raw;
	int streams[3], err;

	inject_output_release(&run->output);
	*run = (struct inject_run){.raw = raw};
	raw_reset(&run->raw);
	err = prepare_scratch(target->setup, scratch);
	if (err)
		return err;
	err = open_streams(target->setup, streams);
	if (!err)
		err = run_session(&r, fault, streams);
	if (!err)
		err = inject_output_gather(&run->output, scratch, streams + 1);
	close_streams(streams);
	return err;
}

void inject_run_release(struct inject_run *run)
{
	inject_output_release(&run->output);
	inject_raw_release(&run->raw);
	*run = (struct inject_run){0};
}
