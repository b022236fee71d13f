# Small programs with known races and deadlocks, and their twins without: each is
# recorded once, in an order that shows nothing, and prediction must name exactly
# what the program's `expect` line says.
# timeout: 600
set -u

cases=$ROOT/test/prog/predict
failures=0
complain() {
	echo "$1"
	failures=$((failures + 1))
}

# What a report names: "race x", "deadlock 2", in one line.  Of memory without a
# name of its own only the kind counts.
named() {
	sed -n -e 's/^WARNING: Raddle: data race on \(.*\) (predicted.*/race \1/p' \
		-e 's/^WARNING: Raddle: deadlock of \([0-9]*\) threads.*/deadlock \1/p' \
		-e 's/^WARNING: Raddle: deadlock of \(a\|one\) thread.*/deadlock 1/p' "$1" |
		sed -e 's/^race heap .*/race heap/' -e 's/^race stack .*/race stack/' \
			-e 's/\[[0-9]*\]/[]/g' -e 's/^race \(.*\)+[0-9]*$/race \1/' | sort -u |
		sed -e ':a' -e '$!{N;ba}' -e 's/\n/, /g'
}

check_case() {
	local source=$1 name expected found status
	name=$(basename "$source" .c)
	expected=$(sed -n 's,^// expect: ,,p' "$source")
	"$RADDLE" cc -O1 -g -pthread "$source" -o "$name" || { complain "$name: is not compiled"; return; }
	"$RADDLE" record -o "$name.trace" -- "./$name" >"$name.out" 2>&1
	status=$?
	case $name:$status in
	*-deadlock:142 | *:0) ;;
	*) complain "$name: ended with $status: $(cat "$name.out")" ;;
	esac
	"$RADDLE" predict --schedules "$name.found" "$name.trace" >"$name.txt" 2>"$name.err" ||
		complain "$name: prediction failed: $(cat "$name.err")"
	[ ! -s "$name.err" ] || complain "$name: $(cat "$name.err")"
	found=$(named "$name.txt")
	[ "${found:-none}" = "$expected" ] || complain "$name: expected $expected, found ${found:-none}"
}

for source in "$cases"/*.c; do
	check_case "$source"
done
[ $failures = 0 ]
