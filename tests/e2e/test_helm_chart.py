# SPDX-License-Identifier: GPL-2.0-or-later
"""deploy/helm/nfd-source without a cluster: a real helm renders it, and kubectl tells what that is."""

import json
import os
import pathlib
import re
import shutil
import tarfile
import tempfile
import unittest

import chart
import process
import program
from chart import CHART, DEFAULT_MODE, KUSTOMIZE, MODES, NO_HOST, NO_HOST_MODES, SAME, TOP, VALUES
from pod import FEATURES_DIR

# Refused values -> where the schema says so. Each is a mistake that would else be found on the nodes, or never.
REFUSED = {
    "mod=standalone": "'mod' not allowed",
    "mode=fallback": "/mode",
    "image.repositori=x": "/image",
    "image.repository=registry.example/UPPER": "/image/repository",
    "image.digest=sha256:123": "/image/digest",
    "image.pullPolicy=Sometimes": "/image/pullPolicy",
    "imagePullSecrets[0]=secret": "/imagePullSecrets/0",
    "settings.outputs.featureFile.mode=off": "/settings/outputs/featureFile",
    "settings.outputs.featureFile.dir=/tmp": "/settings/outputs/featureFile",
    "settings.outputs.nodeFeature.namespace=other": "/settings/outputs",
    "settings.outputs.nodeLabels.mode=off": "/settings/outputs/nodeLabels/mode",
    "mode=feature-file,settings.outputs.nodeLabels.mode=always": "/settings/outputs/nodeLabels",
    "settings.status.path=/tmp/status": "/settings",
    "settings.metrics.path=/tmp/metrics": "/settings",
    "settings.log.level=verbose": "/settings/log/level",
    "settings.sources=none": "/settings/sources",
    "settings.confinement.mode=true": "/settings/confinement/mode",
    "rbac.create=maybe": "/rbac/create",
    "featuresDir.owner=nobody": "/featuresDir/owner",
    "featuresDir.initImage=busybox": "/featuresDir",
    "featuresDir.prepare=always": "/featuresDir/prepare",
    "hostFolders=none": "/hostFolders",
    "nvidia.runtimeClassName=NVIDIA": "/nvidia/runtimeClassName",
    "nvidia.runtimeClass=nvidia": "/nvidia",
    "nvidia.memoryLimit=much": "/nvidia/memoryLimit",
    "nvidia.configMap=device-plugin": "/nvidia/configMap",
    "nvidia.configMap.key=": "/nvidia/configMap/key",
    "priorityClassName=System Critical": "/priorityClassName",
    "resources.limit.memory=32Mi": "/resources",
    "tolerations[0].operator=exists": "/tolerations/0/operator",
    "updateStrategy.type=Recreate": "/updateStrategy/type",
    "networkPolicy.apiServer.ports[0]=70000": "/networkPolicy/apiServer/ports/0",
    "networkPolicy.apiServer.cidrs[0]=10.0.0.1": "/networkPolicy/apiServer/cidrs/0",
    "metrics.textfile.hostPath=relative": "/metrics/textfile/hostPath",
    "nodeProblemDetector.path=nfd-source": "/nodeProblemDetector/path",
}


# Values that cannot go together -> what the refusal names.
CONTRADICTIONS = {f"mode={mode},{NO_HOST}": f"mode node-feature or standalone: {mode} "
                  for mode in MODES if mode not in NO_HOST_MODES}
CONTRADICTIONS |= {f"mode=standalone,{NO_HOST},{more}": words for more, words in (
    ("metrics.textfile.enabled=true", "metrics.textfile.enabled: false"),
    ("extraVolumes[0].name=driver,extraVolumes[0].hostPath.path=/opt", "volume driver of extraVolumes"))}


# What nfd-worker's sources need of the host beside the rest: mount -> path of the host.
NFD_FOLDERS = {"/host/boot": "/boot", "/host/lib": "/lib"}


class Case(unittest.TestCase):
    """Gives self.tools and self.directory."""

    def setUp(self):
        if program.missing():
            self.skipTest(program.missing())
        folder = tempfile.TemporaryDirectory()  # pylint: disable=consider-using-with
        self.addCleanup(folder.cleanup)
        self.directory = pathlib.Path(folder.name)
        self.tools = chart.Tools(self.directory)

    def values(self, where=CHART):
        """values.yaml as helm reads it: an object. Through a chart with one template, because Python knows no YAML."""
        reader = self.directory / "reader"
        (reader / "templates").mkdir(parents=True)
        for name in ("Chart.yaml", "values.yaml"):
            shutil.copy(where / name, reader)
        (reader / "templates/values.yaml").write_text("{{ .Values | toJson }}\n")
        return json.loads(self.tools.template(chart=reader).splitlines()[-1])


