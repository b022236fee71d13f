// SPDX-License-Identifier: Apache-2.0
/*
 * Launches programs.  A program stays in our process group, so the terminal's signals and job
 * control reach it directly.  run/forward.h handles the other signals.
 */
#include "run/launch.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/process.h"
#include "raddle/session.h"
#include "run/forward.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* Upper bound, in bytes, for the address space that the runtime needs in addition to the session:
 * code, shadows, threads. */
#define ROOM (96ull << 20)

/* number of attempts to start a program whose flavour was removed from the cache */
enum { ATTEMPTS = 5 };

/* Signals that our process ignores.  Because it does, write() fails instead of ending us when a
 * file size limit is exceeded or a pipe is closed.  Programs get the dispositions that Raddle
 * inherited. */
static const int write_errors[] = {SIGXFSZ, SIGPIPE};
enum { WRITE_ERRORS = sizeof write_errors / sizeof write_errors[0] };

/* Signal handlers belong to the whole process.  This struct holds the data that our handlers need,
 * and the handlers that they replaced. */
static struct {
	_Atomic unsigned *volatile wakes; /* the word that the collector sleeps on */
	bool known;			  /* true if `inherited` is set */
	struct sigaction inherited[WRITE_ERRORS];
} signals;

/* Wakes the collector, which sleeps on the futex word *wakes.  If its sleep has not begun yet, it
 * will return at once, because the word has changed.  If the sleep has begun, the signal interrupts
 * it. */
static void wake(int signal)
{
	(void)signal;
	if (signals.wakes)
		++*signals.wakes;
}

void run_launch_prepare(void)
{
	struct sigaction ignore = {.sa_handler = SIG_IGN};

	for (size_t i = 0; i < WRITE_ERRORS && !signals.known; i++)
		sigaction(write_errors[i], &ignore, &signals.inherited[i]);
	signals.known = true;
}

static void give_back(void)
{
	for (size_t i = 0; i < WRITE_ERRORS; i++)
		sigaction(write_errors[i], &signals.inherited[i], NULL);
}

/* Sets our signal handlers.  SIGCHLD must interrupt sleeps. */
static void take_signals(pid_t pid)
{
	struct sigaction action = {.sa_handler = wake};

	run_forward_start(pid, false);
	sigaction(SIGCHLD, &action, NULL);
}

void run_launch_done(void)
{
	if (!signals.wakes)
		return; /* nothing was started, or the handlers are restored already */
	signals.wakes = NULL;
	run_forward_stop();
}

/* The program's environment: ours, with one more string for the session. */
struct environment {
	char **all, *session;
};

static void make_environment(struct environment *e, int fd)
{
	size_t count = 0;

	while (environ[count])
		count++;
	e->all = rd_xcalloc(count + 2, sizeof *e->all);
	memcpy(e->all, environ, count * sizeof *e->all);
	/* The string has the same length for every descriptor number.  The stack begins below the
	 * environment strings.  If their length varied, so would the stack addresses that a program
	 * may print. */
	e->all[count] = e->session = rd_xasprintf("%s=%07d", RADDLE_SESSION_ENV, fd);
}

static void free_environment(struct environment *e)
{
	RD_FREE(e->all, e->session);
}

/* Sets the standard streams.  The descriptors may overlap, so they are duplicated first. */
static void set_streams(const int *streams)
{
	int copies[3];

	for (int i = 0; i < 3; i++)
		copies[i] = fcntl(streams[i], F_DUPFD_CLOEXEC, 3);
	for (int i = 0; i < 3; i++)
		dup2(copies[i], i);
}

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

/* If the address space is limited, raises the limit by what the runtime needs, as far as that is
 * permitted.  The user meant the limit for the program alone. */
static void make_room(uint64_t bytes)
{
	struct rlimit old, now;

	if (getrlimit(RLIMIT_AS, &old) || old.rlim_cur == RLIM_INFINITY)
		return;
	now.rlim_cur = old.rlim_cur + bytes;
	now.rlim_max = old.rlim_max > now.rlim_cur ? old.rlim_max : now.rlim_cur;
	if (setrlimit(RLIMIT_AS, &now) == 0)
		return;
	now = (struct rlimit){old.rlim_max, old.rlim_max};
	setrlimit(RLIMIT_AS, &now);
}

