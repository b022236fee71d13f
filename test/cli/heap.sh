# An access outside a block of the heap, a variable or an array is a failure.  Code that is correct or
# customary does not fail.
. "$ROOT/test/lib.sh"
shown=(out err)

for program in heap bounds; do
	build_once $program cc -O1 -pthread "$ROOT/test/prog/$program.c" || fail "$program.c does not compile"
done

# explored SCHEDULES STATUS TEXT COMMAND...: `raddle explore` ends with the status and prints the text.
explored() {
	local schedules=$1 status=$2 text=$3
	shift 3
	rm -rf found
	timeout 120 "$RADDLE" explore --schedules "$schedules" -o found -- "$@" >out 2>err </dev/null
	[ $? = "$status" ] || complain "$*: wrong status"
	grep -q -- "$text" out err || complain "$*: no '$text'"
}
# passes COMMAND...: the program never fails.  fails COMMAND...: it fails with a memory error.
passes() { explored 4 0 '0 failures' "$@"; }
fails() { explored 4 1 'memory error' "$@"; }
# says TEXT COMMAND...: the replay of the failure prints this text.
says() {
	"$RADDLE" replay found/*.schedule -- "${@:2}" >out 2>err </dev/null
	tr -s ' \n' ' ' <err | grep -q "$1" || complain "${*:2}: no '$1'"
}

explored 40 0 '0 failures' ./heap sound
passes ./heap over -1
fails ./heap over 0
fails ./heap over 4
passes ./heap slack -1
fails ./heap slack 0
fails ./heap slack 3
passes ./heap whole -3
fails ./heap whole 0
fails ./heap under
says 'heap overrun: T_0_[01] accessed memory at heap.c:[0-9]* that is not part of a block' ./heap under

explored 40 0 '0 failures' ./bounds sound
for mode in local loop variable global constant thread member inner atomic copy name block joined; do
	passes ./bounds $mode 7
	fails ./bounds $mode 8
done
fails ./bounds member -1
fails ./bounds local -1
says 'access out of bounds: T_0_[01] accessed memory at bounds.c:[0-9]* that is not part of the variable or array' ./bounds local -1
verdict
