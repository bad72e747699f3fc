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
import shlex
import shutil
import subprocess
import tempfile
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TOP / "tests/lib"), str(TOP / "tests/docs")]
from messages import PASSED_ON, Messages
from mktree import make_tree

PROGRAM = os.environ.get("NFD_SOURCE_BIN") or str(TOP / "build/nfd-source/nfd-source")
MACHINES = TOP / "tests/fixtures/machines"
EXPECTED = TOP / "tests/fixtures/expected"
EXAMPLES = ("amd-mi300", "server-h100-8", "server-l4", "server-mismatch")
PREFIX = "feature.node.kubernetes.io/"
KUSTOMIZE = TOP / "deploy/kustomize"
BASE = KUSTOMIZE / "base"
COMPLETION = TOP / "completions/nfd-source"
MAN = {"command": TOP / "docs/nfd-source.1", "settings": TOP / "docs/nfd-source.yaml.5"}
CONFIGURE_SUBSTITUTES = ("@bindir@/nfd-source", "/bin/true")

# What each folder of deploy/kustomize that people apply makes, beside ServiceAccount, ConfigMap and DaemonSet: its
# namespace, whether it writes features.d (and is uid 0 for that), and the kinds of its other objects.
NFD_NAMESPACE = "node-feature-discovery"
NODE_RIGHTS, OBJECT_RIGHTS = ("ClusterRole", "ClusterRoleBinding"), ("Role", "RoleBinding")
DEPLOYMENTS = {
    "base": (NFD_NAMESPACE, True, ()),
    "overlays/with-nfd": (NFD_NAMESPACE, True, NODE_RIGHTS),
    "overlays/node-feature": (NFD_NAMESPACE, False, NODE_RIGHTS + OBJECT_RIGHTS),
    "overlays/standalone": ("nfd-source", False, NODE_RIGHTS + ("Namespace",)),
    "overlays/restricted": ("nfd-source", False, NODE_RIGHTS + ("Namespace",)),
}
# The rights of each component: API group, resource, verbs. Never more than an output uses.
RIGHTS = {
    "node-labels": {"/nodes: get patch", "/events: create"},
    "node-feature": {"nfd.k8s-sigs.io/nodefeatures: get create patch delete", "/pods: get"},
}

# Units without network look for no credentials; the other one is open in just these ways.
NO_API = "Environment=NFD_SOURCE_OUTPUTS_NODE_LABELS_MODE=off NFD_SOURCE_OUTPUTS_NODE_FEATURE_MODE=off"
SHUT = {"PrivateNetwork=yes", "IPAddressDeny=any", "RestrictAddressFamilies=none", "MemoryMax=64M", "TasksMax=4",
        # It starts doctor, which looks for device nodes and processes.
        "ProtectProc=invisible", "PrivateDevices=yes", "BindReadOnlyPaths=-/dev/dxg"}
OPEN = {"RestrictAddressFamilies=AF_NETLINK AF_UNIX AF_INET AF_INET6", "MemoryMax=256M", "TasksMax=64"}

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

# Keys of NFD's configuration that the documents name, beside those that are ours too.
NFD_KEYS = {"core.labelSources", "core.featureSources", "sources.local.hooksEnabled"}

# What a tarball has beside the tree: made by autoconf and automake.
GENERATED = (
    *("Makefile.in", "aclocal.m4", "config.h.in", "configure"),
    *(f"build-aux/{name}" for name in ("ar-lib", "compile", "depcomp", "install-sh", "missing", "test-driver")),
)


class Skip(Exception):
    """A check that cannot be made here."""


