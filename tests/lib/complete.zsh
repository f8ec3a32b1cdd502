#!/bin/zsh -f
# SPDX-License-Identifier: BSD-3-Clause
# What becomes of a command line when <TAB> is pressed in a zsh on a terminal of its own.
#   complete.zsh DIR LINE      DIR holds _gpuprof; prints the line, completed
zmodload zsh/zpty
zpty shell "PS1= PS2= TERM=dumb zsh -f -i"
zpty -w shell "stty -echo; fpath=($1 \$fpath); autoload -U compinit; compinit -u -D"
# What is typed may be echoed before stty takes effect: it holds none of the words waited for.
zpty -w shell "show() { print -r -- \"<\"\"<<\$BUFFER>\"\">>\" }; zle -N show; bindkey '^X' show; echo REA''DY"
zpty -r -m shell out '*READY*'
zpty -n -w shell "$2"$'\t\x18'
zpty -r -m shell out '*<<<*>>>*'
out=${out##*<<<}
print -r -- "${out%%>>>*}"
