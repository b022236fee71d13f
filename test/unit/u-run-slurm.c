// SPDX-License-Identifier: Apache-2.0
/*
 * Unit tests of the Slurm executor with a made-up cluster of shell scripts, which can be made to
 * fail. test/cli/inject-slurm.sh uses a real cluster.
 */
#include "golden.h"

#include "base/error.h"
#include "run/slurm.h"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

/* Runs the tasks of the array at once, except the one named in ./lose.  That file is removed. */
static const char sbatch[] =
	"#!/bin/bash\n"
	"printf '%s\\n' \"$@\" >>sbatch.log\n"
	"[ ! -e refuse ] || { echo 'sbatch: error: no such partition'; exit 1; }\n"
	"for word; do case $word in --array=*) tasks=${word#--array=} ;; esac; script=$word; done\n"
	"lost=$(cat lose 2>/dev/null); rm -f lose\n"
	"for range in ${tasks//,/ }; do for i in $(seq ${range%-*} ${range#*-}); do\n"
	"	[ \"$i\" = \"$lost\" ] || SLURM_ARRAY_TASK_ID=$i sh \"$script\"\n"
	"done; done\n"
	"echo 'sbatch: something to know'\n"
	"echo '41;cluster'\n";

/* Nothing is known of the job, unless the file ./say has the answer. */
static const char squeue[] =
	"#!/bin/bash\n"
	"echo asked >>squeue.log\n"
	"if [ -e deaf ]; then rm deaf; echo 'Unable to contact slurm controller'; exit 1; fi\n"
	"if [ -e interrupt ]; then rm interrupt; kill -INT $PPID; fi\n"
	"if [ -e say ]; then cat say; exit 0; fi\n"
	"echo 'slurm_load_jobs error: Invalid job id specified'; exit 1\n";

static const char scancel[] = "#!/bin/bash\necho \"$@\" >scancel.log\nrm -f say\n";

/* A shard fails as often as ./fail.I has lines.  If there is no such file, it succeeds. */
static const char shard[] = "#!/bin/bash\n"
			    "echo \"$@\" >>shard.log\n"
			    "i=${5%/*}\n"
			    "if [ -s fail.$i ]; then sed -i 1d fail.$i; exit 2; fi\n"
			    "exit 0\n";

static void put(const char *path, const char *text)
{
	assert_int_equal(rd_file_write(path, text, strlen(text)), 0);
	assert_int_equal(chmod(path, 0755), 0);
}

static char *get(const char *path)
{
	struct rd_buf text = RD_BUF_INIT;

	assert_int_equal(rd_file_read(path, &text), 0);
	return rd_buf_detach(&text);
}

static size_t lines(const char *path)
{
	char *text = rd_file_exists(path) ? get(path) : rd_xstrdup("");
	size_t n = 0;

	for (const char *s = text; *s; s++)
		n += *s == '\n';
	free(text);
	return n;
}

static unsigned told_done;

static void tell(void *context, unsigned done, unsigned running)
{
	(void)context;
	(void)running;
	told_done = done;
}

static const char *directory = "campaign dir";

static int run(unsigned shards, const char *options, int *stopped)
{
	char *const command[] = {"./shard", "it's", NULL};
	struct run_slurm request = {.directory = directory,
				    .command = command,
				    .shards = shards,
				    .options = options,
				    .progress = tell};

	return run_slurm_run(&request, stopped);
}

static int set_up(void **state)
{
	static const char *const leftovers[] = {"campaign dir", "sbatch.log", "squeue.log", "scancel.log",
						"shard.log",	"say",	      "refuse"};
	char *path;

	(void)state;
	for (size_t i = 0; i < sizeof leftovers / sizeof *leftovers; i++)
		assert_int_equal(rd_remove_tree(leftovers[i]), 0);
	assert_int_equal(rd_mkdirs("bin"), 0);
	assert_int_equal(rd_mkdirs("campaign dir"), 0);
	put("bin/sbatch", sbatch);
	put("bin/squeue", squeue);
	put("bin/scancel", scancel);
	put("shard", shard);
	if (strncmp(getenv("PATH"), "bin:", 4)) {
		path = rd_xasprintf("bin:%s", getenv("PATH"));
		setenv("PATH", path, 1);
		free(path);
	}
	return 0;
}

