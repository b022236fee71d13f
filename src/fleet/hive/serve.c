// SPDX-License-Identifier: Apache-2.0
/*
 * Runs a hive.  The signals that end it are blocked in all threads, and this thread waits for them.
 * systemd may pass a listening socket (LISTEN_FDS).  It is notified when the hive is ready and when
 * the hive stops (NOTIFY_SOCKET).
 */
#include "hive/serve.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "hive/server.h"

#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum {
	FIRST_HANDED_FD = 3, /* the first descriptor that systemd passes (SD_LISTEN_FDS_START) */
	/* The maximum size, in bytes, of a file with certificates or a private key.  It is far
	 * more than any chain of certificates needs. */
	CERTIFICATE_MAX = 1 << 20,
};

static void tell_systemd(const char *text)
{
	const char *path = getenv("NOTIFY_SOCKET");
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	size_t n = path ? strlen(path) : 0;
	int fd;

	if (!n || n >= sizeof to.sun_path || (*path != '/' && *path != '@'))
		return;
	memcpy(to.sun_path, path, n);
	if (*path == '@')
		to.sun_path[0] = '\0';
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return;
	sendto(fd, text, strlen(text), MSG_NOSIGNAL, (struct sockaddr *)&to,
	       (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n));
	close(fd);
}

/* Returns the listening socket that systemd passed, or -1 if there is none. */
static int handed_socket(void)
{
	const char *pid = getenv("LISTEN_PID"), *count = getenv("LISTEN_FDS");

	if (!pid || !count || atol(pid) != getpid() || atol(count) < 1)
		return -1;
	fcntl(FIRST_HANDED_FD, F_SETFD, FD_CLOEXEC);
	fcntl(FIRST_HANDED_FD, F_SETFL, O_NONBLOCK);
	return FIRST_HANDED_FD;
}

static int read_pem(const char *path, char **text)
{
	struct rd_buf b = RD_BUF_INIT;
	int err = rd_file_read_max(path, CERTIFICATE_MAX, &b);

	if (err)
		rd_buf_release(&b);
	else
		*text = rd_buf_detach(&b);
	return err;
}

static void block(sigset_t *ends)
{
	sigemptyset(ends);
	sigaddset(ends, SIGTERM);
	sigaddset(ends, SIGINT);
	pthread_sigmask(SIG_BLOCK, ends, NULL);
	signal(SIGPIPE, SIG_IGN);
}

/* Checks that a hive without tokens cannot be reached from other machines. */
static int check_open(struct hive *h, const struct hive_serve_opts *o)
{
	if (h->token_count || o->hive.open)
		return 0;
	return rd_fail(RD_EUSAGE,
		       "hive: %s can be reached from other machines, and there is no token; make one with "
		       "'raddle hive token --admin NAME'",
		       o->listen);
}

static int serve(struct hive *h, const struct hive_serve_opts *o, const struct hive_server_opts *how,
		 void (*ready)(const char *url))
{
	struct hive_server *s;
	sigset_t ends;
	int err = check_open(h, o), number;

	if (err)
		return err;
	block(&ends);
	err = hive_server_start(&s, h, how);
	if (err)
		return err;
	ready(hive_server_url(s));
	tell_systemd("READY=1");
	sigwait(&ends, &number);
	tell_systemd("STOPPING=1");
	hive_server_stop(s);
	return 0;
}

int hive_serve(const struct hive_serve_opts *o, void (*ready)(const char *url))
{
	char *certificate = NULL, *private_key = NULL;
	struct hive_server_opts how = {
		.address = o->listen, .listener = handed_socket(), .threads = o->threads};
	struct hive *h;
	int err = 0;

	if (o->certificate)
		err = read_pem(o->certificate, &certificate);
	if (!err && o->private_key)
		err = read_pem(o->private_key, &private_key);
	how.certificate = certificate;
	how.private_key = private_key;
	if (!err)
		err = hive_open(&h, &o->hive);
	if (!err) {
		err = serve(h, o, &how, ready);
		hive_close(h);
	}
	RD_FREE(certificate, private_key);
	return err;
}
