# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks of what the pages for people tell them to type and to set."""

import re
import shlex
import tempfile
from pathlib import Path

from tables import TOP, commands, global_options, own_options, program, same, settings, variable_of
from worker import is_foreign

SPAN = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)
FOLDERS = "build-aux|completions|deploy|docs|features\\.d|hooks|tests"
UNITS = ("nfd-source", "nfd-source-standalone", "nfd-source-publish")


def pages():
    """(name, text) of what people read: the README, docs/ and the READMEs of deploy/."""
    for path in sorted([TOP / "README.md", *TOP.glob("docs/*.md"), *TOP.glob("deploy/**/*.md")]):
        yield str(path.relative_to(TOP)), path.read_text(encoding="utf-8")


def code(text):
    """What stands as code in a page: spans, and the lines of blocks, those with a \\ at their end joined."""
    yield from SPAN.findall(BLOCK.sub("", text))
    for _, block in BLOCK.findall(text):
        yield from block.replace("\\\n", " ").splitlines()


def check_pages_settings():
    """Each setting and variable that a page names is one, and values beside it are allowed.

    The chart's README is about values of the chart, of which some look like settings.
    """
    table = settings()
    groups = {key[: match.start()] for key in table for match in re.finditer(r"\.", key)}
    tops = "|".join({key.partition(".")[0] for key in table})
    key = re.compile(rf"(?<![\w./{{-])(?:{tops})(?:\.[A-Za-z]+)+(?![\w-])")
    variable, variables = re.compile(rf"\bNFD_SOURCE_(?:{tops.upper()})_[A-Z_]+"), {variable_of(each) for each in table}
    for name, text in pages():
        for part in () if name.startswith("deploy/helm/") else code(text):
            for match in key.finditer(part):
                assert match[0] in table or match[0] in groups or is_foreign(match[0]), f"{name}: there is no setting {match[0]}"
                value = re.match(r"(?:=|: )([\w,\[\]]+)", part[match.end() :])
                if value and match[0] in table:
                    program("--set", f"{match[0]}={value[1].strip('[]')}", "settings")
            same(f"{name}: variables", set(variable.findall(part)) - variables, ())


def check_pages_yaml():
    """Each YAML block of a page is a valid settings file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "nfd-source.yaml"
        for name, text in pages():
            for kind, block in BLOCK.findall(text):
                if kind == "yaml":
                    path.write_text(block, encoding="utf-8")
                    assert program("settings", "--check", path) is not None, name


def shell_words(line):
    """The words of a line of shell; none for what is no such line."""
    lexer = shlex.shlex(line.removeprefix("$ "), posix=True, punctuation_chars="();<>|&")
    lexer.whitespace_split = True
    try:
        return list(lexer)
    except ValueError:
        return []


def own_commands(line):
    """The words after nfd-source, for each place in a line of shell where it is the command."""
    words, start = shell_words(line), True
    for at, word in enumerate(words):
        if start and word.rpartition("/")[2] == "nfd-source" and at + 1 < len(words):
            rest = words[at + 1 :]
            end = next((i for i, each in enumerate(rest) if set(each) <= set("();<>|&")), len(rest))
            yield rest[:end]
        # After these comes a command, and so after another's "--".
        start = word in ("sudo", "--", "do", "then") or set(word) <= set("();|&") or start and "=" in word


def take_command_line(words):
    """An AssertionError unless the program has this command with these options."""
    options, table, left = global_options(), commands(), iter(words)
    operand, command = None, None
    for word in left:
        if word.startswith("-"):
            typed = word.partition("=")
            letter = typed[0] if typed[0].startswith("--") else typed[0][:2]
            match = [each for each in options if letter in (f"--{each[1]}", f"-{each[0]}")]
            assert match, f"no option {word}"
            if match[0][2] and not typed[1]:
                assert next(left, None), f"{word} without {match[0][2]}"
        elif command is None:
            assert word in table, f"no command {word}"
            command, operand = word, table[word]
            options = options + own_options(command)
        else:
            assert operand, f"{command} takes no {word}"
            operand = None


def check_pages_commands():
    """Each call of the program in a page is one that it takes, and each unit is ours."""
    count = 0
    for name, text in pages():
        for line in code(text):
            for words in own_commands(line):
                count += 1
                try:
                    take_command_line(words)
                except AssertionError as fault:
                    raise AssertionError(f"{name}: {line}: {fault}") from fault
            if re.match(r"(sudo )?(systemctl|journalctl|systemd-analyze) ", line):
                units = {re.sub(r"\.(service|timer)$", "", word) for word in re.findall(r"nfd-source[\w.-]*", line)}
                same(f"{name}: {line}: units", units - set(UNITS), ())
    assert count > 20, f"only {count} calls were found"


def check_pages_paths():
    """Each file of the tree that a page names is there."""
    path = re.compile(rf"(?<![\w./-])(?:{FOLDERS})/[\w./-]*\w")
    for name, text in pages():
        # features.d/ is NFD's folder too, and generated files may have a suffix.
        for found in {each for part in code(text) for each in path.findall(part) if each != "features.d/nfd-source"}:
            there = (TOP / found).exists() or (TOP / f"{found}.in").exists()
            assert there, f"{name}: there is no {found}"
