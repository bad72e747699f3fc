#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compare what people read and install with the program's own tables.

    python3 tests/docs/check.py [NAME...]

Prints `ok NAME`, `FAIL NAME: why` or `skip NAME: why` for each check and at the end `N passed, N failed, N skipped`;
exit 1 when a check failed. NAMEs are parts of names of checks. Where mandoc, shellcheck or bash is missing, its checks
are skipped; under CI=true that is a failure. Without kubectl or systemd-analyze, which not every distribution packages,
the checks that use them as well make the rest of what they check, and say so. The program is $NFD_SOURCE_BIN, else
build/nfd-source/nfd-source.
"""

import sys

sys.dont_write_bytecode = True

# pylint: disable=wrong-import-position
import json
import os
import re
import subprocess
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "lib"), str(HERE)]
import deployments
import pages
import worker
from messages import PASSED_ON, Messages
from program import VENDOR_PREFIXES
from tables import (COMPLETION, PREFIX, PROGRAM, TOP, Skip, commands, global_options, machine, need, own_options,
                    program, run, same, settings, tree_files, variable_of, words_of)

EXPECTED = TOP / "tests/fixtures/expected"
EXAMPLES = ("amd-mi300", "server-h100-8", "server-l4", "server-mismatch")
MAN = {"command": TOP / "docs/nfd-source.1", "settings": TOP / "docs/nfd-source.yaml.5"}

# Files without an SPDX line, as paths or folders in the tree, each for a reason: the license itself; data that is
# compared byte by byte or fed to parsers; examples that are exactly what the program writes; files of the Debian package,
# and generated lists of checksums and modules, whose formats have no comments or are rewritten by their tools.
NO_SPDX = (
    "COPYING",
    "deploy/debian/changelog",
    "deploy/debian/source/format",
    "tests/fixtures/expected/",
    "tests/fuzz/corpus/",
    *(f"features.d/{name}" for name in EXAMPLES),
)
NO_SPDX_SUFFIXES = ("go.sum", "go.mod", ".json", ".tar", ".xz", ".png")

QUOTES = str.maketrans({"\\": ""})


def man_items(path, depth=1):
    """[(words of an .It line, text below it)] of the lists at a depth, in order."""
    items, level = [], 0
    # Where a long word may be broken is not part of it.
    for line in path.read_text(encoding="utf-8").replace("\\:", "").splitlines():
        if line.startswith(".Bl"):
            level += 1
        elif line.startswith(".El"):
            level -= 1
        if line.startswith(".It") and level == depth:
            items.append((line[4:], []))
        elif items and level >= depth:
            items[-1][1].append(line)
    return [(head.translate(QUOTES), "\n".join(body).translate(QUOTES)) for head, body in items]


def flags(text):
    """Options in a line of mdoc, as they are typed."""
    return {f"-{word}" for word in re.findall(r"\bFl (-?[A-Za-z][\w-]*)", text)}


def check_man_commands():
    """nfd-source(1) has every command, in the description and in the synopsis."""
    page = MAN["command"].read_text(encoding="utf-8")
    items = [head.split()[1] for head, _ in man_items(MAN["command"]) if head.startswith("Cm ")]
    same("the list of commands", items, commands())
    synopsis = page[page.index(".Sh SYNOPSIS") : page.index(".Sh DESCRIPTION")]
    same("the synopsis", re.findall(r"^\.Cm (\w+)", synopsis, re.M), commands())


def check_man_options():
    """nfd-source(1) has the options of each command and those of every command."""
    items = {head.split()[1]: body for head, body in man_items(MAN["command"]) if head.startswith("Cm ")}
    for command in commands():
        described = flags("\n".join(re.findall(r"^\.It (Fl .*)$", items[command], re.M)))
        same(f"{command}:", described, words_of(own_options(command)))
    described = flags("\n".join(head for head, _ in man_items(MAN["command"]) if head.startswith("Fl ")))
    same("options of every command:", described, words_of(global_options()))


def check_man_settings():
    """nfd-source.yaml(5) has every setting with its default and its variable."""
    entries = {head.split()[1]: body for head, body in man_items(MAN["settings"]) if head.startswith("Cm ") and "." in head}
    table = settings()
    same("the list of settings", entries, table)
    for key, default in table.items():
        body = entries[key].replace("\n", " ")
        stated = re.search(r"default (?:\.(?:Cm|Pa|Ev) (\S+)|(empty))", body)
        if not stated:
            raise AssertionError(f"{key}: no default")
        # The default of the node name is no constant.
        if key != "core.nodeName" and default != ("" if stated[2] else stated[1]):
            raise AssertionError(f"{key}: the page says default {stated[0]!r}, the program {default!r}")
        if f".Ev {variable_of(key)}" not in body:
            raise AssertionError(f"{key}: {variable_of(key)} is not named")


def check_doctor_rows():
    """docs/doctor.md has every row of doctor's table, and no other."""
    report = json.loads(program("doctor", "-o", "json", "--no-nvml", "--no-api"))
    text = (TOP / "docs/doctor.md").read_text(encoding="utf-8")
    stated = re.findall(r"^\| \w+ \| `(GPU-[A-Z0-9-]+)` \|", text, re.M)
    same("the table of rows", stated, [check["id"] for check in report["checks"]])


