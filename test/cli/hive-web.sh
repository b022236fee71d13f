# The dashboard: its files are served.  The long form operates it in a real browser with the
# keyboard, in light and dark mode and on a narrow screen.
# timeout: 900
. "$ROOT/test/lib.sh"
. "$ROOT/test/cli/hive-lib.bash"

hive_start
build_once bank cc -O1 -pthread "$ROOT/examples/bank.c" || exit 1
"$RADDLE" hive add --hive "$url" ./bank >added || fail "the program is not taken"
build=$(jq -r .build added)
race=$("$RADDLE" hive status --hive "$url" --json | jq -r '.races[] | select(.object == "served" and .accesses[0].op == "write") | .id')
other=$("$RADDLE" hive status --hive "$url" --json | jq -r '.races[] | select(.object == "fee") | .id')
# send METHOD PATH BODY: sends a request to the hive.
send() {
	curl -sf -X "$1" -H 'Content-Type: application/json' -d "$3" "$url$2" >out || fail "$1 $2: $(cat out)"
}
site='"version":1,"build":"'$build'","site":"00000000000000000000000000000001"'
proof='"run":"0000000000000001","candidate":"'$race'","result":"race","order":"primary","proof":"happens-before"'
send POST /api/v1/reports "{$site,\"reports\":[{\"seq\":0,$proof},{\"seq\":1,$proof,\"consequence\":\"crash\",\"signal\":11},
	{\"run\":\"0000000000000001\",\"seq\":2,\"candidate\":\"$other\",\"result\":\"no-race\",\"order\":\"primary\"}]}"
send PUT "/api/v1/races/$build/$race/class" '{"class":"spec-violated","consequence":"crash"}'

for file in "" style.css app.js icon.svg; do
	name=${file:-index.html}
	curl -sf "$url/$file" | cmp -s - "$ROOT/src/fleet/hive/web/$name" || complain "/$file is not hive/web/$name"
done
curl -sfi "$url/" | grep -qi "^content-security-policy: default-src 'none'" || complain "pages have no policy"
# The pages use nothing from other servers.
grep -nE 'https?://' "$ROOT"/src/fleet/hive/web/*.html "$ROOT"/src/fleet/hive/web/*.css "$ROOT"/src/fleet/hive/web/*.js | grep -v 'www.w3.org' && complain "a page names another server"
if [ -n "${RADDLE_LONG:-}" ]; then
	python3 "$ROOT/test/cli/hive-web.py" "$url" "$build" "$race" ${HIVE_SHOTS:+"$HIVE_SHOTS"} >out 2>&1 || complain "$(cat out)"
fi
hive_stop
verdict
