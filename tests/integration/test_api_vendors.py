# SPDX-License-Identifier: GPL-2.0-or-later
"""Who writes a vendor's labels: what the helper sees of the vendors' own programs (vendor-look)."""

from api_helper import NODE, ApiTest
from fake_api import GROUP_PATH, OURS, status
from https_server import json_reply

PRODUCT, STAMP, MEMORY = "nvidia.com/gpu.product", "nvidia.com/gfd.timestamp", "nvidia.com/gpu.memory"
VRAM = "amd.com/gpu.vram"
NVIDIA = {"name": "nvidia", "objects": ["nvidia-features-for-"], "keys": [STAMP, PRODUCT]}
AMD = {"name": "amd", "objects": [], "keys": ["amd.com/gpu.*", "beta.amd.com/gpu.*"]}
MODEL = "feature.node.kubernetes.io/cpu-model.id"
NFD = {"name": "nfd", "objects": [], "keys": ["feature.node.kubernetes.io/cpu-*"], "nodeObject": True}
LIST = f"{GROUP_PATH}/v1alpha1/nodefeatures"
OBJECT = f"{GROUP_PATH}/v1alpha1/namespaces/gpu-operator/nodefeatures/nvidia-features-for-{NODE}"

OWN = f"{GROUP_PATH}/v1alpha1/namespaces/nfd/nodefeatures/{NODE}-nfd-source"


def feature(name, namespace="gpu-operator", node=NODE):
    """A NodeFeature as the vendor's program makes it."""
    return {"metadata": {"name": name, "namespace": namespace,
                         "labels": {"nfd.node.kubernetes.io/node-name": node}}}