class SameAsKustomize(Case):
    """One source of truth: whoever changes one of the two must change the other."""

    maxDiff = None

    def test_every_folder(self):
        """Object by object, field by field."""
        for values, (folder, namespace) in SAME.items():
            with self.subTest(values=values):
                helm = self.tools.objects(self.tools.template("--set", values, namespace=namespace))
                kustomize = self.tools.objects(self.tools.kustomize(folder))
                found, wanted = (chart.normal(objects, self.directory) for objects in (helm, kustomize))
                self.assertEqual(sorted(found), sorted(wanted))
                for key, item in found.items():
                    self.assertEqual(item, wanted[key], key)

    def test_older_kubernetes(self):
        """A field that came with Kubernetes 1.30 is not sent to one before, which would refuse it."""
        recursive = "recursiveReadOnly: IfPossible"
        self.assertIn(recursive, self.tools.template())
        self.assertNotIn(recursive, self.tools.template("--kube-version", "v1.29.9"))
        self.assertIn(recursive, self.tools.template("--kube-version", "v1.30.0-gke.1"))

    def with_components(self, folder, *components):
        """The objects of a folder with components on top."""
        with tempfile.TemporaryDirectory() as overlay:
            where = os.path.realpath(overlay)
            base, *parts = (os.path.relpath(KUSTOMIZE / part, where)
                            for part in (folder, *(f"components/{name}" for name in components)))
            text = f"resources: [{base}]\ncomponents: [{', '.join(parts)}]\n"
            (pathlib.Path(overlay) / "kustomization.yaml").write_text(text)
            return self.tools.objects(self.tools.kustomize(overlay))

    def test_sources_of_nfd(self):
        """The components and the setting make the same pods, on top of each way with folders of the host."""
        for mode, (folder, namespace) in MODES.items():
            if mode == "worker":
                continue  # which has them
            with self.subTest(mode=mode):
                components = ["nfd-sources"] if mode in ("feature-file", "with-nfd") else ["nfd-sources", "read-features"]
                values = f"mode={mode},settings.sources.mode=all"
                helm = self.tools.objects(self.tools.template("--set", values, namespace=namespace))
                found, wanted = (chart.pod_of(chart.normal(objects, self.directory))
                                 for objects in (helm, self.with_components(folder, *components)))
                self.assertEqual(found, wanted)

    def test_nvidia_runtime(self):
        """The component and the value are the same, on top of each way."""
        for values, (folder, namespace) in SAME.items():
            if chart.NO_HOST in values:
                continue  # there the settings differ too, which the component leaves to its user
            with self.subTest(values=values):
                kustomize = self.with_components(folder, "nvidia-runtime")
                values += ",nvidia.runtimeClassName=nvidia"
                helm = self.tools.objects(self.tools.template("--set", values, namespace=namespace))
                found, wanted = (chart.normal(objects, self.directory) for objects in (helm, kustomize))
                self.assertEqual(found, wanted)

    def test_default(self):
        """The chart as it comes is the overlay that the documents name."""
        self.assertEqual(self.values()["mode"], DEFAULT_MODE)
        self.assertEqual(self.tools.template(), self.tools.template("--set", f"mode={DEFAULT_MODE}"))
        self.assertIn(f"`{DEFAULT_MODE}` (default) | `{MODES[DEFAULT_MODE][0]}`", (CHART / "README.md").read_text())

    def test_all_modes(self):
        """The schema's modes are those that are compared, and each folder that is applied is compared."""
        schema = json.loads((CHART / "values.schema.json").read_text())
        self.assertEqual(schema["properties"]["mode"]["enum"], list(MODES))
        folders = {str(path.parent.relative_to(KUSTOMIZE)) for path in KUSTOMIZE.rglob("kustomization.yaml")}
        self.assertEqual({folder for folder in folders if not folder.startswith("components/")},
                         {folder for folder, _ in SAME.values()})


