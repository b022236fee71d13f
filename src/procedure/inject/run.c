// SPDX-License-Identifier: Apache-2.0
/*
 * Makes one run.  In: the flavour, faults, and a scratch directory.  Out: how the program ended,
 * its output, and the raw buffers of its threads, in memory.
 *
 * The program runs in its own process group, which is killed as a whole after the run, and also if
 * this process dies.  Standard output and error are memory files.  A program hangs if it exceeds
 * its time limit (run/meter.h).
 */
#include "inject/run.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "base/map.h"
#include "record/collector.h"
#include "run/launch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* All of the following numbers were set by hand.  They bound memory and the load of the machine. */
#define BLOCK (1u << 20) /* bytes of a trace that are allocated at once */
/* Number of blocks of a run that are kept in memory.  Further blocks are kept in a file, since
 * several runs at a time share the machine's memory. */
#define MEMORY_BLOCKS 32
/* bytes reserved for the last buffers of a run whose recording was stopped */
#define LAST (64u << 20)
/* Milliseconds between two checks of a running program; its limits are 200 ms or more. */
#define POLL_MS 20
#define CPU_PATIENCE 4 /* a program that computes gets CPU_PATIENCE times the wall-clock limit */

struct running {
	const struct inject_target *target;
	const char *scratch;
	struct inject_run *run;
	struct run_session session;
	struct run_meter meter;
	struct rd_umap dropped; /* set of the threads that lost a buffer */
	struct run_fault about; /* the process that the campaign is about, as a path of forks */
	/* The number of the process that the campaign is about; UINT32_MAX if that process has not
	 * been seen yet. */
	uint32_t process;
};

/* --- memory for buffers ------------------------------------------------------------------- */

/* Maps a block of the file.  Returns NULL, after a message, if there is no room. */
static uint8_t *map_block(struct inject_raw *raw)
{
	off_t at = (off_t)(raw->block_count - MEMORY_BLOCKS) * BLOCK;
	int fd = raw->file ? raw->file - 1 : rd_temporary_file(), err;
	void *block;

	if (fd < 0)
		return NULL;
	raw->file = fd + 1;
	err = posix_fallocate(fd, at, BLOCK);
	errno = err ? err : errno;
	block = err ? MAP_FAILED : mmap(NULL, BLOCK, PROT_READ | PROT_WRITE, MAP_SHARED, fd, at);
	if (block == MAP_FAILED) {
		rd_fail_errno("cannot create a temporary file for the records of a run");
		return NULL;
	}
	return block;
}

static bool add_block(struct inject_raw *raw)
{
	uint8_t *block = raw->block_count < MEMORY_BLOCKS ? rd_xmalloc(BLOCK) : map_block(raw);

	if (!block)
		return false;
	RD_GROW(raw->blocks, raw->block_capacity, raw->block_count + 1);
	raw->blocks[raw->block_count++] = block;
	return true;
}

/* Returns room for `length` bytes, or NULL if there is not enough. */
static uint8_t *raw_room(struct inject_raw *raw, size_t length)
{
	uint8_t *at;

	RD_ASSERT(length <= BLOCK);
	if (raw->block < raw->block_count && raw->used + length > BLOCK) {
		if (raw->block >= MEMORY_BLOCKS)
			rd_drop_pages(raw->blocks[raw->block], BLOCK);
		raw->block++;
		raw->used = 0;
	}
	if (raw->block == raw->block_count && !add_block(raw))
		return NULL;
	at = raw->blocks[raw->block] + raw->used;
	raw->used += (length + 7) & ~(size_t)7;
	return at;
}

static void raw_reset(struct inject_raw *raw)
{
	raw->count = raw->block = raw->used = 0;
	raw->bytes = 0;
}

static void inject_raw_release(struct inject_raw *raw)
{
	for (size_t i = 0; i < raw->block_count; i++) {
		if (i < MEMORY_BLOCKS)
			free(raw->blocks[i]);
		else
			munmap(raw->blocks[i], BLOCK);
	}
	if (raw->file)
		close(raw->file - 1);
	free(raw->blocks);
	free(raw->buffers);
	*raw = (struct inject_raw){0};
}

/* Keeps a buffer.  If a run exceeds its size limit, recording stops.  Buffers that other threads
 * had begun to fill by then are still kept.  If main() waits in a join, such a buffer may be its
 * only one, and without it the creator of the other threads would be unknown. */