class Look(ApiTest):
    """One request, the vendors that it sees."""

    def seen(self, vendors=(NVIDIA, AMD), **fields):
        """Result's "seen"."""
        request = self.request("vendor-look", self.server, vendors=list(vendors), **fields)
        self.result = self.succeed(request)
        return self.result["seen"]

    def setUp(self):
        super().setUp()
        self.server = self.serve()

    def test_nobody(self):
        """An empty Node; the objects are asked for by our Node's name."""
        self.assertEqual(self.seen(), {})
        self.assertEqual(self.result["node"]["uid"], "uid-1")
        [listed] = self.api.sent("GET", LIST)
        self.assertEqual(listed.query["labelSelector"], f"nfd.node.kubernetes.io/node-name={NODE}")
        self.assertEqual(self.api.counts(), {"get": 2})

    def test_no_objects_wanted(self):
        """A vendor whose program makes none costs no list."""
        self.assertEqual(self.seen([AMD]), {})
        self.assertEqual(self.api.sent("GET", LIST), [])

    def test_object(self):
        """Its NodeFeature object, of our Node alone; it has come once NFD has a label of it, or the same one of ours."""
        words = {"nvidia": f"NodeFeature gpu-operator/nvidia-features-for-{NODE}"}
        self.api.objects[OBJECT] = feature(f"nvidia-features-for-{NODE}")
        self.api.set_labels(OURS, {PRODUCT: "NVIDIA-L4"})
        self.assertEqual((self.seen(mine=[PRODUCT]), self.result["coming"]), ({}, words))
        self.api.annotate(VRAM)
        self.assertEqual((self.seen(mine=[PRODUCT]), self.result["coming"]), ({}, words), "of another vendor")
        self.api.annotate(PRODUCT)
        self.assertEqual((self.seen(mine=[PRODUCT]), self.result["coming"]), (words, {}))
        self.api.set_labels(OURS, {PRODUCT: "NVIDIA-L4", MEMORY: "23028"})
        self.api.annotate(PRODUCT)
        self.assertEqual((self.seen(mine=[PRODUCT]), self.result["coming"]), ({}, words), "one of ours would go")
        self.api.annotate(f"{PRODUCT},{MEMORY}")
        self.assertEqual((self.seen(mine=[PRODUCT]), self.result["coming"]), (words, {}))
        self.api.objects[OBJECT] = feature("nvidia-features-for-other", node="other")
        self.assertEqual((self.seen(mine=[PRODUCT]), self.result["coming"]), ({}, {}))
        self.api.objects[OBJECT] = feature(f"nvidia-features-for-{NODE}")
        self.api.set_labels("nfd-master", {STAMP: "1"}, "Update")
        self.api.annotate(f"{PRODUCT},{STAMP}")
        self.assertEqual((self.seen(mine=[PRODUCT]), self.result["coming"]), (words, {}), "NFD has what only it writes")

    def test_node_object(self):
        """NFD's own: the object named like the Node, unless we stand in its place."""
        place = f"{GROUP_PATH}/v1alpha1/namespaces/nfd/nodefeatures/{NODE}"
        words = {"nfd": f"NodeFeature nfd/{NODE}"}
        self.api.objects[place] = feature(NODE, "nfd")
        self.assertEqual((self.seen([{**NFD, "nodeObject": False}]), self.result["coming"]), ({}, {}), "not asked for")
        self.assertEqual(self.api.sent("GET", LIST), [])
        self.assertEqual((self.seen([NFD]), self.result["coming"]), ({}, words))
        other = "feature.node.kubernetes.io/usb-ff_1_2.present"
        self.api.set_labels("nfd-master", {other: "true"}, "Update")
        self.api.annotate("usb-ff_1_2.present")
        self.assertEqual((self.seen([NFD]), self.result["coming"]), ({}, words), "NFD has another one's")
        self.api.set_labels("nfd-master", {other: "true", MODEL: "7"}, "Update")
        self.api.annotate("cpu-model.id,usb-ff_1_2.present")
        self.assertEqual((self.seen([NFD]), self.result["coming"]), (words, {}))
        self.api.objects[place]["metadata"]["annotations"] = {"nfd.node.kubernetes.io/worker.version": "v0.19.0"}
        self.assertEqual(self.seen([NFD]), words)
        self.api.objects[place]["metadata"]["annotations"]["nfd.node.kubernetes.io/worker.version"] = "nfd-source v1"
        self.assertEqual((self.seen([NFD], mine=[MODEL]), self.result["coming"]), ({}, {}), "it is ours")
        self.api.objects[place] = feature(f"{NODE}-x", "nfd")
        self.assertEqual((self.seen([NFD], mine=[MODEL]), self.result["coming"]), ({}, {}), "of another name")

    def test_key_of_another_manager(self):
        """Its labeller's key, with its name."""
        self.api.set_labels("k8s-node-labeller", {VRAM: "16G"}, "Update")
        self.assertEqual(self.seen(), {"amd": f"label {VRAM} on the Node, set by k8s-node-labeller"})

    def test_our_own_keys(self):
        """Applied by us, or brought by NFD from what we publish, they are nobody else's."""
        self.api.set_labels(OURS, {PRODUCT: "NVIDIA-L4"})
        self.assertEqual(self.seen(mine=[PRODUCT]), {})
        self.assertEqual(self.seen(), {}, "ours that is about to go")
        self.api.set_labels("nfd-master", {VRAM: "16G"}, "Update")
        self.api.annotate(VRAM)
        self.assertEqual(self.seen(mine=[PRODUCT, VRAM]), {})
        self.assertEqual(set(self.seen(mine=[PRODUCT])), {"amd"}, "NFD has it from somebody else")

    def test_our_own_object(self):
        """What NFD has on the Node from it is ours, also where nothing else tells."""
        self.api.set_labels("nfd-master", {PRODUCT: "NVIDIA-L4"}, "Update")
        self.api.annotate(PRODUCT)
        name = {"object": f"{NODE}-nfd-source"}
        self.assertEqual(set(self.seen(**name, namespace="nfd")), {"nvidia"}, "no such object")
        self.api.objects[OWN] = feature(f"{NODE}-nfd-source", "nfd") | {"spec": {"labels": {PRODUCT: "NVIDIA-L4"}}}
        self.assertEqual(self.seen(**name, namespace="nfd"), {})
        self.assertEqual(set(self.seen(**name)), {"nvidia"}, "no namespace is known")
        self.assertEqual(set(self.seen(**name, namespace="other")), {"nvidia"})
        for odd in ({}, {"spec": 5}, {"spec": {"labels": [PRODUCT]}}):
            with self.subTest(odd):
                self.api.objects[OWN] = feature(f"{NODE}-nfd-source", "nfd") | odd
                self.assertEqual(set(self.seen(**name, namespace="nfd")), {"nvidia"})
        self.api.always("GET", OWN, status(403, "nodefeatures is forbidden"))
        self.assertEqual(set(self.seen(**name, namespace="nfd")), {"nvidia"})
        self.api.calm()
        self.api.always("GET", OWN, status(500, "broken"))
        self.fail_with(self.request("vendor-look", self.server, vendors=[NVIDIA], namespace="nfd", **name), "refused")
        self.api.calm()
        for field in ({"object": ".."}, {"object": 5}, {"namespace": ".."}, {"namespace": ""}):
            with self.subTest(field):
                request = name | {"namespace": "nfd"} | field
                self.fail_with(self.request("vendor-look", self.server, vendors=[NVIDIA], **request), "request", code=2)

    def test_shared_key(self):
        """The same key and value by two: the other one is there."""
        self.api.set_labels(OURS, {VRAM: "16G"})
        self.api.set_labels("k8s-node-labeller", {VRAM: "16G"}, "Update")
        self.assertEqual(set(self.seen(mine=[VRAM])), {"amd"})

    def test_key_without_manager(self):
        """Older than owners are kept; ours once it was handed over."""
        self.api.labels[PRODUCT] = "x"
        self.assertEqual(set(self.seen()), {"nvidia"})
        self.assertEqual(self.seen(mine=[PRODUCT]), {})

    def test_keys_of_operators(self):
        """Other keys of the domain tell nothing."""
        self.api.set_labels("gpu-operator", {"nvidia.com/gpu.present": "true", "nvidia.com/gpu.deploy.driver": "true",
                                             f"{PRODUCT}s": "x"}, "Update")
        self.assertEqual(self.seen(), {})

    def test_refused_list(self):
        """Without the right the keys decide, and the reason is told."""
        self.api.always("GET", LIST, status(403, "nodefeatures is forbidden"))
        self.api.set_labels("nfd-master", {STAMP: "1"}, "Update")
        self.assertEqual(set(self.seen()), {"nvidia"})
        self.assertIn("forbidden", self.result["objectsWhy"])

    def test_no_nfd(self):
        """A cluster without the type."""
        self.api.served = False
        self.assertEqual(self.seen(), {})
        self.assertNotIn("objectsWhy", self.result)

    def test_failed_list(self):
        """Anything else is no answer."""
        self.api.always("GET", LIST, status(500, "broken"))
        self.fail_with(self.request("vendor-look", self.server, vendors=[NVIDIA]), "refused")

    def test_hostile_list(self):
        """Items of any type."""
        for items in (5, [], [5, None, {}, {"metadata": 5}, {"metadata": {"name": 7}}], [{"metadata": {"name": "x"}}]):
            with self.subTest(items):
                self.api.calm()
                self.api.always("GET", LIST, json_reply(200, {"kind": "List", "items": items}))
                self.assertEqual(self.seen(), {})

    def test_missing_node(self):
        """No such Node."""
        self.api.node = None
        self.fail_with(self.request("vendor-look", self.server, vendors=[NVIDIA]), "refused")
