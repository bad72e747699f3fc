# SPDX-License-Identifier: GPL-2.0-or-later
"""What nfd-worker publishes and what nfd-source finds in its place, in one form that can be compared.

The one place for differences that are meant: IMPROVEMENTS.
"""

import re

FEATURE = "feature.node.kubernetes.io/"
KINDS = ("flags", "attributes", "instances")
SOURCES = ("cpu", "custom", "kernel", "memory", "network", "pci", "storage", "system", "usb")
PCI_CLASSES = ["03", "0b40", "12"]  # ours are wider

# Labels that NFD has not, or not there, and we have: pattern of the key behind the prefix, and why.
IMPROVEMENTS = tuple((re.compile(re.escape(FEATURE) + pattern), why) for pattern, why in (
    (r"pci-[0-9a-f]{4}\.present", "one for each vendor, on which GPU operators hang (FC-B3)"),
    (r"gpu-.*", "our own: how many GPUs, and their drivers"),
    (r"driver-.*", "our own: versions of drivers"),
    (r"kernel-version\.(major|minor|revision)", "NFD's pattern fails on a release such as 5.15.167.4 (FC-D3)"),
    (r"system-os_release\..*", "we look on in usr/lib/os-release, and undo a shell's escapes"),
))

# What the processor says of itself, whatever the root: a recording would be about the machine that made it.
PROCESSOR_LABELS = re.compile(
    re.escape(FEATURE) + r"cpu-(cpuid\..*|model\..*|power\.sst_.*|security\.(sgx\..*|tdx\.protected))")
PROCESSOR_FEATURES = ("cpu.cpuid", "cpu.model", "cpu.rdt", "cpu.sst")
PROCESSOR_SECURITY = re.compile(r"sgx\..*|tdx\.protected")


def content(published):
    """Labels and features of a NodeFeature object, or of the output of "nfd-source scan -o json".

    nfd-worker leaves the prefix of its custom labels to nfd-master. What nfd-source adds under its own domain is not
    part of it.
    """
    spec = published.get("spec", published)
    labels = {key if "/" in key else FEATURE + key: value for key, value in spec["labels"].items()}
    features = {
        kind: {name: feature for name, feature in (spec["features"].get(kind) or {}).items()
               if not name.startswith("nfd-source.")}
        for kind in KINDS
    }
    return {"labels": labels, "features": features}


def without_processor(found):
    """content() without what depends on the processor that the program ran on."""
    labels = {key: value for key, value in found["labels"].items() if not PROCESSOR_LABELS.fullmatch(key)}
    features = {
        kind: {name: feature for name, feature in of_kind.items() if name not in PROCESSOR_FEATURES}
        for kind, of_kind in found["features"].items()
    }
    security = features["attributes"].get("cpu.security")
    if security:
        elements = {name: value for name, value in security["elements"].items()
                    if not PROCESSOR_SECURITY.fullmatch(name)}
        features["attributes"]["cpu.security"] = {**security, "elements": elements}
    return {"labels": labels, "features": features}


def without_improvements(ours, theirs):
    """Ours without the labels that NFD should have and has not. A key that NFD has is compared."""
    labels = {key: value for key, value in ours["labels"].items()
              if key in theirs["labels"] or not any(pattern.fullmatch(key) for pattern, _ in IMPROVEMENTS)}
    return {**ours, "labels": labels}


def settings(listed, sources=SOURCES):
    """Settings of nfd-source in a worker's place: vendors' labels are none of NFD, and nobody is told anything.

    listed: what its command "settings" prints; sources: names of feature and label sources.
    """
    vendors = {vendor: {"labels": "off"} for vendor in re.findall(r"^sources\.vendor\.(\w+)\.labels:", listed, re.M)}
    return {
        "core": {"featureSources": list(sources), "labelSources": list(sources)},
        "sources": {"mode": "all", "pci": {"deviceClassWhitelist": PCI_CLASSES}, "vendor": vendors},
        "outputs": {output: {"mode": "off"} for output in ("featureFile", "nodeFeature", "nodeLabels")},
    }


def leaves(value, path=""):
    """What a nested object has at its ends and in its lists, by path."""
    if not isinstance(value, dict) or not value:
        return {path: value}
    return {key: leaf for name, inner in value.items() for key, leaf in leaves(inner, f"{path}/{name}").items()}


def differences(ours, theirs):
    """Path -> (of ours, of theirs), None where one of them has nothing."""
    ours, theirs = leaves(ours), leaves(theirs)
    return {path: (ours.get(path), theirs.get(path)) for path in sorted(ours.keys() | theirs.keys())
            if ours.get(path) != theirs.get(path)}
