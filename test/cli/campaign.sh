# Results of campaigns: text, JSON and page of finished and of damaged campaigns.
# sanitizers: yes, reads campaigns and writes their pages
set -eu

line() { # run fault outcome deviation
	printf '{"run":%d,"fault":"%s","thread":"T_0","site":7,"where":"a.c:3:1 main","opcode":"load","instance":1,"action":"flip","mask":"0x1","bit":0,"fired":true,"before":"0x0","after":"0x1","outcome":"%s","signal":null,"exit":0,"place":null,"deviation":"%s","deviation_at":null,"deviation_thread":null,"records":10,"cpu_ms":1.5,"wall_ms":2,"diff":null}\n' "$@"
}
make_campaign() {
	mkdir -p "$1"
	echo "{\"program\":\"./$1\",\"argv\":[\"./$1\",\"10\"],\"kinds\":[\"BitFlip\"],\"runs_per_kind\":${2:-9},\"forced\":${3:-false}}" >"$1/campaign.json"
	for i in 1 2 3 4; do line $i BitFlip sdc data; done >"$1/log"
	for i in 4 5 6 7 8 9; do line $i BitFlip masked none; done >"$1/log.1"
}
make_campaign one
make_campaign two 20 true

# Run 4 is in both logs, but counts once.
"$RADDLE" campaign one >text
grep -q '^./one 10$' text
grep -q '^9 runs, 9 with their fault activated' text
grep -Eq '^BitFlip +sdc +4 +44\.4 \[13\.7, +78\.8\] +0\.0 \[ 0\.0, +60\.2\]$' text
grep -Eq '^BitFlip +\|={20} +\| +44\.4 \[13\.7, +78\.8\]$' text
[ "$(awk 'length > 80' text)" = '' ]

"$RADDLE" campaign --json one two >json
jq -e '.version == 1 and (.campaigns | length) == 2 and .campaigns[1].program == "two"' json >/dev/null
jq -e '.campaigns[0].faults[0] | .fault == "BitFlip" and .runs == 9 and .coverage.hits == 4 and
	.outcomes.masked.mpfnr.value == 1 and .outcomes.crash.mpfnr.value == null' json >/dev/null

"$RADDLE" campaign one --html page two >both
grep -q '^./two 10$' both
grep -q '^9 of 20 runs, 9 with their fault activated' both
[ "$(grep -c 'runs without a fault failed or differed' both)" = 1 ]
grep -q '<!DOCTYPE html>' page
"$RADDLE" campaign --html - one | cmp -s - page && exit 1
"$RADDLE" campaign --html - one two | cmp - page

# The table is in the format of RFC 4180, with one share per row.
"$RADDLE" campaign --csv table.csv one two >/dev/null
[ "$(head -1 table.csv)" = $'campaign,program,by,name,file,line,fault,measure,hits,runs,share,low,high,interval\r' ]
grep -q $'^one,one,campaign,,,,BitFlip,sdc,4,9,0.444444444,0.136995662,0.787991493,clopper-pearson\r$' table.csv
grep -q $'^two,two,line,a.c:3,,3,all,harm,4,9,' table.csv
[ "$(awk -F, 'NF != 14' table.csv)" = '' ]

# Two equal campaigns do not differ. 40 of 40 corruptions differ from 4 of 9.
"$RADDLE" campaign --against one two >same
grep -q '^0 of [0-9]* shares differ' same
mkdir worse
cp one/campaign.json worse
for i in $(seq 40); do line $i BitFlip sdc data; done >worse/log
status=0
"$RADDLE" campaign --against one --json=against.json --csv against.csv --html against.html worse >text || status=$?
[ $status = 1 ]
grep -Eq '^BitFlip +sdc +44\.4 100\.0 +\+55\.6 \[ \+25\.4, \+81\.1\] .* \*$' text
[ "$(awk 'length > 80' text)" = '' ]
jq -e '.against | .same_mix and .differ > 0 and (.comparisons[] | select(.by == "campaign" and .measure == "sdc") |
	.differs and .p < 0.001 and .p_holm >= .p and .test == "fisher" and .low > 0 and .high < 1)' against.json >/dev/null
[ "$(awk -F, 'NF != 21' against.csv)" = '' ]
grep -q 'Against one' against.html

# An incomplete line at the end of a log, and one to which another line was appended.
line 10 BitFlip crash address | head -c 100 >>one/log.1
line 11 BitFlip crash address | head -c 100 >>one/log
line 12 BitFlip crash address >>one/log
"$RADDLE" campaign one >text 2>notes
grep -q 'one/log.1: the last line is incomplete and is skipped' notes
grep -q 'one/log:5 is skipped: not a JSON object' notes
grep -q '^9 runs' text
grep -q '^2 lines of the log are incomplete or damaged' text

fails() { # message command...
	local expected=$1 status=0
	shift
	"$RADDLE" campaign "$@" >out 2>err || status=$?
	[ $status = 2 ] && grep -q "$expected" err && [ "$(wc -l <err)" = 1 ] && return
	echo "campaign $*: status $status"
	cat err
	exit 1
}
fails 'which directory'
fails 'absent/campaign.json' absent
fails 'it contains no log' "$(mkdir -p empty && echo '{}' >empty/campaign.json && echo empty)"
fails 'not a JSON object' "$(mkdir -p bad && echo 'x' >bad/campaign.json && echo bad)"
fails 'only one document' --json --html - one
fails 'only one document' --json --csv - one
fails 'exactly one other campaign' --against one one two
fails 'absent/campaign.json' --against absent two
fails "no run has a fault 'Other'" --fault BitFlip,Other two
mkdir none && cp one/campaign.json none && : >none/log
fails 'none: it has no runs' --against none two
mkdir other && cp one/campaign.json other && line 1 InvalPtr sdc data >other/log
fails 'no kind of fault in common' --against other two
"$RADDLE" campaign none | grep -q '^0 of 9 runs'
fails 'cannot write absent/page' --html absent/page two
