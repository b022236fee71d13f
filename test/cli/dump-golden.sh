# SPDX-License-Identifier: Apache-2.0
#
# Golden traces of format version 1 are dumped as before.  After an intended change of the output,
# RADDLE_UPDATE=1 rewrites the expected files.
. "$ROOT/test/lib.sh"

cd "$ROOT/test/trace" || exit 1
compare() { # expected file, arguments of dump
	local expected=$1
	shift
	"$RADDLE" dump "$@" >"$TMPDIR/got" || complain "dump $* failed"
	[ -n "${RADDLE_UPDATE:-}" ] && cp "$TMPDIR/got" "$expected"
	diff -u "$expected" "$TMPDIR/got" || complain "dump $* differs from test/trace/$expected"
}
for trace in v1-*/; do
	trace=${trace%/}
	compare "$trace.events" "$trace"
	compare "$trace.stacks" --stacks --kind mutex,atomic,write "$trace"
	compare "$trace.summary" --summary "$trace"
	compare "$trace.check" --check "$trace"
	compare "$trace.sites" --sites "$trace"
	compare "$trace.json" --json "$trace"
	compare "$trace.summary.json" --json --summary "$trace"
	"$RADDLE" export --format std "$trace" >"$TMPDIR/std" || complain "export of $trace"
	[ -n "${RADDLE_UPDATE:-}" ] && cp "$TMPDIR/std" "$trace.std"
	diff -u "$trace.std" "$TMPDIR/std" || complain "export of $trace"
done
verdict
