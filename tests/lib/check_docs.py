#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Help, man pages and completions name the same options of each verb, and nothing else.

usage: check_docs.py GPUPROF

Reads what `gpuprof help --as FORM` prints. An option is "-p --pid PID[,PID...]": its names, and
what its value is called ("" for a flag; completions show only whether there is a value).
"""
import re
import subprocess
import sys

GPUPROF = sys.argv[1]


def output(*args):
    return subprocess.run(args, capture_output=True, text=True, check=True).stdout


def from_help(verb):
    text = output(GPUPROF, *([verb] if verb else []), "--help")
    found = re.findall(r"^  (?:(-\w), )?(--[\w-]+)(?: (\S+))?  ", text, re.M)
    return {(letter, name): arg for letter, name, arg in found}


def from_man(verb):
    text = output(GPUPROF, "help", *([verb] if verb else []), "--as", "man")
    text = text.split(".SH OPTIONS")[1].split(".SH")[0].replace("\\-", "-")
    found = re.findall(r"^\.TP\n(?:\\fB(-\w)\\fR, )?\\fB(--[\w-]+)\\fR(?: \\fI(\S+)\\fR)?$", text, re.M)
    assert len(found) == text.count(".TP"), "an option that does not look like one"
    return {(letter, name): arg for letter, name, arg in found}


def from_bash(text, verb):
    """bash lists names alone: (names, those with a value)."""
    words = re.search(rf"^\t{verb or '-'}\) echo '(.*)' ;;$", text, re.M).group(1).split()
    values = text.split("_gpuprof_value()")[1].split("\n}\n")[0]
    with_value = {n for names in re.findall(r"^\t(-[^)]*)\)", values, re.M) for n in names.split(" | ")}
    return set(words), with_value & set(words)


def from_zsh(text, verb):
    block = text.split("_gpuprof_verb()")[1].split(f"\n\t{verb or '-'})\n")[1].split("\n\t\t;;")[0]
    found = {}
    for line in block.splitlines():
        match = re.match(r"\t\t\t(?:'\((-\w) --[\w-]+\)'\{-\w\+?,)?(--[\w-]+)(=?)\}?'\[(.*)\](:?)", line)
        if match:
            letter, name, equals, _, colon = match.groups(default="")
            assert bool(equals) == bool(colon), line
            found[letter, name] = bool(equals)
    return found


def from_fish(text, verb):
    found = {}
    for line in text.splitlines():
        match = re.match(r"complete -c gpuprof -n '__gpuprof_in ([^']*)'(?: -s (\w))? -l ([\w-]+) (-[xr])?", line)
        if match and (verb or "-") in match.group(1).split():
            letter = "-" + match.group(2) if match.group(2) else ""
            found[letter, "--" + match.group(3)] = bool(match.group(4))
    return found


def names(options):
    return {n for pair in options for n in pair if n}


def main():
    shells = {s: output(GPUPROF, "help", "--as", s) for s in ("bash", "zsh", "fish")}
    listed = output(GPUPROF, "help", "--as", "verbs").split()
    assert listed == re.findall(r"^  (\w+) +\S.*$", output(GPUPROF, "help").split("\n\n")[2], re.M), listed
    for verb in [""] + listed:
        want = from_help(verb)
        flags = {key: bool(arg) for key, arg in want.items()}
        assert want, f"{verb}: no options in its help"
        assert from_man(verb) == want, f"man page of '{verb}': {from_man(verb)} but help {want}"
        bash = names(want), names(k for k, arg in want.items() if arg)
        assert from_bash(shells["bash"], verb) == bash, f"bash: {verb}"
        assert from_zsh(shells["zsh"], verb) == flags, f"zsh: {verb}: {from_zsh(shells['zsh'], verb)}"
        assert from_fish(shells["fish"], verb) == flags, f"fish: {verb}"


main()
