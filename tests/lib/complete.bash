#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What bash offers for a line that ends where <TAB> was pressed, one a line.
#   complete.bash FILE WORD...    words as bash splits them ("--format = t"); the last may be ''
# shellcheck disable=SC1090,SC2034 # the file is given; the variables are its input
source "$1"
COMP_WORDS=(gpuprof "${@:2}")
COMP_CWORD=$(($# - 1))
_gpuprof
[ ${#COMPREPLY[@]} -eq 0 ] || printf '%s\n' "${COMPREPLY[@]}"
