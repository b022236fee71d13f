# Races that another input makes harmful: the input is found, the class is that of the label, and
# the witness reproduces it with that input.
# sanitizers: yes, runs classify/, symbolic/ and solver/
. "$ROOT/test/lib.sh"
shown=(err)

# build PROGRAM
build() {
	"$RADDLE" cc -O1 -g -pthread "-DPROGRAM=$1" "$ROOT/test/prog/classify/inputs.c" -o "$1" 2>err || complain "$1: it cannot be built"
}
# with_input INPUT COMMAND...: runs the command with the input of the recorded run.  The name of the
# file is in $file.
with_input() {
	local how=${1%%:*} text=${1#*:}
	shift
	case $how in
	argv) "$@" "$text" </dev/null ;;
	stdin) echo "$text" >stdin.txt && "$@" <stdin.txt ;;
	file) mkdir -p data && echo "$text" >data/in.txt && "$@" data/in.txt </dev/null ;;
	env) LIMIT=$text "$@" </dev/null ;;
	esac
}
# classify_one PROGRAM INPUT [OPTION...]: classifies the races, and writes PROGRAM.json.
classify_one() {
	local program=$1 input=$2
	shift 2
	with_input "$input" "$RADDLE" check -q --no-classify -o "found/$program" -- "./$program" >/dev/null 2>err
	with_input "$input" "$RADDLE" classify -q -o "out/$program" --json "$program.json" "$@" "found/$program/findings.json" -- "./$program" >out.txt 2>err
	[ ! -s out.txt ] || complain "$program: something was written: $(cat out.txt)"
}
class_of() {
	jq -r '[.findings[] | select(.kind == "race") | (.class // "-") + " " + (.consequence // "-")] | sort | unique | join(",")' "$1.json"
}

programs="argv_above argv_word argv_row argv_chosen argv_skips argv_twice argv_behind argv_harmless argv_written stdin_letter stdin_summed file_above env_above"
[ -z "${RADDLE_LONG-}" ] || programs=$(sed '/^#/d; s/ .*//' "$ROOT/test/prog/classify/labels-input")
mkdir -p found out
for program in $programs; do
	read -r _ input wanted < <(grep "^$program " "$ROOT/test/prog/classify/labels-input")
	build "$program"
	# Only fast code has two copies of a loop.
	[ "$program" != stdin_summed ] || "$RADDLE" flavour --fast --flavour shadow "./$program" >/dev/null 2>err
	classify_one "$program" "$input"
	[ "$(class_of "$program")" = "$wanted" ] || complain "$program: $(class_of "$program") instead of $wanted: $(jq -c '.findings[].notes' "$program.json")"
	case $wanted in
	spec*)
		jq -e '.findings[0].witness.input | length == 1' "$program.json" >/dev/null || complain "$program: the witness has no input"
		with_input "$input" "$RADDLE" replay "out/$program/"*.witness.schedule -- "./$program" >/dev/null 2>err
		grep -q 'ended by signal' err || complain "$program: the witness does not show it again"
		;;
	esac
	case $input in
	file:*) [ "$(cat data/in.txt)" = "${input#file:}" ] || complain "$program: the user's file was changed" ;;
	esac
done

# An input with which the race is not reached is named.
jq -e '.findings[0].notes | any(test("^not examined: argv 1 [0-9]+: .*should reach its read of shared"))' argv_skips.json >/dev/null ||
	complain "not examined: $(jq -c '.findings[0].notes' argv_skips.json)"

# The inputs that were covered are described in words.  Then without this technique, and with inputs
# that the user names.
jq -e '.findings[0] | .input == null and .k >= 8 and ([.notes[] | select(test("^covered: .*number\\(argv\\[1\\]\\)"))] | length >= 2)' argv_harmless.json >/dev/null ||
	complain "covered: $(jq -c '.findings[0] | [.k, .notes]' argv_harmless.json)"
classify_one argv_above argv:5 --without paths
[ "$(class_of argv_above)" = "k-witness-harmless -" ] || complain "--without paths: $(class_of argv_above)"
classify_one argv_above argv:5 --sym env:NOTHING
[ "$(class_of argv_above)" = "k-witness-harmless -" ] || complain "--sym of something else: $(class_of argv_above)"
classify_one argv_above argv:5 --sym argv:1
[ "$(class_of argv_above)" = "spec-violated crash" ] || complain "--sym argv:1: $(class_of argv_above)"
classify_one argv_above argv:5 --paths 1
[ "$(class_of argv_above)" = "k-witness-harmless -" ] || complain "--paths 1: $(class_of argv_above)"
for wrong in --sym=argv --sym=nothing:1 --sym=argv:x --paths=none; do
	got=0
	"$RADDLE" classify -q "$wrong" found/argv_above/findings.json >/dev/null 2>err </dev/null || got=$?
	[ $got = 2 ] || complain "classify $wrong: status $got"
done
verdict
