# SPDX-License-Identifier: GPL-2.0-or-later
"""deploy/helm/nfd-source on a real API server: helm installs it, Pod Security judges it, the program runs with it."""

import json
import os
import re

import chart
import deployed
import process
from api import ApiError
from chart import CHART, MODES, NO_HOST, NO_HOST_MODES, SAME, VALUES
from deployed import PRESENT
from pod import FEATURES_DIR, Container
from testcase import E2ETestCase

# Of another name than all else, so that nothing rests on the usual ones; with the least level that works.
NAMESPACE = "gpu-labels"
RELEASE = "gpu"
LEVEL, WARN = "pod-security.kubernetes.io/enforce", "pod-security.kubernetes.io/warn"
METRICS = "/var/lib/node_exporter/textfile_collector"
NOBODY = 65534
# Where objects of a release can be: path of the API, kind.
PLACES = (
    ("/api/v1/namespaces/{}/serviceaccounts", "ServiceAccount"), ("/api/v1/namespaces/{}/configmaps", "ConfigMap"),
    ("/apis/apps/v1/namespaces/{}/daemonsets", "DaemonSet"),
    ("/apis/networking.k8s.io/v1/namespaces/{}/networkpolicies", "NetworkPolicy"),
    ("/apis/rbac.authorization.k8s.io/v1/namespaces/{}/roles", "Role"),
    ("/apis/rbac.authorization.k8s.io/v1/namespaces/{}/rolebindings", "RoleBinding"),
    ("/apis/rbac.authorization.k8s.io/v1/clusterroles", "ClusterRole"),
    ("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", "ClusterRoleBinding"),
)
ALWAYS = {"ServiceAccount", "ConfigMap", "DaemonSet"}
NODE_KINDS, OBJECT_KINDS = {"ClusterRole", "ClusterRoleBinding"}, {"Role", "RoleBinding"}


def make_namespace(api, name, level):
    """A namespace where Pod Security enforces a level, and warns of it; it may be there already."""
    try:
        labels = {LEVEL: level, WARN: level}
        api.request("POST", "/api/v1/namespaces", {"metadata": {"name": name, "labels": labels}})
    except ApiError as error:
        if error.status != 409:
            raise


class Installed:
    """The chart, installed in one mode by helm."""

    name = "gpu-nfd-source"
    namespace = NAMESPACE
    level = "privileged"
    values = ()

    def install(self):
        """helm install. What it said is kept in notes."""
        make_namespace(self.cluster.api, self.namespace, self.level)
        self.tools = chart.Tools(self.directory, self.admin)
        self.notes = self.helm("install", "--set", f"mode={self.mode}", *self.values)

    def helm(self, verb, *options):
        """helm install or upgrade of our release."""
        return self.tools.helm(verb, RELEASE, CHART, "--namespace", self.namespace, *options)

    def uninstall(self):
        """helm uninstall."""
        self.tools.helm("uninstall", RELEASE, "--namespace", self.namespace)

    def kinds(self):
        """The kinds of the release's objects that there are."""
        found = set()
        for path, kind in PLACES:
            items = self.cluster.api.request(
                "GET", f"{path.format(self.namespace)}?labelSelector=app.kubernetes.io/instance={RELEASE}")["items"]
            found |= {kind for _ in items}
        return found


class FeatureFile(Installed, deployed.FeatureFile, E2ETestCase):
    """mode: feature-file."""

    mode = "feature-file"


class WithNfd(Installed, deployed.WithNfd, E2ETestCase):
    """mode: with-nfd, the default."""

    mode = "with-nfd"

    def test_notes(self):
        """What helm says leads to the pods, and to the image that is not published."""
        for words in (f"mode {self.mode}, is in namespace {NAMESPACE}", f"daemonset/{self.name}",
                      f"kubectl label namespace {NAMESPACE} --overwrite {LEVEL}=privileged", "no published image"):
            self.assertIn(words, self.notes)


class NodeFeature(Installed, deployed.NodeFeature, E2ETestCase):
    """mode: node-feature."""

    mode = "node-feature"


