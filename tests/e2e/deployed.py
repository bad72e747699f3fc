# SPDX-License-Identifier: GPL-2.0-or-later
"""nfd-source as manifests bring it into a cluster: who made them is left to test_deploy.py and test_helm.py.

There is no kubelet and no controller: each test makes the Pod that the DaemonSet controller would make, lets the API
server admit it, and runs its container (pod.py) with the token of the service account, on a fixture root.
"""

import contextlib
import http.client
import json
import ssl

import cluster
import process
import program
from api import Api, ApiError
from pod import FEATURES_DIR, Container
from running import HOST
from testcase import FEATURE

TOKEN_FOLDER = "/var/run/secrets/kubernetes.io/serviceaccount"
REVIEWS = "/apis/authorization.k8s.io/v1"
NFD_GROUP = "nfd.k8s-sigs.io"
VENDOR_LOOK = f"/apis/{NFD_GROUP}/v1alpha1/nodefeatures"
GPU = HOST + "pci 0000:3b:00.0 030200 10de:27b8 driver=nvidia\n"
PRESENT = f"{FEATURE}pci-10de.present"
# Labels of what is neither in /sys nor in /proc.
OF_FILES = tuple(f"{FEATURE}{start}" for start in (
    "system-os_release.", "driver-nvidia.library.", "driver-nvidia.match", "gpu-paravirtual."))

NODE_RIGHTS = {(verb, "", "nodes") for verb in ("get", "patch")}
NODE_RIGHTS |= {("list", NFD_GROUP, "nodefeatures"), ("create", "", "events")}
OBJECT_VERBS = ("get", "create", "patch", "delete")
OBJECT_RIGHTS = {("get", "", "pods")} | {(verb, NFD_GROUP, "nodefeatures") for verb in OBJECT_VERBS}


def labels_of(text):
    """What a scan printed: key -> value."""
    return dict(line.split("=", 1) for line in text.splitlines())


class TokenConnection(http.client.HTTPSConnection):
    """A connection whose requests carry a bearer token."""

    token = None

    def request(self, method, url, body=None, headers=None, **options):
        super().request(method, url, body, {**(headers or {}), "Authorization": f"Bearer {self.token}"}, **options)


class TokenApi(Api):
    """Access as a service account."""

    def __init__(self, port, pki, token):  # pylint: disable=super-init-not-called
        self.port, self.token = port, token
        self.tls = ssl.create_default_context(cafile=pki.file("ca.crt"))

    def connect(self, timeout_s=30):
        connection = TokenConnection("127.0.0.1", self.port, timeout=timeout_s, context=self.tls)
        connection.token = self.token
        return connection

    def may(self, verb, group, resource, namespace):
        """Whether the API server would let us."""
        name, _, subresource = resource.partition("/")
        attributes = {"verb": verb, "group": group, "resource": name, "subresource": subresource,
                      "namespace": namespace}
        answer = self.request("POST", f"{REVIEWS}/selfsubjectaccessreviews",
                              {"spec": {"resourceAttributes": attributes}})
        return answer["status"]["allowed"]

    def rules(self, namespace):
        """All that RBAC lets us do in a namespace and cluster-wide: set of texts."""
        status = self.request("POST", f"{REVIEWS}/selfsubjectrulesreviews",
                              {"spec": {"namespace": namespace}})["status"]
        return {json.dumps(rule, sort_keys=True) for rule in status["resourceRules"] + status["nonResourceRules"]}


