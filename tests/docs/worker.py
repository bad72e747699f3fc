# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks of what the documents say of standing in for nfd-worker: its configuration key by key, its labels."""

import re
import tempfile
from pathlib import Path

from mktree import make_tree
from tables import MACHINES, PREFIX, TOP, program, same, settings

PAGE = TOP / "docs/nfd-worker-conf.md"

# Settings of these sections that no nfd-worker.conf has.
OWN = {"core.nodename", "sources.mode", "sources.nvidia.librarydir"}
# Defaults for which the page has words.
LONG = {"sources.cpu.cpuid.attributeblacklist": "NFD's", "core.sources": "notgiven"}
# nfd.md 6.1: a klog of nfd-worker v0.19.0 has these options.
KLOG = ("addDirHeader", "alsologtostderr", "alsologtostderrthreshold", "legacyStderrThresholdBehavior", "logBacktraceAt", "logDir",
        "logFile", "logFileMaxSize", "logtostderr", "oneOutput", "skipHeaders", "skipLogHeaders", "stderrthreshold", "v", "vmodule")

# A processor's folders with everything that gives a label; no machine has all of them.
PROCESSOR = """
file sys/bus/cpu/devices/cpu0/topology/thread_siblings_list 0,2
file sys/bus/cpu/devices/cpu0/topology/physical_package_id 0
file sys/devices/system/cpu/intel_pstate/status active
file sys/devices/system/cpu/intel_pstate/no_turbo 0
file sys/devices/system/cpu/cpufreq/policy0/affected_cpus 0
file sys/devices/system/cpu/cpufreq/policy0/scaling_governor powersave
file sys/devices/system/cpu/cpuidle/current_driver intel_idle
file sys/module/intel_idle/parameters/max_cstate 9
file sys/module/kvm_intel/parameters/tdx Y
file sys/module/kvm_amd/parameters/sev Y
file sys/module/kvm_amd/parameters/sev_es Y
file sys/module/kvm_amd/parameters/sev_snp Y
file sys/firmware/uv/prot_virt_host 1
file sys/devices/vio/ibm,compression-v1/nx_gzip_caps y
pci 0000:01:00.0 020000 15b3:1021
"""


def source_labels():
    """Keys without prefix of labels that standing in for nfd-worker gives on the machines recorded for that, and above."""
    texts = [path.read_text(encoding="utf-8") for path in sorted((MACHINES / "worker").glob("*.tree"))]
    found = set()
    with tempfile.TemporaryDirectory() as folder:
        for number, text in enumerate([*texts, PROCESSOR]):
            root = Path(folder) / str(number)
            make_tree(text, root)
            said = program("--root", root, "-q", "--set", "sources.mode=all",
                           "--set", f"outputs.featureFile.dir={folder}/features.d", "scan")
            found |= {line.partition("=")[0].removeprefix(PREFIX) for line in said.splitlines()}
    return found


def worker_keys(text):
    """{key in lower case: our default in the table or None} of the tables of the page; one row may have several keys."""
    found = {}
    for cell, default in re.findall(r"^\| (`[^|]*`) \| ([^|]*) \|", text, re.M):
        for key in re.findall(r"`([^`]+)`", cell):
            assert key.lower() not in found, f"{key} is there twice"
            found[key.lower()] = re.sub(r"[` ]", "", default)
    return found


def foreign_keys():
    """Keys of an nfd-worker.conf that the program passes over, from its table."""
    source = (TOP / "nfd-source/settings_table.c").read_text(encoding="utf-8")
    table = re.search(r"foreign_keys\[\] = \{(.*?)\};", source, re.S)[1]
    found = re.findall(r'"([^"]+)"', table)
    assert found, "no foreign keys"
    return found


def is_foreign(key):
    """Whether a key of an nfd-worker.conf is passed over."""
    return any(f"{key}.".lower().startswith(f"{each}.".lower()) for each in foreign_keys())


def check_worker_conf():
    """docs/nfd-worker-conf.md has every key of an nfd-worker.conf: those that are settings, with our defaults, and no others."""
    ours = {key.lower(): default for key, default in settings().items()}
    ours = {key: ours[key] for key in ours if key.startswith(("core.", "sources.")) and key not in OWN and
            not key.startswith("sources.vendor.")}
    foreign = [key.lower() for key in foreign_keys()]
    stated = worker_keys(PAGE.read_text(encoding="utf-8"))
    passed_over = {key for key in stated if is_foreign(key)}
    same("the page's settings:", stated.keys() - passed_over, ours)
    same("the page's keys that are passed over:", {".".join(key.split(".")[:2]) for key in passed_over}, foreign)
    same("the page's keys of klog:", {key.partition("klog.")[2] for key in passed_over if ".klog." in key},
         {each.lower() for each in KLOG})
    for key, default in ours.items():
        if key in stated and stated[key] != LONG.get(key, default or "none"):
            raise AssertionError(f"{key}: the page says default {stated[key]}, the program {default!r}")