/* Whether a limit can be raised is known only after trying. */
bool run_launch_has_room(void)
{
	struct rlimit limit, more;
	bool may;

	if (getrlimit(RLIMIT_AS, &limit) || limit.rlim_cur == RLIM_INFINITY ||
	    limit.rlim_max - limit.rlim_cur >= ROOM)
		return true;
	more = (struct rlimit){limit.rlim_cur, limit.rlim_cur + ROOM};
	may = setrlimit(RLIMIT_AS, &more) == 0;
	setrlimit(RLIMIT_AS, &limit);
	return may;
}

/* Prepares the new process.  Returns an errno value.  Also checks whether `parent` is already gone,
 * because it may have died before PR_SET_PDEATHSIG took effect. */
static int prepare(const struct run_launch *launch, pid_t parent)
{
	struct rlimit none = {0, 0};

	if (launch->streams)
		set_streams(launch->streams);
	if (launch->debugged)
		prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
	if (launch->fixed)
		personality(ADDR_NO_RANDOMIZE);
	if (launch->apart) {
		setpgid(0, 0);
		setrlimit(RLIMIT_CORE, &none);
	}
	if (launch->tied) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			return ESRCH;
	}
	if (launch->directory && chdir(launch->directory))
		return errno;
	make_room((launch->session ? launch->session->size : 0) + ROOM);
	if (launch->limits) {
		limit(RLIMIT_DATA, launch->limits->memory);
		limit(RLIMIT_FSIZE, launch->limits->file_size);
		limit(RLIMIT_NPROC, launch->limits->processes);
		if (launch->limits->group && write(launch->limits->group - 1, "0", 1) != 1)
			return errno;
	}
	return 0;
}

/* Further data for the new process. */
struct start {
	struct environment environment;
	sigset_t mask; /* signal mask of the program */
	pid_t parent;
	int given;  /* the descriptor for the runtime */
	int report; /* the descriptor to which an errno value is written if exec fails */
};

/* Runs in the new process, which shares our memory until exec and must not change it. */
static _Noreturn void become_program(const struct run_launch *launch, const struct start *start)
{
	int error = prepare(launch, start->parent);

	fcntl(start->given, F_SETFD, 0);
	if (!error) {
		give_back();
		sigprocmask(SIG_SETMASK, &start->mask, NULL);
		execve(launch->program->flavour.executable, launch->argv, start->environment.all);
		error = errno;
	}
	if (write(start->report, &error, sizeof error) < 0)
		_exit(126);
	_exit(127);
}

/* Uses vfork(), not fork(), because a campaign starts the program thousands of times from a large
 * process. */
static pid_t start_program(const struct run_launch *launch, const struct start *start)
{
	pid_t pid = vfork();

	if (pid == 0)
		become_program(launch, start);
	return pid;
}

static pid_t start_given(const struct run_launch *launch, struct start *start)
{
	pid_t pid;

	make_environment(&start->environment, start->given);
	pid = start_program(launch, start);
	free_environment(&start->environment);
	return pid;
}

/* ---- copies ---- */

void run_server_close(struct run_server *server)
{
	if (!server->pid)
		return;
	close(server->socket);
	kill(server->pid, SIGKILL);
	rd_reap(server->pid, NULL);
	*server = (struct run_server){.off = true};
}

static void start_server(const struct run_launch *launch, struct start start)
{
	struct run_server *server = launch->server;
	int ends[2];

	server->off = socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0;
	if (server->off)
		return;
	start.given = ends[1];
	start.report = -1; /* the server itself reports errors */
	server->pid = start_given(launch, &start);
	server->off = server->pid < 0;
	server->socket = ends[0];
	close(ends[1]);
	if (!server->off)
		return;
	close(ends[0]);
	server->pid = 0;
}

