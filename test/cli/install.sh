# make install puts a Raddle under DESTDIR that works anywhere, and make uninstall removes all of
# it.
set -eu

make -s -C "$ROOT" B="$BUILD" install DESTDIR="$PWD/stage" PREFIX=/opt/raddle >log 2>&1 || { cat log; exit 1; }

# If it is moved elsewhere, it still finds its parts.
mv stage/opt/raddle moved
PATH=$PWD/moved/bin:$PATH
[ "$(command -v raddle)" = "$PWD/moved/bin/raddle" ]
raddle doctor --json >doctor.json || { raddle doctor; exit 1; }
jq -e '.items[] | select(.name == "raddle-instr") | .found | contains("/moved/")' doctor.json >/dev/null

cat >hello.c <<'END'
#include <stdio.h>
int main(void) { return puts("hello") < 0; }
END
raddle-cc hello.c -o hello
[ "$(./hello)" = hello ]
raddle cc -c hello.c
raddle-c++ -x c++ hello.c -o hello++
[ "$(./hello++)" = hello ]

for page in moved/share/man/man1/*.1; do
	mandoc -T ascii "$page" >/dev/null
done

# Bash completes commands and options.
COMP_WORDS=(raddle "do") COMP_CWORD=1
. moved/share/bash-completion/completions/raddle
_raddle
[ "${COMPREPLY[*]}" = doctor ] || { echo "completed 'do' to ${COMPREPLY[*]}"; exit 1; }
COMP_WORDS=(raddle doctor --j) COMP_CWORD=2
_raddle
[ "${COMPREPLY[*]}" = --json ] || { echo "completed '--j' to ${COMPREPLY[*]}"; exit 1; }

# zsh and fish also complete them, if they are installed.  Functions of zsh print what would be
# offered.
if command -v fish >/dev/null; then
	fish --no-config -c '. moved/share/fish/vendor_completions.d/raddle.fish
		complete -C "raddle do"; complete -C "raddle doctor --j"; complete -C "raddle check --sar"' >offered
	[ "$(cat offered)" = "$(printf 'doctor\n--json\n--sarif=')" ] || { echo "fish offers $(cat offered)"; exit 1; }
fi
if command -v zsh >/dev/null; then
	cat >offer.zsh <<'END'
compadd() {
	local -a all
	[[ $1 == -S ]] && shift 2
	[[ $1 == -a ]] && all=(${(P)2}) || all=(${@:2})
	all=(${(M)all:#${words[CURRENT]}*})
	(( ! $#all )) || print -rl -- $all
}
_files() { print files }
fpath=($PWD/moved/share/zsh/site-functions)
autoload -U _raddle
for line in "raddle do" "raddle doctor --j" "raddle check --sar" "raddle check f"; do
	words=(${=line}) CURRENT=$#words
	_raddle
done
END
	zsh -f offer.zsh >offered
	[ "$(cat offered)" = "$(printf 'doctor\n--json\n--sarif=\nfiles')" ] || { echo "zsh offers $(cat offered)"; exit 1; }
fi

mv moved stage/opt/raddle
make -s -C "$ROOT" B="$BUILD" uninstall DESTDIR="$PWD/stage" PREFIX=/opt/raddle
left=$(find stage -type f -o -type l)
[ -z "$left" ] || { echo "uninstall left: $left"; exit 1; }
