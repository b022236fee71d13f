# Small programs with known errors, and their counterparts without errors, from end to end.  Each is
# run once, in an order that shows nothing.  From that run `raddle check` must predict exactly the
# errors in the program's first lines, as sound or speculative as stated there.  It must confirm
# every error and nothing else.  The short form takes every tenth program.  It leaves out those that
# predict.sh takes, and those that spin during a replay, since replay.sh has these.  The long form
# takes every second program, and all with ALL=1. bench/micro compares the same programs with TSan.
# timeout: 1800
set -u

# shellcheck source=test/prog/micro/case.bash
. "$ROOT/test/prog/micro/case.bash"

first='select(.notes | any(test("predicted from a replay")) | not)'
export first

check_case() {
	local source=$1 name wanted found status
	name=$(basename "$source")
	name=${name%.*}
	build_case "$source" "$name" || { echo "$name: is not compiled"; return 1; }
	"$RADDLE" check --no-classify -o "$name.check" --json "$name.json" -- "./$name" >"$name.out" 2>&1
	status=$?
	wanted=$(expected_predictions "$source")
	jq -r "$case_lines (lines($first) | \"predicted \(.)\"), (lines(select(.status == \"confirmed\")) | \"confirmed \(.)\"),
		\"status \(.stats.program_status)\"" "$name.json" | sort >"$name.lines"
	found=$(sed -n 's/^predicted //p' "$name.lines")
	[ "$found" = "$wanted" ] || { echo "$name: expected ${wanted:-nothing}, predicted ${found:-nothing}"; return 1; }
	wanted=$(expected_findings "$source")
	found=$(sed -n 's/^confirmed //p' "$name.lines")
	[ "$found" = "$wanted" ] || {
		echo "$name: expected ${wanted:-nothing}, confirmed ${found:-nothing}"
		jq -r '.findings[] | "    \(.kind) \(.object // "") \(.status): \(.reason // "")"' "$name.json"
		return 1
	}
	[ $status = $((${#wanted} > 0)) ] || { echo "$name: status $status"; return 1; }
	status=$(sed -n 's/^status //p' "$name.lines")
	[ "$status" = "$(expected_status "$source")" ] || { echo "$name: ended with $status"; return 1; }
	rm -rf "$name" "$name".*
}

if [ -n "${ALL:-}" ]; then
	each_case check_case
elif [ -n "${RADDLE_LONG:-}" ]; then
	each_case check_case 2 2
else
	each_case check_case 10 10
fi
