// SPDX-License-Identifier: Apache-2.0
/*
 * Starts gdb.  In: a program whose threads are stopped at the accesses of a race, in a deadlock, or
 * at a fatal signal.  Out: gdb, attached to the program.  It shows the stacks of these threads, and
 * hides the runtime's frames in every backtrace.  It has a command that releases the two threads in
 * either order.
 *
 * gdb is driven by a Python script.  The script finds a thread by its kernel thread ID, and the
 * frame by the file and line of the access.  To release the threads, gdb writes two words, `order`
 * and `command` (raddle/steer.h), in memory that the program shares with Raddle.
 */
#include "replay/gdb.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "base/process.h"
#include "base/scratch.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char head[] = "set pagination off\n"
			   "set confirm off\n"
			   "python\n"
			   "import gdb, itertools, os, struct\n"
			   "spots = []\n";

static const char body[] =
	"def sal_of(frame):\n"
	"    sal = frame.find_sal()\n"
	"    return (os.path.basename(sal.symtab.filename), sal.line, sal.symtab.filename) if sal.symtab "
	"else None\n"
	"def is_ours(frame):\n"
	"    sal = sal_of(frame)\n"
	"    return sal and os.path.normpath(sal[2]).startswith('src/target/rt/') or (frame.name() or "
	"'').startswith('__raddle')\n"
	"def frames_of(spot):\n"
	"    frames, frame = [], gdb.newest_frame()\n"
	"    while frame:\n"
	"        frames.append(frame)\n"
	"        frame = frame.older()\n"
	"    for i, frame in enumerate(frames):\n"
	"        sal = sal_of(frame)\n"
	"        if sal and sal[0] == spot['file'] and sal[1] == spot['line']:\n"
	"            return frames[i:]\n"
	"    ours = [i for i, frame in enumerate(frames) if is_ours(frame)]\n"
	"    rest = frames[ours[-1] + 1 if ours and ours[-1] + 1 < len(frames) else 0:]\n"
	"    return rest[1:] if rest[0].type() == gdb.SIGTRAMP_FRAME and len(rest) > 1 else rest\n"
	"class Own:\n"
	"    'Backtraces begin with the program and leave out the frames of Raddle.'\n"
	"    def __init__(self):\n"
	"        self.name, self.priority, self.enabled = 'raddle', 100, True\n"
	"        gdb.frame_filters[self.name] = self\n"
	"    def filter(self, frames):\n"
	"        first = list(itertools.islice(frames, 32))\n"
	"        ours = [is_ours(f.inferior_frame()) for f in first]\n"
	"        top = ours.index(True) if True in ours[:4] else 0\n"
	"        while top < len(ours) and ours[top]:\n"
	"            top += 1\n"
	"        rest = itertools.chain(first[top:], frames)\n"
	"        return (f for f in rest if not is_ours(f.inferior_frame())) if top < len(first) else first\n"
	"def go_to(spot):\n"
	"    for thread in gdb.selected_inferior().threads():\n"
	"        if thread.ptid[1] == spot['tid']:\n"
	"            thread.switch()\n"
	"            frames = frames_of(spot)\n"
	"            frames[0].select()\n"
	"            return thread, frames\n"
	"    return None, []\n"
	"def show(number, spot):\n"
	"    thread, frames = go_to(spot)\n"
	"    if not thread:\n"
	"        print('%s no longer exists' % spot['name'])\n"
	"        return\n"
	"    print('\\n%d: %s (thread %d) %s' % (number, spot['name'], thread.num, spot['what']))\n"
	"    for frame in frames:\n"
	"        sal = sal_of(frame)\n"
	"        where = ' at %s:%d' % (sal[2], sal[1]) if sal else ''\n"
	"        print('#%-3d %s%s' % (frame.level(), frame.name() or '?', where))\n"
	"class Spot(gdb.Command):\n"
	"    'raddle-spot [N]: show the stopped threads, or go to the N-th.'\n"
	"    def __init__(self):\n"
	"        super().__init__('raddle-spot', gdb.COMMAND_STACK)\n"
	"    def invoke(self, argument, tty):\n"
	"        if argument.strip():\n"
	"            show(int(argument), spots[int(argument)])\n"
	"            return\n"
	"        for i in reversed(range(len(spots))):\n"
	"            show(i, spots[i])\n"
	"class Go(gdb.Command):\n"
	"    'raddle-go [N]: release the two threads, the N-th (0 or 1) first.'\n"
	"    def __init__(self):\n"
	"        super().__init__('raddle-go', gdb.COMMAND_RUNNING)\n"
	"    def invoke(self, argument, tty):\n"
	"        first = int(argument or 0)\n"
	"        if first not in (0, 1) or not command_at:\n"
	"            raise gdb.GdbError('raddle-go 0 or raddle-go 1, at a race')\n"
	"        program = gdb.selected_inferior()\n"
	"        program.write_memory(order_at, struct.pack('<I', first))\n"
	"        program.write_memory(command_at, struct.pack('<I', 1))\n"
	"        gdb.execute('continue')\n"
	"Own()\n"
	"Spot()\n"
	"Go()\n"
	"gdb.execute('raddle-spot')\n"
	"end\n";

/* Appends the text as a string of Python. */
static void quote(struct rd_buf *out, const char *text)
{
	rd_buf_addc(out, '\'');
	for (; *text; text++) {
		if ((unsigned char)*text < 0x20 || *text == '\'' || *text == '\\')
			rd_buf_addf(out, "\\x%02x", (unsigned char)*text);
		else
			rd_buf_addc(out, *text);
	}
	rd_buf_addc(out, '\'');
}