static void all_is_well(void **state)
{
	int stopped = -1;
	char *text;

	(void)state;
	assert_int_equal(run(3, "--partition=main --comment='two words'", &stopped), 0);
	assert_int_equal(stopped, 0);
	assert_int_equal(told_done, 3);
	text = get("shard.log");
	assert_string_equal(
		text, "it's --jobs 1 --shard 0/3\nit's --jobs 1 --shard 1/3\nit's --jobs 1 --shard 2/3\n");
	free(text);
	text = get("sbatch.log");
	assert_non_null(strstr(text, "\n--array=0-2\n"));
	assert_non_null(strstr(text, "\n--partition=main\n--comment=two words\n"));
	assert_non_null(strstr(text, "/campaign dir/slurm/%a.out\n"));
	free(text);
	assert_false(rd_file_exists("scancel.log"));
}

/* sbatch replaces %a by the number of a task, and interprets backslashes. */
static void odd_names_of_directories(void **state)
{
	int stopped;
	char *text;

	(void)state;
	assert_int_equal(rd_mkdirs("campaign dir/100%a"), 0);
	directory = "campaign dir/100%a";
	assert_int_equal(run(2, NULL, &stopped), 0);
	text = get("sbatch.log");
	assert_non_null(strstr(text, "/campaign dir/100%%a/slurm/%a.out\n"));
	assert_non_null(strstr(text, "/campaign dir/100%a/slurm/job\n"));
	free(text);
	assert_int_equal(rd_mkdirs("campaign dir/back\\slash"), 0);
	directory = "campaign dir/back\\slash";
	assert_int_equal(run(2, NULL, &stopped), RD_EUSAGE);
	directory = "campaign dir";
}

static void failures_are_submitted_again(void **state)
{
	int stopped;
	char *text;

	(void)state;
	put("fail.1", "once\n");
	put("fail.3", "once\n");
	put("fail.4", "once\n");
	assert_int_equal(run(5, NULL, &stopped), 0);
	text = get("sbatch.log");
	assert_non_null(strstr(text, "--array=0-4\n"));
	assert_non_null(strstr(text, "--array=1,3-4\n"));
	free(text);
	assert_int_equal(lines("shard.log"), 8);
}

static void twice_is_too_often(void **state)
{
	int stopped;

	(void)state;
	put("fail.2", "once\ntwice\nthrice\n");
	assert_int_equal(run(3, NULL, &stopped), RD_ETOOL);
	assert_int_equal(lines("shard.log"), 4);
	assert_int_equal(lines("fail.2"), 1);
	unlink("fail.2");
}

static void a_lost_task_is_done_again(void **state)
{
	int stopped;

	(void)state;
	put("lose", "2\n");
	assert_int_equal(run(3, NULL, &stopped), 0);
	assert_int_equal(lines("shard.log"), 3);
	assert_true(lines("squeue.log") > 3); /* the job had time to appear */
}

static void refusal(void **state)
{
	int stopped;

	(void)state;
	put("refuse", "");
	assert_int_equal(run(3, NULL, &stopped), RD_ETOOL);
	assert_int_equal(run(3, "'", &stopped), RD_EUSAGE);
	assert_int_equal(run(0, NULL, &stopped), RD_EUSAGE);
	assert_int_equal(run(RUN_SLURM_SHARDS_MAX + 1, NULL, &stopped), RD_EUSAGE);
	assert_false(rd_file_exists("shard.log"));
}

static void a_deaf_controller_is_asked_again(void **state)
{
	int stopped;

	(void)state;
	put("deaf", "");
	assert_int_equal(run(2, NULL, &stopped), 0);
	assert_int_equal(lines("squeue.log"), 2);
}

static void interruption_cancels(void **state)
{
	int stopped;
	char *text;

	(void)state;
	put("lose", "1\n");
	put("say", "0|COMPLETED\n1|RUNNING\n2|COMPLETED\n");
	put("interrupt", "");
	assert_int_equal(run(3, NULL, &stopped), 0);
	assert_int_equal(stopped, SIGINT);
	assert_int_equal(told_done, 2);
	text = get("scancel.log");
	assert_string_equal(text, "41\n");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(all_is_well, set_up),
		cmocka_unit_test_setup(odd_names_of_directories, set_up),
		cmocka_unit_test_setup(failures_are_submitted_again, set_up),
		cmocka_unit_test_setup(twice_is_too_often, set_up),
		cmocka_unit_test_setup(a_lost_task_is_done_again, set_up),
		cmocka_unit_test_setup(refusal, set_up),
		cmocka_unit_test_setup(a_deaf_controller_is_asked_again, set_up),
		cmocka_unit_test_setup(interruption_cancels, set_up),
	};

	rd_log_set(rd_log_discard, NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