class Deployed:
    """A deployment that each test installs and removes; a mixin, so that only the classes of the test files are cases.

    They say how: install() and uninstall(). name: of the DaemonSet and the service account. namespace: where. The other
    attributes are what its mode is about.
    """

    name = "nfd-source"
    namespace = cluster.NAMESPACE
    writes_features = False
    reads_features = False
    cluster_rights = set()
    namespace_rights = set()

    def setUp(self):
        super().setUp()
        self.user = f"system:serviceaccount:{self.namespace}:{self.name}"
        self.admin = self.directory / "admin"
        self.admin.write_text(self.cluster.pki.kubeconfig("admin", self.cluster.port))
        self.admin.chmod(0o600)
        self.install()
        self.addCleanup(self.remove)
        self.wait_for_rights(True)
        self.service_account = f"/api/v1/namespaces/{self.namespace}/serviceaccounts/{self.name}"
        self.features = self.directory / "features.d"
        # The same account ran in other tests.
        self.earlier = len(self.cluster.requests(self.user))

    def kubectl(self, *words, stdin="", kubeconfig=None):
        """kubectl's standard output. Its caches stay in our directory."""
        command = [self.cluster.kubernetes / "kubectl", "--kubeconfig", kubeconfig or self.admin, *words]
        return process.run(command, stdin=stdin, env={"HOME": str(self.directory)})

    def remove(self):
        """Take everything away again, and wait until the rights are gone too."""
        self.uninstall()
        self.wait_for_rights(False)

    def wait_for_rights(self, wanted):
        """Wait until the authorizer, which learns of roles by a watch, grants all of our rights, or none."""
        def may(verb, group, resource):
            attributes = {"verb": verb, "group": group, "resource": resource, "namespace": self.namespace}
            spec = {"user": self.user, "groups": ["system:authenticated"], "resourceAttributes": attributes}
            answer = self.cluster.api.request("POST", f"{REVIEWS}/subjectaccessreviews", {"spec": spec})
            return answer["status"]["allowed"]

        for right in self.cluster_rights | self.namespace_rights:
            process.wait_until(f"{right} is {wanted}", lambda: may(*right) == wanted)  # pylint: disable=W0640

    # What the manifests make.

    def daemon_set(self):
        """The DaemonSet."""
        return self.cluster.api.request("GET", f"/apis/apps/v1/namespaces/{self.namespace}/daemonsets/{self.name}")

    def make_pod(self):
        """The Pod that the DaemonSet's controller would make for our Node, as it was admitted."""
        daemon_set = self.daemon_set()
        template = daemon_set["spec"]["template"]
        path = f"/api/v1/namespaces/{self.namespace}/pods"
        pod = self.cluster.api.request("POST", path, {
            "metadata": {
                "name": f"nfd-source-{self.node}", "labels": template["metadata"]["labels"],
                "ownerReferences": [{
                    "apiVersion": "apps/v1", "kind": "DaemonSet", "name": self.name, "controller": True,
                    "uid": daemon_set["metadata"]["uid"], "blockOwnerDeletion": True}]},
            "spec": {**template["spec"], "nodeName": self.node}})
        self.addCleanup(self.cluster.api.request, "DELETE",
                        f"{path}/{pod['metadata']['name']}?gracePeriodSeconds=0")
        self.daemon_set_uid, self.pod = daemon_set["metadata"]["uid"], pod
        return pod

    def make_token(self, pod=None):
        """A token of the service account, bound to a pod as the kubelet asks for it."""
        spec = {"expirationSeconds": 3600}
        if pod:
            meta = pod["metadata"]
            spec["boundObjectRef"] = {"apiVersion": "v1", "kind": "Pod", "name": meta["name"], "uid": meta["uid"]}
        return self.cluster.api.request("POST", f"{self.service_account}/token", {"spec": spec})["status"]["token"]

    def make_container(self, *settings, host_paths=(), pod=None):
        """The container of a Pod on a host with a GPU, with KEY=VALUE settings beside the ConfigMap's.

        host_paths: folders for further paths of the host, by path. pod: of make_pod(); a new one.
        """
        pod = pod or self.make_pod()
        container = Container(self.cluster, pod, self.directory / "container", self.make_root(GPU),
                              {FEATURES_DIR: self.features, **dict(host_paths)}, self.make_token(pod))
        for setting in settings:
            container.spec["args"] = ["--set", setting, *container.spec["args"]]
        return container

    def start(self, container):
        """Start the daemon of a container; returns the labels that a scan in there finds."""
        labels = labels_of(container.call("scan"))
        self.check_labels(labels)
        self.keep(container.start())
        return labels

    def check_labels(self, labels):
        """What a scan in the container must find: the fixture's GPU."""
        self.assertEqual(labels[PRESENT], "true")

    def requests(self):
        """What the API server answered to this test's container, look-ups of the API group apart: list."""
        ours = (f"/{self.node}", f"/{self.node}-nfd-source", f"/nfd-source-{self.node}")
        return [each for each in self.cluster.requests(self.user)[self.earlier :] if each.path.endswith(ours)]

    # The tests of every mode.

    def test_rules(self):
        """No rule beyond what every service account has, but for the known ones."""
        nobody = self.cluster.api
        path = f"/api/v1/namespaces/{self.namespace}/serviceaccounts"
        with contextlib.suppress(ApiError):
            nobody.request("POST", path, {"metadata": {"name": "nobody"}})
        token = nobody.request("POST", f"{path}/nobody/token", {"spec": {}})["status"]["token"]
        without = TokenApi(self.cluster.port, self.cluster.pki, token).rules(self.namespace)
        ours = TokenApi(self.cluster.port, self.cluster.pki, self.make_token()).rules(self.namespace)
        self.assertLessEqual(without, ours)
        found = {(verb, group, resource) for rule in map(json.loads, ours - without)
                 for verb in rule["verbs"] for group in rule["apiGroups"] for resource in rule["resources"]}
        self.assertEqual(found, self.cluster_rights | self.namespace_rights)

    def test_pod(self):
        """The admitted Pod has a token only where it is used, and what its program runs with is what it should be."""
        pod = self.make_pod()
        container = pod["spec"]["containers"][0]
        paths = [mount["mountPath"] for mount in container["volumeMounts"]]
        self.assertEqual(TOKEN_FOLDER in paths, bool(self.cluster_rights))
        self.assertEqual(FEATURES_DIR in paths, self.writes_features or self.reads_features)
        read_only = {mount["mountPath"] for mount in container["volumeMounts"] if mount.get("readOnly")}
        self.assertEqual(FEATURES_DIR in read_only, self.reads_features)
        context = container["securityContext"]
        self.assertEqual(context["runAsUser"], 0 if self.writes_features else 65534)
        self.assertEqual(context["capabilities"], {"drop": ["ALL"]})
        self.assertTrue(context["readOnlyRootFilesystem"])