class Files(Case):
    """What the chart consists of."""

    def test_lint(self):
        """helm lint --strict, with each set of values."""
        self.assertGreaterEqual(len(VALUES), 6)
        for path in VALUES:
            with self.subTest(values=path.name):
                self.tools.helm("lint", "--strict", *self.tools.like, CHART, "--values", path)

    def test_version(self):
        """Chart and image have the version of the program; Kustomize's image too, by the comparison above."""
        version = re.search(r"^AC_INIT\(\[nfd-source\], \[(.*?)\]\)", (TOP / "configure.ac").read_text(), re.M)[1]
        shown = self.tools.helm("show", "chart", CHART)
        self.assertRegex(shown, rf"(?m)^version: {re.escape(version)}$")
        self.assertRegex(shown, rf'(?m)^appVersion: "?{re.escape(version)}"?$')
        self.assertEqual(chart.pod_of(self.tools.render())["containers"][0]["image"], f"nfd-source:{version}")

    def test_package(self):
        """helm package takes what the chart needs and nothing else, and that renders the same."""
        self.tools.helm("package", CHART, "--destination", self.directory)
        archive, = self.directory.glob("nfd-source-*.tgz")
        with tarfile.open(archive) as tar:
            names = {name.removeprefix("nfd-source/") for name in tar.getnames()}
        files = {str(path.relative_to(CHART)) for path in CHART.rglob("*") if path.is_file()}
        self.assertEqual(names, {name for name in files if not name.startswith("ci/")})
        self.assertEqual(self.tools.template(chart=archive), self.tools.template())

    def test_plugin_copy(self):
        """The plugin is the one of deploy/node-problem-detector: Helm reads nothing outside of the chart."""
        original = TOP / "deploy/node-problem-detector/nfd-source-doctor.json"
        self.assertEqual((CHART / "files/nfd-source-doctor.json").read_bytes(), original.read_bytes())


class Schema(Case):
    """values.schema.json."""

    def test_refuses(self):
        """Each mistake is found before anything is rendered."""
        for values, place in REFUSED.items():
            with self.subTest(values=values):
                with self.assertRaises(process.PartFailed) as refusal:
                    self.tools.template("--set", values)
                self.assertIn("values don't meet the specifications of the schema", str(refusal.exception))
                self.assertIn(place, str(refusal.exception))

    def test_contradictions(self):
        """What only the pods' start would show, or nothing at all, is said at once, with what to do."""
        for values, words in CONTRADICTIONS.items():
            with self.subTest(values=values):
                with self.assertRaises(process.PartFailed) as refusal:
                    self.tools.template("--set", values)
                self.assertRegex(str(refusal.exception), rf"{NO_HOST.replace('=', ': ')}\b.*{re.escape(words)}")

    def test_worker_alone(self):
        """In nfd-worker's place all of its sources are read; else the program would not start, on any node."""
        for mode in ("own", "auto"):
            with self.assertRaisesRegex(process.PartFailed, "mode: worker needs settings.sources.mode: all"):
                self.tools.template("--set", f"mode=worker,settings.sources.mode={mode}")
        self.tools.template("--set", "mode=worker,settings.sources.mode=all")

    def choices(self, key):
        """The words that the program takes for a setting, from its own refusal; empty when it takes other things."""
        done = process.attempt([program.BINARY, "--config", "/dev/null", "--set", f"{key}=no-such-word", "settings"])
        match = re.search(r"is not allowed; allowed: ([a-z_]+(?:, [a-z_]+)+)$", done.stderr.strip())
        return set(match[1].split(", ")) if match else set()

    def settings_schema(self):
        """key -> schema, of all settings that the chart takes one by one; the sections that it takes as they are."""
        schema = json.loads((CHART / "values.schema.json").read_text())
        entries, whole = {}, set()

        def walk(node, path):
            for part in node.get("$ref", "#").split("/")[1:]:
                node = schema[part] if part in schema else node[part]
            if "properties" in node:
                for name, below in node["properties"].items():
                    walk(below, [*path, name])
            elif node == {"type": "object"} or {"type": "object"} in node.get("anyOf", ()):
                whole.add(path[0])
            else:
                entries[".".join(path)] = node

        walk(schema["properties"]["settings"], [])
        return entries, whole

    def test_settings(self):
        """The program's settings, but for those that belong to the mode and to mounts; with the program's own words."""
        text = process.run([program.BINARY, "--config", "/dev/null", "settings"])
        known = {line.split(": ")[0] for line in text.splitlines() if not line.startswith("#")}
        mode_and_mounts = {f"outputs.{name}" for name in (
            "featureFile.mode", "featureFile.dir", "nodeFeature.mode", "nodeFeature.namespace")}
        mode_and_mounts |= {"status.path", "metrics.path"}
        self.assertLessEqual(mode_and_mounts, known)
        entries, whole = self.settings_schema()
        self.assertEqual(whole, {"core", "sources"})  # nfd-worker.conf has more there
        wanted = {key for key in known - mode_and_mounts if key.split(".")[0] not in whole}
        self.assertEqual(wanted - set(entries), set(), "settings that the schema refuses")
        for key in wanted:
            with self.subTest(setting=key):
                words = self.choices(key) - ({"off"} if key == "outputs.nodeLabels.mode" else set())
                self.assertEqual(set(entries[key].get("enum", ())), words)


