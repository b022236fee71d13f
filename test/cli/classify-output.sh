# What a program writes to files and sends as datagrams is output, too.
. "$ROOT/test/lib.sh"
shown=(err)

programs="appended-log.c metrics-datagram.c"
[ -z "${RADDLE_LONG-}" ] || programs=$(cd "$ROOT/test/prog/output" && ls)
for program in $programs; do
	has_classes "$ROOT/test/prog/output/$program"
done

# The report names the file and its line.
has_classes "$ROOT/test/prog/output/results-file.c"
grep -q 'line 2 of results.txt is \\"best [47]0\\"; with ' found/findings.json ||
	complain "no note names results.txt: $(jq -c '.findings[].notes' found/findings.json)"

verdict
