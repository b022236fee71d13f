#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Recording under difficult conditions: signal handlers, 1500 threads, all ways to end, SIGKILL of
# the program, of the recorder and of both, a full disk, little address space, daemons.  The program
# must not be affected, and the trace must be a readable prefix.
# sanitizers: yes, runs record/ on programs that are killed and on full disks
. "$ROOT/test/lib.sh"

# check NAME: the trace NAME.trace is sound.
check() {
	"$RADDLE" dump --check "$1.trace" >check.out 2>&1 || complain "$1: $(cat check.out)"
	grep -q ', 0 notes' check.out || complain "$1: $(cat check.out)"
}

meta() {
	grep -q "$2" "$1.trace/meta.json" || complain "$1: meta.json lacks $2: $(cat "$1.trace/meta.json")"
}

# compare NAME COMMAND...: the recorded program has the same output and status as without Raddle.
compare() {
	local name=$1 native status
	shift
	printf 'one\ntwo\n' | "$@" >native.out 2>native.err
	native=${PIPESTATUS[1]}
	printf 'one\ntwo\n' | "$RADDLE" record -o "$name.trace" -- "$@" >raddle.out 2>raddle.err
	status=${PIPESTATUS[1]}
	[ "$native" = "$status" ] || complain "$name: status $status, without Raddle $native: $(cat raddle.err)"
	cmp -s native.out raddle.out || complain "$name: output differs: $(diff native.out raddle.out)"
	cmp -s native.err raddle.err || complain "$name: stderr differs: $(diff native.err raddle.err)"
}

# wait_running: waits until rt-run runs, and sets $program to its pid.
wait_running() {
	while kill -0 $recorder 2>/dev/null; do
		program=$(sed -n 's/running //p' out 2>/dev/null)
		[ -n "$program" ] && return
		sleep 0.02
	done
	complain "rt-run endless does not start: $(cat err)"
	exit 1
}

# has_written TRACE BYTES: at least so many bytes of the trace are on disk.
has_written() {
	[ "$(cat "$1.trace"/thread-* 2>/dev/null | wc -c)" -ge "$2" ]
}

for name in rt-signal rt-many rt-run; do
	"$RADDLE" cc -D_GNU_SOURCE -g -O2 -pthread -o $name "$ROOT/test/prog/$name.c" || exit 1
done

compare signal ./rt-signal
check signal
compare many ./rt-many
check many
[ "$(ls many.trace | grep -c '^thread-')" = 3001 ] || complain "many: $(ls many.trace | wc -l) files"

for how in look cat deep bare abort segv term _exit quick_exit work; do
	(ulimit -c 0; compare $how ./rt-run $how; exit $failures) 2>/dev/null || failures=$((failures + 1))
	check $how
done
meta abort '"signal":6'
meta work '"complete":true'

# If the program is killed, everything up to that point is in the trace.
for size in 0 1 100000; do
	rm -f out
	"$RADDLE" record -f -o killed.trace ./rt-run endless >out 2>err &
	recorder=$!
	wait_running
	wait_for 60 has_written killed $size || complain "killed program: no $size bytes are written before it is"
	kill -9 "$program"
	wait $recorder 2>/dev/null
	[ $? = 137 ] || complain "killed program: status"
	check killed
	meta killed '"signal":9'
	"$RADDLE" dump -c killed.trace >count || complain "killed program: no count"
done

# If the recorder is killed, the program continues, and what was written is readable.
rm -f out
"$RADDLE" record -f -o orphan.trace ./rt-run endless >out 2>err &
recorder=$!
wait_running
wait_for 60 has_written orphan 100000 || complain "killed recorder: 100000 bytes are not written before it is"
kill -9 $recorder
wait $recorder 2>/dev/null
read -ra before <<<"$(sed 's/.*) //' "/proc/$program/stat")"
wait_for 60 has_used "$program" $((before[11] + before[12] + 10)) ||
	complain "killed recorder: the program does not go on without it"
kill -9 "$program"
"$RADDLE" dump --check orphan.trace >check.out 2>&1 || complain "killed recorder: $(cat check.out)"

# Signals sent to the recorder reach the program.
rm -f out
"$RADDLE" record -f -o term.trace ./rt-run endless >out 2>err &
recorder=$!
wait_running
kill -TERM $recorder
wait $recorder 2>/dev/null
[ $? = 143 ] || complain "SIGTERM: status"
meta term '"signal":15'

