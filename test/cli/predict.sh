# Some of the small programs with known races and deadlocks, and their counterparts without errors.
# Each is recorded once, in an order that shows nothing.  Prediction must find exactly the errors in
# the program's first lines, as sound or speculative as stated there. micro.sh covers all programs
# if ALL=1 is set.
# timeout: 1800
set -u

# shellcheck source=test/prog/micro/case.bash
. "$ROOT/test/prog/micro/case.bash"

check_case() {
	local source=$1 name expected found status
	name=$(basename "$source")
	name=${name%.*}
	build_case "$source" "$name" || { echo "$name: is not compiled"; return 1; }
	"$RADDLE" record -o "$name.trace" -- "./$name" >"$name.out" 2>&1
	status=$?
	[ $status = "$(expected_status "$source")" ] ||
		{ echo "$name: ended with $status: $(cat "$name.out")"; return 1; }
	"$RADDLE" predict --json "$name.trace" >"$name.json" 2>"$name.err" && [ ! -s "$name.err" ] ||
		{ echo "$name: prediction failed: $(cat "$name.err")"; return 1; }
	found=$(named "$name.json" '.')
	expected=$(expected_predictions "$source")
	[ "$found" = "$expected" ] || { echo "$name: expected ${expected:-nothing}, found ${found:-nothing}"; return 1; }
	rm -rf "$name" "$name".*
}

if [ -n "${RADDLE_LONG:-}" ]; then
	each_case check_case 5
else
	each_case check_case 20
fi