def table_words(text):
    """What stands in backticks in the first cells of the tables of a text."""
    return [word for cell in re.findall(r"^\| (`.*?`) \|", text, re.M) for word in re.findall(r"`([^`]+)`", cell)]


def check_messages():
    """docs/troubleshooting.md explains each line of level warning and above, and no other."""
    found = Messages(TOP / "nfd-source")
    before, rest = (TOP / "docs/troubleshooting.md").read_text(encoding="utf-8").split("\n## Faults by their id\n")
    faults, lines = rest.split("\n## ", 1)
    assert not table_words(before), "a message in front of the tables of messages"
    same("the ids of faults:", set(table_words(faults)) - {"fault="}, found.ids)
    same("the messages:", table_words(lines), found.texts)
    same("texts that are passed on to nfd_log() by", found.passed_on, PASSED_ON)


# What check_messages() must find in C sources, and what not.
SAMPLE = r"""
#define TOOL "helper"
static void see(void) {
	/* nfd_log(NFD_LOG_ERROR, "in a comment", NULL); */
	nfd_log(NFD_LOG_ERROR, "plain, \"quoted\" " "and joined", "key", value(a, b), NULL);
	nfd_log(bad ? NFD_LOG_WARNING : NFD_LOG_INFO, bad ? "the bad branch" : "the good branch", NULL);
	nfd_log(NFD_LOG_INFO, "no warning", NULL);
	nfd_log(NFD_LOG_WARNING, from_elsewhere(x), NULL);
	nfd_daemon_fault(daemon, NFD_LOG_ERROR, "kind ", name, "a fault of %s: %.200s");
	set_fault(state, NFD_LOG_WARNING, "", "an output's fault");
	nfd_error_set(err, -EIO, TOOL " ended with %d %%", status);
}
"""


def check_messages_sample():
    """Messages are found in each form that the sources have."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "sample.c").write_text(SAMPLE, encoding="utf-8")
        found = Messages(Path(folder))
    same("texts:", found.texts, {'plain, "quoted" and joined', "the bad branch", "a fault of …: …", "an output's fault",
                                 "helper ended with … %"})
    same("ids:", found.ids, {"kind …", "output …"})
    same("passed on:", found.passed_on, {"sample.c: from_elsewhere(x)"})


def refusal(key, value):
    """What the program says about a wrong value of a setting."""
    done = subprocess.run(
        [PROGRAM, "--config", "/dev/null", "--set", f"{key}={value}", "settings"],
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stderr if done.returncode == 2 else ""


def choices_of(key):
    """The words that a setting takes, from the program's own refusal; empty when it takes other things."""
    said = refusal(key, "no-such-word")
    # Where nothing is allowed too, it comes first.
    match = re.search(r'is not allowed; allowed: (?:"", )?([a-z_]+(?:, [a-z_]+)+)$', said.strip())
    return match[1].split(", ") if match else []


