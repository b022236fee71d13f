// SPDX-License-Identifier: Apache-2.0
/*
 * The site's directory.  Files are always replaced as a whole, so if two runs write at the same
 * time, the later one wins.  A file that cannot be read or written is treated as missing.  The
 * agent can do without any of them.
 */
#include "site/state-int.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "base/hex.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <xxhash.h>

static char *path_of(const struct site_state *s, const char *what, bool with_build)
{
	return rd_xasprintf("%s/%s-%s%s%s", s->directory, what, s->hive, with_build ? "-" : "",
			    with_build ? s->build : "");
}

static bool load(const char *path, struct rd_buf *text)
{
	return rd_file_exists(path) && rd_file_read_max(path, SITE_SPOOL_MAX, text) == 0;
}

static bool load_file(const struct site_state *s, const char *what, bool with_build, struct rd_buf *text)
{
	char *path = path_of(s, what, with_build);
	bool found = load(path, text);
	free(path);
	return found;
}

static void keep_file(const struct site_state *s, const char *what, bool with_build,
		      const struct rd_buf *text)
{
	char *path = path_of(s, what, with_build);
	rd_file_write(path, text->data, text->length);
	free(path);
}

/* Copies the line at *at, if it fits, and moves *at to the next one. */
static bool line(const char **at, char *to, size_t size)
{
	size_t n = strcspn(*at, "\n");
	if (n >= size || (*at)[n] != '\n')
		return false;
	memcpy(to, *at, n);
	to[n] = '\0';
	*at += n + 1;
	return true;
}

/* Reads or makes the site's ID.  The file has the form "ID MONTH".  A site keeps its ID for a
 * month, so that the hive can group the reports of one site. */
static void identify(struct site_state *s)
{
	char *path = rd_xasprintf("%s/site", s->directory), month[16];
	struct rd_buf text = RD_BUF_INIT;
	time_t now = time(NULL);
	struct tm tm;
	strftime(month, sizeof month, "%Y-%m", gmtime_r(&now, &tm));
	if (load(path, &text) && text.length >= 40 && strspn(text.data, RD_HEX_DIGITS) == 32 &&
	    strncmp(text.data + 33, month, 7) == 0) {
		memcpy(s->site, text.data, 32);
	} else {
		uint8_t bytes[16] = {0};
		if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes)
			memcpy(bytes, &now, sizeof now);
		rd_hex_write(s->site, bytes, sizeof bytes);
		rd_buf_release(&text);
		rd_buf_addf(&text, "%s %s\n", s->site, month);
		rd_file_write(path, text.data, text.length);
	}
	s->site[32] = '\0';
	RD_ASSERT(strspn(s->site, RD_HEX_DIGITS) == 32);
	rd_buf_release(&text);
	free(path);
}

static char *default_directory(void)
{
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	if (state != NULL && state[0] == '/')
		return rd_xasprintf("%s/raddle/site", state);
	if (home != NULL && home[0] == '/')
		return rd_xasprintf("%s/.local/state/raddle/site", home);
	return rd_xasprintf("%s/raddle-site-%u", rd_tmp_dir(), getuid());
}

int site_state_open(struct site_state *s, const char *directory, const char *url, const char *build)
{
	*s = (struct site_state){.build = build};
	s->directory = directory != NULL ? rd_xstrdup(directory) : default_directory();
	snprintf(s->hive, sizeof s->hive, "%016" PRIx64, (uint64_t)XXH3_64bits(url, strlen(url)));
	int err = rd_mkdirs(s->directory);
	if (!err) {
		chmod(s->directory, 0700);
		identify(s);
	}
	return err;
}

void site_state_release(struct site_state *s)
{
	free(s->directory);
	*s = (struct site_state){0};
}

bool site_state_key(const struct site_state *s, char key[PROTOCOL_KEY_TEXT])
{
	struct rd_buf text = RD_BUF_INIT;
	const char *at;
	bool found = load_file(s, "key", false, &text);
	at = text.data;
	found = found && line(&at, key, PROTOCOL_KEY_TEXT) && rd_is_hex(key, PROTOCOL_KEY_TEXT - 1);
	rd_buf_release(&text);
	return found;
}

void site_state_keep_key(const struct site_state *s, const char *digits)
{
	struct rd_buf text = RD_BUF_INIT;
	rd_buf_addf(&text, "%s\n", digits);
	keep_file(s, "key", false, &text);
	rd_buf_release(&text);
}

bool site_state_set(const struct site_state *s, char signature[128], char etag[128], struct rd_buf *body)
{
	struct rd_buf text = RD_BUF_INIT;
	const char *at;
	bool found = load_file(s, "tasks", true, &text);
	at = text.data;
	found = found && line(&at, signature, 128) && line(&at, etag, 128);
	if (found)
		rd_buf_add(body, at, text.length - (size_t)(at - text.data));
	rd_buf_release(&text);
	return found;
}

