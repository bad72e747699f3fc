# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks of the systemd units, the hook, and what is applied to a cluster."""

import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from program import VENDOR_PREFIXES
from tables import PREFIX, PROGRAM, TOP, machine, program, run, same, settings

KUSTOMIZE = TOP / "deploy/kustomize"
BASE = KUSTOMIZE / "base"
CONFIGURE_SUBSTITUTES = ("@bindir@/nfd-source", "/bin/true")

# What each folder of deploy/kustomize that people apply makes, beside ServiceAccount, ConfigMap and DaemonSet: its
# namespace, whether it writes features.d (and is uid 0 for that), and the kinds of its other objects. WORKER stands in
# nfd-worker's place: it reads features.d.
NFD_NAMESPACE = "node-feature-discovery"
NODE_RIGHTS, OBJECT_RIGHTS = ("ClusterRole", "ClusterRoleBinding"), ("Role", "RoleBinding")
DEPLOYMENTS = {
    "base": (NFD_NAMESPACE, True, ()),
    "overlays/with-nfd": (NFD_NAMESPACE, True, NODE_RIGHTS),
    "overlays/node-feature": (NFD_NAMESPACE, False, NODE_RIGHTS + OBJECT_RIGHTS),
    "overlays/standalone": ("nfd-source", False, NODE_RIGHTS + ("Namespace",)),
    "overlays/restricted": ("nfd-source", False, NODE_RIGHTS + ("Namespace",)),
    "overlays/worker": (NFD_NAMESPACE, False, NODE_RIGHTS + OBJECT_RIGHTS),
}
WORKER = "overlays/worker"
# The rights of each component: API group, resource, verbs. Never more than an output uses.
RIGHTS = {
    "node-labels": {"/nodes: get patch", "nfd.k8s-sigs.io/nodefeatures: list", "/events: create"},
    "node-feature": {"nfd.k8s-sigs.io/nodefeatures: get create patch delete", "/pods: get"},
}

# Units without network look for no credentials; the other one is open in just these ways.
NO_API = "Environment=NFD_SOURCE_OUTPUTS_NODE_LABELS_MODE=off NFD_SOURCE_OUTPUTS_NODE_FEATURE_MODE=off"
SHUT = {"PrivateNetwork=yes", "IPAddressDeny=any", "RestrictAddressFamilies=none", "MemoryMax=128M", "TasksMax=8",
        # It starts doctor, which looks for processes.
        "ProtectProc=invisible"}
OPEN = {"RestrictAddressFamilies=AF_NETLINK AF_UNIX AF_INET AF_INET6", "MemoryMax=256M", "TasksMax=64"}


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
                assert line.startswith((PREFIX, *VENDOR_PREFIXES, "# +expiry-time=")), line


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
            "nodeFeature": "worker" if folder == WORKER else "on" if "Role" in kinds else "off",
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
        mount = re.search(rf"mountPath: {settings()['outputs.featureFile.dir']}\n.*\n( +readOnly: true)?", said)
        assert bool(mount) == (writes or folder == WORKER), f"{folder}: features.d"
        assert not mount or bool(mount[1]) != writes, f"{folder}: features.d read-only or not?"
        same(f"{folder}: uids", re.findall(r"runAsUser: (\d+)", said), {"0" if writes else "65534"})
        assert ("runAsNonRoot: true" in said) != writes, f"{folder}: runAsNonRoot"
        assert ("fieldPath: metadata.name" in said) == ("Role" in kinds), f"{folder}: POD_NAME"
        assert ("fieldPath: metadata.uid" in said) == (folder == WORKER), f"{folder}: POD_UID"
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
