#compdef raddle
# SPDX-License-Identifier: Apache-2.0
# Zsh completion for raddle.  Commands and options are queried from raddle itself, so there is no
# list here that could become outdated.

_raddle() {
	local command=${words[2]:-}
	local -a found
	if (( CURRENT == 2 )) || [[ $command == help ]]; then
		found=(${(f)"$(raddle --list-commands 2>/dev/null)"})
		compadd -a found
	elif [[ ${words[CURRENT]} == -* && $command != cc && $command != c++ ]]; then
		found=(${=$(raddle $command --list-options 2>/dev/null)})
		found=(${found/\[=*/})
		found=(${found/=*/=})
		compadd -S '' -- ${(M)found:#*=}
		compadd -- ${found:#*=}
	else
		_files
	fi
}

# Zsh runs this file at the first completion.  That defines the function, which must then be called.
_raddle "$@"
