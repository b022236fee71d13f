# SPDX-License-Identifier: Apache-2.0
#
# In the flavour `full`, memory that a program allocates is cleared.  So no old address gets into a
# value through the padding of a structure, where it would be a deviation in every run.
set -u
"$RADDLE" cc -g -O1 -o fresh "$ROOT/test/prog/full-fresh.c" || exit 1
for mode in --fast --quick; do
	for i in golden 1 2 3; do
		"$RADDLE" record --flavour full $mode -f -o "$i" -- ./fresh >"out.$i" || exit 1
	done
	[ "$(cat out.1)" = "$(./fresh)" ] || { echo "another output"; exit 1; }
	"$RADDLE" compare golden 1 2 3 >got || { echo "$mode: a run without a fault deviates:"; head -20 got; exit 1; }
done
