# SPDX-License-Identifier: Apache-2.0
#
# A full trace has what library functions read and write for the program, with the right lengths,
# including those that depend on formats and results.  test/prog/full-library.c lists what is
# expected.
set -u
source=$ROOT/test/prog/full-library.c
"$RADDLE" cc -g -O1 -w -o prog "$source" -lm || exit 1
"$RADDLE" record --flavour full --fast -o trace -- ./prog 2>err.txt || { cat err.txt; exit 1; }
sed -n 's|.*/\* \([RW][0-9][RW0-9 ]*\) \*/$|\1|; t found; b; :found =; p' "$source" | paste - - | tr '\t' ' ' >expected
"$RADDLE" dump trace | awk '/ range-/ {
	match($0, /full-library.c:[0-9]+/); n = substr($0, RSTART + 15, RLENGTH - 15)
	if (n != last) { if (last) print last seen; seen = ""; last = n }
	seen = seen ($2 ~ /write/ ? " W" : " R") $4
} END { print last seen }' | sort -n >got
[ "$(wc -l <expected)" -gt 20 ] || { echo "nothing expected"; exit 1; }
line=$(sed -n '/\/\* equal \*\//=' "$source")
"$RADDLE" dump trace | awk -v place="full-library.c:$line" '$2 == "range-read" && index($0, place " ") { print $4, $5 }' >hashes
[ "$(wc -l <hashes)" = 8 ] && [ "$(sort -u hashes | wc -l)" = 1 ] || { echo "not 8 equal hashes:"; cat hashes; exit 1; }
grep -vE "^($line|$((line - 1))|$((line - 2))) " got >rest
diff -u expected rest
