// SPDX-License-Identifier: Apache-2.0
/* Unit tests of run/launch, meter, streams and output.  Programs are started under limits.  Their
 * end and what they write are reported. */
#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "base/scratch.h"
#include "run/launch.h"
#include "run/output.h"
#include "run/proc.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define LOOK_US 2000

struct given {
	const char *script; /* a shell script */
	const char *directory;
	struct run_limits limits;
	bool shared; /* the program is in our process group */
	struct run_server *server;
};

/* Runs the script and returns how it ended.  If `output` is not NULL, stores there what the script
 * wrote. */
static struct run_end run_script(const struct given *given, struct rd_buf *output)
{
	char *argv[] = {(char[]){"script"}, (char[]){"-c"}, (char *)given->script, NULL};
	struct run_program program = {.path = (char[]){"/bin/sh"},
				      .flavour = {.executable = (char[]){"/bin/sh"}}};
	const struct run_input nothing = {0};
	struct run_streams streams;
	int status;
	struct run_session session;
	struct run_launch launch = {.program = &program,
				    .argv = argv,
				    .session = &session,
				    .directory = given->directory,
				    .streams = streams.fds,
				    .limits = given->server ? NULL : &given->limits,
				    .server = given->server,
				    .tied = true,
				    .apart = !given->shared};
	struct run_meter meter;
	struct run_end end;
	pid_t pid, got;

	assert_int_equal(run_streams_open(&streams, &nothing, NULL), RD_OK);
	assert_int_equal(run_session_open(&session, "u-run-launch", 0), RD_OK);
	run_meter_start(&meter, &given->limits, launch.apart);
	assert_int_equal(run_launch(&launch, &pid), RD_OK);
	while (!(got = waitpid(pid, &status, WNOHANG))) {
		run_meter_look(&meter, pid);
		usleep(LOOK_US);
	}
	assert_int_equal(got, pid);
	run_launch_done();
	run_meter_stop(&meter, pid, status, &end);
	run_session_close(&session);
	if (output)
		assert_int_equal(run_streams_read(&streams, STDOUT_FILENO, output), RD_OK);
	run_streams_close(&streams);
	return end;
}

static void assert_writes(const struct given *given, const char *expected)
{
	struct rd_buf output = RD_BUF_INIT;

	assert_int_equal(run_script(given, &output).how, RUN_EXITED);
	assert_string_equal(output.data, expected);
	rd_buf_release(&output);
}

static void test_ends(void **state)
{
	struct run_end end = run_script(&(struct given){.script = "exit 7"}, NULL);

	(void)state;
	assert_int_equal(end.how, RUN_EXITED);
	assert_int_equal(WEXITSTATUS(end.status), 7);
	assert_true(end.wall_us > 0 && end.peak_kb > 0);
	end = run_script(&(struct given){.script = "kill -SEGV $$"}, NULL);
	assert_int_equal(end.how, RUN_SIGNALLED);
	assert_int_equal(WTERMSIG(end.status), SIGSEGV);
}

static void test_limits(void **state)
{
	struct given sleeper = {.script = "sleep 1000", .limits = {.wall_ms = 50, .patience = 1000}};
	struct given spinner = {.script = "while :; do :; done", .limits = {.wall_ms = 50, .patience = 3}};
	struct run_end end = run_script(&sleeper, NULL);

	(void)state;
	assert_int_equal(end.how, RUN_STALLED);
	assert_int_equal(WTERMSIG(end.status), SIGKILL);
	assert_int_equal(run_script(&spinner, NULL).how, RUN_TIMED_OUT);
	spinner.limits = (struct run_limits){.cpu_ms = 30};
	end = run_script(&spinner, NULL);
	assert_int_equal(end.how, RUN_TIMED_OUT);
	assert_true(end.cpu_us >= 30000);
}

/* SIGTERM comes first; a program that ignores it is killed.  The limit is on CPU time.  However
 * busy the machine is, the shell has set its trap long before it reaches the limit. */
static void test_grace(void **state)
{
	struct given polite = {.script = "trap 'exit 5' TERM; while :; do :; done",
			       .limits = {.cpu_ms = 200, .grace_ms = 100000},
			       .shared = true};
	struct given deaf = {.script = "trap '' TERM; while :; do :; done",
			     .limits = {.cpu_ms = 200, .grace_ms = 50}};
	struct run_end end = run_script(&polite, NULL);

	(void)state;
	assert_int_equal(end.how, RUN_TIMED_OUT);
	assert_true(WIFEXITED(end.status));
	assert_int_equal(WEXITSTATUS(end.status), 5);
	end = run_script(&deaf, NULL);
	assert_int_equal(end.how, RUN_TIMED_OUT);
	assert_int_equal(WTERMSIG(end.status), SIGKILL);
}

