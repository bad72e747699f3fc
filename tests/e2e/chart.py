# SPDX-License-Identifier: GPL-2.0-or-later
"""The chart in deploy/helm and a real helm: render, read what comes out, install."""

import copy
import json
import os
import pathlib
import re
import sys

import cluster
import process
import program

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import pods  # noqa: E402 (found by the line above)

TOP = pathlib.Path(__file__).resolve().parents[2]
CHART = TOP / "deploy/helm/nfd-source"
KUSTOMIZE = TOP / "deploy/kustomize"
VALUES = sorted((CHART / "ci").glob("*-values.yaml"))
# Mode -> the folder of deploy/kustomize that is the same, and its namespace.
MODES = {
    "feature-file": ("base", cluster.NAMESPACE),
    "with-nfd": ("overlays/with-nfd", cluster.NAMESPACE),
    "node-feature": ("overlays/node-feature", cluster.NAMESPACE),
    "standalone": ("overlays/standalone", "nfd-source"),
    "worker": ("overlays/worker", cluster.NAMESPACE),
}
DEFAULT_MODE = "with-nfd"
# Pods without any folder of the host, and the modes that can be so.
NO_HOST = "hostFolders=false"
NO_HOST_MODES = ("node-feature", "standalone")
# Values -> the folder of deploy/kustomize that is the same, and its namespace.
SAME = {f"mode={mode}": where for mode, where in MODES.items()}
SAME[f"mode=standalone,{NO_HOST}"] = ("overlays/restricted", "nfd-source")
# What Helm says about itself.
HELM_LABELS = ("app.kubernetes.io/managed-by", "app.kubernetes.io/version", "helm.sh/chart")


class Tools:
    """helm, and kubectl where no cluster is asked. directory: for their caches; kubeconfig: of a cluster, or None."""

    def __init__(self, directory, kubeconfig=None):
        helm, kubernetes = cluster.build_tools("helm", "kubernetes")
        self.words = [helm / "helm", "--kubeconfig", kubeconfig or "/dev/null"]
        self.kubectl = [kubernetes / "kubectl", "--kubeconfig", "/dev/null"]
        self.env = {"HOME": str(directory), "PATH": os.environ["PATH"]}
        self.env |= {f"HELM_{name}_HOME": f"{directory}/helm-{name.lower()}" for name in ("CACHE", "CONFIG", "DATA")}
        version = json.loads(process.run([*self.kubectl, "version", "--client", "-o", "json"], env=self.env))
        # Without a cluster helm would take us to be on the Kubernetes that it was written against, or on none.
        self.like = ("--kube-version", version["clientVersion"]["gitVersion"])

    def helm(self, *words):
        """helm's standard output; PartFailed when it fails."""
        return process.run([*self.words, *words], env=self.env)

    def template(self, *options, namespace=cluster.NAMESPACE, release="nfd-source", chart=CHART):
        """The manifests of a release: text."""
        return self.helm("template", release, chart, "--namespace", namespace, *self.like, *options)

    def kustomize(self, folder):
        """The manifests of a folder of deploy/kustomize: text."""
        return process.run([*self.kubectl, "kustomize", KUSTOMIZE / folder], env=self.env)

    def objects(self, manifests):
        """The objects of manifests. kubectl reads the YAML; removing what is not there changes nothing."""
        text = process.run([*self.kubectl, "annotate", "--local", "-f", "-", "-o", "json", "no-such-annotation-"],
                           stdin=manifests, env=self.env)
        return pods.objects(text)

    def render(self, *options, **where):
        """The objects of a release: {(kind, name): object}."""
        return by_name(self.objects(self.template(*options, **where)))


def by_name(objects):
    """{(kind, name): object}."""
    return {(item["kind"], item["metadata"]["name"]): item for item in objects}


def pod_of(objects):
    """The pod's spec in the one DaemonSet of these objects."""
    item, = (item for (kind, _), item in objects.items() if kind == "DaemonSet")
    return item["spec"]["template"]["spec"]


def settings_of(config_map, directory):
    """What the program makes of the settings in a ConfigMap, without where each comes from: list of lines."""
    path = directory / "nfd-source.yaml"
    path.write_text(config_map["data"]["nfd-source.yaml"])
    text = process.run([program.BINARY, "--config", path, "--node-name", "node", "settings"],
                       env={"PATH": os.environ["PATH"]})
    return [line.split("  # ")[0] for line in text.splitlines() if not line.startswith("# output")]


def sort_lists(spec):
    """Sort what in a pod has no order: runtimes mount a folder before what is in it, and no variable names another."""
    spec["volumes"].sort(key=lambda volume: volume["name"])
    for container in spec["containers"]:
        container["volumeMounts"].sort(key=lambda mount: mount["mountPath"])
        container["env"].sort(key=lambda variable: variable["name"])


def normal(objects, directory):
    """Objects without what may differ between Helm and Kustomize: {(kind, name): object}.

    That is: Helm's labels; how a changed setting rolls the pods (a hash in the ConfigMap's name, or an annotation); how
    the settings are written, as long as the program makes the same of them; the order of volumes, mounts and variables;
    the Namespace, which Helm does not own.
    """
    hashed = re.compile(r"-[a-z0-9]{10}$")
    found = []
    for item in copy.deepcopy(objects):
        for label in HELM_LABELS:
            item["metadata"]["labels"].pop(label, None)
        if item["kind"] == "ConfigMap":
            item["metadata"]["name"] = hashed.sub("", item["metadata"]["name"])
            item["data"] = {**item["data"], "nfd-source.yaml": settings_of(item, directory)}
        if item["kind"] == "DaemonSet":
            template = item["spec"]["template"]
            sort_lists(template["spec"])
            annotations = template["metadata"].pop("annotations", {})
            assert set(annotations) <= {"checksum/settings"}, annotations
            for volume in template["spec"]["volumes"]:
                if "configMap" in volume:
                    volume["configMap"]["name"] = hashed.sub("", volume["configMap"]["name"])
        if item["kind"] != "Namespace":
            found.append(item)
    return by_name(found)