def check_man_choices():
    """nfd-source.yaml(5) and the completion have the words and ranges that the program allows."""
    entries = {head.split()[1]: body for head, body in man_items(MAN["settings"]) if head.startswith("Cm ") and "." in head}
    units = {"d": 86400, "day": 86400, "h": 3600, "hour": 3600, "m": 60, "s": 1, "second": 1}
    for key in settings():
        words = set(re.findall(r"[a-z_]+", " ".join(re.findall(r"^\.Cm (.*)$", entries[key], re.M))))
        if missing := set(choices_of(key)) - words:
            raise AssertionError(f"{key}: {', '.join(sorted(missing))} is not named")
        limits = re.search(r"allowed: (\d+)(h|m|s) to (\d+)(h|m|s)", refusal(key, "999999h"))
        if not limits:
            continue
        stated = re.search(r"Duration, (\d+)(?: (second)s?)? to (\d+) (day|hour)s?;", entries[key])
        if not stated:
            raise AssertionError(f"{key}: no range")
        allowed = int(limits[1]) * units[limits[2]], int(limits[3]) * units[limits[4]]
        if allowed != (int(stated[1]) * units[stated[2] or "second"], int(stated[3]) * units[stated[4]]):
            raise AssertionError(f"{key}: the page says {stated[0]!r}, the program {limits[0]!r}")


def check_man_lint():
    """The man pages are clean."""
    need("mandoc")
    said, code = run("mandoc", "-T", "lint", "-W", "warning", *MAN.values())
    assert code == 0 and not said, said


# Completion.

COMPLETE = r"""
source "$1"
shift
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_nfd_source
printf '%s\n' "${COMPREPLY[@]}"
"""


def complete(*words):
    """What bash would offer for a command line whose last word is being typed."""
    said, code = run("bash", "-c", COMPLETE, "bash", COMPLETION, "nfd-source", *words)
    assert code == 0, said
    return said.split()


def check_completion_syntax():
    """bash can read the completion, and it registers itself."""
    need("bash")
    said, code = run("bash", "-n", COMPLETION)
    assert code == 0, said
    said, code = run("bash", "-c", 'source "$1"; complete -p nfd-source', "bash", COMPLETION)
    assert code == 0 and "_nfd_source" in said, said


def check_completion_commands():
    """The completion offers every command."""
    need("bash")
    same("no word:", complete(""), commands())
    same("after global options:", complete("-v", "--root", "/host", "--set", "log.level", "=", "debug", ""), commands())
    same("help:", complete("help", ""), commands())
    same("s:", complete("s"), {name for name in commands() if name.startswith("s")})
    same("explain takes a key, which is not known:", complete("explain", ""), [])


def check_completion_options():
    """The completion offers the options of each command."""
    need("bash")
    everywhere = words_of(global_options())
    same("no command:", complete("-"), everywhere)
    for command in commands():
        same(f"{command}:", complete(command, "-"), everywhere | words_of(own_options(command)))
    same("options before the command:", complete("--node-name", "scan", "publish", "--d"), {"--dry-run"})


