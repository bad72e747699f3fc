# SPDX-License-Identifier: GPL-2.0-or-later
"""An nfd-worker.conf has in nfd-worker's place the effect that it has with nfd-worker: the same labels and raw features.

Each file is given as it is to both programs, on a made root and on this very host, whose processor both see.
"""

import json
import os
import unittest

import chroot_worker
import program
import stand_in
from test_sources import MACHINES
from testcase import FEATURE, mktree

from worker_features import content, without_improvements  # tests/lib, which testcase puts on the path

# Hardware of two machines, and a kernel configuration at a place that only a setting names.
ROOT = "\n".join([*((MACHINES / name).read_text() for name in ("laptop.tree", "worker/server-numa.tree")), """
pci 0000:81:00.0 0b4000 8086:4940
pci 0000:82:00.0 120000 1da3:1020
pci 0000:83:00.0 020700 15b3:1021
file etc/kernel/this.config CONFIG_HZ=1000\\nCONFIG_PREEMPT=m\\nCONFIG_LOCALVERSION="-x"\\n# CONFIG_NO_HZ is not set
"""])

WHOLE = """
core:
  labelWhiteList:
  noPublish: False
  featureSources: [all]
  labelSources: [all]
  sleepInterval: 60s
  klog: {v: 1, logtostderr: true}
sources:
  cpu:
    cpuid:
      attributeBlacklist: [AVX2, SSE4]
      attributeWhitelist:
  kernel:
    kconfigFile: /etc/kernel/this.config
    configOpts: [HZ, LOCALVERSION]
  pci:
    deviceClassWhitelist: ["0200", "03"]
    deviceLabelFields: [class, vendor, device]
  usb:
    deviceClassWhitelist: ["0e"]
    deviceLabelFields: [vendor]
  custom: []
"""

FILES = {
    "nothing": "",
    "label sources": "core: {labelSources: [pci, usb, memory]}\n",
    "label sources, all but two": "core:\n  labelSources: [all, -kernel, -pci]\n",
    "label sources, the order counts": "core: {labelSources: [-pci, all, -usb]}\n",
    "label sources, none": "core: {labelSources: []}\n",
    "label source that needs others": "core: {labelSources: [custom]}\n",
    "label source cpu": "core: {labelSources: [cpu]}\n",
    "older key": "core: {sources: [kernel, network], labelSources: [all]}\n",
    "older key, none": "core: {sources: []}\n",
    "feature sources": "core: {featureSources: [all, -kernel, -system]}\n",
    "feature sources, one": "core: {featureSources: [pci]}\n",
    "feature sources, none": "core: {featureSources: []}\n",
    "features not published": "core: {noPublishFeatures: [kernel.config, 'memory.n*', pci.device, network.*]}\n",
    "features not published, none is so named": "core: {noPublishFeatures: [kernel, Memory.numa, 'm*y.numa', pci.dev]}\n",
    "features not published, each": "core: {noPublishFeatures: ['*']}\n",
    "both": "core: {featureSources: [cpu, usb], labelSources: [storage, system]}\n",
    "white list": "core: {labelWhiteList: '^(kernel|pci)-'}\n",
    "white list in the middle": "core: {labelWhiteList: 'os_release|AVX|sriov|capable'}\n",
    "flags without label": "sources: {cpu: {cpuid: {attributeBlacklist: [SSE2, AVX, FXSR]}}}\n",
    "no flag without label": "sources: {cpu: {cpuid: {attributeBlacklist: []}}}\n",
    "flags with label": "sources: {cpu: {cpuid: {attributeWhitelist: [SSE2, FXSR, avx]}}}\n",
    "flags in both lists": "sources: {cpu: {cpuid: {attributeBlacklist: [SSE2], attributeWhitelist: [SSE2]}}}\n",
    "kernel configuration": "sources: {kernel: {kconfigFile: /etc/kernel/this.config}}\n",
    "kernel configuration that is not there": "sources: {kernel: {kconfigFile: /etc/none}}\n",
    "kernel options": "sources: {kernel: {configOpts: [HZ, LOCALVERSION, PREEMPT, NO_SUCH]}}\n",
    "kernel options, none": "sources: {kernel: {configOpts: []}}\n",
    "pci classes": "sources: {pci: {deviceClassWhitelist: ['02', '0B4', '1200']}}\n",
    "pci classes, none": "sources: {pci: {deviceClassWhitelist: []}}\n",
    "pci classes, each": "sources: {pci: {deviceClassWhitelist: ['']}}\n",
    "pci fields": "sources: {pci: {deviceLabelFields: [subsystem_vendor, device, class]}}\n",
    "pci field": "sources: {pci: {deviceClassWhitelist: ['0'], deviceLabelFields: [vendor]}}\n",
    "usb classes": "sources: {usb: {deviceClassWhitelist: ['e0', '0E', '9'], deviceLabelFields: [class, device]}}\n",
    "usb serial": "sources: {usb: {deviceLabelFields: [serial, vendor]}}\n",
    "JSON": json.dumps({"core": {"labelSources": ["all", "-cpu"]}, "sources": {"pci": {"deviceLabelFields": ["device"]}}}),
    "keys in capitals": "Core: {LABELSOURCES: [pci]}\nSOURCES: {pci: {DeviceLabelFields: [device]}}\n",
    "most keys": WHOLE,
}

