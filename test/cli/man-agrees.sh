# Every command has a man page that names exactly the options of its table and shows an example.
# The page is well-formed.
. "$ROOT/test/lib.sh"

man=$ROOT/doc/man

# options_of_page FILE: prints the options of a page in the form of --list-options.
options_of_page() {
	sed -n 's/^\.It Fl /Fl /p' "$1" | sed -E -e 's/ Ns Op = Ns Ar (.*)/[=\1]/' -e 's/ Ns = Ns Ar /=/g' -e 's/ , / /g' -e 's/Fl -/--/g' -e 's/Fl /-/g' | sort
}

check_page() {
	local page=$1
	mandoc -T lint -W warning "$page" >lint || complain "$(cat lint)"
	grep -q '^\.Sh EXAMPLES' "$page" || complain "$page: no example"
}

commands=$("$RADDLE" --list-commands)
[ -n "$commands" ] || complain "raddle lists no commands"
check_page "$man/raddle.1"
for command in $commands; do
	grep -Eq "^\.It Cm (.* , )?$command( |$)" "$man/raddle.1" || complain "raddle.1 does not name $command"
	case $command in
	help | version) continue ;;
	c++) grep -q 'raddle-c++' "$man/raddle-cc.1" || complain "raddle-cc.1 does not name raddle-c++"; continue ;;
	esac
	page=$man/raddle-$command.1
	if [ ! -f "$page" ]; then
		complain "no man page for $command"
		continue
	fi
	check_page "$page"
	[ "$command" = cc ] && continue
	"$RADDLE" "$command" --list-options | sort >table
	options_of_page "$page" >page
	diff -u table page >difference || complain "$command: the option table (-) and the man page (+) differ: $(cat difference)"
	"$RADDLE" "$command" --help | grep -q '^example:' || complain "raddle $command --help shows no example"
done

for page in "$man"/raddle-*.1; do
	command=$(basename "$page" .1)
	grep -qx "${command#raddle-}" <<<"$commands" || complain "$page: there is no such command"
done
verdict