def check_completion_arguments():
    """The completion offers the arguments of options."""
    need("bash")
    for command in ("scan", "settings", "status"):
        stated = next(line for line in program("help", command).splitlines() if "--output" in line)
        forms = set(re.findall(r"[a-z-]+", stated.split("FORM", 1)[1])) - {"default", "or"}
        for typed in (("-o", ""), ("--output", ""), ("--output", "=", "")):
            same(f"{command} {' '.join(typed)}:", complete(command, *typed), forms)
    same("--log-format:", complete("--log-format", ""), {"text", "json"})
    same("--log-format=:", complete("--log-format", "="), {"text", "json"})
    same("--set:", complete("--set", ""), {f"{key}=" for key in settings()})
    for key in settings():
        same(f"--set {key}=:", complete("--set", key, "=", ""), choices_of(key) if not is_list(key) else [])
        same(f"--set {key}=, nothing typed:", complete("--set", key, "="), choices_of(key) if not is_list(key) else [])
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "folder").mkdir()
        (Path(folder) / "file").touch()
        both = {f"{folder}/folder", f"{folder}/file"}
        same("--root:", complete("--root", f"{folder}/"), {f"{folder}/folder"})
        same("--config:", complete("--config", f"{folder}/"), both)
        same("--kubeconfig:", complete("--kubeconfig", f"{folder}/"), both)
        same("settings --check:", complete("settings", "--check", f"{folder}/"), both)
        same("record -o:", complete("record", "-o", f"{folder}/"), both)


def is_list(key):
    """Whether a setting takes several words, which are not completed."""
    return key.endswith("deviceLabelFields") or key == "core.ownerRefs"


# README, labels, examples.


def check_readme_commands():
    """README's list of commands is the program's."""
    text = (TOP / "README.md").read_text(encoding="utf-8")
    part = text[text.index("## Commands") : text.index("## Labels")]
    listed = [word for row in re.findall(r"^\| (`.*?) \|", part, re.M) for word in re.findall(r"`([^`]+)`", row)]
    table = {name if not operand or operand[0] == "[" else f"{name} {operand}" for name, operand in commands().items()}
    same("the list", listed, table)


def check_readme_sample():
    """README's sample is what the program prints, and its quick facts about labels hold."""
    text = (TOP / "README.md").read_text(encoding="utf-8")
    name, sample = re.search(r"<!-- sample: (\S+) -->\n```\n\$ nfd-source scan -o table\n(.*?)```", text, re.S).groups()
    with tempfile.TemporaryDirectory() as folder:
        out = program("--root", machine(name, folder), "-q", "scan", "-o", "table")
    # Names come from this machine's pci.ids, which may be older, newer or missing.
    column = sample.split("\n")[0].index("DEVICE")
    found, stated = ([line[:column] if line[:4].isdigit() else line for line in text.splitlines()] for text in (out, sample))
    assert found == stated, f"the program prints:\n{out}"


def check_readme_doctor():
    """README's sample of doctor is how its output begins, but for the line that depends on who may make device nodes."""
    text = (TOP / "README.md").read_text(encoding="utf-8")
    name, sample = re.search(r"<!-- doctor sample: (\S+) -->\n```\n\$ nfd-source doctor\n(.*?)```", text, re.S).groups()
    with tempfile.TemporaryDirectory() as folder:
        out = program("--root", machine(name, folder), "-q", "doctor", "--no-nvml", "--no-api", expect=1)
    found = "".join(line for line in out.splitlines(keepends=True) if not line.startswith("chain: "))
    assert found.startswith(sample), f"the program prints:\n{out}"


def check_links():
    """Relative links in all Markdown files lead to files of the tree."""
    for path in tree_files():
        if path.suffix != ".md":
            continue
        for link in re.findall(r"\]\(([^)#]+)", path.read_text(encoding="utf-8")):
            if "://" not in link and not (path.parent / link).exists():
                raise AssertionError(f"{path.relative_to(TOP)}: no {link}")


ANYTHING = "[A-Za-z0-9_.-]+"


