# raddle doctor: the report fits the screen, the JSON has the same content, the exit status depends
# on required items only, and a removed item is reported as missing.
# sanitizers: yes, runs doctor/
set -eu

"$RADDLE" doctor >text || [ $? = 2 ]
"$RADDLE" doctor --json >json || [ $? = 2 ]

if awk 'length($0) > 80' text | grep -v / | grep .; then
	echo "lines longer than 80 columns"
	exit 1
fi

# Every item of the JSON is a line of the text, with the same status.
jq -r '.items[] | "\(.status) \(.name)"' json | while read -r status name; do
	grep -q "^$status *$name " text || { echo "the text lacks: $status $name"; exit 1; }
done
[ "$(jq '.items | length' json)" -ge 15 ]
jq -e '.version == 1 and (.items | all(.status == "ok" or .means != null))' json >/dev/null

# In the build tree of a test, everything that is needed exists.
jq -e '.ready' json >/dev/null || { echo "not ready:"; cat text; exit 1; }
"$RADDLE" doctor >/dev/null

# Without a compiler in PATH, Raddle is not ready, and the advice names the package.
mkdir empty
status=0
PATH=$PWD/empty "$RADDLE" doctor --json >json || status=$?
[ $status = 2 ]
jq -e '.ready == false' json >/dev/null
jq -e '.items[] | select(.name == "compiler") | .status == "missing" and (.advice | contains("clang-19")) and (.means | contains("other versions of LLVM"))' json >/dev/null
jq -e '.items[] | select(.name == "linkers") | .status == "missing"' json >/dev/null

# The cache directory cannot be made.
status=0
RADDLE_CACHE=/proc/nowhere "$RADDLE" doctor --json >json || status=$?
[ $status = 2 ]
jq -e '.items[] | select(.name == "cache") | .status == "missing"' json >/dev/null

# Resource limits are noticed.
(
	ulimit -f 20000
	"$RADDLE" doctor --json >json
)
jq -e '.items[] | select(.name == "limits") | .status == "limited"' json >/dev/null

# Wrong arguments are refused.
status=0
"$RADDLE" doctor surplus 2>err || status=$?
[ $status = 2 ]
grep -q surplus err
