/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A bounded load for memcached, redis and HTTP servers.  CONNECTIONS connections on the loopback
 * interface, each with its own thread, send batches of set, get, incr and delete requests and
 * check that every reply arrives.  Keys and values depend only on the arguments.  The last request
 * is `shutdown` (memcached -A), so that the server exits by itself.  An HTTP server has no such
 * request.  The last request of each batch asks it for /last, and the reply must have a line that
 * begins with LAST.
 *
 * usage: loadgen memcached|redis|http PORT CONNECTIONS REQUESTS
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define BATCH 20
#define KEYS 5000
#define MAX_CONNECTIONS 64

/* The requests that one kind of server accepts, and its replies.  The last request of each batch
 * is `last`.  Only the reply to this request contains the text `reply`. */
struct protocol {
	const char *name, *last, *reply, *shutdown;
	size_t (*add_request)(char *out, uint64_t random);
	size_t (*add_number)(char *out, int number); /* NULL: the server has no numbers */
};

static const struct protocol *protocol;
static int port;
static long requests;

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static int connect_server(void)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	for (int attempt = 0; attempt < 1000; attempt++) {
		int fd = socket(AF_INET, SOCK_STREAM, 0);
		if (fd < 0)
			fail("socket");
		if (!connect(fd, (struct sockaddr *)&address, sizeof address)) {
			setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
			return fd;
		}
		close(fd);
		usleep(20000);
	}
	fail("connect");
	return -1;
}

static void send_all(int fd, const char *data, size_t n)
{
	while (n) {
		ssize_t sent = write(fd, data, n);
		if (sent <= 0)
			fail("write");
		data += sent;
		n -= (size_t)sent;
	}
}

static void await_batch(int fd)
{
	const char *want = protocol->reply;
	size_t length = strlen(want), matched = 0;
	char reply[65536];
	for (;;) {
		ssize_t n = read(fd, reply, sizeof reply);
		if (n <= 0)
			fail("read");
		for (ssize_t i = 0; i < n; i++) {
			if (matched == length) {
				if (reply[i] == '\n')
					return;
				continue;
			}
			matched = reply[i] == want[matched] ? matched + 1 : reply[i] == want[0];
		}
	}
}

static size_t add_memcached(char *out, uint64_t random)
{
	unsigned key = (unsigned)(random >> 8) % KEYS;
	switch (random % 10) {
	case 0:
	case 1: {
		int size = 20 + (int)((random >> 32) % 400);
		int n = sprintf(out, "set key-%u 0 0 %d\r\n", key, size);
		memset(out + n, 'x', size);
		memcpy(out + n + size, "\r\n", 2);
		return (size_t)(n + size + 2);
	}
	case 2: return (size_t)sprintf(out, "incr number-%u 3\r\n", key % 16);
	case 3: return (size_t)sprintf(out, "delete key-%u\r\n", key);
	default: return (size_t)sprintf(out, "get key-%u key-%u\r\n", key, (key + 7) % KEYS);
	}
}

static size_t add_memcached_number(char *out, int number)
{
	return (size_t)sprintf(out, "set number-%d 0 0 1 noreply\r\n0\r\n", number);
}

static size_t add_redis(char *out, uint64_t random)
{
	unsigned key = (unsigned)(random >> 8) % KEYS;
	switch (random % 10) {
	case 0:
	case 1: {
		int size = 20 + (int)((random >> 32) % 400);
		int n = sprintf(out, "set key-%u ", key);
		memset(out + n, 'x', size);
		memcpy(out + n + size, "\r\n", 2);
		return (size_t)(n + size + 2);
	}
	case 2: return (size_t)sprintf(out, "incrby number-%u 3\r\n", key % 16);
	case 3: return (size_t)sprintf(out, "unlink key-%u\r\n", key);
	case 4: return (size_t)sprintf(out, "lpush list-%u %u\r\n", key % 64, key);
	case 5: return (size_t)sprintf(out, "rpop list-%u\r\n", key % 64);
	case 6: return (size_t)sprintf(out, "hset hash-%u field-%u %u\r\n", key % 64, key % 100, key);
	default: return (size_t)sprintf(out, "mget key-%u key-%u\r\n", key, (key + 7) % KEYS);
	}
}

static size_t add_redis_number(char *out, int number)
{
	return (size_t)sprintf(out, "set number-%d 0\r\n", number);
}

static size_t add_http(char *out, uint64_t random)
{
	unsigned key = (unsigned)(random >> 8) % KEYS;
	return (size_t)sprintf(out, "GET /key-%u HTTP/1.1\r\nHost: h%u\r\n\r\n", key, key % 16);
}

static const struct protocol protocols[] = {
	{"memcached", "version\r\n", "VERSION ", "shutdown\r\n", add_memcached, add_memcached_number},
	{"redis", "ping\r\n", "+PON", "shutdown nosave\r\n", add_redis, add_redis_number},
	{"http", "GET /last HTTP/1.1\r\nHost: h\r\n\r\n", "LAST", NULL, add_http, NULL},
};

static void *drive(void *argument)
{
	uint64_t random = (uint64_t)(intptr_t)argument * 2654435761u + 1;
	int fd = connect_server();
	char *out = malloc(BATCH * 1024);
	for (long done = 0; done < requests; done += BATCH) {
		size_t n = 0;
		for (int i = 0; i < BATCH; i++) {
			random = random * 6364136223846793005ull + 1442695040888963407ull;
			n += protocol->add_request(out + n, random >> 11);
		}
		n += (size_t)sprintf(out + n, "%s", protocol->last);
		send_all(fd, out, n);
		await_batch(fd);
	}
	free(out);
	close(fd);
	return NULL;
}

int main(int argc, char **argv)
{
	for (size_t i = 0; argc == 5 && i < sizeof protocols / sizeof *protocols; i++)
		if (!strcmp(argv[1], protocols[i].name))
			protocol = &protocols[i];
	if (!protocol) {
		fprintf(stderr, "usage: loadgen memcached|redis|http PORT CONNECTIONS REQUESTS\n");
		return 2;
	}
	port = atoi(argv[2]);
	int connections = atoi(argv[3]);
	if (connections < 1 || connections > MAX_CONNECTIONS)
		return 2;
	requests = atol(argv[4]) / connections;
	int fd = connect_server();
	for (int i = 0; i < 16 && protocol->add_number; i++) {
		char set[64];
		send_all(fd, set, protocol->add_number(set, i));
	}
	send_all(fd, protocol->last, strlen(protocol->last));
	await_batch(fd);
	pthread_t thread[MAX_CONNECTIONS];
	for (intptr_t i = 0; i < connections; i++)
		if (pthread_create(&thread[i], NULL, drive, (void *)i))
			fail("pthread_create");
	for (int i = 0; i < connections; i++)
		pthread_join(thread[i], NULL);
	if (protocol->shutdown)
		send_all(fd, protocol->shutdown, strlen(protocol->shutdown));
	char reply[64];
	while (protocol->shutdown && read(fd, reply, sizeof reply) > 0)
		;
	close(fd);
	return 0;
}