class FeatureFile(Deployed):
    """The feature file only."""

    writes_features = True

    def test_feature_file_arrives(self):
        """Through NFD, without a token."""
        worker = self.make_worker()
        self.start_worker(worker)
        self.features = worker.features_dir
        container = self.make_container()
        expected = self.start(container)
        self.wait_for_labels("the labels are on the Node", lambda labels: labels == expected)
        self.assertEqual(self.cluster.requests(self.user), [])


class WithApi(Deployed):
    """A mode whose program talks to the API server."""

    cluster_rights = NODE_RIGHTS

    def check_probe(self, container):
        """The pod's liveness probe is content."""
        done = container.execute(*container.spec["livenessProbe"]["exec"]["command"])
        self.assertEqual(done.returncode, 0, done.stderr)

    def wait_until_owned(self, labels):
        """Wait until exactly those labels are ours on the Node."""
        def owned():
            return self.cluster.api.label_managers(self.node).get("nfd-source", set()) == set(labels)

        self.wait_until("the labels are ours", owned)

    def check_requests(self):
        """Nothing was refused, listed or watched, but who else writes a vendor's labels for this Node."""
        requests = self.cluster.requests(self.user)[self.earlier :]
        self.assertTrue(requests)
        for request in requests:
            self.assertNotIn(request.verb, ("watch",) if request.path == VENDOR_LOOK else ("list", "watch"), request)
            self.assertNotIn(request.code, (401, 403), request)


class WithNfd(WithApi):
    """Feature file and fallback."""

    writes_features = True

    def test_fallback(self):
        """NFD's API group is served, but no worker runs: we bring the labels, and take them away."""
        container = self.make_container("outputs.nodeLabels.after=1s")
        expected = self.start(container)
        self.wait_until_owned(expected)
        self.assertEqual(self.cluster.labels(self.node), expected)
        self.check_requests()
        self.parts[-1].end()
        container.call("cleanup")
        self.assertEqual(self.cluster.labels(self.node), {})


