// SPDX-License-Identifier: Apache-2.0
/*
 * Takes any bytes as what a recorded program left in the session memory: the heads of the stacks,
 * the counts, the table of processes, and buffers with their headers.  The program may write to all
 * of it.  So the collector must stay inside the memory that it mapped, must terminate, and must
 * leave a trace that can be opened.
 *
 * The input is commands of six bytes: where to write (in units of four bytes, in the header or in
 * one of the first buffers) and what.  Process IDs are those of an ended child of the test, so that
 * no other process is examined.
 */
#include "record/collector.h"
#include "test/fuzz/scratch.h"
#include "trace/reader.h"

#include <string.h>
#include <sys/wait.h>

#define TRACE SCRATCH "/t"

enum { BUFFERS = 4, PROCESSES = 8 };

static void follow(struct raddle_session *s, const uint8_t *order)
{
	unsigned part = order[0] % (BUFFERS + 1), at = order[1] * 4;
	uint32_t value;

	memcpy(&value, order + 2, sizeof value);
	if (part == 0 && at + 4 <= offsetof(struct raddle_session, processes))
		memcpy((char *)s + at, &value, 4);
	else if (part)
		memcpy((char *)raddle_buffer_at(s, part - 1) + at, &value, 4);
	if (part == 0 && at >= 900) { /* the table of processes: parents and numbers of forks */
		s->processes[order[1] % PROCESSES].parent = (int32_t)value;
		s->processes[order[1] % PROCESSES].fork_index = value >> 8;
	}
}

/* Sets members that the input may not decide. */
static void repair(struct raddle_session *s, pid_t pid)
{
	if (atomic_load(&s->process_count) > PROCESSES)
		atomic_store(&s->process_count, PROCESSES);
	for (int i = 1; i < PROCESSES; i++)
		atomic_store(&s->processes[i].pid, pid);
}

static pid_t dead_child(void)
{
	pid_t pid = fork();
	siginfo_t info;

	RD_ASSERT(pid >= 0);
	if (!pid)
		_exit(0);
	/* The child stays a zombie for the collector, which then need not wait for it. */
	RD_ASSERT(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) == 0);
	return pid;
}

static void collect(struct run_session *session, pid_t pid)
{
	struct trace_meta meta = {.flavour = (char[]){"record"}}, last = {0};
	struct record_options how = {.directory = TRACE, .meta = &meta};
	struct record_collector *c = NULL;
	struct trace *trace = NULL;
	int status = 0;

	RD_ASSERT(record_collector_open(&c, session, &how) == RD_OK);
	record_collector_has_request(c);
	record_collector_show(c);
	record_collector_run(c, pid, &status, &last);
	record_collector_close(c);
	if (trace_open(&trace, TRACE, true) == RD_OK)
		trace_close(trace);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct run_session session;
	pid_t pid;

	rd_log_set(rd_log_discard, NULL);
	scratch_make();
	rd_remove_tree(TRACE);
	RD_ASSERT(rd_mkdirs(TRACE) == RD_OK && run_session_open(&session, "program", 0) == RD_OK);
	for (size_t i = 0; i + 6 <= size && i < 600; i += 6)
		follow(session.shared, data + i);
	pid = dead_child();
	repair(session.shared, pid);
	collect(&session, pid);
	run_session_close(&session);
	return 0;
}
