/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Order through message queues, System V semaphores, locks of files and streams, signals that are
 * waited for, and stdio on a pipe.  A failed operation orders nothing.  Closing a descriptor
 * releases its lock.
 *
 * T_0: thread-start thread-create
 * T_0: channel-send channel-send channel-send channel-send outside-hidden
 * T_0: channel-send channel-send channel-send
 * T_0: channel-receive channel-send channel-send channel-receive channel-receive
 * T_0: thread-join exit
 * T_0_0: thread-start
 * T_0_0: channel-receive channel-receive channel-receive channel-send channel-receive
 * T_0_0: channel-receive channel-receive outside-tell channel-send channel-send channel-receive
 * T_0_0: channel-send channel-send
 * T_0_0: thread-end
 */
#include <fcntl.h>
#include <mqueue.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <unistd.h>

struct message {
	long type;
	char text[8];
};

static mqd_t posix;
static int queue, semaphores, locked[2];
static FILE *from, *to, *file;
static sigset_t waited;

static void want(int is_so)
{
	if (!is_so)
		abort();
}

/* Taking one is recorded as a receive and also as a send, as threads may wait for the value 0. */
static void step(unsigned number, int by, int flags)
{
	struct sembuf op = {(unsigned short)number, (short)by, (short)flags};

	want(semop(semaphores, &op, 1) == 0 || flags);
}

/* These calls fail because the queues are empty and the semaphore is 0. */
static void fails(void)
{
	struct message m;
	char text[8];

	want(mq_receive(posix, text, sizeof text, NULL) < 0);
	want(msgrcv(queue, &m, sizeof m.text, 0, IPC_NOWAIT) < 0);
	step(0, -1, IPC_NOWAIT);
}

static void *other(void *unused)
{
	struct message m;
	char text[8];
	int signal;

	want(fgets(text, sizeof text, from) != NULL); /* main sends this line last */
	want(mq_receive(posix, text, sizeof text, NULL) == 1);
	want(msgrcv(queue, &m, sizeof m.text, 0, 0) == 1);
	step(0, -1, 0);
	want(flock(locked[1], LOCK_EX) == 0);
	want(sigwait(&waited, &signal) == 0 && signal == SIGUSR1);
	close(locked[1]);
	step(1, 1, 0);
	flockfile(file);
	funlockfile(file);
	fails();
	return unused;
}

static void make(void)
{
	struct mq_attr size = {.mq_maxmsg = 1, .mq_msgsize = 8};
	char name[] = "/tmp/prim-kernel-XXXXXX", label[64];
	int ends[2];

	locked[0] = mkstemp(name);
	locked[1] = open(name, O_RDWR);
	want(locked[0] >= 0 && locked[1] >= 0 && unlink(name) == 0);
	snprintf(label, sizeof label, "/prim-kernel-%d", (int)getpid());
	posix = mq_open(label, O_CREAT | O_RDWR | O_NONBLOCK, 0600, &size);
	want(posix >= 0 && mq_unlink(label) == 0);
	queue = msgget(IPC_PRIVATE, 0600);
	semaphores = semget(IPC_PRIVATE, 2, 0600);
	want(queue >= 0 && semaphores >= 0 && pipe(ends) == 0);
	from = fdopen(ends[0], "r");
	to = fdopen(ends[1], "w");
	file = tmpfile();
	want(from && to && file);
	sigemptyset(&waited);
	sigaddset(&waited, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &waited, NULL);
}

int main(void)
{
	struct message m = {1, "x"};
	pthread_t t;

	make();
	want(flock(locked[0], LOCK_EX) == 0);
	want(pthread_create(&t, NULL, other, NULL) == 0);
	want(fputs("nothing", file) >= 0); /* a file orders nothing */
	want(mq_send(posix, "x", 1, 0) == 0);
	want(msgsnd(queue, &m, 1, 0) == 0);
	step(0, 1, 0);
	want(flock(locked[0], LOCK_UN) == 0);
	want(pthread_kill(t, SIGUSR1) == 0);
	want(fprintf(to, "line\n") == 5 && fflush(to) == 0);
	flockfile(file);
	funlockfile(file);
	step(1, -1, 0);
	want(flock(locked[0], LOCK_EX) == 0);
	pthread_join(t, NULL);
	return msgctl(queue, IPC_RMID, NULL) || semctl(semaphores, 0, IPC_RMID);
}
