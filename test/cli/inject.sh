# Faults in runs: which kinds apply, one fault with all options, a campaign and its log, and clear
# error messages.  Each line of the log can be injected again.
# sanitizers: yes, runs inject/
. "$ROOT/test/lib.sh"
build_once quicksort cc -O1 -pthread "$ROOT/test/prog/epa/quicksort.c" -lm || exit 1

shown=(err.txt)
inject() {
	"$RADDLE" inject "$@" >out.txt 2>err.txt
}
# field NAME FILE: prints the values of a member, a line for each run, ordered by run.
field() {
	jq -r -s "sort_by(.run)[] | .$1" "$2"
}

inject --list -- ./quicksort 60 || fail "--list"
grep -Eq '^BitFlip +paper +[0-9]+ +[0-9]+ ' out.txt || fail "--list does not show BitFlip"
grep -Eq '^LockFail +lock +- +- ' out.txt || fail "--list shows locks in a program that has none"
grep -Eq '^ThreadFail +lock +1 +[0-9]+ ' out.txt || fail "--list does not show pthread_create"
inject --list --json list.json -- ./quicksort 60 || fail "--list --json"
[ "$(jq '.kinds[] | select(.fault == "MallSize") | .instances' list.json)" = 1 ] || fail "one malloc"

# One run with a fault whose thread, place, execution and bit are given.
inject --fault BitFlip --thread T_0 --function partition --opcode load --instance 2 --bit 3 -o one -- ./quicksort 60 ||
	fail "one run"
grep -q '^BitFlip in T_0 at quicksort.c:[0-9:]* partition (load, execution 2)$' out.txt || fail "not what was asked for"
[ "$(field action one/log) $(field bit one/log) $(field mask one/log) $(field fired one/log)" = "flip 3 0x0000000000000008 true" ] ||
	fail "the log says $(cat one/log)"
before=$(field before one/log) after=$(field after one/log)
[ $((before ^ after)) = 8 ] || fail "$before became $after"
inject --fault BitFlip -q -- ./quicksort 60 || fail "without a directory"
[ ! -s out.txt ] && [ ! -e raddle-inject ] || fail "it left something"

# A campaign with all kinds of faults.  The same seed gives the same faults, and another seed gives
# others.
inject -n 3 -j 2 --fault all --seed 5 -o all --json sum.json -- ./quicksort 60 || fail "a campaign"
kinds=$(jq '[.campaigns[0].faults[] | select(.fault)] | length' sum.json)
[ "$kinds" -ge 12 ] || fail "only $kinds kinds"
[ "$(wc -l <all/log)" = $((3 * kinds)) ] && [ "$(field run all/log | uniq | wc -l)" = $((3 * kinds)) ] || fail "not each run once"
[ "$(jq '[.campaigns[0].faults[] | select(.fault) | .outcomes[].runs] | add' sum.json)" = $((3 * kinds)) ] || fail "the summary does not add up"
[ "$(jq -s 'map(select(.outcome == "not-activated" and .fired == false)) | length' all/log)" = 0 ] ||
	fail "a place that is executed was not reached"
[ ! -e all/scratch ] || fail "scratch directories are left"
inject -n 3 --fault all --seed 5 -o again -- ./quicksort 60 || fail "the same again"
[ "$(field plan all/log)" = "$(field plan again/log)" ] || fail "the same seed chose other faults"
inject -n 3 --fault all --seed 6 -o other -- ./quicksort 60 || fail "another seed"
[ "$(field plan all/log)" != "$(field plan other/log)" ] || fail "another seed chose the same faults"
"$RADDLE" inject -n 8 --fault ThreadFail,AllocFail,NoWait,NoOutput --sampling thread -q -o calls -- ./quicksort 60 || exit 1
[ "$(jq -r 'select(.fault == "ThreadFail") | .outcome' calls/log | sort -u)" = detected ] || fail "a thread that is not made is not noticed"
[ "$(jq -r 'select(.fault == "NoOutput") | .outcome' calls/log | sort -u)" = sdc ] || fail "output that is not written is not noticed"
grep -q '^-' "calls/$(jq -r 'select(.fault == "NoOutput") | .diff' calls/log | head -1)" || fail "no diff"
# A call that was not made is a deviation, even if the result is what it would have returned.
printf '#include <stdio.h>\nint main(void) { for (int i = 0; i < 9; i++) putchar(0x41 + i), printf("%%c", 0x61 + i); return 0; }\n' >letters.c
"$RADDLE" cc -g -O1 -fno-builtin -o letters letters.c || exit 1
"$RADDLE" inject -n 6 --fault NoOutput -q -o letters.campaign -- ./letters || exit 1
[ "$(jq -r '.outcome + " " + .deviation' letters.campaign/log | sort -u)" = "sdc control" ] || fail "calls that were not made: $(cat letters.campaign/log)"
[ "$(jq -r 'select(.fault == "AllocFail") | .outcome + .signal' calls/log | sort -u)" = crashSIGSEGV ] || fail "no memory is no crash"
jq -r 'select(.fault == "AllocFail") | .place' calls/log | grep -q 'quicksort.c:[0-9:]* ma[ki]' || fail "no place of the crash"

