# Real sites on this machine: all sites report, and accesses that a join orders are not a race.  In
# the long form, with a hundred sites, a race is confirmed within three rounds.
# timeout: 900
. "$ROOT/test/lib.sh"
. "$ROOT/test/cli/hive-lib.bash"

"$RADDLE" --list-commands | grep -qx site || exit 77
hive_start
build_once bank cc -O1 -pthread "$ROOT/examples/bank.c" || exit 1
"$RADDLE" hive add --hive "$url" ./bank >added || fail "the program is not taken"
sites=6
[ -z "${RADDLE_LONG:-}" ] || sites=100
"$RADDLE" hive simulate --hive "$url" --sites $sites --rounds 3 -- ./bank >out 2>err
status=$?
[ $status -le 1 ] || complain "status $status: $(cat err)"
grep -q "^$((3 * sites)) runs of $sites sites" out || complain "$(cat out)"
"$RADDLE" hive status --hive "$url" --json=found >/dev/null
[ "$(jq '.programs[0].sites' found)" = $sites ] || complain "not all sites have reported: $(jq -c '.programs[0]' found)"
# Clerk and tellers share the fee without a lock.  What main reads after the tellers were joined is
# ordered.
jq -e '.races[] | select(.accesses[].function == "main") | .verdict != "true-race"' found >/dev/null || complain "a wrong true race: $(cat out)"
[ -z "${RADDLE_LONG:-}" ] || [ $status = 1 ] || complain "no race was confirmed by 100 sites: $(cat out)"
hive_stop
verdict
