# SPDX-License-Identifier: Apache-2.0
#
# Golden full traces of each format version are dumped as before, and commands that cannot use them
# report that.  After an intended change of the output, RADDLE_UPDATE=1 rewrites the expected files.
. "$ROOT/test/lib.sh"

cd "$ROOT/test/trace" || exit 1
compare() { # expected file, arguments of dump
	local expected=$1
	shift
	"$RADDLE" dump "$@" >"$TMPDIR/got" || complain "dump $* failed"
	[ -n "${RADDLE_UPDATE:-}" ] && cp "$TMPDIR/got" "$expected"
	diff -u "$expected" "$TMPDIR/got" || complain "dump $* differs from test/trace/$expected"
}
for version in full-v1 full-v2; do
	compare $version.records $version
	compare $version.check --check $version
	compare $version.json --json $version
	compare $version.count.json --json --count $version
done
compare full-v1.values --values --stacks --thread T_0_1 full-v1

"$RADDLE" predict full-v1 >"$TMPDIR/got" 2>&1 && complain "predict takes a full trace"
grep -q 'this is a full trace' "$TMPDIR/got" || complain "predict does not say what is wrong: $(cat "$TMPDIR/got")"

# A truncated stream is read up to its end, and a wrong byte is reported.
cp -r full-v1 "$TMPDIR/bad" && chmod -R u+w "$TMPDIR/bad"
head -c 400 full-v1/thread-0 >"$TMPDIR/bad/thread-0"
"$RADDLE" dump --count "$TMPDIR/bad" >"$TMPDIR/got" 2>&1
grep -q 'the file ends inside it' "$TMPDIR/got" || complain "no word about a cut: $(cat "$TMPDIR/got")"
{ head -c 300 full-v1/thread-0; printf x; tail -c +302 full-v1/thread-0; } >"$TMPDIR/bad/thread-0"
"$RADDLE" dump --check "$TMPDIR/bad" >"$TMPDIR/got" 2>&1 && complain "a wrong byte is not noticed"
verdict
