# Faults with known effects: memory at rest, operands, skipped instructions, stale pointers, delays,
# killed threads, exhausted resources, sizes; faults that the user describes; faults in optimised
# code.
# sanitizers: yes, runs each kind of fault
. "$ROOT/test/lib.sh"
"$RADDLE" cc -g -O1 -pthread -o kinds "$ROOT/test/prog/inject-kinds.c" || exit 1

shown=(err.txt)
# one PART EXPECTED OPTIONS...: makes a run, and expects this outcome and output.
one() {
	part=$1 expected=$2
	shift 2
	"$RADDLE" inject -q -f --golden 1 -o one "$@" -- ./kinds "$part" >out.txt 2>err.txt || { complain "$part $*"; return; }
	found=$(jq -r '[.outcome, .exit // .signal] | join(" ")' one/log)
	printed=$(cat one/runs/*/stdout.diff 2>/dev/null | grep '^+[^+]')
	[ "$found$printed" = "$expected" ] || complain "$part $*: $found$printed, not $expected"
}
one cell 'sdc 0+42 42' --fault MemFlip --function read_cell --instance 1 --bit 1
one cell 'sdc 0+42 40' --fault BitFlip --function read_cell --opcode load --instance 1 --bit 1
one store 'sdc 0+40' --fault NoInstr --function write_cell --opcode store
one pointer 'sdc 0+10 10 30' --fault StalePtr --function follow --instance 2
one pointer 'sdc 0+10 20 20' --fault NoInstr --function follow --opcode load --instance 3
one memory 'detected 7' --fault NoMemory --instance 1
one files 'detected 6' --fault NoFiles --seed 2 --line inject-kinds.c:"$(grep -n 'FILE \*one' "$ROOT/test/prog/inject-kinds.c" | cut -d: -f1)":14
one threads 'detected 4' --fault NoThreads --line inject-kinds.c:"$(grep -n 'pthread_create' "$ROOT/test/prog/inject-kinds.c" | tail -1 | cut -d: -f1)"
one threads 'masked 0' --fault Delay -t T_0_0
one line 'sdc 0+line abcdefghijklmnopqrstuvwxyz' --fault FileSize --seed 1

cat >model <<'END'
# what the built-in kinds do not have
fault Add     at load in read_cell do add 2 when always
fault Set     at value of add type i32 do set -1
fault Never   at load in read_cell do add 2 when chance 0.000000001 always
fault Second  at load in read_cell do set 9 when execution 2
fault Killed  at call of pthread_mutex_lock do kill when execution 1
fault Failing at call of pthread_create do fail 11 EAGAIN
fault Operand at operand of store argument 0 in write_cell type i32 do set 99
END
one cell 'sdc 0+42 42' --model model --fault Add --instance 1
one cell 'not-activated 0' --model model --fault Never --instance 1
one cell 'sdc 0+40 9' --model model --fault Second
one threads 'sdc 0+turns 1' --model model --fault Killed -t T_0_1
one threads 'detected 3' --model model --fault failing --line inject-kinds.c:"$(grep -n 'pthread_create' "$ROOT/test/prog/inject-kinds.c" | head -1 | cut -d: -f1)"
one store 'sdc 0+99' --model model --fault operand
# The campaign contains the fault models that the user described.
mv model gone
plan=$(jq -r .plan one/log)
rm one/log
"$RADDLE" inject -q --resume one 2>err.txt || complain "a campaign with faults of the user cannot be resumed"
[ "$(jq -r .plan one/log)" = "$plan" ] || complain "another fault after --resume"

for bad in 'fault' 'fault X at nowhere do flip' 'fault X at load do jump' 'fault X at call do flip' 'fault X at load do flip when chance 2' \
	'fault X at load do flip 1 2' 'fault BitFlip at load do flip' 'fault X at load do delay 3h' 'none' '# nothing' 'fault X at load do flip when once always'; do
	echo "$bad" >model
	"$RADDLE" inject --model model --fault X -- ./kinds cell >out.txt 2>err.txt
	[ $? = 2 ] && [ "$(grep -c '^raddle: ' err.txt)" = 1 ] || complain "took $bad: $(cat err.txt)"
done

# In optimised code the function is inlined, but faults still happen.
"$RADDLE" inject -q -n 4 --level optimised --fault BitFlip,SrcFlip -o optimised -- ./kinds threads 2>err.txt || complain "--level optimised"
[ "$(jq -s 'map(select(.fired)) | length' optimised/log)" = 8 ] || complain "faults in optimised code do not strike"
[ "$(jq -r .level optimised/campaign.json)" = optimised ] || complain "the campaign does not know its level"
"$RADDLE" inject -q --level high --fault BitFlip -- ./kinds cell 2>err.txt && complain "took --level high"
verdict