# Each line can be injected again, whatever the schedule is.
same='[.thread, .site, .instance, .action, .mask, .plan, .fired, .fault]'
jq -c 'select(.fault == "BitFlip" or .fault == "MultiBit" or .fault == "StuckAt1")' all/log other/log | head -6 >lines.txt
while read -r line; do
	inject --repeat "$line" -o all || fail "--repeat $line"
	[ "$(jq -c "$same" <<<"$line")" = "$(jq -c "$same" out.txt)" ] || fail "repeated $line as $(cat out.txt)"
	# The changed value is not a pointer, so it is the same value in each run.
	if [ "$(jq -r .opcode <<<"$line")" = icmp ]; then
		[ "$(jq -r .before <<<"$line")" = "$(jq -r .before out.txt)" ] || fail "another value: $line $(cat out.txt)"
	fi
done <lines.txt
inject --fault BitFlip --function swap --opcode load --bit 4 --thread T_0_0 --seed 3 -o swap -- ./quicksort 60 || fail "a bit in swap()"
line=$(cat swap/log)
for round in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
	inject --repeat "$line" -o all || fail "round $round"
	cat out.txt >>rounds.txt
done
[ "$(wc -l <rounds.txt)" = 20 ] || fail "not a line for each round: $(cat rounds.txt)"
[ "$(jq -c "$same, .before, .after, .outcome" <<<"$line")" = "$(jq -c "[$same, .before, .after, .outcome]" rounds.txt | sort -u | jq -c '.[]')" ] ||
	fail "$line became $(cat rounds.txt)"
inject --repeat "$line" -- ./quicksort 60 || fail "--repeat with a program"
inject --run 1 -o all --trace trace1 || fail "--run"
[ "$(jq -r .plan out.txt)" = "$(jq -r 'select(.run == 1) | .plan' all/log)" ] || fail "--run 1 is another run"
"$RADDLE" dump --check trace1 >/dev/null 2>err.txt || fail "the trace is not sound"

# Several faults in a run, traces that are kept, and strata.
inject -n 6 --fault BitFlip --faults 3 --window 50 --keep-traces all --sampling function -o many -- ./quicksort 60 || fail "three faults"
[ "$(jq -r .plan many/log | awk -F, '{ print NF }' | sort -u)" = 3 ] || fail "not three faults each"
[ "$(jq -r .stratum many/log | sort | uniq -c | awk '{ print $1 }' | sort -u | wc -l)" -le 2 ] || fail "strata have different numbers of runs"
jq -e 'select((.where | split(" ")[1]) != .stratum)' many/log && fail "a fault outside of its stratum"
"$RADDLE" dump -k fault many/runs/0/trace >faults.txt 2>err.txt || fail "no trace"
[ -s faults.txt ] || fail "no fault in the trace"

# Each error has one message.
for bad in '--fault Nonsense' '--fault LockFail' '--fault BitFlip --function none' '--fault BitFlip --sampling x' '--fault BitFlip --bit 64' \
	'--fault BitFlip --timeout x' '--fault BitFlip --shard 1/2' '--repeat {}' '--run 1' '' '--fault BitFlip --stdin /none'; do
	# shellcheck disable=SC2086
	inject $bad -- ./quicksort 60 && fail "took $bad"
	[ "$(grep -c . err.txt)" = 1 ] && grep -q '^raddle: ' err.txt || fail "$bad: not one message"
done
inject --fault BitFlip -o all -- ./quicksort 60 && fail "overwrote a campaign"
mkdir mine && touch mine/work
inject --fault BitFlip -f -o mine -- ./quicksort 60 && fail "took a directory that is no campaign"
inject --run 1 -o all --trace mine && fail "wrote a trace into a directory that is no trace"
[ -e mine/work ] || fail "removed what is not ours"
inject -n 2 --fault BitFlip --function none -o never -- ./quicksort 60
[ ! -e never ] || fail "a campaign that did not begin left its directory"
inject --resume none && fail "resumed nothing"
inject --run 100000 -o all && fail "a run that is not there"
echo '{"version":1}' >all/campaign.json
inject --resume all && fail "a campaign without a program"
exit 0
