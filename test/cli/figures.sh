# Results of benchmarks: bench/resultlib.py keeps the newest value of each figure, tool/figures
# makes a page of them, and tool/measure counts a tree.  Except for the programs of bench/, all of
# this happens in a made-up repository.
. "$ROOT/test/lib.sh"

git init -q tree && cd tree || fail "no repository"
shown=(../out ../err)
git config user.email test@example.com && git config user.name test
mkdir -p src/floor/room src/base test/unit tool bench doc
printf '// SPDX\nint one(void)\n{\n\treturn 1;\n}\n' >src/base/one.c
printf 'int one(void);\n' >src/base/one.h
printf '#include "base/one.h"\n#include "room/own.h"\n#include "room/named-int.h"\n#define RD_ASSERT(x) y\nint two(void)\n{\n\tRD_ASSERT(one());\n\treturn 2;\n}\n' >src/floor/room/two.c
touch src/floor/room/own.h src/floor/room/named-int.h
printf 'a\nb\nc\n' >test/unit/u-one.c
printf 'GLOBALS = {\n    ("a.c", "x"): "why",\n    ("a.c", "y"): "why",\n}\n' >tool/check-functions
git add . && git commit -qm first

# resultlib.py stores one row for each figure, with commit, load and date, in the tree that contains
# it.
cp "$ROOT/bench/resultlib.py" bench/ && git add . && git commit -qm second
result() {
	python3 bench/resultlib.py "$@" >../out 2>../err
}
result speed 'CPU, mean' 0.7 --unit x --goal '<= 0.5' --peer 'TSan 1' || fail "the helper fails"
result speed 'found' 12 --goal '>= 12' || fail "the helper fails"
result speed 'CPU, mean' 0.4 --unit x --goal '<= 0.5' --peer 'TSan 1' || fail "the helper fails"
head=$(git rev-parse --short=10 HEAD)
jq -e --arg head "$head" '.area == "speed" and (.figures | length) == 2 and
	(.figures[0] | .figure == "CPU, mean" and .measured == 0.4 and .goal == "<= 0.5" and .peer == "TSan 1" and
	.unit == "x" and .commit == $head and (.load | type) == "number" and (.date | test("^20..-..-..$")))' \
	bench/results/speed.json >/dev/null || fail "speed.json: $(cat bench/results/speed.json)"
result speed 'CPU, mean' 1 --goal 'soon' && fail "took a goal that is not a comparison"
result ../x 'CPU, mean' 1 && fail "took an area that is a path"
result speed nothing nan || fail "what was not measured is an error"
jq -e '.figures | length == 2' bench/results/speed.json >/dev/null || fail "recorded what was not measured"
RADDLE_RESULTS= result speed 'found' 3 || fail "an empty RADDLE_RESULTS is an error"
jq -e '.figures[1].measured == 12' bench/results/speed.json >/dev/null || fail "an empty RADDLE_RESULTS records"

# The page shows which goals were met and which were not.  It has no figures of uncommitted code or
# of another history.
echo '// changed' >>src/base/one.c
result speed 'of changed code' 5 || fail "the helper fails"
jq -e --arg head "$head+" '.figures[2].commit == $head' bench/results/speed.json >/dev/null || fail "changed code has a commit"
git checkout -q src
result size 'too large' 1499 --unit lines --goal '<= 800' || fail "the helper fails"
jq '.figures += [.figures[0] + { figure: "of a stranger", commit: "0123456789" }]' bench/results/size.json >new && mv new bench/results/size.json
"$ROOT/tool/figures" --root . 2>../err || fail "no page"
shown+=(doc/figures.md)
grep -q "^| CPU, mean | ≤ 0.5 | TSan 1 | 0.4 x | yes | $head | " doc/figures.md || fail "a figure that was met"
grep -q "^| too large | ≤ 800 |  | 1,499 lines | \*\*no\*\* | $head | " doc/figures.md || fail "a figure that was not met"
grep -q 'of changed code\|of a stranger' doc/figures.md && fail "a figure of other code is on the page"
[ "$(grep -c 'left out' ../err)" = 2 ] || fail "what was left out is not named"
rm -r bench/results
"$ROOT/tool/figures" --root . && grep -q 'Nothing has been measured' doc/figures.md || fail "a page without results"

# Every program of bench/ records figures, and a quick one is run here.
for program in "$ROOT"/bench/*; do
	[ ! -f "$program" ] || [ ! -x "$program" ] || grep -qE 'figure\("|bench/resultlib.py|here/resultlib.py' "$program" ||
		complain "$(basename "$program") records no figure"
done
RADDLE_RESULTS=$PWD/recorded "$ROOT/bench/inject-memory" --build "$BUILD" --millions 0.01 >../out 2>../err || complain "inject-memory fails"
jq -e '.figures[0] | .measured > 0 and .unit == "MiB" and .goal == "<= 100"' recorded/inject-memory.json >/dev/null ||
	complain "inject-memory records nothing"

# tool/measure counts lines.
"$ROOT/tool/measure" --root . --rooms >../out 2>../err || fail "measure fails"
line() {
	grep -qE "^ +$1 .* $2\$" ../out || complain "not $1: $2"
}
line 4 'entries at the top'
line 9 'largest .c file \(room/two.c\), lines'
line 4 'functions, median, lines'
line 0.2 'test lines for each product line'
line 2 'variables that may change \(tool/check-functions\)'
line 1 'headers of one room whose names do not say so'
line 2 'headers of one room'
line 66.67 'invariants, per 1000 lines'
line 0.00 'base \(6 lines\)'
line 111.11 'room \(9 lines\)'
"$ROOT/tool/measure" --root . --write >../out 2>../err || fail "measure --write fails"
jq -e '[.figures[].figure] | index("largest .c file")' bench/results/tree.json >/dev/null || fail "measure --write writes nothing"
verdict