class Readme(Case):
    """The table of values."""

    def rows(self):
        """{path: default} of the table."""
        text = (CHART / "README.md").read_text()
        table = text[text.index("| value | default |") :].split("\n\n")[0]
        rows = re.findall(r"^\| `([\w.]+)` \| `(.*?)` \|", table, re.M)
        self.assertEqual(len(rows), len(table.splitlines()) - 2, "lines that are no rows")
        return {path: json.loads(default) for path, default in rows}

    def test_defaults(self):
        """Each row has the default of values.yaml, and each value has a row."""
        rows, values = self.rows(), self.values()
        uncovered = []

        def walk(node, path):
            if path in rows:
                self.assertEqual(rows.pop(path), node, path)
            elif isinstance(node, dict) and node:
                for name, below in node.items():
                    walk(below, f"{path}.{name}".lstrip("."))
            else:
                uncovered.append(path)

        walk(values, "")
        self.assertEqual(uncovered, [], "values without a row")
        self.assertEqual(rows, {}, "rows without a value")

    def test_schema_has_no_more(self):
        """A value that the schema takes and values.yaml lacks would be unknown to everyone; "global" is Helm's."""
        schema, values = json.loads((CHART / "values.schema.json").read_text()), self.values()
        self.assertEqual(set(schema["properties"]) - {"global"}, set(values))
        for name, node in schema["properties"].items():
            # Objects of ours; in those of Kubernetes nothing is required, and in settings only the program's defaults.
            if "required" in node:
                self.assertEqual(set(node["properties"]), set(values[name]), name)


