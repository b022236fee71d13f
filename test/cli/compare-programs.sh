# SPDX-License-Identifier: Apache-2.0
#
# Runs of pseudo-deterministic programs without a fault do not deviate, whatever their addresses and
# schedules are.  Their raw records differ. raddle reversible agrees: the order of dependent events
# is the same in every schedule.
. "$ROOT/test/lib.sh"

shown=(answer.txt)

while read -r name arguments; do
	build_once "$name" cc -O1 -pthread "$ROOT/test/prog/epa/$name.c" -lm || exit 1
	# shellcheck disable=SC2086
	for run in golden first second third; do
		"$RADDLE" record --flavour full --quick -f -o "$run" -- "./$name" $arguments >$run.out || exit 1
		"$RADDLE" dump "$run" | awk '$2 == "load" || $2 == "store" { print $1, $2, $3, $4 }' >$run.txt
		cmp -s golden.out $run.out || fail "$name: another output"
	done
	cmp -s golden.txt first.txt && fail "$name: two runs with the same addresses"
	"$RADDLE" compare golden first second third >answer.txt 2>&1 || fail "$name deviates"
	"$RADDLE" reversible golden >answer.txt 2>&1 || fail "$name is not pseudo-deterministic"
done <<'END'
quicksort 200
kmeans 40 3 6
pca 8 8 6
blackscholes 20 2 4
swaptions 3 2 3
handover 20 4 4
mixed 3 1
END
exit 0