class Worker(Installed, deployed.Worker, E2ETestCase):
    """mode: worker."""

    mode = "worker"

    def test_notes(self):
        """What helm says names the next step."""
        self.assertIn("worker.enable=false", self.notes)


class Standalone(Installed, deployed.Standalone, E2ETestCase):
    """mode: standalone."""

    mode = "standalone"


class Restricted(deployed.NoHostFolders, Installed):
    """hostFolders: false, in a namespace of the level that this is for."""

    namespace = "gpu-restricted"
    level = "restricted"
    values = ("--set", NO_HOST)

    def test_notes(self):
        """What helm says fits: no other level, no root in the command."""
        self.assertNotIn("PodSecurity", self.notes)
        self.assertIn("exec POD -- nfd-source explain", self.notes)


class RestrictedNodeFeature(Restricted, deployed.NodeFeature, E2ETestCase):
    """mode: node-feature."""

    mode = "node-feature"


class RestrictedStandalone(Restricted, deployed.Standalone, E2ETestCase):
    """mode: standalone. What is about the pod alone is tested in the other mode."""

    mode = "standalone"
    test_notes = None
    test_nothing_of_the_image = None
    test_gpu_node = None


class NonRoot(Installed, deployed.WithNfd, E2ETestCase):
    """mode: with-nfd without uid 0 in the program, with metrics."""

    mode = "with-nfd"
    values = ("--set", f"featuresDir.owner={NOBODY}", "--set", "metrics.textfile.enabled=true")
    test_fallback = None
    test_rules = None

    def test_pod(self):
        """Nobody but the init container is uid 0, and that has no token."""
        spec = self.make_pod()["spec"]
        init, = spec["initContainers"]
        self.assertEqual(init["securityContext"]["runAsUser"], 0)
        self.assertEqual(spec["containers"][0]["securityContext"]["runAsUser"], NOBODY)
        empty, = (volume["name"] for volume in spec["volumes"] if "emptyDir" in volume)
        self.assertEqual({mount["name"] for mount in init["volumeMounts"]}, {"features-d", empty})

    def run_init(self, number):
        """Run the admitted init container as the kubelet would, before the other one."""
        spec = {**self.pod["spec"], "containers": self.pod["spec"]["initContainers"]}
        container = Container(self.cluster, {**self.pod, "spec": spec}, self.directory / f"init-{number}",
                              self.directory, {FEATURES_DIR: self.features}, "")
        # The last word of the pod's own, as call() takes it.
        container.call(container.spec["args"][-1])

    def test_file_and_metrics(self):
        """In a folder of root the program can write nothing; after the init container it can, each time."""
        metrics = self.directory / "metrics"
        metrics.mkdir()
        os.chown(metrics, NOBODY, NOBODY)
        # As a daemon of uid 0 leaves it.
        (self.features / ".nfd-source").mkdir(mode=0o700, parents=True)
        self.features.chmod(0o755)
        container = self.make_container("outputs.nodeLabels.mode=off", host_paths={METRICS: metrics})
        with self.assertRaisesRegex(process.PartFailed, "Permission denied"):
            container.call("publish")
        for number in range(2):
            self.run_init(number)
            self.assertEqual((self.features.stat().st_uid, self.features.stat().st_gid), (NOBODY, NOBODY))
            container.call("publish")
        self.start(container)
        self.wait_until("the feature file", (self.features / "nfd-source").exists)
        self.assertIn(f"{PRESENT}=true", (self.features / "nfd-source").read_text())
        self.wait_until("the metrics", (metrics / "nfd-source.prom").exists)
        self.assertIn("nfd_source", (metrics / "nfd-source.prom").read_text())
        self.assertEqual((self.features / "nfd-source").stat().st_uid, NOBODY)


