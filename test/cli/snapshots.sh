# Runs that continue from a stopped program (rt/steer/freeze.c) do what runs from the start do.
# Programs that cannot be copied are started anew for each run.
set -u
. "$ROOT/test/lib.sh"
shown=(err)

printf 'one\ntwo\n' >file
printf 'xy' >input
"$RADDLE" cc -O1 -g -pthread "$ROOT/test/prog/explore/copied.c" -o copied || exit 1

# runs OPTION MODE: explores, and prints a line for each schedule.
runs() {
	rm -rf out
	"$RADDLE" explore -v -j 1 -n 16 --all $1 -o out -- ./copied "$2" file <input >out.txt 2>err ||
		complain "$2 $1: status $?"
	jq -r 'select(.n != null) | "\(.n) \(.trail) \(.choices) \(.status) \(.counts)"' out/log | sort -n
}

# is_copied MODE: copied runs are used, and are equal to runs from the start.
is_copied() {
	runs --no-snapshots "$1" >anew
	runs "" "$1" >copied.txt
	grep -q 'started anew\|kernel thread' err && complain "$1: $(grep 'anew\|kernel thread' err)"
	[ "$(wc -l <anew)" = 16 ] && cmp -s anew copied.txt || complain "$1: copies differ: $(diff anew copied.txt)"
}
for mode in stdio file input ids owner null; do
	is_copied $mode
done
# The first run creates a file, so it does something else.  That is no reason for kernel threads.
rm -f file.first
runs "" first >/dev/null
grep 'kernel thread' err && complain "first: $(grep 'kernel thread' err)"
# How long the child takes has an influence on schedules, so only the ends of runs are compared.
runs --no-snapshots fork | cut -d' ' -f1,4,5 >anew
runs "" fork | cut -d' ' -f1,4,5 | cmp -s anew - || complain "fork: copies differ"

# is_anew MODE REASON: runs are started anew, for this reason.
is_anew() {
	runs "" "$1" >anew
	grep -q "runs are started anew, not continued from the creation of the second thread: $2" err ||
		complain "$1: no reason"
	[ "$(wc -l <anew)" = 16 ] || complain "$1: $(wc -l <anew) runs"
}
is_anew pipe 'it has open files that copies would share'
is_anew shared 'it shares memory with other processes'
is_anew child 'it has child processes'
is_anew timer 'it has timers'
is_anew removed 'it has changed files or started processes'
is_anew bare 'a copy behaves differently'
runs "--setup true" file >/dev/null
grep -q 'runs are started anew.*--setup, --with' err || complain "setup: no reason"

# Long runs branch off in the middle.  The programs are random; each does what its number determines.
"$RADDLE" cc -O1 -g -pthread "$ROOT/test/prog/explore/deep.c" -o deep || exit 1

# branches OPTION ARGUMENT...: explores, and prints what is known about each schedule, except its time.
branches() {
	local option=$1

	shift
	rm -rf out
	"$RADDLE" explore -v -j 1 -n 100 --all $option --seed "$1" -o out -- ./deep "$@" >out.txt 2>err ||
		complain "deep $* $option: status $?"
	jq -c 'select(.n != null) | del(.ns)' out/log | sort
}
for number in 1 2 3 ${RADDLE_LONG:+4 5 6 7 8 9 10 11 12}; do
	branches --no-snapshots $number >anew
	branches "" $number >copied.txt
	grep -q 'started anew\|kernel thread' err && complain "deep $number: $(grep 'anew\|kernel thread' err)"
	[ "$(grep -c '"kept":[1-9]' copied.txt)" -gt 20 ] || complain "deep $number: few runs branch off"
	[ "$(wc -l <anew)" = 100 ] && cmp -s anew copied.txt ||
		complain "deep $number: copies differ: $(diff anew copied.txt | cut -c1-200 | head -n 4)"
done
branches "" 1 pipe >copied.txt
grep -q 'not continued from a decision: it has open files that copies would share' err ||
	complain "deep pipe: no reason"

# The output of a copied run is that of the program: it contains what was written before the copy.
"$RADDLE" explore -q -n 12 --all --fail-if 'test "$(cat)" != "begun
buffered
ended"' -o out/judged --json judged.json -- ./copied stdio file <input >out.txt 2>err || complain "output: status $?"
jq -e '.findings == []' judged.json >/dev/null || complain "output: $(jq -c '.findings[0]' judged.json)"
verdict
