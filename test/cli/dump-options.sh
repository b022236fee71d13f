# SPDX-License-Identifier: Apache-2.0
#
# Filters and limits of dump, single files, and messages about wrong arguments.
. "$ROOT/test/lib.sh"

trace=$ROOT/test/trace/v1-bank
lines() { grep -vc '^#' "$1"; }

"$RADDLE" dump "$trace" >all || fail "dump"
"$RADDLE" dump --limit 5 "$trace" >five && [ "$(lines five)" = 5 ] || fail "--limit"
"$RADDLE" dump "$trace" --limit=5 | diff five - || fail "an option behind the trace"
"$RADDLE" dump -t T_0_1 "$trace" >one || fail "--thread by name"
"$RADDLE" dump -t 2 "$trace" | diff one - || fail "--thread by number"
[ "$(awk '!/^#/ && !/ T_0_1 /' one | wc -l)" = 0 ] || fail "--thread shows other threads"
[ "$(lines one)" = "$(awk '/^#/ {next} / T_0_1 +(read|write|mutex|thread-(start|end)|barrier)/' all | wc -l)" ] ||
	fail "--thread leaves events out"
"$RADDLE" dump -k mutex-lock,write "$trace" >kinds || fail "--kind"
[ "$(lines kinds)" = "$(grep -cE ' (mutex-lock|write) ' all)" ] || fail "--kind shows $(lines kinds) events"
"$RADDLE" dump --kind mutex "$trace" | grep -q mutex-unlock || fail "--kind with a class"
total=$("$RADDLE" dump --count "$trace" | awk '{ print $1 }')
[ "$total" = "$(lines all)" ] || fail "--count says $total, $(lines all) lines are shown"
for thread in 0 1 2 3 4; do
	"$RADDLE" dump "$trace/thread-$thread" >single || fail "a single stream"
	[ "$(lines single)" = "$("$RADDLE" dump -t $thread "$trace" | grep -vc '^#')" ] || fail "events of thread-$thread"
done
"$RADDLE" dump "$trace/sites" | diff - "$ROOT/test/trace/v1-bank.sites" || fail "a site table as argument"

expect() { # text of the message, arguments
	local text=$1
	shift
	"$RADDLE" "$@" >out 2>err && fail "$* succeeded"
	[ $? = 2 ] || "$RADDLE" "$@" >/dev/null 2>&1 || [ $? = 2 ] || fail "$*: exit status"
	grep -q -- "$text" err || fail "$*: says $(cat err), not '$text'"
}
expect "no thread 'T_9'" dump -t T_9 "$trace"
expect "no kind of event 'mutx'" dump -k write,mutx "$trace"
expect "needs a trace" dump
expect "dump: unexpected argument" dump "$trace" "$trace"
expect "No such file" dump "$trace/nothing"
mkdir empty
expect "no meta.json" dump empty
expect "unknown format" export --format x "$trace"
expect "needs --format" export "$trace"
"$RADDLE" dump --json -t T_9 "$trace" 2>err && fail "--json with a wrong thread succeeded"
grep -q '^{"error":' err || fail "in JSON mode errors are JSON: $(cat err)"
exit 0

# Files that are not traces.
golden=$ROOT/test/golden
for schedule in "$golden"/*-v1.schedule; do
	"$RADDLE" dump "$schedule" >words || fail "a schedule"
	grep -q 'order of operations' words || fail "a schedule in words: $(cat words)"
	"$RADDLE" dump --json "$schedule" | python3 -c 'import json, sys; assert json.load(sys.stdin)["version"] == 1' ||
		fail "a schedule as JSON"
done
mkdir found && cp "$golden/findings-v1.json" found/findings.json
"$RADDLE" dump found >report && grep -q '^Raddle: [0-9]* finding' report || fail "findings"
"$RADDLE" dump "$golden/findings-v1.json" | diff report - || fail "findings by their file"
"$RADDLE" dump --json found | python3 -c 'import json, sys; assert json.load(sys.stdin)["findings"]' ||
	fail "findings as JSON"
echo 'int main(void) { return 0; }' >none.c
"$RADDLE" cc -O1 -o none none.c && "$RADDLE" dump none >carried || fail "a program"
grep -q '^bitcode *1 unit,' carried && grep -q 'none.c  (with bitcode)' carried || fail "a program: $(cat carried)"
"$RADDLE" dump --json none | python3 -c 'import json, sys; assert json.load(sys.stdin)["units"] == 1' ||
	fail "a program as JSON"
mkdir faults && touch faults/campaign.json
expect "'raddle campaign' shows it" dump faults
expect "carries no bitcode" dump /bin/true
echo '{' >broken.json
expect "broken.json" dump broken.json