void site_state_keep_set(const struct site_state *s, const char *signature, const char *etag,
			 const struct rd_buf *body)
{
	struct rd_buf text = RD_BUF_INIT;
	rd_buf_addf(&text, "%s\n%s\n", signature, etag);
	rd_buf_add(&text, body->data, body->length);
	keep_file(s, "tasks", true, &text);
	rd_buf_release(&text);
}

uint64_t site_state_set_age(const struct site_state *s)
{
	char *path = path_of(s, "tasks", true);
	struct stat st;
	bool found = stat(path, &st) == 0;
	time_t now = time(NULL);
	free(path);
	return !found ? UINT64_MAX : now > st.st_mtime ? (uint64_t)(now - st.st_mtime) : 0;
}

void site_state_memory(const struct site_state *s, struct site_memory *m)
{
	struct rd_buf text = RD_BUF_INIT;
	char flags[8];
	const char *at;
	*m = (struct site_memory){0};
	bool found = load_file(s, "held", true, &text);
	at = text.data;
	if (found && line(&at, m->task, sizeof m->task) && line(&at, flags, sizeof flags)) {
		m->steered = strchr(flags, 's') != NULL;
		m->settled = strchr(flags, 'r') != NULL;
	} else {
		m->task[0] = '\0';
	}
	rd_buf_release(&text);
}

void site_state_keep_memory(const struct site_state *s, const struct site_memory *m)
{
	struct rd_buf text = RD_BUF_INIT;
	rd_buf_addf(&text, "%s\n-%s%s\n", m->task, m->steered ? "s" : "", m->settled ? "r" : "");
	keep_file(s, "held", true, &text);
	rd_buf_release(&text);
}

void site_state_contexts(const struct site_state *s, struct rd_buf *text)
{
	load_file(s, "context", true, text);
}

void site_state_keep_contexts(const struct site_state *s, const struct rd_buf *text)
{
	keep_file(s, "context", true, text);
}

/* Opens and locks the spool.  The lock is needed because all runs of this build share it. */
static int open_spool(const struct site_state *s)
{
	char *path = path_of(s, "spool", true);
	int fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	free(path);
	if (fd >= 0 && flock(fd, LOCK_EX)) {
		close(fd);
		return -1;
	}
	return fd;
}

void site_state_spool(const struct site_state *s, const struct rd_buf *lines)
{
	struct stat st;
	int fd = open_spool(s);
	if (fd < 0)
		return;
	if (fstat(fd, &st) == 0 && (uint64_t)st.st_size + lines->length <= SITE_SPOOL_MAX &&
	    rd_write_all(fd, lines->data, lines->length))
		rd_warn("a report of races could not be kept");
	close(fd);
}

/* Adds only the complete lines.  After a crash of the machine, the spool may contain a partial
 * line or zeros.  If one line is bad, a hive rejects the whole body.  A zero would end the text,
 * so nothing after it would ever be sent. */
static void add_whole_lines(struct rd_buf *lines, const char *text, size_t length)
{
	for (const char *end; length > 0; length -= (size_t)(end - text), text = end) {
		const char *newline = memchr(text, '\n', length);
		size_t n = newline ? (size_t)(newline - text) : length;
		end = text + n + (newline != NULL);
		if (newline && n > 1 && text[0] == '{' && text[n - 1] == '}' && !memchr(text, '\0', n))
			rd_buf_add(lines, text, n + 1);
	}
}

void site_state_unspool(const struct site_state *s, struct rd_buf *lines)
{
	struct rd_buf text = RD_BUF_INIT;
	char bytes[4096];
	ssize_t n;
	int fd = open_spool(s);
	if (fd < 0)
		return;
	for (off_t at = 0; (n = pread(fd, bytes, sizeof bytes, at)) > 0; at += n)
		rd_buf_add(&text, bytes, (size_t)n);
	if (ftruncate(fd, 0) == 0) /* otherwise the reports would be sent again and again */
		add_whole_lines(lines, text.data, text.length);
	close(fd);
	rd_buf_release(&text);
}

bool site_state_may_send(const struct site_state *s, size_t bytes)
{
	struct rd_buf text = RD_BUF_INIT;
	uint64_t day = (uint64_t)time(NULL) / 86400, of_day = 0, sent = 0;
	if (load_file(s, "sent", false, &text) &&
	    sscanf(text.data, "%" SCNu64 " %" SCNu64, &of_day, &sent) == 2 && of_day != day)
		sent = 0;
	rd_buf_release(&text);
	if (sent > SITE_UPLOAD_MAX || bytes > SITE_UPLOAD_MAX - sent)
		return false;
	rd_buf_addf(&text, "%" PRIu64 " %" PRIu64 "\n", day, sent + bytes);
	keep_file(s, "sent", false, &text);
	rd_buf_release(&text);
	return true;
}
