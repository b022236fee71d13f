// SPDX-License-Identifier: Apache-2.0
/*
 * A load generator that simulates the sites of a hive:
 *
 *	hive-load poll|report HOST PORT BUILD SITES CONNECTIONS SECONDS [CANDIDATE...]
 *
 * Each of CONNECTIONS keep-alive connections sends a request, waits for the answer, and continues
 * with the next of SITES simulated sites.  A report is about one candidate.  Its answer is counted
 * if the hive accepted the report, which means that the report is stored.  Prints requests per
 * second and percentiles of the response time, as a line of JSON.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { BUFFER = 4096, BUCKETS = 100000, BUCKET_US = 10 };

struct connection {
	int fd;
	int64_t sent_ns;
	size_t length;
	char buffer[BUFFER];
};

static struct {
	bool reports;
	const char *host, *build;
	int port;
	uint64_t sites, next, started;
	char **candidates;
	size_t candidate_count;
	uint64_t done, wrong;
	uint64_t buckets[BUCKETS + 1];
} load;

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void die(const char *what)
{
	perror(what);
	exit(2);
}

/* Makes a number that looks random, for the id of a site. */
static uint64_t mix(uint64_t x)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

static int connect_to(void)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)load.port)};
	int fd = socket(AF_INET, SOCK_STREAM, 0), on = 1;

	inet_pton(AF_INET, load.host, &to.sin_addr);
	if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof to))
		die("connect");
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
	return fd;
}

static size_t write_poll(char *text, uint64_t site)
{
	return (size_t)snprintf(text, BUFFER,
				"GET /api/v1/tasks?build=%s&site=%016" PRIx64 "%016" PRIx64
				" HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
				load.build, mix(site + 1), site);
}

static size_t write_report(char *text, uint64_t site, uint64_t number)
{
	static const char *const results[] = {"\"context\"", "\"not-seen\"",
					      "\"no-race\",\"order\":\"primary\"",
					      "\"timeout\",\"order\":\"alternate\",\"tau_us\":1000"};
	char body[BUFFER];
	int n = snprintf(body, sizeof body,
			 "{\"version\":1,\"build\":\"%s\",\"site\":\"%016" PRIx64 "%016" PRIx64
			 "\",\"reports\":[{\"run\":\"%016" PRIx64 "\",\"seq\":%" PRIu64
			 ",\"candidate\":\"%s\",\"result\":%s}]}",
			 load.build, mix(site + 1), site, mix(load.started ^ number), number & 0x7fffffff,
			 load.candidates[number % load.candidate_count], results[mix(number) % 4]);

	return (size_t)snprintf(
		text, BUFFER,
		"POST /api/v1/reports HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
		"Content-Length: %d\r\n\r\n%s",
		n, body);
}

static void send_next(struct connection *c)
{
	char text[2 * BUFFER];
	uint64_t number = load.next++;
	size_t n = load.reports ? write_report(text, number % load.sites, number)
				: write_poll(text, number % load.sites);

	c->length = 0;
	c->sent_ns = now_ns();
	if (write(c->fd, text, n) != (ssize_t)n)
		die("write");
}

/* Whether the whole answer has arrived. */
static bool is_complete(struct connection *c)
{
	char *end, *length;

	c->buffer[c->length] = '\0';
	end = strstr(c->buffer, "\r\n\r\n");
	length = strcasestr(c->buffer, "Content-Length: ");
	return end && length && c->length >= (size_t)(end + 4 - c->buffer) + strtoul(length + 16, NULL, 10);
}

static void count(struct connection *c)
{
	uint64_t bucket = (uint64_t)(now_ns() - c->sent_ns) / 1000 / BUCKET_US;
	bool right = !strncmp(c->buffer, "HTTP/1.1 200", 12) &&
		     (!load.reports || strstr(c->buffer, "\"accepted\":1"));

	load.buckets[bucket < BUCKETS ? bucket : BUCKETS]++;
	load.done++;
	load.wrong += !right;
	if (!right && load.wrong == 1)
		fprintf(stderr, "%s\n", c->buffer);
}

static double percentile(double share)
{
	uint64_t sum = 0, want = (uint64_t)((double)load.done * share);

	for (size_t i = 0; i <= BUCKETS; i++) {
		sum += load.buckets[i];
		if (sum > want)
			return (double)(i + 1) * BUCKET_US / 1000;
	}
	return (double)BUCKETS * BUCKET_US / 1000;
}

static void receive(struct connection *c)
{
	ssize_t n = read(c->fd, c->buffer + c->length, BUFFER - 1 - c->length);

	if (n <= 0)
		die("the hive closed a connection");
	c->length += (size_t)n;
	if (!is_complete(c))
		return;
	count(c);
	send_next(c);
}

static void drive(struct connection *all, size_t count, double seconds)
{
	int64_t start = now_ns(), end = start + (int64_t)(seconds * 1e9);
	struct epoll_event events[256], e = {.events = EPOLLIN};
	int poll = epoll_create1(0);

	for (size_t i = 0; i < count; i++) {
		all[i].fd = connect_to();
		e.data.ptr = &all[i];
		epoll_ctl(poll, EPOLL_CTL_ADD, all[i].fd, &e);
		send_next(&all[i]);
	}
	while (now_ns() < end) {
		int n = epoll_wait(poll, events, 256, 100);

		for (int i = 0; i < n; i++)
			receive(events[i].data.ptr);
	}
	seconds = (double)(now_ns() - start) / 1e9;
	printf("{ \"requests\": %" PRIu64 ", \"per_second\": %.0f, \"wrong\": %" PRIu64
	       ", \"p50_ms\": %.2f, \"p99_ms\": %.2f, \"p999_ms\": %.2f }\n",
	       load.done, (double)load.done / seconds, load.wrong, percentile(0.5), percentile(0.99),
	       percentile(0.999));
}

int main(int argc, char **argv)
{
	if (argc < 8) {
		fprintf(stderr, "usage: hive-load poll|report HOST PORT BUILD SITES CONNECTIONS SECONDS "
				"[CANDIDATE...]\n");
		return 2;
	}
	load.reports = !strcmp(argv[1], "report");
	load.host = argv[2];
	load.port = atoi(argv[3]);
	load.build = argv[4];
	load.sites = strtoull(argv[5], NULL, 10);
	load.candidates = argv + 8;
	load.candidate_count = (size_t)(argc - 8);
	load.started = (uint64_t)now_ns();
	size_t connections = strtoul(argv[6], NULL, 10);
	struct connection *all = calloc(connections, sizeof *all);

	if (!all || !load.sites || (load.reports && !load.candidate_count))
		return 2;
	drive(all, connections, atof(argv[7]));
	return load.wrong ? 1 : 0;
}
