# `raddle check` of programs that fork: children are checked, too, and no process is left behind.
. "$ROOT/test/lib.sh"

"$RADDLE" cc -O1 -g -pthread "$ROOT/test/prog/forks.c" -o forks || exit 1
shown=(err)

status() {
	local wanted=$1 got
	shift
	"$RADDLE" check --no-classify --json found.json "$@" >out 2>err
	got=$?
	[ $got = "$wanted" ] || complain "check $*: status $got instead of $wanted"
}
finds() {
	jq -e ".findings | $1" found.json >/dev/null || complain "$2: $(cat found.json)"
}
# all_gone FILE: each process whose pid is in the file has ended.
all_gone() {
	local pid
	[ -s "$1" ] || complain "no daemon was started"
	while read -r pid; do
		! kill -0 "$pid" 2>/dev/null || complain "process $pid is left behind"
	done <"$1"
}

# A race in a forked child is found, and its process is named.  The child is not led, so the race is
# confirmed if the run shows it.
status 1 -- ./forks race
finds 'length == 1 and .[0].object == "total" and .[0].status == "confirmed" and (.[0].notes | any(test("fork-0")))' \
	"the race of a child"
ended() {
	[ "$(jq -c .status raddle-check/trace/fork-0/meta.json)" = "$1" ] || complain "a child ended: $(cat raddle-check/trace/fork-0/meta.json)"
}
ended '{"exit":0}'
status 1 -- ./forks abort
ended '{"signal":6,"core":false}'
finds '[.[] | select(.kind == "failure" and .status == "confirmed" and .cycle[0].wants == "SIGABRT")] | length == 1' \
	"the abort of a child"

# Daemons of the recorded run and of replays are ended with the check.
status 1 -- ./forks daemon pids
finds '[.[] | select(.status == "confirmed" and .object == "total")] | length == 1' "the race of the parent"
[ "$(wc -l <pids)" -ge 2 ] || complain "no replay started a daemon: $(cat pids)"
all_gone pids
"$RADDLE" replay "$(ls raddle-check/*.schedule | head -1)" -- ./forks daemon more >out 2>err
[ $? = 1 ] || complain "it is not reproduced"
all_gone more

# A daemon works as long as its client does.  What it did is analysed.
mkfifo fifo
cat >client <<'EOF'
rm -f served
echo x >fifo
until [ -e served ]; do sleep 0.05; done
EOF
status 0 --no-replay --with 'sh client' -- ./forks daemon served-pids fifo
all_gone served-pids
finds '[.[] | select(.object == "other" and (.reason | test("fork-0/fork-0")))] | length == 1' "the race of a daemon"

# If the check is ended during a replay, it leaves no process behind, either.
"$RADDLE" check --no-classify -o stopped --setup '[ ! -e again ] || touch hold; touch again' -- ./forks daemon stopped-pids >out 2>err &
check=$!
two_daemons() {
	[ -e stopped-pids ] && [ "$(wc -l <stopped-pids)" = 2 ]
}
wait_for 60 two_daemons || complain "there is no replay"
kill -TERM $check
wait $check
[ $? = 2 ] || complain "an interrupt is not status 2"
[ ! -e stopped/replays ] || complain "scratch files are left"
all_gone stopped-pids

# The same is true if the check is killed: its working process and its guard process each notice
# when the other dies.
none_left() {
	local pid
	while read -r pid; do
		! kill -0 "$pid" 2>/dev/null || return 1
	done <"$1"
}
killed() {
	rm -f again hold
	"$RADDLE" check --no-classify -o "killed-$1" --setup '[ ! -e again ] || touch hold; touch again' -- ./forks daemon "$1-pids" >out 2>err &
	check=$!
	two_daemons() {
		[ -e "$1-pids" ] && [ "$(wc -l <"$1-pids")" = 2 ]
	}
	wait_for 60 two_daemons "$1" || complain "there is no replay"
	worker=$(tr -d ' ' <"/proc/$check/task/$check/children")
	echo "$worker" >>"$1-pids"
	case $1 in
	guard) kill -KILL $check ;;
	*) kill -KILL "$worker" ;;
	esac
	wait $check 2>/dev/null
	[ $? = 137 ] || complain "the $1 was killed: status $?"
	wait_for 60 none_left "$1-pids" || complain "the $1 was killed: processes are left behind"
}
killed guard
killed worker

# If the check is killed during the recorded run, the program is ended, too.
rm -f again
touch hold
"$RADDLE" check --no-classify -o killed-recorded -- ./forks daemon recorded-pids >out 2>err &
check=$!
one_daemon() {
	[ -s recorded-pids ]
}
wait_for 60 one_daemon || complain "no daemon was started"
worker=$(tr -d ' ' <"/proc/$check/task/$check/children")
tr ' ' '\n' <"/proc/$worker/task/$worker/children" | grep . >>recorded-pids
[ "$(wc -l <recorded-pids)" -ge 2 ] || complain "there is no recorded program"
kill -KILL $check
wait $check 2>/dev/null
wait_for 60 none_left recorded-pids || complain "the recorded program is left behind"
rm -f hold
verdict