class NodeFeature(WithApi):
    """NodeFeature object and fallback, no path of the host."""

    namespace_rights = OBJECT_RIGHTS

    def node_feature(self, suffix="-nfd-source"):
        """Our NodeFeature object, or None; without suffix that in nfd-worker's place."""
        return self.cluster.api.find(
            f"/apis/{NFD_GROUP}/v1alpha1/namespaces/{self.namespace}/nodefeatures/{self.node}{suffix}")

    def test_object_brings_the_labels(self):
        """Through nfd-master; the DaemonSet owns the object; cleanup takes both away."""
        container = self.make_container()
        expected = self.start(container)
        self.wait_for_labels("the labels are on the Node", lambda labels: labels == expected)
        self.assertNotIn("nfd-source", self.cluster.api.label_managers(self.node))
        owner, = self.node_feature()["metadata"]["ownerReferences"]
        self.assertEqual((owner["kind"], owner["uid"]), ("DaemonSet", self.daemon_set_uid))
        # Else the plug-in OwnerReferencesPermissionEnforcement asks for a right on the DaemonSet's finalizers.
        self.assertFalse(owner.get("blockOwnerDeletion"))
        self.check_probe(container)
        self.check_requests()
        self.parts[-1].end()
        container.call("cleanup")
        self.assertIsNone(self.node_feature())
        self.wait_for_labels("no label is left on the Node", lambda labels: not labels)


class Worker(NodeFeature):
    """NodeFeature objects in nfd-worker's place."""

    reads_features = True
    # Instead of it there is the next one.
    test_object_brings_the_labels = None

    def test_place_is_taken(self):
        """nfd-worker's object is as a worker has it, and ours is there beside it; cleanup takes both away."""
        container = self.make_container()
        (self.features / "other").write_text(f"{FEATURE}other=found\n")
        expected = self.start(container)
        # What lies in folders that only this mode mounts.
        self.assertEqual(expected[f"{FEATURE}kernel-config.NO_HZ"], "true")
        self.assertEqual(expected[f"{FEATURE}other"], "found")
        self.wait_for_labels("the labels are on the Node", lambda labels: labels == expected)
        self.assertNotIn("nfd-source", self.cluster.api.label_managers(self.node))
        theirs, ours = self.node_feature(""), self.node_feature()
        owners = [(owner["kind"], owner["uid"]) for owner in theirs["metadata"]["ownerReferences"]]
        uid = self.pod["metadata"]["uid"]
        self.assertEqual(owners, [("Pod", uid), ("DaemonSet", self.daemon_set_uid)])
        annotations = theirs["metadata"]["annotations"]
        self.assertEqual(annotations["nfd.node.kubernetes.io/worker.pod.uid"], uid)
        attributes = theirs["spec"]["features"]["attributes"]
        self.assertEqual(attributes["kernel.config"]["elements"], {"NO_HZ": "y"})
        self.assertEqual(attributes["local.label"]["elements"], {f"{FEATURE}other": "found"})
        self.assertEqual(theirs["spec"]["features"]["flags"]["kernel.enabledmodule"]["elements"], {"ext4": {}, "loop": {}})
        self.assertIn("gpu-10de.count", str(ours["spec"]["labels"]))
        self.assertNotIn("gpu-10de.count", str(theirs["spec"]["labels"]))
        self.check_probe(container)
        self.check_requests()
        self.parts[-1].end()
        container.call("cleanup")
        self.assertEqual((self.node_feature(""), self.node_feature()), (None, None))
        self.wait_for_labels("no label is left on the Node", lambda labels: not labels)

    def make_root(self, text):
        """With what is in the folders that only this mode mounts."""
        root = super().make_root(text + "file proc/modules ext4 1 0 - Live 0x0\n")
        release = (root / "proc/sys/kernel/osrelease").read_text().strip()
        for path, line in ((f"boot/config-{release}", "CONFIG_NO_HZ=y"),
                           (f"lib/modules/{release}/modules.builtin", "kernel/drivers/block/loop.ko")):
            (root / path).parent.mkdir(parents=True)
            (root / path).write_text(f"{line}\n")
        return root


