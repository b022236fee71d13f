# Two hives on one PostgreSQL database: each sees what the other stores, both assign the same tasks,
# and a hive that is killed under load loses nothing that it acknowledged.
# timeout: 900
. "$ROOT/test/lib.sh"
. "$ROOT/test/cli/hive-lib.bash"

bin=$(pg_config --bindir 2>/dev/null)
[ -x "$bin/initdb" ] || bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | tail -n 1)
[ -x "$bin/initdb" ] || exit 77

# The server must not run as root.  Its directory has a short name, because the path of a socket is
# limited to 107 characters.
pg=$(mktemp -d /tmp/raddle-pg.XXXXXX)
as=()
if [ "$(id -u)" = 0 ]; then
	as=(setpriv --reuid=postgres --regid=postgres --clear-groups)
	chown postgres:postgres "$pg"
fi
finally 'kill -9 ${hives:-} 2>/dev/null; pg_stop; rm -rf "$pg"'
pg_stop() {
	[ ! -s "$pg/data/postmaster.pid" ] || (cd "$pg" && "${as[@]}" "$bin/pg_ctl" -D "$pg/data" -m immediate -w stop >/dev/null 2>&1)
}
(cd "$pg" && "${as[@]}" "$bin/initdb" -D "$pg/data" -A trust -U raddle --no-sync >initdb.log 2>&1) || fail "initdb: $(tail -n 5 "$pg/initdb.log")"
(cd "$pg" && "${as[@]}" "$bin/pg_ctl" -D "$pg/data" -w -t 300 -l "$pg/data/log" \
	-o "-c listen_addresses='' -c unix_socket_directories='$pg' -c shared_buffers=16MB -c max_connections=20" start >start.log 2>&1) ||
	fail "pg_ctl: $(cat "$pg/start.log" "$pg/data/log")"
db="postgresql://raddle@/postgres?host=$pg"

# start NAME: starts a hive, whose URL is in NAME.url and whose process id is in NAME.pid.
start() {
	"$RADDLE" hive serve --listen 127.0.0.1:0 --rate 0 --db "$db" >"$1.url" 2>"$1.err" &
	echo $! >"$1.pid"
	hives="${hives:-} $!"
	finally 'kill -9 ${hives:-} 2>/dev/null; pg_stop; rm -rf "$pg"'
	wait_for 120 test -s "$1.url" || fail "a hive does not start: $(cat "$1.err")"
}
start one
start two
one=$(cat one.url) two=$(cat two.url)
build_once bank cc -O1 -pthread "$ROOT/examples/bank.c" || exit 1
"$RADDLE" hive add --hive "$one" ./bank >added || fail "the program is not taken"
build=$(jq -r .build added)

# The other hive learns of the program, has the same key, and signs the same task sets.
wait_for 60 sh -c "curl -sf '$two/api/v1/status?build=$build' >other" || fail "the other hive does not know the program"
[ "$(curl -s "$one/api/v1/key")" = "$(curl -s "$two/api/v1/key")" ] || complain "two keys"
for site in 1 2 3 4 5 6 7 8; do
	query="/api/v1/tasks?build=$build&site=0000000000000000000000000000000$site"
	# An epoch may end between the two requests.
	for try in 1 2 3; do
		curl -si "$one$query" | grep -v '^Date' >a
		curl -si "$two$query" | grep -v '^Date' >b
		! cmp -s a b || break
	done
	grep -q '^Raddle-Signature' a && cmp a b || complain "the hives give different tasks: $try"
done

# Four sites report to either hive, and one hive is killed meanwhile.
cat >report.py <<'END'
import http.client, json, random, subprocess, sys, threading, time
build, ports, victim, count = sys.argv[1], [int(u.rsplit(":", 1)[1]) for u in sys.argv[2:4]], int(sys.argv[4]), int(sys.argv[5])
def ask(port, method, path, body=None):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.request(method, path, body and json.dumps(body), {"Content-Type": "application/json"} if body else {})
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()
ids = [r["id"] for r in json.loads(ask(ports[0], "GET", "/api/v1/status")[1])["races"]]
acknowledged, lock = set(), threading.Lock()
def work(site):
    random.seed(site)
    for n in range(count):
        run = f"{site:08x}{n:08x}"
        reports = [{"run": run, "seq": i, "candidate": random.choice(ids), "result": "no-race", "order": "primary"} for i in range(3)]
        body = {"version": 1, "build": build, "site": f"{site + 1:032x}", "reports": reports}
        while True:  # as a site does: again, to another hive
            try:
                status, text = ask(random.choice(ports), "POST", "/api/v1/reports", body)
            except (OSError, http.client.HTTPException):
                continue
            assert status == 200 or status == 503, text
            if status == 200:
                break
        with lock:
            acknowledged.update((f"{site + 1:032x}", run, i) for i in range(3))
            if len(acknowledged) >= 4 * count * 3 // 2 and not killed:
                killed.append(subprocess.run(["kill", "-9", str(victim)]))
killed = []
threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
[t.start() for t in threads]
[t.join() for t in threads]
assert killed and len(acknowledged) == 4 * count * 3
print("\n".join("|".join(map(str, a)) for a in sorted(acknowledged)))
END
count=40
[ -z "${RADDLE_LONG:-}" ] || count=1000
python3 report.py "$build" "$one" "$two" "$(cat two.pid)" $count >acknowledged 2>err || fail "$(tail -n 3 err) $(cat one.err)"
"$bin/psql" -At "$db" -c 'SELECT site, run, seq FROM reports' | sort >stored
sort acknowledged | cmp - stored || complain "acknowledged and stored reports differ: $(wc -l acknowledged stored)"

# A hive that starts now has the same verdicts as the one that ran all the time.
start three
"$RADDLE" hive status --hive "$one" --json=a >out
"$RADDLE" hive status --hive "$(cat three.url)" --json=b >out
cmp a b || complain "verdicts depend on the hive"
[ "$(jq '[.races[].reports["no-race"]] | add' a)" = $((count * 12)) ] || complain "reports are missing: $(cat a)"

# Without its database, a hive reports that and stays alive.  When the database is back, it
# continues.
(cd "$pg" && "${as[@]}" "$bin/pg_ctl" -D "$pg/data" -m immediate -w stop >/dev/null 2>&1)
wait_for 60 sh -c "[ \$(curl -s -o body -w '%{http_code}' '$one/healthz') = 503 ]" || complain "the hive does not notice: $(cat body)"
curl -s -o body -w '%{http_code}' "$one/api/v1/tasks?build=$build&site=00000000000000000000000000000001" | grep -q 200 || complain "polls need no database: $(cat body)"
(cd "$pg" && "${as[@]}" "$bin/pg_ctl" -D "$pg/data" -w -t 300 -l "$pg/data/log" \
	-o "-c listen_addresses='' -c unix_socket_directories='$pg'" start >start.log 2>&1) || fail "pg_ctl: $(cat "$pg/start.log")"
wait_for 120 sh -c "[ \$(curl -s -o body -w '%{http_code}' '$one/healthz') = 200 ]" || complain "the hive does not come back: $(cat body)"
kill -TERM "$(cat one.pid)"
wait "$(cat one.pid)" || complain "the hive ended with status $?: $(cat one.err)"
verdict