class ValueSets(Case):
    """What each set of values in ci/ is about."""

    def render(self, name, **where):
        """The objects of a set, whose settings the program must take, and its pod's spec."""
        objects = self.tools.render("--values", CHART / f"ci/{name}-values.yaml", **where)
        for item in objects.values():
            if "nfd-source.yaml" in item.get("data", ()):
                self.assertTrue(chart.settings_of(item, self.directory))
        return objects, chart.pod_of(objects)

    def mounts(self, pod):
        """path -> host path of each mount of the program's container that is of the host."""
        paths = {volume["name"]: volume["hostPath"]["path"] for volume in pod["volumes"] if "hostPath" in volume}
        return {mount["mountPath"]: paths[mount["name"]] for mount in pod["containers"][0]["volumeMounts"]
                if mount["name"] in paths}

    def test_all_are_tested(self):
        """No set is only rendered."""
        names = {path.name.removesuffix("-values.yaml").replace("-", "_") for path in VALUES}
        self.assertEqual({name for name in names if not hasattr(self, f"test_{name}")}, set())

    def test_default(self):
        """Only the image differs."""
        objects, pod = self.render("default")
        self.assertRegex(pod["containers"][0]["image"], r"^registry\.example/nfd-source:\d")
        self.assertEqual(sorted(objects), sorted(self.tools.render()))

    def test_feature_file(self):
        """Nothing of RBAC, no token, and no traffic at all."""
        objects, pod = self.render("feature-file")
        self.assertEqual({kind for kind, _ in objects}, {"ServiceAccount", "ConfigMap", "DaemonSet", "NetworkPolicy"})
        self.assertIs(pod["automountServiceAccountToken"], False)
        policy = objects["NetworkPolicy", "nfd-source"]["spec"]
        self.assertEqual(policy["policyTypes"], ["Ingress", "Egress"])
        self.assertFalse({"ingress", "egress"} & set(policy))
        labels = objects["DaemonSet", "nfd-source"]["spec"]["template"]["metadata"]["labels"]
        self.assertEqual(policy["podSelector"]["matchLabels"], labels)

    def test_node_feature(self):
        """One name for all, nothing of the host but the metrics is written, the program knows where."""
        objects, pod = self.render("node-feature")
        self.assertEqual({name for _, name in objects}, {"gpu-labels"})
        self.assertEqual(pod["serviceAccountName"], "gpu-labels")
        self.assertEqual(objects["ServiceAccount", "gpu-labels"]["metadata"]["annotations"],
                         {"example.com/owner": "platform"})
        self.assertEqual(pod["containers"][0]["securityContext"]["runAsUser"], 65534)
        written = {mount["mountPath"] for mount in pod["containers"][0]["volumeMounts"] if not mount.get("readOnly")}
        self.assertEqual(written, {"/run/nfd-source", "/var/lib/node-exporter"})
        self.assertIn("metrics.path: /var/lib/node-exporter/nfd-source.prom",
                      chart.settings_of(objects["ConfigMap", "gpu-labels"], self.directory))
        egress, = objects["NetworkPolicy", "gpu-labels"]["spec"]["egress"]
        self.assertEqual(egress, {"ports": [{"protocol": "TCP", "port": port} for port in (443, 6443)]})

    def test_standalone(self):
        """The settings are merged over the mode's, and the policy opens just that way."""
        objects, pod = self.render("standalone", namespace="nfd-source")
        settings = chart.settings_of(objects["ConfigMap", "nfd-source"], self.directory)
        for line in ("outputs.nodeLabels.mode: always", "outputs.featureFile.mode: off", "log.format: json",
                     "log.level: debug", "sources.pci.deviceClassWhitelist: 03,12"):
            self.assertIn(line, settings)
        self.assertEqual(pod["nodeSelector"], {"kubernetes.io/os": "linux", "example.com/pool": "gpu"})
        self.assertEqual(pod["tolerations"], [{"operator": "Exists"}])
        egress, = objects["NetworkPolicy", "nfd-source"]["spec"]["egress"]
        self.assertEqual(egress, {"ports": [{"protocol": "TCP", "port": 6443}], "to": [
            {"ipBlock": {"cidr": "10.0.0.10/32"}}, {"ipBlock": {"cidr": "fd00::10/128"}}]})

    def test_non_root(self):
        """Only the init container is uid 0, with one capability and one folder that it writes to."""
        _, pod = self.render("non-root")
        context = pod["containers"][0]["securityContext"]
        self.assertEqual((context["runAsUser"], context["runAsGroup"], context["runAsNonRoot"]), (65534, 65534, True))
        init, = pod["initContainers"]
        self.assertEqual(init["image"], pod["containers"][0]["image"])
        self.assertEqual([*init["command"], *init["args"]], ["nfd-source", "prepare", "65534"])
        written = [mount["mountPath"] for mount in init["volumeMounts"] if not mount.get("readOnly")]
        self.assertEqual(written, [FEATURES_DIR])
        self.assertEqual(init["securityContext"]["capabilities"], {"drop": ["ALL"], "add": ["CHOWN"]})
        for values in ("featuresDir.owner=65534,featuresDir.prepare=false", "mode=standalone,featuresDir.owner=65534"):
            self.assertNotIn("initContainers", chart.pod_of(self.tools.render("--set", values)))

    def test_restricted(self):
        """No folder of the host, and other settings over what that needs."""
        objects, pod = self.render("restricted", namespace="gpu")
        self.assertEqual(self.mounts(pod), {})
        self.assertEqual(pod["containers"][0]["args"], ["run"])
        self.assertEqual(objects["ConfigMap", "nfd-source"]["data"]["os-release"], "")
        settings = chart.settings_of(objects["ConfigMap", "nfd-source"], self.directory)
        for line in ("sources.nvidia.libraryDir: /etc/nfd-source", "sources.pci.deviceClassWhitelist: 03"):
            self.assertIn(line, settings)

    def test_worker(self):
        """The host is read and not written; the settings of an nfd-worker.conf are taken beside what the mode needs."""
        objects, pod = self.render("worker")
        self.assertEqual({path: self.mounts(pod).get(path) for path in (*NFD_FOLDERS, FEATURES_DIR)},
                         {**NFD_FOLDERS, FEATURES_DIR: FEATURES_DIR})
        written = [mount["mountPath"] for mount in pod["containers"][0]["volumeMounts"] if not mount.get("readOnly")]
        self.assertEqual(written, ["/run/nfd-source"])
        fields = {item["name"]: item["valueFrom"]["fieldRef"]["fieldPath"] for item in pod["containers"][0]["env"]}
        self.assertEqual(fields, {"NODE_NAME": "spec.nodeName", "POD_NAME": "metadata.name", "POD_UID": "metadata.uid"})
        settings = chart.settings_of(objects["ConfigMap", "nfd-source"], self.directory)
        for line in ("outputs.nodeFeature.mode: worker", "sources.mode: all", "core.labelSources: all,-storage",
                     "sources.kernel.configOpts: NO_HZ,PREEMPT_RT"):
            self.assertIn(line, settings)

    def test_sources_of_nfd(self):
        """Where nfd-worker's sources are read the pods see what these need, in every mode, and nowhere else."""
        for mode in MODES:
            for sources, more in (("own", {}), ("auto", NFD_FOLDERS), ("all", NFD_FOLDERS)):
                if mode == "worker" and sources != "all":
                    continue
                # An nfd-worker reads the file.
                more = {} if (mode, sources) == ("feature-file", "auto") else more
                with self.subTest(mode=mode, sources=sources):
                    pod = chart.pod_of(self.tools.render("--set", f"mode={mode},settings.sources={sources}"))
                    found = self.mounts(pod)
                    self.assertEqual({path: found[path] for path in NFD_FOLDERS if path in found}, more)
                    writes = mode in ("feature-file", "with-nfd")
                    self.assertEqual(FEATURES_DIR in found, writes or bool(more))
                    mounts = {mount["mountPath"]: mount for mount in pod["containers"][0]["volumeMounts"]}
                    self.assertIs(mounts.get(FEATURES_DIR, {}).get("readOnly", False), bool(more) and not writes)
                    for path in more:
                        self.assertTrue(mounts[path]["readOnly"] and mounts[path]["recursiveReadOnly"], path)

    def test_sources_of_nfd_without_host(self):
        """Without folders of the host no network device of the pod is taken for the node's."""
        objects = self.tools.render("--set", f"mode=standalone,{NO_HOST},settings.sources.mode=all")
        self.assertEqual(self.mounts(chart.pod_of(objects)), {})
        settings = chart.settings_of(objects["ConfigMap", "nfd-source"], self.directory)
        for line in ("sources.mode: all", "sources.nvidia.libraryDir: /etc/nfd-source",
                     "core.labelSources: all,-network", "core.featureSources: all,-network"):
            self.assertIn(line, settings)

    def test_nvidia(self):
        """The runtime's class and variables; the two files of settings in one folder, and the one names the other."""
        objects, pod = self.render("nvidia")
        self.assertEqual(pod["runtimeClassName"], "nvidia")
        env = {item["name"]: item.get("value") for item in pod["containers"][0]["env"]}
        self.assertEqual((env["NVIDIA_VISIBLE_DEVICES"], env["NVIDIA_DRIVER_CAPABILITIES"]), ("all", "utility"))
        self.assertEqual(set(pod["containers"][0]["securityContext"]["capabilities"]), {"drop"})
        self.assertEqual(pod["containers"][0]["resources"]["limits"], {"memory": "128Mi"})
        settings = chart.settings_of(objects["ConfigMap", "nfd-source"], self.directory)
        for line in ("sources.vendor.nvidia.labels: on", "sources.vendor.nvidia.migStrategy: mixed",
                     "sources.vendor.nvidia.config: /etc/nfd-source/gfd/config.yaml", "sources.vendor.amd.labels: off"):
            self.assertIn(line, settings)
        folder, = (mount for mount in pod["containers"][0]["volumeMounts"] if mount["name"] == "settings")
        self.assertEqual((folder["mountPath"], folder["readOnly"]), ("/etc/nfd-source", True))
        volume, = (volume for volume in pod["volumes"] if volume["name"] == "settings")
        self.assertEqual(volume["projected"]["sources"], [
            {"configMap": {"name": "nfd-source"}},
            {"configMap": {"name": "device-plugin", "items": [{"key": "time-slicing", "path": "gfd/config.yaml"}]}}])

    def test_nvidia_alone(self):
        """Without values nothing of it is there; without folders of the host the runtime's library is looked for."""
        plain = chart.pod_of(self.tools.render())
        self.assertNotIn("runtimeClassName", plain)
        self.assertNotIn("NVIDIA_VISIBLE_DEVICES", {item["name"] for item in plain["containers"][0]["env"]})
        for more, line in (("", "sources.nvidia.libraryDir: /etc/nfd-source"),
                           (",nvidia.runtimeClassName=nvidia", "sources.nvidia.libraryDir:")):
            objects = self.tools.render("--set", f"mode=standalone,{NO_HOST}{more}")
            settings = chart.settings_of(objects["ConfigMap", "nfd-source"], self.directory)
            self.assertIn(line, [each.rstrip() for each in settings])

    def test_sources_in_one_word(self):
        """"sources: all" reaches the program, and does not push out what the chart sets in that section."""
        for word in ("all", "auto", "own"):
            objects = self.tools.render("--set", f"mode=standalone,{NO_HOST},settings.sources={word}")
            settings = chart.settings_of(objects["ConfigMap", "nfd-source"], self.directory)
            lines = [each.rstrip() for each in settings]
            self.assertIn(f"sources.mode: {word}", lines)
            self.assertIn("sources.nvidia.libraryDir: /etc/nfd-source", lines)

    def test_gke(self):
        """All that goes into the pod as it is."""
        objects, pod = self.render("gke")
        container = pod["containers"][0]
        self.assertRegex(container["image"], r"^registry\.example:5000/gpu/nfd-source@sha256:[0-9a-f]{64}$")
        self.assertEqual(container["imagePullPolicy"], "Always")
        self.assertEqual(pod["imagePullSecrets"], [{"name": "registry"}])
        self.assertEqual(pod["priorityClassName"], "system-node-critical")
        self.assertIn("nodeAffinity", pod["affinity"])
        self.assertEqual(self.mounts(pod)["/host/home/kubernetes/bin/nvidia"], "/home/kubernetes/bin/nvidia")
        spec = objects["DaemonSet", "nfd-source"]["spec"]
        self.assertEqual(spec["updateStrategy"]["type"], "OnDelete")
        for words in (spec["template"]["metadata"]["annotations"], spec["template"]["metadata"]["labels"]):
            self.assertEqual(words["example.com/team"], "gpu")

    def test_observed(self):
        """The plugin is the original but for path and root; the metrics have their folder."""
        objects, pod = self.render("observed")
        self.assertEqual(pod["securityContext"]["seLinuxOptions"], {"type": "spc_t"})
        self.assertIn("/var/lib/node_exporter/textfile_collector", self.mounts(pod))
        data = objects["ConfigMap", "nfd-source-node-problem-detector"]["data"]
        found = json.loads(data["nfd-source-doctor.json"])
        wanted = json.loads((CHART / "files/nfd-source-doctor.json").read_text())
        wanted["rules"][0]["path"] = "/opt/nfd-source/bin/nfd-source"
        wanted["rules"][0]["args"][:0] = ["--root", "/host"]
        self.assertEqual(found, wanted)

    def test_own_account(self):
        """Nothing of it is made; without a name it is the namespace's own account."""
        objects, pod = self.render("own-account", release="gpu")
        self.assertEqual(set(objects), {("ConfigMap", "gpu-labels"), ("DaemonSet", "gpu-labels")})
        self.assertEqual(pod["serviceAccountName"], "made-by-hand")
        self.assertIs(pod["automountServiceAccountToken"], True)
        pod = chart.pod_of(self.tools.render("--set", "serviceAccount.create=false"))
        self.assertEqual(pod["serviceAccountName"], "default")

    def test_settings_roll_the_pods(self):
        """A changed setting changes the pods, and nothing else does."""
        def template(*options):
            return self.tools.render(*options)["DaemonSet", "nfd-source"]["spec"]["template"]

        plain = template()
        self.assertEqual(plain, template("--set", "updateStrategy.type=OnDelete"))
        changed = template("--set", "settings.log.level=debug")
        self.assertNotEqual(plain["metadata"]["annotations"], changed["metadata"]["annotations"])
        self.assertEqual(plain["spec"], changed["spec"])