class Standalone(WithApi):
    """Node labels in a cluster that does not know NFD."""

    get_cluster = staticmethod(cluster.without_nfd)

    def test_labels_arrive(self):
        """At once, with one look and one patch; cleanup takes them away."""
        # An hour: nothing waits for an NFD that is not there. Who else writes a vendor's labels is not what is counted.
        container = self.make_container("outputs.nodeLabels.after=1h", "sources.vendor.nvidia.labels=on")
        expected = self.start(container)
        self.wait_until_owned(expected)
        self.assertEqual(self.cluster.labels(self.node), expected)
        self.assertEqual([(each.verb, each.path) for each in self.requests()],
                         [(verb, f"/api/v1/nodes/{self.node}") for verb in ("get", "patch")])
        self.check_probe(container)
        self.check_requests()
        self.parts[-1].end()
        container.call("cleanup")
        self.assertEqual(self.cluster.labels(self.node), {})


class NoHostFolders:
    """A mode without any folder of the host: the container sees this machine's hardware, not a fixture's."""

    def check_labels(self, labels):
        """All that a scan finds on this machine, but for what lies in files."""
        done = process.run([program.BINARY, "--config", "/dev/null", "scan"], env={})
        self.assertEqual(labels, {key: value for key, value in labels_of(done).items() if not key.startswith(OF_FILES)})
        self.assertIn(f"{FEATURE}kernel-version.full", labels)

    def test_pod(self):
        """As of every mode; and nothing of the host is in the pod."""
        super().test_pod()
        self.assertEqual([volume for volume in self.pod["spec"]["volumes"] if "hostPath" in volume], [])

    @staticmethod
    def put_below(pod, files):
        """Put files and folders (path in the container -> where it is here) below all that the pod mounts itself."""
        for path, source in files.items():
            name = "below" + path.replace("/", "-")
            kind = "Directory" if source.is_dir() else "File"
            pod["spec"]["volumes"].append({"name": name, "hostPath": {"path": path, "type": kind}})
            pod["spec"]["containers"][0]["volumeMounts"].insert(0, {"name": name, "mountPath": path})

    def test_gpu_node(self):
        """The kernel's /sys alone gives what operators select on, and the version of the loaded driver."""
        files = {"/sys": self.make_root(f"{GPU}module nvidia version=580.126.09\n") / "sys"}
        pod = self.make_pod()
        self.put_below(pod, files)
        labels = labels_of(self.make_container(host_paths=files, pod=pod).call("scan"))
        wanted = {"pci-10de.present": "true", "pci-0302_10de.present": "true", "gpu-10de.count": "1",
                  "driver-nvidia.version.full": "580.126.09"}
        self.assertLessEqual({(FEATURE + key, value) for key, value in wanted.items()}, set(labels.items()))

    def test_nothing_of_the_image(self):
        """Files of the image are not taken for the node's: no label of them, and no alarm of doctor's about others."""
        image = self.directory / "image"
        (image / "lib64").mkdir(parents=True)
        (image / "os-release").write_text("ID=image\n")
        (image / "lib64/libnvidia-ml.so.1.2.3").touch()
        (image / "lib64/libnvidia-ml.so.1").symlink_to("libnvidia-ml.so.1.2.3")
        # /etc/os-release of an image is mostly a link to this one.
        files = {"/usr/lib/os-release": image / "os-release", "/opt/nvidia/lib64": image / "lib64"}
        pod = self.make_pod()
        self.put_below(pod, files)
        container = self.make_container(host_paths=files, pod=pod)
        self.start(container)
        probe = container.spec["livenessProbe"]["exec"]["command"]
        self.wait_until("the daemon is alive", lambda: container.execute(*probe).returncode == 0)
        done = container.execute("nfd-source", "doctor", "--no-nvml", "--no-api", "-o", "json")
        for check in json.loads(done.stdout)["checks"][1:]:
            self.assertEqual(check["verdict"], "not-checked")
            self.assertIn("os-release", check["reason"])
        # They would be, without what the manifests do about it.
        mounts = container.spec["volumeMounts"]
        mounts[:] = [mount for mount in mounts if mount["mountPath"] != "/etc/os-release"]
        labels = labels_of(container.call("scan", "--set", "sources.nvidia.libraryDir="))
        self.assertEqual(labels[f"{FEATURE}system-os_release.ID"], "image")
        self.assertEqual(labels[f"{FEATURE}driver-nvidia.library.version.full"], "1.2.3")