/* Raddle is asked to end.  It ends the program at once, or at the second request if the program may
 * handle the first itself. */
static void test_interrupts(void **state)
{
	char *ask = rd_xasprintf("trap '' TERM; kill -TERM %d; sleep 1000", (int)getpid());
	struct given given = {.script = ask, .limits = {.interrupts = 1}};

	(void)state;
	assert_int_equal(run_script(&given, NULL).how, RUN_INTERRUPTED);
	free(ask);
	ask = rd_xasprintf("trap '' TERM; kill -TERM %d; exit 3", (int)getpid());
	given = (struct given){.script = ask, .limits = {.interrupts = 2}};
	assert_int_equal(WEXITSTATUS(run_script(&given, NULL).status), 3);
	free(ask);
}

static void test_surroundings(void **state)
{
	char *directory, *expected;

	(void)state;
	assert_int_equal(rd_scratch_open(&directory, NULL, "u-run-launch"), RD_OK);
	expected = rd_xasprintf("%s\n", directory);
	assert_writes(&(struct given){.script = "pwd -P", .directory = directory}, expected);
	assert_writes(&(struct given){.script = "ulimit -d", .limits = {.memory = 512 << 20}}, "524288\n");
	assert_writes(&(struct given){.script = "ulimit -c"}, "0\n");
	assert_writes(&(struct given){.script = "read x || echo nothing"}, "nothing\n");
	assert_writes(&(struct given){.script = "echo $0; echo err >&2"}, "script\n");
	free(expected);
	rd_scratch_close(directory);
}

/* The length of the environment variable does not depend on the descriptor's number.  Otherwise the
 * stack would begin elsewhere in some runs, and every address that the program prints would
 * change. */
static void test_same_environment(void **state)
{
	const struct given given = {.script = "printf %s \"$" RADDLE_SESSION_ENV "\""};
	struct rd_buf low = RD_BUF_INIT, high = RD_BUF_INIT;
	int held[100];

	(void)state;
	run_script(&given, &low);
	for (size_t i = 0; i < sizeof held / sizeof *held; i++)
		held[i] = dup(0);
	run_script(&given, &high);
	for (size_t i = 0; i < sizeof held / sizeof *held; i++)
		close(held[i]);
	assert_int_not_equal(atoi(low.data), atoi(high.data));
	assert_int_equal(low.length, high.length);
	rd_buf_release(&low);
	rd_buf_release(&high);
}

/* A program that cannot be copied by forking is started normally. */
static void test_no_copies(void **state)
{
	struct run_server server = {0};
	struct given given = {.script = "exit 7", .shared = true, .server = &server};

	(void)state;
	for (int i = 0; i < 2; i++)
		assert_int_equal(WEXITSTATUS(run_script(&given, NULL).status), 7);
	assert_true(server.off && !server.pid);
	run_server_close(&server);
}

/* Whether the process has ended.  It may be a zombie that its new parent has not reaped yet. */
static bool is_gone(pid_t pid)
{
	struct run_task task;

	return !run_task_read(pid, pid, &task) || strchr("ZX", task.state);
}

/* Processes that the program leaves behind are ended with it. */
static void test_left_behind(void **state)
{
	struct rd_buf output = RD_BUF_INIT;
	pid_t left;

	(void)state;
	run_script(&(struct given){.script = "sleep 1000 & echo $!"}, &output);
	left = atoi(output.data);
	assert_true(left > 0);
	for (int i = 0; i < 5000 && !is_gone(left); i++)
		usleep(1000);
	assert_true(is_gone(left));
	rd_buf_release(&output);
}

static void test_out_of_memory(void **state)
{
	int killed = SIGKILL, crashed = SIGSEGV, exited = 3 << 8;

	(void)state;
	assert_int_equal(run_how_of(killed, RUN_EXITED, 1), RUN_OUT_OF_MEMORY);
	assert_int_equal(run_how_of(killed, RUN_EXITED, 0), RUN_SIGNALLED);
	assert_int_equal(run_how_of(crashed, RUN_EXITED, 1), RUN_SIGNALLED);
	assert_int_equal(run_how_of(exited, RUN_EXITED, 1), RUN_EXITED);
	assert_int_equal(run_how_of(killed, RUN_STALLED, 1), RUN_STALLED);
}

/* ---- streams and outputs ---- */

static void write_to(const struct run_streams *s, int which, const char *text)
{
	assert_int_equal(rd_write_all(s->fds[which], text, strlen(text)), 0);
}

static void assert_holds(const struct run_streams *s, int which, const char *text)
{
	struct rd_buf b = RD_BUF_INIT;

	assert_int_equal(run_streams_read(s, which, &b), RD_OK);
	assert_string_equal(b.data, text);
	rd_buf_release(&b);
}

