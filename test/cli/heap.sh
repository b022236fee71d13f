# An access between the blocks of the heap is a failure; uses of the blocks themselves are not.
. "$ROOT/test/lib.sh"
shown=(out err)

build_once heap cc -O1 -pthread "$ROOT/test/prog/heap.c" || fail "heap.c does not compile"

# explored STATUS TEXT MODE...: explores the program in this mode, and expects the status and text.
explored() {
	local status=$1 text=$2
	shift 2
	rm -rf found
	timeout 120 "$RADDLE" explore --schedules 40 -o found -- ./heap "$@" >out 2>err </dev/null
	[ $? = "$status" ] || complain "heap $*: wrong status"
	grep -q -- "$text" out err || complain "heap $*: no '$text'"
}
explored 0 '0 failures' sound
explored 0 '0 failures' over -1
explored 1 'memory-error' over 0
explored 1 'memory-error' over 4
explored 1 'memory-error' under

# The message names the place.
"$RADDLE" replay found/*.schedule -- ./heap under >out 2>err </dev/null

tr -s ' \n' ' ' <err | grep -q 'heap overrun: T_0_[01] accessed memory at heap.c:[0-9]* that is not part of a block' ||
	complain "no text about the overrun"
verdict
