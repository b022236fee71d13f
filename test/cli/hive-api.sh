# The hive answers as its API description states: every path and every answer, including errors.
. "$ROOT/test/lib.sh"
. "$ROOT/test/cli/hive-lib.bash"

hive_start
build_once bank cc -O1 -pthread "$ROOT/examples/bank.c" || exit 1
"$RADDLE" candidates --json=candidates.json ./bank >out || fail "no candidates"
jq '. + { build: "0123456789abcdef", name: "bank" }' candidates.json >program.json
python3 "$ROOT/test/cli/hive-api.py" "$url" "$ROOT/doc/format/hive-api.json" program.json >out 2>&1 || complain "$(cat out)"
hive_stop
verdict
