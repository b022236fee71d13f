# A hive's life cycle: tokens, TLS, rate limits, systemd, backup, migration, rejected requests, and
# kill -9 while sites report.
# timeout: 900
# sanitizers: yes, runs hive/ and protocol/
. "$ROOT/test/lib.sh"
. "$ROOT/test/cli/hive-lib.bash"

# status_of ARGUMENT...: prints the HTTP status that curl gets.
status_of() {
	curl -s -o body -w '%{http_code}' "$@"
}
# expect STATUS ARGUMENT...: expects this HTTP status.
expect() {
	local status=$1 found
	shift
	found=$(status_of "$@")
	[ "$found" = "$status" ] || complain "$*: $found instead of $status: $(cat body)"
}
refused() {
	local text=$1 status=0
	shift
	timeout 60 "$RADDLE" "$@" >out 2>err </dev/null || status=$?
	[ $status = 2 ] || complain "$*: status $status instead of 2: $(cat err)"
	grep -qF -- "$text" err || complain "$*: no '$text' in: $(cat err)"
}

refused 'there is no token' hive serve --listen 0.0.0.0:0 --db open.db
refused 'not ADDRESS:PORT' hive serve --listen 127.0.0.1 --db open.db
refused '--tls-cert and --tls-key go together' hive serve --tls-cert "$0"
refused '--hive URL is missing' hive status
refused 'there is no action' hive fly
refused 'which action' hive
refused "there is no token 'nobody'" hive token --db hive.db --revoke nobody
echo 'this is no database, but it is long enough to be looked at as one' >text.db
refused 'hive: database' hive serve --listen 127.0.0.1:0 --db text.db
refused 'hive: http://127.0.0.1:1' hive status --hive http://127.0.0.1:1

# If there are tokens, every request needs a valid one.  A token that is made while the hive runs is
# accepted soon.
build_once bank cc -O1 -pthread "$ROOT/examples/bank.c" || exit 1
"$RADDLE" hive token --db hive.db --admin boss >admin || fail "no token"
hive_start --rate 40
"$RADDLE" hive token --db hive.db fleet >fleet || fail "no token"
refused 'answers 401' hive status --hive "$url"
"$RADDLE" hive add --hive "$url" --token admin ./bank >added || complain "the token does not help"
RADDLE_HIVE_TOKEN=$(cat admin) "$RADDLE" hive status --hive "$url" >out || complain "the variable does not help"
build=$(jq -r .build added)
poll="/api/v1/tasks?build=$build&site=00000000000000000000000000000001"
fleet="Authorization: Bearer $(cat fleet)"
wait_for 60 sh -c "[ \$(curl -s -o body -w '%{http_code}' -H '$fleet' '$url$poll') = 200 ]" || complain "the fleet's token is not known: $(cat body)"
expect 401 "$url$poll"
expect 401 -H 'Authorization: Bearer wrong' "$url$poll"
expect 403 -H "$fleet" "$url/api/v1/status"
expect 200 "$url/api/v1/key"
expect 401 "$url/metrics"
grep -q "$(cat admin)" hive.db && complain "the token itself is stored"
[ "$(stat -c %a hive.db)" = 600 ] || complain "others can read the database, and the key in it"

# Beyond the rate, the hive answers 429 and says when to try again.  It takes a while until a bucket
# of 80 requests is empty.
for ((i = 0; i < 2000; i++)); do
	printf 'url = "%s/healthz"\noutput = "/dev/null"\n' "$url"
done >requests
curl -s -K requests -w '%{http_code}\n' | sort | uniq -c >counts
grep -q ' 200$' counts && grep -q ' 429$' counts || complain "no limit: $(cat counts)"
"$RADDLE" hive token --db hive.db --revoke fleet
wait_for 60 sh -c "[ \$(curl -s -o body -w '%{http_code}' -H '$fleet' '$url$poll') = 401 ]" || complain "a revoked token works: $(cat body) $(cat hive.err)"

# A database that is in use can be copied, and a hive with the copy knows the same.
RADDLE_HIVE_TOKEN=$(cat admin) "$RADDLE" hive status --hive "$url" --json=before >out
"$RADDLE" hive backup --db hive.db copy.db || complain "no copy"
refused 'exists already' hive backup --db hive.db copy.db
hive_stop
hive_start --db copy.db
RADDLE_HIVE_TOKEN=$(cat admin) "$RADDLE" hive status --hive "$url" --json=after >out
cmp before after || complain "the copy is another hive: $(head -c 300 before) $(head -c 300 after)"
hive_stop

