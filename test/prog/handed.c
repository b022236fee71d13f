// SPDX-License-Identifier: Apache-2.0
/* One thread writes `message` and hands it over in the way that the first
 * argument names.  Then the other thread reads it.  That is no race,
 * unless a second argument makes the first thread write after the
 * hand-over. */
#include <fcntl.h>
#include <mqueue.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <unistd.h>

struct way {
	const char *name;
	void (*make)(void);
	void (*give)(void);
	void (*take)(void);
};

static const struct way *way;
static int message, late, id, ends[2], source[2];
static mqd_t queue;
static FILE *from, *to;
static pthread_t taker;
static sigset_t waited;

static void want(int is_so)
{
	if (!is_so)
		abort();
}

static void make_stdio(void)
{
	want(pipe(ends) == 0);
	from = fdopen(ends[0], "r");
	to = fdopen(ends[1], "w");
}
static void give_stdio(void)
{
	want(fprintf(to, "%d\n", 1) == 2 && fflush(to) == 0);
}
static void take_stdio(void)
{
	int number;

	want(fscanf(from, "%d", &number) == 1);
}

static void make_pipe(void)
{
	want(pipe(ends) == 0);
}
static void take_byte(void)
{
	char byte;

	want(read(ends[0], &byte, 1) == 1);
}

static void give_printed(void)
{
	want(dprintf(ends[1], "%d", 1) == 1);
}

static void give_unlocked(void)
{
	want(putc_unlocked('x', to) == 'x' && fflush_unlocked(to) == 0);
}
static void take_unlocked(void)
{
	want(getc_unlocked(from) == 'x');
}

/* The byte is in another pipe from the beginning; splice() moves it from there. */
static void make_spliced(void)
{
	want(pipe(ends) == 0 && pipe(source) == 0 && write(source[1], "x", 1) == 1);
}
static void give_spliced(void)
{
	want(splice(source[0], NULL, ends[1], NULL, 1, 0) == 1);
}

static void make_sockets(void)
{
	want(socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) == 0);
}
static struct mmsghdr one_byte(struct iovec *part)
{
	struct mmsghdr message = {.msg_hdr = {.msg_iov = part, .msg_iovlen = 1}};

	return message;
}
static void give_messages(void)
{
	struct iovec part = {"x", 1};
	struct mmsghdr message = one_byte(&part);

	want(sendmmsg(ends[1], &message, 1, 0) == 1);
}
static void take_messages(void)
{
	char byte;
	struct iovec part = {&byte, 1};
	struct mmsghdr message = one_byte(&part);

	want(recvmmsg(ends[0], &message, 1, 0, NULL) == 1 && message.msg_len == 1);
}

static void make_posix(void)
{
	struct mq_attr size = {.mq_maxmsg = 1, .mq_msgsize = 8};
	char name[64];

	snprintf(name, sizeof name, "/raddle-handed-%d", (int)getpid());
	queue = mq_open(name, O_CREAT | O_RDWR, 0600, &size);
	want(queue >= 0 && mq_unlink(name) == 0);
}
static void give_posix(void)
{
	want(mq_send(queue, "x", 1, 0) == 0);
}
static void take_posix(void)
{
	char text[8];

	want(mq_receive(queue, text, sizeof text, NULL) == 1);
}

static void remove_semaphore(void)
{
	semctl(id, 0, IPC_RMID);
}
static void make_semaphore(void)
{
	id = semget(IPC_PRIVATE, 1, 0600);
	want(id >= 0 && atexit(remove_semaphore) == 0);
}
static void step(short by)
{
	struct sembuf op = {0, by, 0};

	want(semop(id, &op, 1) == 0);
}
static void give_semaphore(void)
{
	step(1);
}
static void take_semaphore(void)
{
	step(-1);
}

static void make_signal(void)
{
	sigemptyset(&waited);
	sigaddset(&waited, SIGUSR1);
	want(pthread_sigmask(SIG_BLOCK, &waited, NULL) == 0);
}
static void give_signal(void)
{
	want(kill(getpid(), SIGUSR1) == 0);
}
static void take_signal(void)
{
	int number;

	want(sigwait(&waited, &number) == 0);
}

static const struct way ways[] = {
	{"stdio", make_stdio, give_stdio, take_stdio},
	{"dprintf", make_pipe, give_printed, take_byte},
	{"unlocked", make_stdio, give_unlocked, take_unlocked},
	{"splice", make_spliced, give_spliced, take_byte},
	{"messages", make_sockets, give_messages, take_messages},
	{"queue", make_posix, give_posix, take_posix},
	{"semaphore", make_semaphore, give_semaphore, take_semaphore},
	{"signal", make_signal, give_signal, take_signal},
};

static void *take(void *unused)
{
	way->take();
	if (message == 3)
		puts("late");
	return unused;
}

int main(int argc, char **argv)
{
	for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
		if (argc > 1 && strcmp(argv[1], ways[i].name) == 0)
			way = &ways[i];
	want(way != NULL);
	late = argc > 2;
	way->make();
	pthread_create(&taker, NULL, take, NULL);
	message = 1;
	way->give();
	if (late)
		message = 2;
	pthread_join(taker, NULL);
	return 0;
}