# Ours is wider: without a list in the file it gets NFD's.
NFD_CLASSES = "sources.pci.deviceClassWhitelist=03,0b40,12"
# Of a root that is not the host's we do not know the processor.
PROCESSOR = ("cpu-cpuid.", "cpu-model.", "cpu-security.", "cpu.cpuid", "cpu.model", "cpu.rdt", "cpu.security")


def without(found, names):
    """Labels and features without those whose name, for a label behind the prefix, begins with one of names."""
    return {
        "labels": {key: value for key, value in found["labels"].items() if not key.removeprefix(FEATURE).startswith(names)},
        "features": {kind: {name: each for name, each in features.items() if not name.startswith(names)}
                     for kind, features in found["features"].items()},
    }


class WorkerConf(stand_in.WorkerCase):
    """One comparison for each file."""

    def ours(self, root, text):
        """What our object in nfd-worker's place has with a file."""
        path = self.directory / "settings"
        path.write_text(text)
        settings = ["outputs.nodeFeature.mode=worker", "outputs.featureFile.mode=off"]
        if "pci: {deviceClass" not in text and text != WHOLE:
            settings.append(NFD_CLASSES)
        ours = program.Program(self.directory, self.directory / "features.d", chroot_worker.NODE, root, settings)
        objects = json.loads(ours.call("--config", path, "scan", "-o", "nodefeature"))["items"]
        place, own = objects
        self.assertEqual(place["metadata"]["name"], chroot_worker.NODE)
        self.assertEqual(own["metadata"]["name"], f"{chroot_worker.NODE}-nfd-source")
        return content(place)

    def compare(self, root, text, names=()):
        """Both with one file, without what is named so; returns what the worker found."""
        theirs = without(content(self.worker.publish_as(root, text)), names)
        mine = without_improvements(without(self.ours(root, text), names), theirs)
        for part in ("labels", "features"):
            self.assertEqual(mine[part], theirs[part])
        return theirs

    def compare_all(self, root, names=()):
        """Both with each file; returns {name: what the worker found}."""
        found = {}
        for name, text in FILES.items():
            with self.subTest(file=name):
                found[name] = self.compare(root, text, names)
        return found

    def test_root(self):
        root = self.directory / "root"
        root.mkdir()
        mktree.make_tree(ROOT, str(root))
        found = self.compare_all(root, PROCESSOR)
        # Each file makes a difference, or it says nothing; these are about the processor, name nothing or the default.
        same = {name for name, each in found.items() if each == found["nothing"]}
        self.assertEqual(same, {
            "nothing", "flags without label", "no flag without label", "flags with label",
            "flags in both lists", "features not published, none is so named", "kernel configuration that is not there"})

    def test_this_host(self):
        found = self.compare_all(None)
        if os.uname().machine != "x86_64":
            return
        for name in ("flags without label", "no flag without label", "flags with label", "flags in both lists"):
            self.assertNotEqual(found[name], found["nothing"], name)


if __name__ == "__main__":
    unittest.main()
