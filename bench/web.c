/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small web server: THREADS threads accept connections and answer GET requests from a shared
 * cache of pages, with counters.  A client that requests "GET /last" gets the answer LAST. When
 * the connection of this client is closed, the server ends as soon as no other connection is open.
 *
 * usage: web THREADS PORT
 */
#include <arpa/inet.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PAGES = 1024, LONGEST = 96, BUFFER = 1 << 16, LISTENERS = 64, CONNECTIONS = 256 };

struct page {
	struct page *next;
	char path[LONGEST], body[256];
	long hits;
};

static struct {
	pthread_mutex_t lock;
	struct page *first;
} cache[PAGES];
static long requests, bytes, misses; /* protected by the lock of the statistics */
static pthread_mutex_t statistics = PTHREAD_MUTEX_INITIALIZER;
static int listener;
static atomic_int open_connections, last;

static unsigned hash(const char *path)
{
	unsigned h = 2166136261u;
	while (*path)
		h = (h ^ (unsigned char)*path++) * 16777619u;
	return h % PAGES;
}

static struct page *make_page(const char *path)
{
	struct page *page = calloc(1, sizeof *page);
	snprintf(page->path, sizeof page->path, "%s", path);
	snprintf(page->body, sizeof page->body, "<html><body><h1>%s</h1></body></html>\n", path);
	return page;
}

static size_t find_page(const char *path, char *out)
{
	unsigned at = hash(path);
	pthread_mutex_lock(&cache[at].lock);
	struct page *page = cache[at].first;
	while (page && strcmp(page->path, path))
		page = page->next;
	int is_new = !page;
	if (is_new) {
		page = make_page(path);
		page->next = cache[at].first;
		cache[at].first = page;
	}
	page->hits++;
	size_t length = strlen(page->body);
	int n = sprintf(out, "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\nX-Hits: %ld\r\n\r\n%s", length,
			page->hits, page->body);
	pthread_mutex_unlock(&cache[at].lock);
	pthread_mutex_lock(&statistics);
	requests++;
	bytes += n;
	misses += is_new;
	pthread_mutex_unlock(&statistics);
	return (size_t)n;
}

static size_t answer(const char *request, char *out, int *is_last)
{
	char path[LONGEST] = "/";
	sscanf(request, "GET %90s", path);
	if (strcmp(path, "/last"))
		return find_page(path, out);
	*is_last = 1;
	return (size_t)sprintf(out, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nLAST\n");
}

static void send_all(int fd, const char *data, size_t length)
{
	while (length) {
		ssize_t n = write(fd, data, length);
		if (n <= 0)
			return;
		data += n;
		length -= (size_t)n;
	}
}

static int serve(int fd)
{
	char *in = malloc(BUFFER + 1), *out = malloc(BUFFER * 8);
	size_t have = 0;
	int is_last = 0;
	for (ssize_t n; (n = read(fd, in + have, BUFFER - have)) > 0;) {
		size_t made = 0;
		have += (size_t)n;
		in[have] = '\0';
		char *at = in;
		for (char *end; (end = strstr(at, "\r\n\r\n")) != NULL; at = end + 4) {
			*end = '\0';
			made += answer(at, out + made, &is_last);
			if (made > BUFFER * 7) {
				send_all(fd, out, made);
				made = 0;
			}
		}
		send_all(fd, out, made);
		have -= (size_t)(at - in);
		memmove(in, at, have);
	}
	free(in);
	free(out);
	close(fd);
	return is_last;
}

static void *connection(void *argument)
{
	if (serve((int)(long)argument))
		atomic_store(&last, atomic_load(&last) + 1);
	if (atomic_fetch_sub(&open_connections, 1) == 1 && atomic_load(&last))
		shutdown(listener, SHUT_RDWR);
	return NULL;
}

static void *work(void *unused)
{
	for (int fd; (fd = accept(listener, NULL, NULL)) >= 0;) {
		pthread_t thread;
		atomic_fetch_add(&open_connections, 1);
		if (pthread_create(&thread, NULL, connection, (void *)(long)fd))
			exit(1);
		pthread_detach(thread);
	}
	return unused;
}

int main(int argc, char **argv)
{
	int count = argc > 2 ? atoi(argv[1]) : 0, on = 1;
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_port = htons((unsigned short)(argc > 2 ? atoi(argv[2]) : 0)),
				      .sin_addr = {htonl(INADDR_LOOPBACK)}};
	pthread_t threads[LISTENERS];
	if (count < 1 || count > LISTENERS) {
		fprintf(stderr, "usage: %s THREADS PORT\n", argv[0]);
		return 2;
	}
	for (int i = 0; i < PAGES; i++)
		pthread_mutex_init(&cache[i].lock, NULL);
	listener = socket(AF_INET, SOCK_STREAM, 0);
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
	if (bind(listener, (struct sockaddr *)&address, sizeof address) || listen(listener, CONNECTIONS)) {
		perror("web");
		return 1;
	}
	for (int i = 0; i < count; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	for (int i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	printf("%ld requests, %ld bytes, %ld misses\n", requests, bytes, misses);
	return 0;
}