class Lifecycle(Installed, deployed.Deployed, E2ETestCase):
    """install, upgrade, uninstall."""

    mode = "node-feature"
    cluster_rights = deployed.NODE_RIGHTS
    namespace_rights = deployed.OBJECT_RIGHTS
    test_rules = None
    test_pod = None

    def template(self):
        """The pods' template."""
        return self.daemon_set()["spec"]["template"]

    def test_upgrade(self):
        """Another mode leaves no right of the former one, a setting rolls the pods, a rollback brings all back."""
        self.assertEqual(self.kinds(), ALWAYS | NODE_KINDS | OBJECT_KINDS)
        first = self.template()
        self.helm("upgrade", "--reuse-values", "--set", "settings.log.level=debug")
        self.assertEqual(self.template()["spec"], first["spec"])
        self.assertNotEqual(self.template(), first)
        self.helm("upgrade", "--set", "mode=with-nfd")
        self.assertEqual(self.kinds(), ALWAYS | NODE_KINDS)
        self.assertEqual(self.template()["spec"]["containers"][0]["securityContext"]["runAsUser"], 0)
        self.helm("upgrade", "--set", "mode=feature-file,networkPolicy.enabled=true")
        self.assertEqual(self.kinds(), ALWAYS | {"NetworkPolicy"})
        self.wait_for_rights(False)
        self.tools.helm("rollback", RELEASE, "1", "--namespace", self.namespace)
        self.assertEqual(self.kinds(), ALWAYS | NODE_KINDS | OBJECT_KINDS)
        self.assertEqual(self.template(), first)

    def remove(self):
        """Nothing is left, not even of Helm itself."""
        super().remove()
        self.assertEqual(self.kinds(), set())
        secrets = self.cluster.api.request("GET", f"/api/v1/namespaces/{self.namespace}/secrets")["items"]
        self.assertEqual([each["metadata"]["name"] for each in secrets if each["type"] == "helm.sh/release.v1"], [])