# If the disk is full, the program continues, and the recorder reports that once.
(
	ulimit -S -f 40
	"$RADDLE" record -o full.trace ./rt-run work >raddle.out 2>raddle.err
	[ $? = 0 ] || complain "full disk: status"
	exit $failures
) || failures=$((failures + 1))
grep -q done raddle.out || complain "full disk: output"
meta full '"stopped":"'
[ "$(grep -c stopped raddle.err)" = 1 ] || complain "full disk: says '$(cat raddle.err)'"
"$RADDLE" dump --check full.trace >check.out 2>&1 || complain "full disk: $(cat check.out)"

# The user's limit on the size of a trace is kept.
"$RADDLE" record --limit 20k -o limit.trace ./rt-run work >raddle.out 2>raddle.err || complain "limit: status"
meta limit '"stopped":"size limit'
check limit

# The address space is small.  A sanitized raddle needs terabytes of it.
spaces=0
for space in 20000 60000 200000 400000; do
	[ "$(basename "$BUILD")" != asan ] || break
	(ulimit -v $space; ./rt-run alone >native.out 2>/dev/null) || continue
	spaces=$((spaces + 1))
	(ulimit -v $space; "$RADDLE" record -f -o space.trace ./rt-run alone >raddle.out 2>raddle.err)
	case $? in
	0) cmp -s native.out raddle.out || complain "ulimit -v $space: output" ;;
	2) [ $(wc -l <raddle.err) = 1 ] || complain "ulimit -v $space: $(cat raddle.err)" ;;
	*) complain "ulimit -v $space: $(cat raddle.err)" ;;
	esac
done
[ "$(basename "$BUILD")" = asan ] || [ $spaces -ge 2 ] || complain "ulimit -v: rt-run itself ran with $spaces limits only"

# A daemon continues to run.  The recorder returns, and follows the daemon in the background.
"$RADDLE" record -o daemon.trace ./rt-run daemon "$PWD/daemon.done" || complain "daemon: status"
for _ in $(seq 1000); do
	grep -q '"complete":true' daemon.trace/fork-0/meta.json 2>/dev/null && break
	sleep 0.1
done
[ -f daemon.done ] || complain "daemon: it did not finish"
check daemon
"$RADDLE" dump --check daemon.trace/fork-0 >check.out 2>&1 || complain "daemon: $(cat check.out)"
[ "$("$RADDLE" dump -k mutex-lock daemon.trace/fork-0 | grep -c mutex-lock)" = 20 ] || complain "daemon: locks"

# The executable of a flavour runs as usual without a session.
flavour=$("$RADDLE" flavour ./rt-run) || complain "flavour of rt-run"
[ "$("$flavour" work)" = done ] || complain "flavour without a session"

# mistake WHAT ARGUMENTS...: expects one message and status 2.
mistake() {
	local what=$1
	shift
	"$RADDLE" record -o mistake.trace "$@" >out 2>err
	[ $? = 2 ] || complain "$what: status"
	[ "$(wc -l <err)" = 1 ] || complain "$what: $(cat err)"
	[ -s out ] && complain "$what: standard output: $(cat out)"
}
echo 'echo hello' >script && chmod +x script
echo text >text
mistake "no such program" ./absent
mistake "not in PATH" absent-program
mistake "not executable" ./text
mistake "a script" ./script
mistake "a directory" .
mistake "a foreign binary" /bin/true
mkdir full && touch full/file
"$RADDLE" record -o full ./rt-run work >out 2>err && complain "a directory that is no trace was taken"
[ -f full/file ] || complain "a directory that is no trace was changed"

# The previous trace is kept, or with --force replaced.
"$RADDLE" record -o again ./rt-run look >/dev/null && "$RADDLE" record -o again ./rt-run work >/dev/null
grep -q '"look"' again.old/meta.json || complain "the old trace is not kept"
"$RADDLE" record --json sum.json -f -o again ./rt-run look >/dev/null
grep -q '"look"' again.old/meta.json || complain "--force keeps the old trace"
grep -q '"complete":true' sum.json || complain "--json: $(cat sum.json)"

verdict