static void check_streams(const char *directory, const char *file)
{
	const struct run_input input = {.file = (char *)file, .offset = 2};
	struct run_streams s;
	char bytes[8] = "";

	assert_int_equal(run_streams_open(&s, &input, directory), RD_OK);
	for (int run = 0; run < 2; run++) {
		run_streams_rewind(&s);
		assert_int_equal(read(s.fds[0], bytes, sizeof bytes - 1), 3);
		assert_string_equal(bytes, "put");
		write_to(&s, STDOUT_FILENO, run ? "second" : "the first run");
		write_to(&s, STDERR_FILENO, "!");
	}
	assert_holds(&s, STDOUT_FILENO, "second");
	assert_holds(&s, STDERR_FILENO, "!");
	run_streams_close(&s);
}

static void test_streams(void **state)
{
	char *directory, *file;

	(void)state;
	assert_int_equal(rd_scratch_open(&directory, NULL, "u-run-launch"), RD_OK);
	file = rd_xasprintf("%s/input", directory);
	assert_int_equal(rd_file_write(file, "input", 5), RD_OK);
	check_streams(NULL, file);
	check_streams(directory, file);
	free(file);
	rd_scratch_close(directory);
}

static void assert_output(const struct run_output *o)
{
	assert_string_equal(o->out.data, "out");
	assert_string_equal(o->err.data, "err");
	assert_int_equal(o->count, 3);
	assert_string_equal(o->files[0].name, "a/b");
	assert_string_equal(o->files[0].data.data, "deep");
	assert_string_equal(o->files[1].name, "link");
	assert_string_equal(o->files[1].data.data, "a/b");
	assert_string_equal(o->files[2].name, "z");
	assert_int_equal(o->files[2].data.length, 0);
}

static void test_output(void **state)
{
	const struct run_input nothing = {0};
	struct run_output o, again;
	struct run_streams s;
	char *directory, *kept, *old = getcwd(NULL, 0);

	(void)state;
	assert_int_equal(rd_scratch_open(&directory, NULL, "u-run-launch"), RD_OK);
	assert_int_equal(rd_scratch_open(&kept, NULL, "u-run-launch"), RD_OK);
	assert_int_equal(chdir(directory), 0);
	assert_int_equal(rd_mkdirs("a"), RD_OK);
	assert_int_equal(rd_file_write("z", "", 0), RD_OK);
	assert_int_equal(rd_file_write("a/b", "deep", 4), RD_OK);
	assert_int_equal(symlink("a/b", "link"), 0);
	assert_int_equal(run_streams_open(&s, &nothing, NULL), RD_OK);
	write_to(&s, STDOUT_FILENO, "out");
	write_to(&s, STDERR_FILENO, "err");
	assert_int_equal(run_output_gather(&o, &s, directory), RD_OK);
	assert_output(&o);
	assert_int_equal(run_output_save(&o, kept), RD_OK);
	assert_int_equal(run_output_load(&again, kept), RD_OK);
	assert_output(&again); /* the link has become a file with the same content */
	run_output_release(&o);
	run_output_release(&again);
	run_streams_close(&s);
	assert_int_equal(chdir(old), 0);
	rd_scratch_close(directory);
	rd_scratch_close(kept);
	free(old);
}

static void count_message(void *context, enum rd_level level, const char *message)
{
	(void)level;
	*(int *)context += strstr(message, "/nowhere") != NULL;
}

static void test_failure(void **state)
{
	char *argv[] = {(char[]){"x"}, NULL};
	struct run_program program = {.flavour = {.executable = (char[]){"/nowhere"}}};
	struct run_session session;
	struct run_launch launch = {.program = &program, .argv = argv, .session = &session};
	int messages = 0;
	pid_t pid;

	(void)state;
	assert_int_equal(run_session_open(&session, "u-run-launch", 0), RD_OK);
	rd_log_set(count_message, &messages);
	assert_int_equal(run_launch(&launch, &pid), RD_ESYSTEM);
	rd_log_set(NULL, NULL);
	assert_int_equal(messages, 1);
	run_session_close(&session);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ends),	      cmocka_unit_test(test_limits),
		cmocka_unit_test(test_grace),	      cmocka_unit_test(test_interrupts),
		cmocka_unit_test(test_surroundings),  cmocka_unit_test(test_same_environment),
		cmocka_unit_test(test_no_copies),     cmocka_unit_test(test_left_behind),
		cmocka_unit_test(test_out_of_memory), cmocka_unit_test(test_failure),
		cmocka_unit_test(test_streams),	      cmocka_unit_test(test_output),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