class Admission(E2ETestCase):
    """What the API server says to manifests that are only shown to it."""

    def setUp(self):
        super().setUp()
        self.tools = chart.Tools(self.directory)
        self.admin = self.directory / "admin"
        self.admin.write_text(self.cluster.pki.kubeconfig("admin", self.cluster.port))
        self.admin.chmod(0o600)

    def apply(self, manifests, *options):
        """What kubectl apply says: (lines, warnings)."""
        command = [self.cluster.kubernetes / "kubectl", "--kubeconfig", self.admin, "apply", *options, "-f", "-"]
        done = process.attempt(command, stdin=manifests, env={"HOME": str(self.directory)})
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.splitlines(), done.stderr

    def test_every_manifest(self):
        """Each object of each set of values and of each overlay is taken without a warning, and so is each pod."""
        make_namespace(self.cluster.api, NAMESPACE, "privileged")
        # Which one of the sets names; NVIDIA's operator makes it.
        runtime = {"metadata": {"name": "nvidia"}, "handler": "nvidia"}
        self.cluster.api.request("POST", "/apis/node.k8s.io/v1/runtimeclasses", runtime)
        texts = [self.tools.template("--values", path, namespace=NAMESPACE) for path in VALUES]
        texts += [self.tools.kustomize(folder) for folder, _ in MODES.values()]
        self.check_manifests("privileged", texts)

    def test_restricted(self):
        """The same at the level restricted, of what is made for it."""
        make_namespace(self.cluster.api, "gpu-restricted", "restricted")
        texts = [self.tools.template("--set", f"mode={mode},{NO_HOST}", namespace="gpu-restricted")
                 for mode in NO_HOST_MODES]
        texts.append(self.tools.kustomize(SAME[f"mode=standalone,{NO_HOST}"][0]))
        self.check_manifests("restricted", texts)

    def check_manifests(self, level, texts):
        """Nobody says a word against these manifests, nor against their pods at a level."""
        documents = [each for text in texts for each in text.split("\n---\n")]
        # Without it nothing in it can be looked at.
        namespace, = (each for each in documents if "\nkind: Namespace\n" in each)
        self.apply(namespace)
        lines, warnings = self.apply("\n---\n".join(documents), "--dry-run=server")
        self.assertEqual(warnings, "")
        self.assertEqual(len(lines), len(documents))
        for line in lines:
            self.assertRegex(line, r" \(server dry run\)$")
        for text in texts:
            spec = chart.pod_of(chart.by_name(self.tools.objects(text)))
            self.assertEqual(self.judge(level, {**spec, "serviceAccountName": "nfd-source"}), set())

    def test_notes(self):
        """Who makes no rights, or gives features.d another owner, is told what is left to do."""
        make_namespace(self.cluster.api, NAMESPACE, "privileged")
        tools = chart.Tools(self.directory, self.admin)
        values = ("rbac.create=false", f"featuresDir.owner={NOBODY}", "featuresDir.prepare=false",
                  "image.repository=registry.example/a")
        said = tools.helm("install", RELEASE, CHART, "--namespace", NAMESPACE, "--dry-run=server",
                          "--set", ",".join(values))
        notes = said[said.index("NOTES:") :]
        self.assertIn("the service account gpu-nfd-source needs the rights", notes)
        self.assertIn(f"d {FEATURES_DIR} 0755 {NOBODY} {NOBODY}\n", notes)
        self.assertNotIn("no published image", notes)

    def make_place(self, level):
        """A namespace of a level, with the account without which no pod is looked at. Returns its name."""
        namespace = f"level-{level}"
        make_namespace(self.cluster.api, namespace, level)
        path = f"/api/v1/namespaces/{namespace}/serviceaccounts"
        if not self.cluster.api.find(f"{path}/nfd-source"):
            self.cluster.api.request("POST", path, {"metadata": {"name": "nfd-source"}})
        return namespace

    def judge(self, level, spec):
        """What Pod Security says at a level against a pod of that spec: its reasons, none when it is taken.

        Only shown: nothing is created but what make_place() makes.
        """
        path = f"/api/v1/namespaces/{self.make_place(level)}/pods?dryRun=All"
        try:
            self.cluster.api.request("POST", path, {"metadata": {"name": "pod"}, "spec": spec})
        except ApiError as error:
            self.assertEqual(error.status, 403)
            said = re.search(r'violates PodSecurity \\"[a-z]+:latest\\": (.*?)","', str(error))
            self.assertTrue(said, error)
            return set(re.sub(r" \(.*?\)(?=, |$)", "", said[1]).split(", "))
        return set()

    def test_levels(self):
        """Host folders alone are why no mode can be at baseline; at restricted also uid 0, where it is used."""
        uid_0 = {"runAsNonRoot != true", "runAsUser=0"}
        for mode in MODES:
            with self.subTest(mode=mode):
                spec = chart.pod_of(self.tools.render("--set", f"mode={mode}"))
                self.assertEqual(self.judge("privileged", spec), set())
                self.assertEqual(self.judge("baseline", spec), {"hostPath volumes"})
                wanted = {"restricted volume types"} | (uid_0 if mode in ("feature-file", "with-nfd") else set())
                self.assertEqual(self.judge("restricted", spec), wanted)
        owner = f"featuresDir.owner={NOBODY}"
        spec = chart.pod_of(self.tools.render("--set", owner))
        self.assertEqual(self.judge("baseline", spec), {"hostPath volumes"})
        spec = chart.pod_of(self.tools.render("--set", f"{owner},featuresDir.prepare=false"))
        self.assertEqual(self.judge("restricted", spec), {"restricted volume types"})

    def test_pod_warnings(self):
        """A pod without folders of the host gets no word from the level restricted; where it only warns, others do."""
        places = {self.make_place("restricted"): NO_HOST, self.make_place("privileged"): "hostFolders=true"}
        self.cluster.api.request("PATCH", "/api/v1/namespaces/level-privileged",
                                 {"metadata": {"labels": {WARN: "restricted"}}}, "application/merge-patch+json")
        said = {}
        for namespace, values in places.items():
            spec = chart.pod_of(self.tools.render("--set", f"mode=standalone,{values}"))
            pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "pod", "namespace": namespace}, "spec": spec}
            said[namespace] = self.apply(json.dumps(pod), "--dry-run=server")[1]
        self.assertEqual(said["level-restricted"], "")
        self.assertRegex(said["level-privileged"], r'would violate PodSecurity "restricted.*hostPath')