def documented_labels():
    """Regular expressions of the keys in docs/labels.md."""
    text = (TOP / "docs/labels.md").read_text(encoding="utf-8")
    places = {
        "vendor": "[0-9a-f]{4}",
        "device": "[0-9a-f]{4}",
        "fields": "[0-9a-z]+(?:_[0-9a-z]*)*",  # one that a device lacks is empty
        "module": "[a-z0-9_]+",
    }
    keys = []
    for row in re.findall(r"^\| (`[^|]*`) \|", text, re.M):
        for key in re.findall(r"`([^`]+)`", row):
            parts = re.split(r"<(\w+)>", key)
            pattern = (places.get(part, ANYTHING) if i % 2 else re.escape(part) for i, part in enumerate(parts))
            keys.append((key, "".join(pattern)))
    return keys


def without_golden(text):
    """Keys of docs/labels.md that no golden can have: their first source is NVML, settings, or the processor of this host."""
    rows = re.findall(r"^\| (`[^|]*`) \| [^|]* \| ([^|]*) \|", text, re.M)
    return {key for keys, source in rows if re.match("NVML|settings|the processor", source) for key in re.findall(r"`([^`]+)`", keys)}


def check_labels():
    """Every label of the goldens is in docs/labels.md, and every entry there is in some golden or nfd-worker's.

    Those without_golden() need not be.
    """
    documented = documented_labels()
    used, keys = set(), worker.source_labels()
    goldens = sorted(EXPECTED.glob("*/labels.txt"))
    assert goldens, "no goldens"
    for golden in goldens:
        for line in golden.read_text(encoding="utf-8").splitlines():
            key = line.split("=")[0]
            assert key.startswith((PREFIX, *VENDOR_PREFIXES)), f"{golden}: {key}"
            keys.add(key.removeprefix(PREFIX))
    for key in keys:
        matches = [entry for entry, pattern in documented if re.fullmatch(pattern, key)]
        assert matches, f"{key} is not in docs/labels.md"
        used |= set(matches)
    excused = without_golden((TOP / "docs/labels.md").read_text(encoding="utf-8"))
    same("docs/labels.md:", {entry for entry, _ in documented} - (excused - used), used)