static void add_spot(struct rd_buf *out, const struct replay_gdb *g, const char *name, uint32_t tid,
		     uint32_t site)
{
	struct trace_frame frame = trace_sites_frame(g->sites, site);

	rd_buf_adds(out, "spots.append({'name': ");
	quote(out, name);
	rd_buf_addf(out, ", 'tid': %" PRIu32 ", 'line': %" PRIu32 ", 'file': ", tid, frame.line);
	quote(out, rd_base_name(frame.file));
	rd_buf_adds(out, ", 'what': ");
}

static void add_race(struct rd_buf *out, const struct replay_gdb *g, const struct replay_result *so_far)
{
	struct rd_buf what = RD_BUF_INIT;

	for (size_t i = 0; i < so_far->spot_count; i++) {
		const struct replay_spot *s = &so_far->spots[i];

		add_spot(out, g, s->thread, s->tid, s->site);
		rd_buf_clear(&what);
		rd_buf_addf(&what, "is stopped before its %s of %" PRIu64 " bytes at 0x%" PRIx64,
			    s->write ? "write" : "read", s->size, s->address);
		quote(out, what.data);
		rd_buf_adds(out, "})\n");
	}
	rd_buf_release(&what);
}

static void add_deadlock(struct rd_buf *out, const struct replay_gdb *g, const struct replay_result *so_far)
{
	struct rd_buf what = RD_BUF_INIT;

	for (size_t i = 0; i < so_far->wait_count; i++) {
		const struct replay_wait *w = &so_far->waits[i];
		const char *holder = replay_wait_holder(w);

		if (!w->core)
			continue;
		add_spot(out, g, w->thread, w->tid, w->site);
		rd_buf_clear(&what);
		rd_buf_addf(&what, "waits in %s of %s%s%s", w->kind, w->name, holder ? ", held by " : "",
			    holder ? holder : "");
		quote(out, what.data);
		rd_buf_adds(out, "})\n");
	}
	rd_buf_release(&what);
}

static void add_crash(struct rd_buf *out, const struct replay_gdb *g, const struct replay_result *so_far)
{
	struct rd_buf what = RD_BUF_INIT;

	if (!so_far->crash_signal)
		return;
	add_spot(out, g, so_far->crash_thread ? so_far->crash_thread : "a thread", so_far->crash_tid, 0);
	rd_buf_addf(&what, "gets signal %d (%s)", so_far->crash_signal, strsignal(so_far->crash_signal));
	quote(out, what.data);
	rd_buf_adds(out, "})\n");
	rd_buf_release(&what);
}

static int write_script(struct replay_gdb *g, const struct replay_result *so_far)
{
	struct rd_buf text = RD_BUF_INIT;
	int err = rd_scratch_open(&g->directory, NULL, "raddle-gdb");

	if (err)
		return err;

	rd_buf_adds(&text, head);
	rd_buf_addf(&text, "order_at, command_at = %#" PRIx64 ", %#" PRIx64 "\n", so_far->order_at,
		    so_far->command_at);
	add_race(&text, g, so_far);
	add_deadlock(&text, g, so_far);
	add_crash(&text, g, so_far);
	rd_buf_adds(&text, body);
	g->script = rd_xasprintf("%s/script", g->directory);
	err = rd_file_write(g->script, text.data, text.length);
	rd_buf_release(&text);
	return err;
}

/* Adds words as arguments.  Words are separated by blanks, except within quotes, as in a shell. */
static void add_words(struct rd_argv *argv, const char *words)
{
	struct rd_buf word = RD_BUF_INIT;
	bool open = false;
	char quoted = 0;

	for (const char *c = words ? words : "";; c++) {
		if (!*c || (*c == ' ' && !quoted)) {
			if (open)
				rd_argv_add(argv, word.data);
			rd_buf_clear(&word);
			open = false;
			if (!*c)
				break;
			continue;
		}
		open = true;
		if (*c == quoted)
			quoted = 0;
		else if (!quoted && (*c == '\'' || *c == '"'))
			quoted = *c;
		else
			rd_buf_addc(&word, *c);
	}
	rd_buf_release(&word);
}

static int start(struct replay_gdb *g, pid_t program, const struct replay_result *so_far)
{
	struct rd_argv argv = RD_ARGV_INIT;
	int err = write_script(g, so_far);

	if (err)
		return err;
	rd_argv_add(&argv, "gdb");
	rd_argv_add(&argv, "-q");
	rd_argv_addf(&argv, "--pid=%d", (int)program);
	rd_argv_add(&argv, "-x");
	rd_argv_add(&argv, g->script);
	add_words(&argv, g->arguments);
	err = rd_spawn(argv.items, NULL, -1, &g->pid);
	rd_argv_release(&argv);
	return err;
}

bool replay_gdb_met(struct replay_gdb *g, pid_t program, const struct replay_result *so_far)
{
	int status;

	if (g->failed)
		return true;
	if (!g->pid && start(g, program, so_far)) {
		g->failed = true;
		return true;
	}
	if (g->pid < 0 || waitpid(g->pid, &status, WNOHANG) == 0)
		return g->pid < 0;
	g->failed = !WIFEXITED(status) || WEXITSTATUS(status) == 127;
	g->pid = -1;
	return true;
}

int replay_gdb_close(struct replay_gdb *g)
{
	if (g->pid > 0)
		g->failed = rd_wait(g->pid) == 127;
	rd_scratch_close(g->directory);
	free(g->script);
	return g->failed ? rd_fail(RD_ETOOL, "replay: gdb could not be run; is it installed?") : 0;
}