static void take(void *context, uint32_t process, uint32_t thread, const void *records, size_t length)
{
	struct running *r = context;
	bool wanted = raddle_process_is(r->session.shared, process, r->about.process, r->about.forks);
	struct inject_raw *raw = wanted ? &r->run->raw : &r->run->first;
	uint64_t limit = r->target->setup->trace_size, key = (uint64_t)process << 32 | thread;
	uint8_t *copy;

	if (wanted)
		r->process = process;
	if ((!wanted && process != 0) || rd_umap_get(&r->dropped, key))
		return;
	if (limit && r->run->cut)
		limit += LAST;
	copy = limit && raw->bytes + length > limit ? NULL : raw_room(raw, length);
	if (!copy) {
		r->run->cut = true;
		rd_umap_put(&r->dropped, key, NULL);
		run_session_stop(&r->session, RADDLE_STOP_LIMIT);
		return;
	}
	memcpy(copy, records, length);
	RD_GROW(raw->buffers, raw->capacity, raw->count + 1);
	raw->buffers[raw->count++] = (struct inject_buffer){
		thread, length, copy, raw->block >= MEMORY_BLOCKS ? raw->blocks[raw->block] : NULL};
	raw->bytes += length;
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

/* Returns true if the name lies below the scratch directory. */
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
	int r = is_below(name) ? 0 : rd_fail(RD_EFORMAT, "inject: %s: an input cannot have this name", name);

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

/* ---- the run ---- */

static void look(void *context, pid_t pid)
{
	struct running *r = context;

	run_meter_look(&r->meter, pid);
}

/* Limits the number of processes.  A fault may make the program fork without end, which must not
 * disable the machine. */
static void limit_processes(struct running *r, struct run_limits *limits)
{
	struct inject_run *run = r->run;
	uint64_t most = r->target->setup->processes;

	if (!most || most > UINT32_MAX)
		return;
	if (!run->group.procs && !run->ungrouped) {
		run->ungrouped = !run_group_open(&run->group, most);
		run->processes = run->ungrouped ? run_group_rest(most) : 0;
	}
	limits->group = run->group.procs;
	limits->processes = run->processes;
}

static struct run_limits limits_of(const struct inject_setup *s)
{
	return (struct run_limits){.wall_ms = s->wall_ms,
				   .patience = CPU_PATIENCE,
				   .cpu_ms = s->cpu_ms,
				   .memory = s->memory,
				   .file_size = s->file_size,
				   /* The program has its own process group, so the terminal
				    * interrupts only us. */
				   .interrupts = 1};
}

/* When the first process has ended, its descendants get no more time.  They are killed at once. */
static bool at_once(void *context)
{
	(void)context;
	return false;
}

static int run_collected(struct running *r, const struct run_streams *streams)
{
	const struct inject_target *t = r->target;
	struct trace_meta meta = {0}, last;
	struct run_limits limits = limits_of(t->setup);
	struct record_options options = {.meta = &meta,
					 .layout = t->layout,
					 .take = take,
					 .look = look,
					 .context = r,
					 .look_ms = POLL_MS};
	struct run_launch launch = {.program = t->program,
				    .argv = t->setup->argv.items,
				    .session = &r->session,
				    .directory = r->scratch,
				    .streams = streams->fds,
				    .limits = &limits,
				    .fixed = !t->setup->aslr,
				    .tied = true,
				    .apart = true};
	struct record_collector *c;
	int status = 0, err = record_collector_open(&c, &r->session, &options);
	pid_t pid;

	if (err)
		return err;
	limit_processes(r, &limits);
	run_meter_start(&r->meter, &limits, true);
	err = run_launch(&launch, &pid);
	if (!err) {
		err = record_collector_run(c, pid, &status, &last);
		run_launch_done();
		run_meter_stop(&r->meter, pid, status, &r->run->end);
		r->run->outlived = r->about.forks && r->process != UINT32_MAX &&
				   !record_collector_has_ended(c, r->process);
		run_group_clear(&r->run->group);
		if (r->about.forks)
			record_collector_rest(c, at_once, NULL);
		r->run->there = !r->about.forks || r->process != UINT32_MAX;
	}
	record_collector_close(c);
	return !err && r->run->end.how == RUN_INTERRUPTED
		       ? rd_fail(RD_ESYSTEM, "inject: interrupted; --resume continues a campaign")
		       : err;
}

static int run_session(struct running *r, const struct inject_fault *fault, const struct run_streams *streams)
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
	rd_umap_release(&r->dropped);
	return err;
}

int inject_run(const struct inject_target *target, const char *scratch, const struct inject_fault *fault,
	       struct inject_run *run)
{
	struct running r = {.target = target, .scratch = scratch, .run = run, .process = UINT32_MAX};
	struct inject_run kept = {.raw = run->raw,
				  .first = run->first,
				  .group = run->group,
				  .ungrouped = run->ungrouped,
				  .processes = run->processes};
	const struct run_input input = {.file = target->setup->input};
	struct run_streams streams;
	int err;

	run_output_release(&run->output);
	*run = kept;
	raw_reset(&run->raw);
	raw_reset(&run->first);
	inject_setup_process(target->setup, &r.about);
	err = prepare_scratch(target->setup, scratch);
	if (err)
		return err;
	err = run_streams_open(&streams, &input, NULL);
	if (!err)
		err = run_session(&r, fault, &streams);
	if (!err)
		err = run_output_gather(&run->output, &streams, scratch);
	run_streams_close(&streams);
	return err;
}

void inject_run_release(struct inject_run *run)
{
	run_output_release(&run->output);
	inject_raw_release(&run->raw);
	inject_raw_release(&run->first);
	run_group_close(&run->group);
	*run = (struct inject_run){0};
}