def check_examples():
    """features.d is what its script makes."""
    with tempfile.TemporaryDirectory() as folder:
        said, code = run(TOP / "features.d/update.sh", folder, env={**os.environ, "NFD_SOURCE_BIN": PROGRAM})
        assert code == 0, said
        same("features.d", [path.name for path in (TOP / "features.d").iterdir()], {*EXAMPLES, "update.sh"})
        for name in EXAMPLES:
            made = (Path(folder) / name).read_bytes()
            assert made == (TOP / "features.d" / name).read_bytes(), f"{name} differs: run features.d/update.sh"
            golden = EXPECTED / name / "feature-file"
            lines = [line for line in golden.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
            assert made.decode().splitlines() == lines, f"{name} differs from its golden, the expiry line apart"


# The tree.


def check_spdx():
    """Every file has an SPDX line near its start."""
    wrong = []
    for path in tree_files():
        name = str(path.relative_to(TOP))
        if name.startswith(NO_SPDX) or name.endswith(NO_SPDX_SUFFIXES):
            continue
        start = path.read_bytes()[:1000].split(b"\n")[:4]
        if path.stat().st_size and not any(b"SPDX-License-Identifier: GPL-2.0-or-later" in line for line in start):
            wrong.append(name)
    assert not wrong, ", ".join(wrong)


def check_paths():
    """No file has the path of somebody's home folder."""
    home = re.compile(rb"/(?:home|Users)/(?!kubernetes/|linuxbrew/)[a-z][a-z0-9_-]*/|/r[o]ot/[.a-z]")
    wrong = [
        f"{path.relative_to(TOP)}: {match[0].decode()}"
        for path in tree_files()
        if (match := home.search(path.read_bytes())) and path != Path(__file__).resolve()
    ]
    assert not wrong, ", ".join(wrong)


def shell_scripts():
    """Files that a shell reads: by their first line, and the completion."""
    found = [COMPLETION]
    for path in tree_files():
        first = path.read_bytes()[:64].split(b"\n")[0]
        if re.match(rb"#!.*\b(sh|bash|dash)\b", first):
            found.append(path)
    return found


def check_shell():
    """Shell scripts are clean, and executable."""
    need("shellcheck")
    scripts = shell_scripts()
    said, code = run("shellcheck", *scripts)
    assert code == 0, said
    wrong = [str(path) for path in scripts if path != COMPLETION and not os.access(path, os.X_OK)]
    assert not wrong, f"not executable: {wrong}"


def check_syntax_check():
    """syntax-check finds breaches of each of its rules."""
    need("bash")
    breaches = {
        "banned function": ("base/a.c", '#include "config.h"\nint a(void)\n{\n\treturn atoi("1");\n}\n'),
        "base/ includes only": ("base/b.c", '#include "config.h"\n#include "labels/set.h"\n'),
        "labels/ includes only": ("labels/c.c", '#include "config.h"\n#include "scan/pci.h"\n'),
        "scan/ includes only": ("scan/d.c", '#include "config.h"\n#include "output/output.h"\n'),
        "output/ includes only": ("output/e.c", '#include "config.h"\n#include "scan/pci.h"\n'),
        "watch/ includes only": ("watch/f.c", '#include "config.h"\n#include "scan/pci.h"\n'),
        "do not know the settings": ("scan/g.c", '#include "config.h"\n#include "settings.h"\n'),
        "<pci/pci\\.h> is only for": ("scan/h.c", '#include "config.h"\n#include <pci/pci.h>\n'),
        "<yaml\\.h> is only for": ("cmd/i.c", '#include "config.h"\n#include <yaml.h>\n'),
        "<pcre2\\.h> is only for": ("labels/j.c", '#include "config.h"\n#include <pcre2.h>\n'),
        "<libudev\\.h> is only for": ("scan/k.c", '#include "config.h"\n#include <libudev.h>\n'),
        "<linux/seccomp\\.h> is only for": ("cmd/o.c", '#include "config.h"\n#include <linux/seccomp.h>\n'),
        "<curl/": ("cmd/l.c", '#include "config.h"\n#include <curl/curl.h>\n'),
        "a header has #pragma once": ("base/m.h", "int m(void);\n"),
        "the first line is the SPDX line": ("base/n.c", None),
    }
    for rule, (name, text) in breaches.items():
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "nfd-source" / name
            path.parent.mkdir(parents=True)
            path.write_text('#include "config.h"\n' if text is None else f"// SPDX-License-Identifier: GPL-2.0-or-later\n{text}")
            said, code = run(TOP / "build-aux/syntax-check", folder)
            assert code == 1 and rule in said and name in said, f"{rule}: not found in {name}: {said}"


def main():
    """Run the checks whose names have one of the words of the command line."""
    wanted = sys.argv[1:]
    counts = {"ok": 0, "FAIL": 0, "skip": 0}
    if not os.access(PROGRAM, os.X_OK):
        sys.exit(f"no program at {PROGRAM}: build it, or set NFD_SOURCE_BIN")
    checks = {name: check for place in (globals(), vars(pages), vars(deployments), vars(worker)) for name, check in place.items()
              if name.startswith("check_")}
    for name, check in checks.items():
        if wanted and not any(word in name for word in wanted):
            continue
        try:
            note = check()
            word, why = "ok", f" # {note}" if note else ""
        except Skip as reason:
            word, why = "skip", f": {reason}"
        except Exception as fault:  # pylint: disable=broad-except
            word, why = "FAIL", f": {type(fault).__name__}: {fault}"
        counts[word] += 1
        print(f"{word} {name[len('check_'):]}{why}", flush=True)
    print(f"{counts['ok']} passed, {counts['FAIL']} failed, {counts['skip']} skipped")
    return counts["FAIL"] > 0


if __name__ == "__main__":
    sys.exit(main())
