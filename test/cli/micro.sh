# The small programs with known errors and their twins again, the whole way: `raddle
# check` must confirm every error by a run that shows it, and nothing else; its status
# tells the two apart.
# timeout: 900
# sanitized: no
set -u

# shellcheck source=test/prog/micro/case.bash
. "$ROOT/test/prog/micro/case.bash"

check_case() {
	local source=$1 name expected confirmed status
	name=$(basename "$source")
	name=${name%.*}
	build_case "$source" "$name" || { echo "$name: is not compiled"; return 1; }
	"$RADDLE" check -o "$name.check" --json "$name.json" -- "./$name" >"$name.out" 2>&1
	status=$?
	expected=$(expected_findings "$source")
	confirmed=$(named "$name.json" 'select(.status == "confirmed")')
	[ "$confirmed" = "$expected" ] || {
		echo "$name: expected ${expected:-nothing}, confirmed ${confirmed:-nothing}; status $status"
		jq -r '.findings[] | "    \(.kind) \(.object // "") \(.status): \(.reason // "")"' "$name.json"
		return 1
	}
	[ $status = $((${#expected} > 0)) ] || { echo "$name: status $status"; return 1; }
	rm -rf "$name" "$name".*
}

each_case check_case
