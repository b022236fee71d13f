# SPDX-License-Identifier: Apache-2.0
# Bash completion for raddle.  Commands and options are queried from raddle itself, so there is no
# list here that could become outdated.

_raddle() {
	local cur=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]:-} words
	COMPREPLY=()
	if [ "$COMP_CWORD" -eq 1 ]; then
		words=$(raddle --list-commands 2>/dev/null)
	elif [ "$command" = help ]; then
		words=$(raddle --list-commands 2>/dev/null)
	elif [[ $cur == -* && $command != cc && $command != c++ ]]; then
		words=$(raddle "$command" --list-options 2>/dev/null | tr ' ' '\n' | sed -e 's/\[=.*//' -e 's/=.*/=/')
	fi
	if [ -n "${words:-}" ]; then
		mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
		[[ ${COMPREPLY[0]:-} == *= ]] && compopt -o nospace
	fi
	return 0
}
complete -o default -F _raddle raddle
