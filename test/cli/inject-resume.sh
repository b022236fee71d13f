# A campaign that is killed with SIGKILL again and again, and finally allowed to finish, has each
# run once and the same faults as an undisturbed one.  It leaves no processes or scratch directories
# behind.  The same holds for shards.
. "$ROOT/test/lib.sh"
build_once quicksort cc -O1 -pthread "$ROOT/test/prog/epa/quicksort.c" -lm || exit 1
shown=(err.txt)
plans() {
	jq -r -s 'sort_by(.run)[] | "\(.run) \(.plan)"' "$@"
}

"$RADDLE" inject -n 50 --fault BitFlip,ThreadFail,NoWait --seed 9 -q -o whole -- "$PWD/quicksort" 100 2>err.txt || fail "a campaign"
plans whole/log >expected.txt
[ "$(wc -l <expected.txt)" = 150 ] || fail "150 runs are $(wc -l <expected.txt)"

# The campaign is killed at its beginning and while it is resumed.  The last round is not killed.
# With many workers, it would end before it is killed.
"$RADDLE" inject -j 2 -n 50 --fault BitFlip,ThreadFail,NoWait --seed 9 -q -o killed -- "$PWD/quicksort" 100 2>err.txt &
pid=$!
while [ ! -s killed/log ] && kill -0 $pid 2>/dev/null; do sleep 0.01; done
kill -9 $pid
wait $pid 2>/dev/null
kills=0
for round in $(seq 12); do
	lines=$(grep -c . killed/log)
	"$RADDLE" inject -j 2 --resume killed -q 2>err.txt &
	pid=$!
	# The campaign is killed when there are some more lines. The moment differs from round to
	# round.
	while [ "$(grep -c . killed/log)" -lt $((lines + round)) ] && kill -0 $pid 2>/dev/null; do :; done
	kill -9 $pid 2>/dev/null && kills=$((kills + 1))
	wait $pid 2>/dev/null
done
[ $kills -gt 3 ] || fail "only $kills rounds were killed"
# A writer that is killed leaves an incomplete line.
printf '{"run":3,"fault":"BitFl' >>killed/log
"$RADDLE" inject --resume killed >out.txt 2>err.txt || fail "the last round"
[ "$(plans killed/log)" = "$(cat expected.txt)" ] || fail "runs are lost, repeated or others: $(plans killed/log | diff expected.txt - | head -5)"
grep -q '^150 \|of 150 runs' out.txt || fail "no summary: $(cat out.txt)"
[ ! -e killed/scratch ] || fail "scratch directories are left"
cp killed/log before.txt
"$RADDLE" inject --resume killed -q 2>err.txt || fail "a campaign that is done"
cmp -s killed/log before.txt || fail "a campaign that is done was changed"
for process in /proc/[0-9]*/cwd; do
	case $(readlink "$process") in "$PWD"/killed/*) fail "a program is left behind: $process" ;; esac
done

# Two of the shards are killed.  The log is locked while it is written: the second writer starts
# while the first one is stopped.  If the first one has ended already, everything is repeated.
begin_shards() {
	rm -rf shards
	mkdir shards
	cp -r whole/campaign.json whole/golden shards
	for shard in 0 1 2; do
		"$RADDLE" inject --resume shards --shard $shard/3 -j 1 -q 2>err.$shard.txt &
		eval pid$shard=$!
	done
	while [ ! -s shards/log.1 ] && kill -0 $pid1 2>/dev/null; do :; done
	kill -STOP $pid1 2>/dev/null
	while :; do
		case $(sed 's/.*) //' /proc/$pid1/stat 2>/dev/null) in
		T*) return 0 ;;
		Z* | '') return 1 ;;
		esac
	done
}
for _ in $(seq 20); do
	begin_shards && break
	wait
done
"$RADDLE" inject --resume shards --shard 1/3 -q 2>err.txt && fail "two write log.1"
# shellcheck disable=SC2154
kill -9 $pid1 $pid2 2>/dev/null
wait
"$RADDLE" inject --resume shards --shard 2/3 -j 1 -q 2>err.txt || fail "shard 2"
[ "$(jq '.run % 3' shards/log.2 | sort -u)" = 2 ] || fail "shard 2 did the runs of others"
"$RADDLE" inject --resume shards -q 2>err.txt || fail "putting shards together"
[ "$(plans shards/log)" = "$(cat expected.txt)" ] || fail "shards did other runs"
ls shards/log.* >/dev/null 2>&1 && fail "parts of the log are left"

# Runs end when the share is known precisely enough.  If the campaign is killed meanwhile, only the
# last few runs differ.
"$RADDLE" inject --until +-12% --outcome masked --fault BitFlip --seed 4 -j 2 -q -o until -- "$PWD/quicksort" 40 2>err.txt &
pid=$!
while [ ! -s until/log ] && kill -0 $pid 2>/dev/null; do sleep 0.01; done
kill -9 $pid 2>/dev/null
wait $pid 2>/dev/null
"$RADDLE" inject --resume until --json=until.json -q 2>err.txt || fail "a campaign with --until"
jq -e '.campaigns[0] | .until.reached and .until.outcome == "masked" and .interval == "confidence-sequence" and .runs <= .planned and
	(.faults[0].outcomes.masked.share | .high - .low <= 0.2400001)' until.json >/dev/null || fail "not precise: $(jq -c '.campaigns[0].until' until.json)"
jq -s -e 'all(.[]; .done <= .planned and .expected <= .planned) and (.[-1] | .left_s == 0 and ([.outcomes[]] | add) == .done)' until/progress >/dev/null ||
	fail "progress: $(cat until/progress)"
# On a terminal there is a progress line, and the results are the same.
script -qec "'$RADDLE' inject -n 3 -q --fault BitFlip,NoWait -o terminal -- '$PWD/quicksort' 40" /dev/null >out.txt </dev/null || fail "on a terminal: $(cat out.txt)"
[ "$(grep -c . terminal/log)" = 6 ] || fail "on a terminal: $(cat out.txt)"
cp until/log before.txt
"$RADDLE" inject --resume until -q 2>err.txt || fail "a campaign that knows enough"
cmp -s until/log before.txt || fail "a campaign that knows enough went on"
for words in "--resume until --shard 0/2" "--resume until --until 1%" "--until x --fault BitFlip -o no -- $PWD/quicksort" "--until 1% --sampling thread --fault BitFlip -o no -- $PWD/quicksort" \
	"--until 1% --outcome sad --fault BitFlip -o no -- $PWD/quicksort" "--outcome sdc --fault BitFlip -o no -- $PWD/quicksort"; do
	# shellcheck disable=SC2086
	"$RADDLE" inject $words >out.txt 2>err.txt && fail "accepted: $words"
	[ ! -e no ] || fail "left a directory: $words"
done
exit 0