static bool ask_server(const struct run_launch *launch)
{
	char byte = 0;
	int count = launch->streams ? RADDLE_SERVE_FDS : 1;
	struct iovec part = {&byte, 1};
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(RADDLE_SERVE_FDS * sizeof(int))];
	} control = {.room = {0}};
	struct msghdr message = {.msg_iov = &part,
				 .msg_iovlen = 1,
				 .msg_control = &control,
				 .msg_controllen = CMSG_SPACE((size_t)count * sizeof(int))};

	control.header = (struct cmsghdr){CMSG_LEN((size_t)count * sizeof(int)), SOL_SOCKET, SCM_RIGHTS};
	memcpy(CMSG_DATA(&control.header), &launch->session->fd, sizeof(int));
	if (launch->streams)
		memcpy(CMSG_DATA(&control.header) + sizeof(int), launch->streams, 3 * sizeof(int));
	return sendmsg(launch->server->socket, &message, MSG_NOSIGNAL) == 1;
}

/* Forks the program from a server.  Returns 0 if no server is available. */
static pid_t copy_program(const struct run_launch *launch, const struct start *start)
{
	struct run_server *server = launch->server;
	int32_t pid = -1;

	if (!server || server->off || launch->directory || launch->debugged || launch->apart ||
	    launch->limits)
		return 0;
	if (!server->pid)
		start_server(launch, *start);
	if (!server->off &&
	    (!ask_server(launch) || recv(server->socket, &pid, sizeof pid, 0) != sizeof pid || pid < 0))
		run_server_close(server);
	return pid > 0 ? pid : 0;
}

/* Blocks all signals, so that none arrives between the start of the program and the setting of our
 * handlers. */
static void block_signals(sigset_t *old)
{
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, old);
}

/* Unblocks the signals.  From now on they are forwarded to the program, if one was started. */
static void forward_signals(const struct run_session *session, pid_t pid, const sigset_t *old)
{
	if (pid > 0) {
		signals.wakes = &session->shared->sealed_futex;
		take_signals(pid);
	}
	sigprocmask(SIG_SETMASK, old, NULL);
}

static pid_t start_with_signals(const struct run_launch *launch, int report)
{
	struct start start = {.parent = getpid(), .given = launch->session->fd, .report = report};
	pid_t pid;

	block_signals(&start.mask);
	pid = copy_program(launch, &start);
	if (!pid)
		pid = start_given(launch, &start);
	forward_signals(launch->session, pid, &start.mask);
	return pid;
}

pid_t run_launch_copy(const struct run_session *session, pid_t (*fork_copy)(void *context), void *context)
{
	sigset_t old;
	pid_t pid;

	block_signals(&old);
	pid = fork_copy(context);
	forward_signals(session, pid, &old);
	return pid;
}

/* Tries to start the program.  If exec fails, stores the errno value in *error. */
static int try_launch(const struct run_launch *launch, pid_t *pid, int *error)
{
	int report[2];

	*error = 0;
	if (pipe2(report, O_CLOEXEC))
		return rd_fail_errno("record: cannot create a pipe");
	fflush(NULL);
	*pid = start_with_signals(launch, report[1]);
	close(report[1]);
	if (*pid < 0) {
		close(report[0]);
		return rd_fail_errno("record: cannot start a process");
	}
	while (read(report[0], error, sizeof *error) < 0 && errno == EINTR)
		;
	close(report[0]);
	if (*error) {
		rd_reap(*pid, NULL);
		run_launch_done();
	}
	return 0;
}

int run_launch(const struct run_launch *launch, pid_t *pid)
{
	RD_ASSERT(launch->argv && launch->argv[0] && launch->program);
	int error = ENOENT, err = 0;

	run_launch_prepare();
	/* The cache may be emptied right after we have checked it. */
	for (int i = 0; i < ATTEMPTS && error == ENOENT && !err; i++) {
		err = run_program_renew(launch->program);
		if (!err)
			err = try_launch(launch, pid, &error);
	}
	if (err || !error)
		return err;
	errno = error;
	return rd_fail_errno("record: cannot run %s", launch->program->flavour.executable);
}

int run_exit_like(int status)
{
	struct rlimit none = {0, 0};
	sigset_t only;
	int signal_number;

	if (!WIFSIGNALED(status))
		return WEXITSTATUS(status);
	signal_number = WTERMSIG(status);
	setrlimit(RLIMIT_CORE, &none);
	prctl(PR_SET_DUMPABLE, 0);
	signal(signal_number, SIG_DFL);
	sigemptyset(&only);
	sigaddset(&only, signal_number);
	sigprocmask(SIG_UNBLOCK, &only, NULL);
	kill(getpid(), signal_number);
	return 128 + signal_number;
}
