# SPDX-License-Identifier: GPL-2.0-or-later
"""What the kubelet makes of a Pod before its container starts: volumes with their files, and variables.

Also the pods of deploy/kustomize as kubectl renders them, for tests without an API server.
"""

import functools
import json
import os
import pathlib
import re
import shutil
import subprocess
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
KUSTOMIZE = TOP / "deploy/kustomize"
KINDS = re.compile(rb"^kind: (DaemonSet|ConfigMap)$", re.M)
NO_GO = 77


@functools.cache
def kubectl():
    """Path of kubectl; skips the test where it cannot be built."""
    done = subprocess.run([TOP / "tests/e2e/build-tools.sh", "kubernetes"], stdout=subprocess.PIPE, text=True,
                          check=False)
    if done.returncode == NO_GO:
        raise unittest.SkipTest("needs Go to build kubectl")
    if done.returncode:
        raise AssertionError(f"build-tools.sh: status {done.returncode}")
    return pathlib.Path(done.stdout.strip()) / "kubectl"


def objects(text):
    """JSON objects that follow each other."""
    decoder, text, found = json.JSONDecoder(), text.strip(), []
    while text:
        value, end = decoder.raw_decode(text)
        found.append(value)
        text = text[end:].lstrip()
    return found


@functools.cache
def rendered(folder):
    """What kubectl renders of a folder of deploy/kustomize, as JSON text by kind.

    A local patch that changes nothing is the one way to JSON for which kubectl needs no API server.
    """
    manifests = subprocess.run([kubectl(), "kustomize", KUSTOMIZE / folder], stdout=subprocess.PIPE, check=True).stdout
    known = [text for text in manifests.split(b"\n---\n") if KINDS.search(text)]
    done = subprocess.run([kubectl(), "patch", "--local", "--type=merge", "-p", "{}", "-o", "json", "-f", "-"],
                          input=b"\n---\n".join(known), stdout=subprocess.PIPE, check=True)
    return {each["kind"]: json.dumps(each) for each in objects(done.stdout.decode())}


def pod_spec(folder):
    """The spec of the pods of a folder's DaemonSet, ours to change."""
    spec = json.loads(rendered(folder)["DaemonSet"])["spec"]["template"]["spec"]
    if spec.get("automountServiceAccountToken"):
        add_token_volume(spec)
    return spec


def config_map(folder):
    """The files of a folder's ConfigMap."""
    return json.loads(rendered(folder)["ConfigMap"])["data"]


def add_token_volume(spec):
    """What the API server adds to a pod that wants a token."""
    spec["volumes"].append({"name": "kube-api-access", "projected": {"sources": []}})
    spec["containers"][0]["volumeMounts"].append({
        "name": "kube-api-access", "readOnly": True, "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount"})


def fixture_host(root, others):
    """A function for Volumes: what a fixture root has at a path; others: folders by path, instead of the root's.

    A fixture has only what a scan reads, so what is missing is made.
    """
    def host(path):
        source = pathlib.Path(others.get(path) or pathlib.Path(root) / path.lstrip("/"))
        if not source.exists():
            source.mkdir(parents=True)
        return source

    return host


class AtomicFolder:
    """A volume of files as the kubelet writes it: all of them change at once, by the swap of one link."""

    def __init__(self, path):
        self.path = pathlib.Path(path)
        self.path.mkdir(parents=True)
        self.path.chmod(0o755)
        self.serial = 0

    def write(self, files):
        """Replace the files: name to text. Names stay the same from the first time on."""
        self.serial += 1
        folder = self.path / f"..{self.serial}"
        folder.mkdir()
        folder.chmod(0o755)
        for name, text in files.items():
            (folder / name).write_text(text)
            (folder / name).chmod(0o644)
        old = os.readlink(self.path / "..data") if self.serial > 1 else None
        (self.path / "..data_tmp").symlink_to(folder.name)
        (self.path / "..data_tmp").rename(self.path / "..data")
        for name in files:
            if not (self.path / name).is_symlink():
                (self.path / name).symlink_to(f"..data/{name}")
        if old:
            shutil.rmtree(self.path / old)


class Volumes:
    """The volumes of a pod. sources: path by name. token: the AtomicFolder of the service account's token, or None.

    spec: of the pod. directory: made here. host(path): what the host has at the path of a hostPath. settings and
    account: the files of its ConfigMap and of its token.
    """

    def __init__(self, spec, directory, host, settings, account=None):
        self.directory, self.host = pathlib.Path(directory), host
        self.files = {"configMap": settings, "projected": account}
        self.token = None
        self.sources = {volume["name"]: self._make(volume) for volume in spec["volumes"]}

    def _make(self, volume):
        """The folder or file that a volume stands for."""
        if "hostPath" in volume:
            source = pathlib.Path(self.host(volume["hostPath"]["path"]))
            if volume["hostPath"].get("type") == "DirectoryOrCreate":
                source.mkdir(parents=True, exist_ok=True)
            # The kubelet follows links.
            return source.resolve(strict=True)
        path = self.directory / volume["name"]
        if "emptyDir" in volume:
            path.mkdir(parents=True)
            path.chmod(0o777)
            return path
        kind = "projected" if "projected" in volume else "configMap"
        folder = AtomicFolder(path)
        folder.write(self.files[kind])
        if kind == "projected":
            self.token = folder
        return path


def environment(spec, fields, server=None):
    """The variables of a pod's first container. fields: value of each field path; server: host and port of the API."""
    variables = {}
    for item in spec["containers"][0].get("env", []):
        if "value" in item:
            variables[item["name"]] = item["value"]
        else:
            variables[item["name"]] = fields[item["valueFrom"]["fieldRef"]["fieldPath"]]
    if server:
        variables |= {"KUBERNETES_SERVICE_HOST": server[0], "KUBERNETES_SERVICE_PORT": str(server[1])}
    return variables
