# Races that are classified by jobs on a real Slurm cluster get the same classes as on this machine.
. "$ROOT/test/lib.sh"

source "$ROOT/test/prog/slurm.bash"
start_slurm "$PWD/slurm" || exit
finally '[ $failures = 0 ] || squeue --states=all; stop_slurm'
shown=(err)

"$RADDLE" cc -O1 -g -pthread "$ROOT/test/prog/classify/newcomers.c" -o prog 2>err || fail 'the program was not built'
classes() {
	jq -c '[.findings[] | [.id, .class, .consequence, (.witnesses | length)]] | sort' "$1"
}

"$RADDLE" check -q --no-classify -o found -- ./prog deposit >/dev/null 2>err </dev/null
[ "$(jq '[.findings[] | select(.status == "confirmed")] | length' found/findings.json)" = 2 ] || fail 'there are not two races'
"$RADDLE" classify -q -o here --json here.json found/findings.json </dev/null >/dev/null 2>err
[ $? = 1 ] || complain "here: status $?"
"$RADDLE" classify -q -o there --json there.json --executor slurm --shards 2 found/findings.json </dev/null >/dev/null 2>err
[ $? = 1 ] || complain "on the cluster: status $?"
[ "$(classes here.json)" = "$(classes there.json)" ] || complain "$(classes there.json) instead of $(classes here.json)"
[ -s there/part.0.json ] && [ -s there/part.1.json ] || complain 'not both shards have written'
witness=$(jq -r '.findings[0].witnesses[0].schedule' there.json)
"$RADDLE" replay -q "$witness" -- ./prog deposit >/dev/null 2>err </dev/null
[ $? = 1 ] || complain 'a witness of the cluster cannot be replayed'

# Races that are named by places are found by the shards.  If a race does not exist, it is reported
# as missing.
line=$(grep -n 'balance = now;' "$ROOT/test/prog/classify/newcomers.c" | cut -d: -f1)
"$RADDLE" classify -q -o places --json places.json --executor slurm --race "newcomers.c:$line,newcomers.c:$line" -- ./prog deposit </dev/null >/dev/null 2>err
[ "$(jq -r '.findings[].class' places.json)" = output-differs ] || complain "--race: $(jq -c '.findings[].class' places.json)"
got=0
"$RADDLE" classify -q -o nothing --executor slurm --race newcomers.c:1,newcomers.c:2 -- ./prog deposit </dev/null >/dev/null 2>err || got=$?
[ $got = 2 ] || complain "nothing there: status $got"

# Findings of another program are refused, by the shards as well.
"$RADDLE" cc -O1 -g -pthread "$ROOT/test/prog/classify/load.c" -o other 2>err || fail 'the other program was not built'
got=0
"$RADDLE" classify -q -o misfit --executor slurm --shards 2 found/findings.json -- ./other slow </dev/null >/dev/null 2>err || got=$?
[ $got = 2 ] || complain "findings of another program: status $got"

# A shard can be run by hand, and wrong options are refused.
"$RADDLE" classify --resume there --shard 0/2 </dev/null >/dev/null 2>err || complain "a shard: status $?"
for wrong in "--resume there" "--resume there --shard 2/2" "--executor slurm found/findings.json" "--shards 2 found/findings.json"; do
	got=0
	"$RADDLE" classify -q $wrong </dev/null >/dev/null 2>err || got=$?
	[ $got = 2 ] || complain "classify $wrong: status $got"
done
verdict