# An older database is upgraded, and a newer one is refused.
python3 - <<'END'
import sqlite3
for name, tables, schema in ("old.db", ("tokens", "classes", "sketches", "runs"), 4), ("new.db", (), 1000):
    sqlite3.connect("copy.db").execute("VACUUM INTO ?", (name,))
    db = sqlite3.connect(name)
    for table in tables:
        db.execute("DROP TABLE " + table)
    db.execute("UPDATE meta SET value = ? WHERE key = 'schema'", (schema,))
    db.commit()
END
refused 'by a newer Raddle' hive serve --listen 127.0.0.1:0 --db new.db
hive_start --db old.db
"$RADDLE" hive status --hive "$url" --json=after >out
cmp before after || complain "the older database has lost something"
hive_stop

# TLS.
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout key.pem -out cert.pem -days 30 -subj /CN=localhost \
	-addext 'subjectAltName=IP:127.0.0.1' 2>out || fail "no certificate: $(cat out)"
hive_start --db old.db --tls-cert cert.pem --tls-key key.pem
[ "${url%%:*}" = https ] || complain "$url"
"$RADDLE" hive status --hive "$url" --ca cert.pem --json=after >out || complain "no answer over TLS"
cmp before after || complain "TLS changes the answer"
refused 'hive: https' hive status --hive "$url"
hive_stop

# systemd passes a listening socket to the hive, and is notified when the hive is ready.
cat >handover.py <<'END'
import os, socket, sys
listener = socket.create_server(("127.0.0.1", 0))
notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
notify.bind("notify")
notify.settimeout(120)
pid = os.fork()
if pid == 0:
    if listener.fileno() != 3:
        os.dup2(listener.fileno(), 3)
    os.set_inheritable(3, True)
    os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS="1", NOTIFY_SOCKET=os.path.abspath("notify"))
    os.execv(sys.argv[1], [sys.argv[1], "hive", "serve", "--db", "old.db"])
assert notify.recv(100) == b"READY=1"
with socket.create_connection(listener.getsockname()) as client:
    client.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    assert client.recv(12) == b"HTTP/1.1 200"
os.kill(pid, 15)
assert notify.recv(100) == b"STOPPING=1"
assert os.waitpid(pid, 0)[1] == 0
END
python3 handover.py "$RADDLE" >out 2>&1 || complain "systemd: $(tail -n 3 out)"

# If memory runs out, a request is answered with 503, and the next one as usual.  Sanitizers need
# their own memory, so they are excepted.
if ! [[ $BUILD =~ san$ ]]; then
	hive_start --db old.db
	python3 - "$build" <<'END'
import json, sys
access = {"file": "a.c", "line": 1, "function": "f", "op": "write"}
for name, count in ("some", 30000), ("many", 200000):
    candidates = [{"id": f"{i:016x}", "rank": i, "accesses": [access, access]} for i in range(count)]
    document = {"version": 1, "build": "00000000" + name, "name": name, "candidates": candidates}
    open(name + ".json", "w").write(json.dumps(document))  # json.dump() takes three times as long
END
	prlimit --pid "$hive" --as=$(($(awk '{ print $1 }' "/proc/$hive/statm") * $(getconf PAGE_SIZE) + (16 << 20)))
	for body in some many; do
		expect 503 -H 'Content-Type: application/json' -H 'Expect:' --data-binary @$body.json "$url/api/v1/programs"
		grep -q 'out of memory' body || complain "no reason: $(cat body)"
	done
	"$RADDLE" hive status --hive "$url" --json=after >out || complain "the hive does not go on"
	cmp before after || complain "a program was taken in half"
	hive_stop
fi

# After kill -9, everything that was acknowledged is stored.
times=3
[ -z "${RADDLE_LONG:-}" ] || times=30
python3 "$ROOT/bench/hive-kill.py" "$RADDLE" kill.db "$build" ./bank $times >out 2>&1 || complain "$(tail -n 5 out)"
verdict
