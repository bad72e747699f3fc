# SPDX-License-Identifier: GPL-2.0-or-later
"""Every text that the program can log at level warning or error, collected from its C sources.

A text is normalised to what people see: what a conversion such as %s prints is "…". Most texts are those of nfd_log().
The rest begins elsewhere and is passed on to it: faults of the daemon and of its outputs, errors (struct nfd_error)
that become faults, notes of the helper.
"""

import re
from typing import NamedTuple

SERIOUS = ("NFD_LOG_WARNING", "NFD_LOG_ERROR")


class Sink(NamedTuple):
    """A function that takes a text. level: position of its level, None where every text of it can get into a serious
    line; text: position of its text; id: positions of the two parts of a fault's id; form: what it puts around the
    text; first: its first argument is one of these, if any are given."""

    level: int
    text: int
    id: tuple = ()
    form: str = "{}"
    first: tuple = ()


SINKS = {
    "nfd_log": Sink(0, 1),
    "nfd_daemon_fault": Sink(1, 4, (2, 3)),
    "add_fault": Sink(1, 4, (2, 3)),  # output/node_view.c
    "set_fault": Sink(1, 3, (2,)),  # output/node_feature_output.c
    "log_error": Sink(None, 1),  # cmd/cmd_publish.c
    "add_note": Sink(None, 1, form="{}: …"),  # api/action_node_feature.c
    "nfd_scan_doubt": Sink(None, 2),
    "nfd_scan_unknown": Sink(None, 2),
    "nfd_gfd_lose": Sink(None, 2),
    "note_unknown": Sink(None, 2),
    "nfd_error_set": Sink(None, 2),
    "nfd_error_wrap": Sink(None, 1, form="{}: …"),
    "nfd_api_error_set": Sink(None, 3),
    "snprintf": Sink(None, 2, first=("reason", "ret->text", "view->failure")),
}
# Sinks that are another in each file: short forms, and buffers that become a reason.
OWN = {
    "base/atomic_file.c": {"fail": Sink(None, 1, form='cannot {} "…/…": …')},
    "api/kubeconfig.c": {"fail": Sink(None, 2, form='kubeconfig "…": {}')},
    "api/exec_plugin.c": {"fail": Sink(None, 3, form='credential plugin "…": {}')},
    "scan/nvidia_report.c": {
        "sick": Sink(None, 1, form="NVML: {}…"),
        "snprintf": Sink(None, 2, first=("ret->why",)),
    },
    "scan/nvidia_vgpu.c": {"snprintf": Sink(None, 2, first=("why",))},
}
# Files whose errors are never a line of their own, but the words after "nfd-source: " for a wrong usage, or the field
# error= or why= of a line that is in here, or stand behind a text that is.
NEVER_A_LINE = ("settings", "labels/", "watch/", "doctor/", "scan/pci_library.c", "scan/gfd_config.c",
                "scan/source.c", "base/yaml_tree.c", "base/landlock.c", "base/call_filter.c")
# Calls of nfd_log() with a text from elsewhere: an error, or the text that log_error() is given.
PASSED_ON = {"cli.c: nfd_error_text(&err)", "cmd/cmd_doctor.c: nfd_error_text(&err)", "cmd/cmd_publish.c: what"}

CONVERSION = re.compile(r"%[-+ #0]*[0-9*]*(?:\.[0-9*]+)?(?:hh|h|ll|l|z|j)?[a-zA-Z]")
TOKEN = re.compile(r'"((?:\\.|[^"\\])*)"|(\w+)|(\S)', re.S)


def find_calls(source, name):
    """The arguments of each call of a function, as lists of C text."""
    for match in re.finditer(rf"(?<![\w.>]){name}\(", source):
        depth, argument, arguments = 1, "", []
        for token in re.finditer(r'"(?:\\.|[^"\\])*"|.', source[match.end() :], re.S):
            depth += {"(": 1, "{": 1, ")": -1, "}": -1}.get(token[0], 0)
            if depth == 0:
                break
            if depth == 1 and token[0] == ",":
                arguments.append(argument.strip())
                argument = ""
            else:
                argument += token[0]
        yield [*arguments, argument.strip()]


def branches(argument):
    """The branches of a conditional expression, of any other the expression itself, without text in quotes lost."""
    parts = re.findall(r'(?:"(?:\\.|[^"\\])*"|[^"?:])+', argument)
    return parts[1:] if "?" in re.sub(r'"(?:\\.|[^"\\])*"', "", argument) else parts


def literal(expression, macros):
    """The text of string literals beside each other, macros among them resolved; None when there is something else."""
    text = ""
    for string, word, other in TOKEN.findall(expression):
        if other or word and word not in macros:
            return None
        text += macros[word] if word else string
    return text.encode().decode("unicode_escape") if expression else None


def normalise(text):
    """What people see of a format."""
    return re.sub("…+", "…", CONVERSION.sub("…", text).replace("%%", "%"))


def is_serious(level):
    """Whether an expression can be a serious level."""
    return any(word in level for word in SERIOUS)


def texts_of(sink, arguments, macros):
    """The texts that a call can bring into a serious line."""
    if len(arguments) <= sink.text or sink.first and arguments[0] not in sink.first:
        return
    level = SERIOUS[0] if sink.level is None else arguments[sink.level]
    # A text that is printed as it is.
    at = sink.text + (arguments[sink.text] == '"%s"' and len(arguments) > sink.text + 1)
    levels, texts = branches(level), branches(arguments[at])
    for number, part in enumerate(texts):
        text = literal(part.strip(), macros)
        if text and is_serious(levels[number] if len(levels) == len(texts) else level):
            seen = sink.form.format(normalise(text))
            if seen != "…":
                yield seen


def id_of(sink, arguments):
    """The id of the fault of a call: "" for an output's only one, None for one that is passed on."""
    parts = [literal(arguments[at], {}) if '"' in arguments[at] else None for at in sink.id]
    if parts[0] is None:
        return None
    return " ".join(["…" if part is None else part.strip() for part in parts if part != ""])


class Messages:
    """texts: each with its file; ids: of faults; passed_on: calls of nfd_log() with a text from elsewhere."""

    def __init__(self, folder):
        self.texts, self.ids, self.passed_on = {}, set(), set()
        sources = {path: path.read_text(encoding="utf-8") for path in sorted(folder.rglob("*.[ch]"))}
        macros = {}
        for source in sources.values():
            macros |= dict(re.findall(r'^#define (\w+) "(.*)"$', source, re.M))
        for path, source in sources.items():
            if path.suffix == ".c":
                self._take(path.relative_to(folder).as_posix(), re.sub(r"/\*.*?\*/", "", source, flags=re.S), macros)

    def _take(self, name, source, macros):
        """Add what is in one file."""
        sinks = {**SINKS, **OWN.get(name, {})}
        for function, sink in sinks.items():
            if function.startswith("nfd_error") and name.startswith(NEVER_A_LINE):
                continue
            for arguments in find_calls(source, function):
                found = list(texts_of(sink, arguments, macros))
                self.texts |= dict.fromkeys(found, name)
                if sink.level is None or not is_serious(arguments[sink.level]):
                    continue
                if sink.id:
                    self._add_id(function, id_of(sink, arguments))
                elif not found:
                    self.passed_on.add(f"{name}: {arguments[sink.text]}")

    def _add_id(self, function, fault):
        """Add the id of a fault; those of outputs have the output's name in front."""
        if fault is not None:
            self.ids.add(fault if function == "nfd_daemon_fault" else f"output … {fault}".strip())
