# SPDX-License-Identifier: Apache-2.0
# Fish completion for raddle.  Commands and options are queried from raddle itself, so there is no
# list here that could become outdated.

function __raddle_options
    set -l command (commandline -opc)[2]
    contains -- $command cc c++; and return
    raddle $command --list-options 2>/dev/null | string split ' ' | string replace -r '\[=.*' '' | string replace -r '=.*' '='
end

function __raddle_wants_command
    set -l words (commandline -opc)
    test (count $words) -eq 1; or test "$words[2]" = help
end

complete -c raddle -n __raddle_wants_command -f -a '(raddle --list-commands 2>/dev/null)'
complete -c raddle -n 'not __raddle_wants_command; and string match -q -- "-*" (commandline -ct)' -f -a '(__raddle_options)'