def run(*command, **options):
    """Output of a command, both streams together, and its exit code."""
    options.setdefault("cwd", TOP)
    done = subprocess.run(
        [str(part) for part in command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=120,
        check=False,
        **options,
    )
    return done.stdout, done.returncode


def program(*arguments, expect=0):
    """Standard output of the program, which must end with the expected exit code."""
    environment = {"PATH": os.environ.get("PATH", ""), "LC_ALL": "C.UTF-8"}
    done = subprocess.run(
        [PROGRAM, "--config", "/dev/null", *map(str, arguments)],
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    if done.returncode != expect:
        raise AssertionError(f"nfd-source {' '.join(map(str, arguments))} ended with {done.returncode}: {done.stderr}")
    return done.stdout


def need(tool):
    """Skip the check without a tool; under CI a missing tool is a failure."""
    if shutil.which(tool):
        return
    if os.environ.get("CI") == "true":
        raise AssertionError(f"{tool} is missing, and under CI nothing is skipped")
    raise Skip(f"no {tool}")


def same(what, found, expected):
    """Two sets of words must be equal."""
    found, expected = set(found), set(expected)
    wrong = []
    if expected - found:
        wrong.append("lacks " + ", ".join(sorted(expected - found)))
    if found - expected:
        wrong.append("has but should not " + ", ".join(sorted(found - expected)))
    if wrong:
        raise AssertionError(f"{what} {'; '.join(wrong)}")


def tree_files():
    """Every file of the tree that is in git or would be added; without git (a tarball) every file but those of builds."""
    if (TOP / ".git").exists() and shutil.which("git"):
        command = ["git", "-c", "safe.directory=*", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        names = subprocess.run(command, cwd=TOP, capture_output=True, text=True, check=True).stdout.split("\0")
        return sorted(TOP / name for name in set(names) if name and (TOP / name).is_file())
    found = []
    for folder, folders, names in os.walk(TOP):
        folders[:] = [name for name in folders if name == "build-aux" or not name.startswith(("build", "autom4te", "_"))]
        found += [Path(folder) / name for name in names]
    return sorted(path for path in found if path.is_file() and str(path.relative_to(TOP)) not in GENERATED)


# The program's tables.

OPTION = re.compile(r"^  (?:-(\w),|   ) --([\w-]+)(?: ([A-Z=]+))?(?:  +(.*))?$")
COMMAND = re.compile(r"^  ([a-z]+)(?: (\S+))?  +(.*)$")


def sections(text):
    """{title: [lines]} of a help text."""
    found, title = {}, None
    for line in text.splitlines():
        if line.endswith(":") and not line.startswith(" "):
            title = line[:-1]
            found[title] = []
        elif line.startswith("  ") and title:
            found[title].append(line)
        elif not line:
            title = None
    return found


def options_of(lines):
    """[(letter or None, name, argument or None)] of option lines of a help text."""
    matches = [OPTION.match(line) for line in lines]
    if not all(matches):
        raise AssertionError(f"cannot read this help text: {lines}")
    return [(match[1], match[2], match[3]) for match in matches]


def commands():
    """{command: operand or None}."""
    lines = sections(program("help"))["Commands"]
    return {match[1]: match[2] for match in map(COMMAND.match, lines)}


def global_options():
    """Options of every command."""
    return options_of(sections(program("help"))["Options of every command"])


def own_options(command):
    """Options of one command."""
    return options_of(sections(program("help", command)).get("Options of this command", []))


def words_of(options):
    """Options as they are typed: --output, -o."""
    return {f"--{name}" for _, name, _ in options} | {f"-{letter}" for letter, _, _ in options if letter}


def settings():
    """{key: default}."""
    found = {}
    for line in program("settings").splitlines():
        if line.startswith("# output "):
            continue
        key, rest = line.split(": ", 1)
        value, origin = rest.rsplit("  # ", 1)
        found[key] = value.strip()
    return found


# Man pages.

QUOTES = str.maketrans({"\\": ""})


def man_items(path, depth=1):
    """[(words of an .It line, text below it)] of the lists at a depth, in order."""
    items, level = [], 0
    for line in path.read_text(encoding="utf-8").splitlines():
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
    match = re.search(r"is not allowed; allowed: ([a-z_]+(?:, [a-z_]+)+)$", said.strip())
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
    return key.endswith("deviceLabelFields")


# README, labels, examples.


def check_readme_commands():
    """README's list of commands is the program's."""
    text = (TOP / "README.md").read_text(encoding="utf-8")
    part = text[text.index("## Commands") : text.index("## Labels")]
    listed = [word for row in re.findall(r"^\| (`.*?) \|", part, re.M) for word in re.findall(r"`([^`]+)`", row)]
    table = {name if not operand or operand[0] == "[" else f"{name} {operand}" for name, operand in commands().items()}
    same("the list", listed, table)


def machine(name, folder):
    """A made root of a fixture machine."""
    root = Path(folder) / name
    make_tree((MACHINES / f"{name}.tree").read_text(encoding="utf-8"), root)
    return root


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


# What the documents tell people to type and to set.

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


def variable_of(key):
    """The environment variable of a setting."""
    return "NFD_SOURCE_" + re.sub("[A-Z]", r"_\g<0>", key).replace(".", "_").upper()


def check_pages_settings():
    """Each setting and variable that a page names is one, and values beside it are allowed.

    The chart's README is about values of the chart, of which some look like settings.
    """
    table = settings()
    known = table | dict.fromkeys(NFD_KEYS)
    groups = {key[: match.start()] for key in table for match in re.finditer(r"\.", key)}
    tops = "|".join({key.partition(".")[0] for key in table})
    key = re.compile(rf"(?<![\w./{{-])(?:{tops})(?:\.[A-Za-z]+)+(?![\w-])")
    variable, variables = re.compile(rf"\bNFD_SOURCE_(?:{tops.upper()})_[A-Z_]+"), {variable_of(each) for each in table}
    for name, text in pages():
        for part in () if name.startswith("deploy/helm/") else code(text):
            for match in key.finditer(part):
                assert match[0] in known or match[0] in groups, f"{name}: there is no setting {match[0]}"
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


def documented_labels():
    """Regular expressions of the keys in docs/labels.md."""
    text = (TOP / "docs/labels.md").read_text(encoding="utf-8")
    places = {
        "vendor": "[0-9a-f]{4}",
        "device": "[0-9a-f]{4}",
        "fields": "[0-9a-z]+(?:_[0-9a-z]+)*",
        "module": "[a-z0-9_]+",
        "name": "[A-Za-z0-9_.-]+",
    }
    keys = []
    for row in re.findall(r"^\| (`[^|]*`) \|", text, re.M):
        for key in re.findall(r"`([^`]+)`", row):
            parts = re.split(r"<(\w+)>", key)
            keys.append((key, "".join(places[part] if i % 2 else re.escape(part) for i, part in enumerate(parts))))
    return keys


def check_labels():
    """Every label of the goldens is in docs/labels.md, and every entry there is in some golden."""
    documented = documented_labels()
    used = set()
    goldens = sorted(EXPECTED.glob("*/labels.txt"))
    assert goldens, "no goldens"
    for golden in goldens:
        for line in golden.read_text(encoding="utf-8").splitlines():
            key = line.split("=")[0]
            assert key.startswith(PREFIX), f"{golden}: {key}"
            matches = [entry for entry, pattern in documented if re.fullmatch(pattern, key[len(PREFIX) :])]
            assert matches, f"{key} is not in docs/labels.md"
            used |= set(matches)
    same("docs/labels.md:", {entry for entry, _ in documented}, used)


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


def unit_lines(name):
    """The lines of a unit's template that are no comments, and those of them from the first that shuts it in."""
    text = (TOP / "hooks" / f"{name}.service.in").read_text(encoding="utf-8")
    parts = text.split("\nProtectSystem=")
    whole, end = ([line for line in part.splitlines() if re.match("[A-Z]", line)] for part in (text, parts[1]))
    return set(whole), set(end)


def check_units():
    """The systemd units are valid, and all services are shut in the same way."""
    names = ("nfd-source-publish", "nfd-source", "nfd-source-standalone")
    templates = sorted((TOP / "hooks").glob("*.service.in"))
    same("hooks", [path.name for path in templates], {f"{name}.service.in" for name in names})
    (publish, shut), (daemon, ours), (standalone, open_) = map(unit_lines, names)
    wanted = "WantedBy=multi-user.target"
    same("the daemon's service", ours - shut, {"RestrictAddressFamilies=AF_NETLINK AF_UNIX", wanted})
    same("the service without NFD", open_ - shut, OPEN | {wanted})
    same("the service without NFD, not shut in by", shut - open_, SHUT)
    assert NO_API in publish & daemon
    same("the service without NFD, beside", standalone - open_ - daemon, {
        "Description=Hardware labels for this Kubernetes node, without NFD",
        "After=local-fs.target systemd-modules-load.service network-online.target kubelet.service",
        "Wants=network-online.target",
        "Conflicts=nfd-source.service",
        NO_API.replace("=off", "=fallback", 1),
    })
    if not shutil.which("systemd-analyze"):
        return "without systemd-analyze"
    with tempfile.TemporaryDirectory() as folder:
        for path in templates:
            text = path.read_text(encoding="utf-8").replace(*CONFIGURE_SUBSTITUTES)
            assert "@bindir" not in text
            (Path(folder) / path.name[:-3]).write_text(text, encoding="utf-8")
        shutil.copy(TOP / "hooks/nfd-source-publish.timer", folder)
        said, code = run("systemd-analyze", "verify", "--man=no", *sorted(Path(folder).iterdir()))
    assert code == 0 and not said, said
    return ""


def check_hook():
    """The hook prints the labels of a root, and ends with 0 also when there is nothing."""
    hook = TOP / "hooks/nfd-source-hook"
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "empty").mkdir()
        for root, wanted in ((machine("server-l4", folder), f"{PREFIX}pci-10de.present=true"), (Path(folder) / "empty", "")):
            done = subprocess.run(
                [str(hook)],
                env={**os.environ, "NFD_SOURCE": PROGRAM, "NFD_SOURCE_ROOT": str(root)},
                capture_output=True,
                text=True,
                check=False,
            )
            assert done.returncode == 0, done.stderr
            assert wanted in done.stdout, done.stdout
            for line in done.stdout.splitlines():
                assert line.startswith((PREFIX, "# +expiry-time=")), line


# deploy/


def check_kustomize_lines():
    """The DaemonSet is shut in as the documents say."""
    text = (BASE / "daemonset.yaml").read_text(encoding="utf-8")
    assert "\t" not in text
    for line in (
        "automountServiceAccountToken: false",
        "readOnlyRootFilesystem: true",
        "allowPrivilegeEscalation: false",
        'drop: ["ALL"]',
        "type: RuntimeDefault",
        "fieldPath: spec.nodeName",
        'args: ["--root", "/host", "run"]',
    ):
        assert re.search(rf"^\s*{re.escape(line)}$", text, re.M), f"no line {line!r}"
    for word in ("hostNetwork", "hostPID", "privileged: true", "type: FileOrCreate"):
        assert word not in re.sub(r"#.*", "", text), word
    mounts = re.findall(r"- name: (\S+)\n\s+mountPath: (\S+)\n(\s+readOnly: true)?", text)
    for name, path, read_only in mounts:
        assert bool(read_only) == (name not in ("features-d", "runtime")), f"{path}: read-only or not?"
    volumes = text[text.index("      volumes:") :]
    same("volumes", re.findall(r"^      - name: (\S+)$", volumes, re.M), {name for name, _, _ in mounts})
    made = re.findall(r"path: (\S+)\n\s+type: DirectoryOrCreate", volumes)
    same("folders made on the host:", made, {"/run/nvidia", "/etc/kubernetes/node-feature-discovery/features.d"})
    assert settings()["outputs.featureFile.dir"] in made
    written = [path for name, path, _ in mounts if name == "runtime"]
    assert str(Path(settings()["status.path"]).parent) in written


def check_kustomize_settings():
    """The settings of each ConfigMap are valid, and turn on no output that the pod has no rights for."""
    for folder, (_, writes, kinds) in DEPLOYMENTS.items():
        path = KUSTOMIZE / folder / "nfd-source.yaml"
        program("settings", "--check", path)
        modes = dict(re.findall(r"^  (\w+):\n    mode: \"?(\w+)", path.read_text(encoding="utf-8"), re.M))
        wanted = {
            "featureFile": "on" if writes else "off",
            "nodeFeature": "on" if "Role" in kinds else "off",
            "nodeLabels": "fallback" if "ClusterRole" in kinds else "off",
        }
        assert modes == wanted, f"{folder}: {modes}"


def check_kustomize_rights():
    """Each component has the rights that its output uses, and no other file has a rule."""
    rule = re.compile(r"- apiGroups: \[(.*)\]\n  resources: \[(.*)\]\n  verbs: \[(.*)\]\n")
    for path in KUSTOMIZE.rglob("*.yaml"):
        text = path.read_text(encoding="utf-8")
        found = [[" ".join(re.findall(r'"(.*?)"', part)) for part in match] for match in rule.findall(text)]
        assert len(found) == text.count("verbs:"), f"{path}: cannot read its rules"
        rights = RIGHTS[path.parent.name] if path.name == "rbac.yaml" else ()
        same(str(path.relative_to(TOP)), (f"{group}/{resource}: {verbs}" for group, resource, verbs in found), rights)


def check_kustomize_files():
    """Every file of a folder is used there, and the folders are the known ones."""
    for path in KUSTOMIZE.rglob("kustomization.yaml"):
        used = re.findall(r"^ *- (?:path: )?([\w-]+\.yaml)$", path.read_text(encoding="utf-8"), re.M)
        files = {file.name for file in path.parent.iterdir() if file.is_file()} - {"kustomization.yaml"}
        same(str(path.parent.relative_to(TOP)), used, files)
    folders = {str(path.parent.relative_to(KUSTOMIZE)) for path in KUSTOMIZE.rglob("kustomization.yaml")}
    same("deploy/kustomize", {name for name in folders if not name.startswith("components/")}, DEPLOYMENTS)


def check_kustomize_build():
    """kubectl can build each folder, and what comes out is shut in as the documents say."""
    if not shutil.which("kubectl"):
        return "without kubectl"
    for folder, (namespace, writes, kinds) in DEPLOYMENTS.items():
        said, code = run("kubectl", "kustomize", KUSTOMIZE / folder)
        assert code == 0, said
        pod = "true" if kinds else "false"
        everywhere = {"ServiceAccount", "ConfigMap", "DaemonSet"}
        same(f"{folder}: kinds", re.findall(r"^kind: (\w+)$", said, re.M), {*everywhere, *kinds})
        # Also those of the subjects of bindings.
        same(f"{folder}: namespaces", re.findall(r"^ +namespace: (\S+)$", said, re.M), {namespace})
        # In the ServiceAccount, which stands at the left, and in the pod.
        tokens = re.findall(r"^ *automountServiceAccountToken: \w+$", said, re.M)
        wanted = {f"{'':{indent}}automountServiceAccountToken: {value}" for indent, value in ((0, "false"), (6, pod))}
        same(f"{folder}: tokens", tokens, wanted)
        assert (settings()["outputs.featureFile.dir"] in said) == writes, f"{folder}: features.d"
        same(f"{folder}: uids", re.findall(r"runAsUser: (\d+)", said), {"0" if writes else "65534"})
        assert ("runAsNonRoot: true" in said) != writes, f"{folder}: runAsNonRoot"
        assert ("fieldPath: metadata.name" in said) == ("Role" in kinds), f"{folder}: POD_NAME"
    return ""


def check_rules():
    """The taints of deploy/nfd-rules are tolerated by our own pods, and the raw features of the rules are ours."""
    taints, features = set(), set()
    for path in (TOP / "deploy/nfd-rules").glob("*.yaml"):
        text = path.read_text(encoding="utf-8")
        taints |= set(re.findall(r"^ +- key: (\S+)$", text, re.M))
        features |= set(re.findall(r"^ +- feature: (\S+)$", text, re.M))
    assert taints, "no taint"
    for path in (BASE / "daemonset.yaml", TOP / "deploy/helm/nfd-source/values.yaml"):
        tolerated = re.findall(r"^ *- key: (\S+)$", path.read_text(encoding="utf-8"), re.M) if path.exists() else taints
        same(f"{path}: tolerations", taints & set(tolerated), taints)
    own = {name for path in (TOP / "nfd-source/scan").glob("*.c")
           for name in re.findall(r'"(nfd-source\.\w+)"', path.read_text(encoding="utf-8"))}
    # What nfd-worker makes of our file, what our pci feature is called without an nfd-worker, what a rule before found.
    same("features of rules", features - own, {"local.feature", "pci.device", "rule.matched"})
    text = (TOP / "deploy/nfd-rules/README.md").read_text(encoding="utf-8")
    same("deploy/nfd-rules/README.md: features", re.findall(r"`(nfd-source\.\w+)`", text), own)


def main():
    """Run the checks whose names have one of the words of the command line."""
    wanted = sys.argv[1:]
    counts = {"ok": 0, "FAIL": 0, "skip": 0}
    if not os.access(PROGRAM, os.X_OK):
        sys.exit(f"no program at {PROGRAM}: build it, or set NFD_SOURCE_BIN")
    for name, check in list(globals().items()):
        if not name.startswith("check_") or wanted and not any(word in name for word in wanted):
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
