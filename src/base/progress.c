// SPDX-License-Identifier: Apache-2.0
/*
 * The progress line.  Callers may update counts as often as they like; the line is redrawn at most
 * ten times a second and erased at the end.  `shown` is -1 if stderr is not a terminal, and 1 while
 * a line is displayed.
 */
#include "base/progress.h"

#include "base/buf.h"
#include "base/clock.h"

#include <inttypes.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* Chosen by hand: a short action has no progress line, and ten changes a second look smooth. */
enum { FIRST_DRAW_NS = 500 * 1000 * 1000, REDRAW_NS = 100 * 1000 * 1000 };

static const char erase[] = "\r\033[K";

static size_t terminal_width(void)
{
	struct winsize w;

	return ioctl(STDERR_FILENO, TIOCGWINSZ, &w) == 0 && w.ws_col > 1 ? w.ws_col : 80;
}

/* Progress is optional: a terminal that cannot be written is not an error. */
static void show(const char *text, size_t length)
{
	if (write(STDERR_FILENO, text, length) < 0)
		return;
}

void rd_progress_start(struct rd_progress *p, const char *what, uint64_t total)
{
	*p = (struct rd_progress){.what = what, .total = total, .start_ns = rd_now_ns()};
	p->shown = isatty(STDERR_FILENO) ? 0 : -1;
}

static void draw(const struct rd_progress *p, uint64_t done, const char *detail)
{
	size_t limit = sizeof erase - 1 + terminal_width() - 1;
	struct rd_buf line = RD_BUF_INIT;

	rd_buf_addf(&line, "%s%s: ", erase, p->what);
	if (p->total)
		rd_buf_addf(&line, "%" PRIu64 " of %" PRIu64, done, p->total);
	else
		rd_buf_addf(&line, "%" PRIu64, done);
	if (detail)
		rd_buf_addf(&line, "  %s", detail);
	show(line.data, line.length < limit ? line.length : limit);
	rd_buf_release(&line);
}

void rd_progress_update(struct rd_progress *p, uint64_t done, const char *detail)
{
	int64_t now;

	if (p->shown < 0)
		return;
	now = rd_now_ns();
	if (p->shown ? now - p->drawn_ns < REDRAW_NS : now - p->start_ns < FIRST_DRAW_NS)
		return;
	p->drawn_ns = now;
	p->shown = 1;
	draw(p, done, detail);
}

void rd_progress_say(struct rd_progress *p, const char *what)
{
	struct rd_buf line = RD_BUF_INIT;

	rd_progress_start(p, what, 0);
	if (p->shown < 0)
		return;
	p->shown = 1;
	rd_buf_addf(&line, "%s%s ...", erase, what);
	show(line.data, line.length);
	rd_buf_release(&line);
}

void rd_progress_hide(struct rd_progress *p)
{
	if (p->shown > 0)
		show(erase, sizeof erase - 1);
}

void rd_progress_end(struct rd_progress *p)
{
	rd_progress_hide(p);
	p->shown = -1;
}
