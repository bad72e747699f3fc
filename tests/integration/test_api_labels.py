# SPDX-License-Identifier: GPL-2.0-or-later
"""Labels on the Node by nfd-source-api: what it sets, takes away, hands over to NFD, leaves alone (design.md 5.3)."""

from api_helper import GPU_LABELS, NODE, ApiTest
from fake_api import APPLY, JSON_PATCH, OURS, changed_meanwhile, entry, status
from https_server import Reset
from program import PREFIX

PRESENT, COUNT = f"{PREFIX}pci-10de.present", f"{PREFIX}gpu-10de.count"
BARE = {key: key[len(PREFIX) :] for key in GPU_LABELS}
VENDOR = "nvidia.com/gpu.of.ours"
FIELDS = ("applied", "withdrawn", "handedOver", "owned", "missing", "left", "conflicts", "refused")


class LabelsTest(ApiTest):
    """A server with one Node, and the helper's view of it."""

    def setUp(self):
        super().setUp()
        self.server = self.serve()

    def run_labels(self, labels=None, **fields):
        """A run that must succeed; the arrays of the result are sorted, and owned is what the API server says."""
        result = self.succeed(self.node_labels(self.server, labels, **fields))
        for name in FIELDS:
            value = result.get(name, [])
            self.assertIsInstance(value, list, name)
            result[name] = sorted(one["key"] if isinstance(one, dict) else one for one in value)
        self.assertEqual(result["owned"], self.api.owned())
        self.assertEqual(result["requests"], self.counts())
        return result

    def counts(self):
        """Requests since the last call."""
        counts = self.api.counts()
        self.api.requests.clear()
        return counts

    def assert_result(self, result, **wanted):
        """These arrays have just this, all others but owned are empty."""
        got = {name: result[name] for name in FIELDS if result[name] and name != "owned"}
        self.assertEqual(got, {name: sorted(value) for name, value in wanted.items() if value})

    def ours(self, labels):
        """Labels that we brought earlier."""
        self.api.set_labels(OURS, labels)

    def always_there(self, *keys):
        """Since our first own label no state of the Node lacked one of these."""
        states = self.api.history[next(i for i, one in enumerate(self.api.history) if keys[0] in one) :]
        for state in states:
            self.assertEqual([key for key in keys if key not in state], [])


class Bring(LabelsTest):
    """Setting and taking away."""

    def test_first_time(self):
        """One GET, one apply."""
        result = self.run_labels()
        self.assert_result(result, applied=GPU_LABELS)
        self.assertEqual(result["requests"], {"get": 1, "patch": 1})
        self.assertEqual(result["node"], {"uid": "uid-1", "nfd": False})
        self.assertIs(result["brought"], True)
        self.assertNotIn("nfdServed", result)
        self.assertEqual(self.api.labels[PRESENT], "true")

    def test_metadata_only(self):
        """The GET asks for the metadata, not for the list of images of the Node."""
        self.succeed(self.node_labels(self.server))
        request = self.api.sent("GET", "/nodes/")[0]
        self.assertIn("as=PartialObjectMetadata", request.headers["Accept"])
        self.assertEqual(request.path, f"/api/v1/nodes/{NODE}")

    def test_nothing_to_do(self):
        """The second time there is nothing to write."""
        self.run_labels()
        result = self.run_labels()
        self.assert_result(result)
        self.assertEqual(result["requests"], {"get": 1})

    def test_changed_value(self):
        """Only what changed is told; all of ours is sent."""
        self.ours({**GPU_LABELS, COUNT: "1"})
        result = self.run_labels()
        self.assert_result(result, applied=[COUNT])
        self.assertEqual(self.api.labels[COUNT], "2")

    def test_value_changed_by_others(self):
        """Somebody took a label over by force: it is his now."""
        self.ours(GPU_LABELS)
        self.api.set_labels("kubectl-label", {COUNT: "7"}, "Update")
        result = self.run_labels()
        self.assert_result(result, conflicts=[COUNT])
        self.assertEqual(self.api.labels[COUNT], "7")

    def test_withdrawn(self):
        """What we own and no longer want goes away; labels of others stay."""
        self.api.set_labels("other", {"other/label": "1"})
        self.ours({**GPU_LABELS, f"{PREFIX}old": "1"})
        result = self.run_labels()
        self.assert_result(result, withdrawn=[f"{PREFIX}old"])
        self.assertEqual(self.api.labels, {"kubernetes.io/hostname": NODE, "other/label": "1", **GPU_LABELS})

    def test_take_all_away(self):
        """No labels: ours go, and doing it twice is harmless."""
        self.ours(GPU_LABELS)
        self.assert_result(self.run_labels({}), withdrawn=GPU_LABELS)
        self.assertEqual(self.api.labels, {"kubernetes.io/hostname": NODE})
        result = self.run_labels({})
        self.assert_result(result)
        self.assertEqual(result["requests"], {"get": 1})

    def test_shared_label(self):
        """A label that another manager owns with our value: ours too, and it stays when we go."""
        self.api.set_labels("other", {PRESENT: "true"})
        self.run_labels()
        self.run_labels({})
        self.assertEqual(self.api.labels[PRESENT], "true")
        self.assertNotIn(COUNT, self.api.labels)

    def test_entry_of_another_operation(self):
        """An Update entry with our name is not what an apply would own."""
        self.api.set_labels(OURS, {PRESENT: "true"}, "Update")
        result = self.succeed(self.node_labels(self.server))
        self.assertNotIn("error", result)
        self.assertEqual(self.api.labels[COUNT], "2")

    def test_wait(self):
        """bring wait: nothing missing is set, it is only told; what we own is kept right."""
        result = self.run_labels(bring="wait")
        self.assert_result(result, missing=GPU_LABELS)
        self.assertIs(result["brought"], False)
        self.assertEqual(result["requests"], {"get": 1})

    def test_wait_keeps_ours_right(self):
        """A changed value, and one that is no longer wanted, of labels that we own."""
        self.ours({PRESENT: "true", f"{PREFIX}old": "1"})
        result = self.run_labels(bring="wait")
        self.assert_result(result, withdrawn=[f"{PREFIX}old"], missing=[COUNT])
        self.ours({COUNT: "1"})
        result = self.run_labels(bring="wait")
        self.assert_result(result, applied=[COUNT])

    def test_refused_earlier(self):
        """A key to leave that we still own is withdrawn or left, but not set."""
        self.ours(GPU_LABELS)
        self.succeed(self.node_labels(self.server, {**GPU_LABELS, COUNT: "3"}, leave=[COUNT]))
        self.assertNotEqual(self.api.labels.get(COUNT), "3")

    def test_keep(self):
        """Labels of ours whose facts are unknown stay as they are; others that are not wanted go."""
        self.ours({**GPU_LABELS, f"{PREFIX}old": "1"})
        result = self.run_labels({PRESENT: "true"}, keep=[f"{PREFIX}gpu-"])
        self.assert_result(result, withdrawn=[f"{PREFIX}old"])
        self.assertEqual(self.api.owned(), sorted(GPU_LABELS))
        self.assertEqual(self.api.labels[COUNT], "2")
        result = self.run_labels({PRESENT: "true"}, keep=[f"{PREFIX}gpu-"])
        self.assertEqual(result["requests"], {"get": 1})
        self.assert_result(self.run_labels({PRESENT: "true"}, keep=[f"{PREFIX}gpx-"]), withdrawn=[COUNT])

    def test_keep_what_is_not_ours(self):
        """It is not taken over."""
        self.api.set_labels("other", {COUNT: "2"})
        self.run_labels({PRESENT: "true"}, keep=[f"{PREFIX}gpu-"])
        self.assertEqual(self.api.owned(), [PRESENT])

    def test_dry_run(self):
        """Nothing is written; the result says what would be done."""
        self.ours({PRESENT: "true", COUNT: "1", f"{PREFIX}old": "1"})
        self.api.annotate(BARE[PRESENT])
        before = dict(self.api.labels)
        result = self.run_labels({**GPU_LABELS, f"{PREFIX}new": "1"}, dryRun=True, nfdServed=True)
        self.assert_result(result, handedOver=[PRESENT], applied=[COUNT, f"{PREFIX}new"], withdrawn=[f"{PREFIX}old"])
        self.assertEqual(result["requests"], {"get": 1})
        self.assertEqual(self.api.labels, before)

    def test_many_labels(self):
        """More than anybody has."""
        labels = {f"{PREFIX}label-{number:04}": str(number) for number in range(2000)}
        self.assert_result(self.run_labels(labels), applied=labels)


class NfdIsThere(LabelsTest):
    """Hand-over without a blink."""

    def test_hand_over_all(self):
        """NFD lists all our labels: ownership is given up, every label stays all the time."""
        self.ours(GPU_LABELS)
        self.api.annotate(",".join(BARE.values()))
        result = self.run_labels(nfdServed=True)
        self.assert_result(result, handedOver=GPU_LABELS)
        self.assertIs(result["node"]["nfd"], True)
        self.assertEqual(self.api.owned(), [])
        self.always_there(*GPU_LABELS)

    def test_hand_over_some(self):
        """One of two, and the other stays ours and present."""
        self.ours(GPU_LABELS)
        self.api.annotate(f"cpu-model.id,{BARE[PRESENT]},other.io/x")
        result = self.run_labels(nfdServed=True)
        self.assert_result(result, handedOver=[PRESENT])
        self.assertEqual(self.api.owned(), [COUNT])
        self.always_there(*GPU_LABELS)

    def test_hand_over_and_change(self):
        """Hand over, change, withdraw and add in one run."""
        self.ours({PRESENT: "true", COUNT: "1", f"{PREFIX}old": "1"})
        self.api.annotate(BARE[PRESENT])
        labels = {**GPU_LABELS, f"{PREFIX}new": "1"}
        result = self.run_labels(labels, nfdServed=True)
        self.assert_result(result, handedOver=[PRESENT], applied=[COUNT, f"{PREFIX}new"], withdrawn=[f"{PREFIX}old"])
        self.always_there(PRESENT)

    def test_hand_over_of_a_label_no_longer_wanted(self):
        """NFD lists it, we do not want it any more: it is NFD's, so it stays."""
        self.ours({**GPU_LABELS, f"{PREFIX}old": "1"})
        self.api.annotate("old")
        self.run_labels(nfdServed=True)
        self.assertIn(f"{PREFIX}old", self.api.labels)
        self.always_there(f"{PREFIX}old")

    def test_hand_over_when_taking_all_away(self):
        """cleanup while NFD lists one of ours: that one stays."""
        self.ours(GPU_LABELS)
        self.api.annotate(BARE[PRESENT])
        self.run_labels({}, nfdServed=True)
        self.assertEqual(self.api.labels, {"kubernetes.io/hostname": NODE, PRESENT: "true"})
        self.assertEqual(self.api.owned(), [])
        self.always_there(PRESENT)

    def test_keys_in_full(self):
        """Keys outside NFD's own prefix are listed in full; a bare name is never one of them."""
        labels = {**GPU_LABELS, VENDOR: "1"}
        self.ours(labels)
        self.api.annotate(f"{VENDOR},gpu.of.ours")
        self.assert_result(self.run_labels(labels, nfdServed=True), handedOver=[VENDOR])

    def test_listing_with_spaces(self):
        """An empty annotation, empty names, a name that is only the beginning of ours."""
        self.ours(GPU_LABELS)
        for value in ("", ",", BARE[PRESENT][:-1], f"{BARE[PRESENT]}x", f",,{BARE[PRESENT].upper()},"):
            with self.subTest(value):
                self.api.annotate(value)
                result = self.run_labels(nfdServed=True)
                self.assert_result(result)
                self.assertEqual(result["requests"], {"get": 1})

    def test_what_the_json_patch_is(self):
        """It tests before it edits, and touches nothing but our entry of managedFields."""
        self.ours(GPU_LABELS)
        self.api.annotate(BARE[PRESENT])
        self.succeed(self.node_labels(self.server, nfdServed=True))
        patch = next(one for one in self.api.sent("PATCH") if one.headers["Content-Type"].startswith(JSON_PATCH))
        steps = patch.json()
        tested = [step["path"] for step in steps if step["op"] == "test"]
        self.assertTrue(any(path.endswith("/manager") for path in tested), steps)
        self.assertIn("/metadata/resourceVersion", tested)
        for step in steps:
            if step["op"] != "test":
                self.assertRegex(step["path"], r"\A/metadata/managedFields/[0-9]+")

    def test_entry_at_any_place(self):
        """Our entry is neither the first nor the last, and one with our name but of another operation is near."""
        self.ours(GPU_LABELS)
        fields = self.api.node["metadata"]["managedFields"]
        ours = fields.pop()
        fields[:0] = [entry("a", []), entry(OURS, [], "Update"), ours]
        fields.append(entry("z", []))
        self.api.annotate(",".join(BARE.values()))
        self.assert_result(self.run_labels(nfdServed=True), handedOver=GPU_LABELS)
        self.always_there(*GPU_LABELS)

    def test_more_than_labels_in_our_entry(self):
        """Fields of our entry that are no labels are kept when some labels are handed over."""
        self.ours(GPU_LABELS)
        ours = self.api.node["metadata"]["managedFields"][-1]
        ours["fieldsV1"]["f:metadata"]["f:annotations"] = {"f:x": {}}
        self.api.annotate(BARE[PRESENT])
        self.succeed(self.node_labels(self.server, nfdServed=True))
        patch = next(one for one in self.api.sent("PATCH") if one.headers["Content-Type"].startswith(JSON_PATCH))
        values = [step.get("value") for step in patch.json() if step["op"] == "replace"]
        self.assertTrue(all("f:x" in str(value) or "f:metadata" not in str(value) for value in values), values)

    def test_changed_meanwhile(self):
        """The test of the JSON patch fails because somebody wrote the Node: read again, and done."""
        for code in (409, 422):
            with self.subTest(code):
                self.api.register("uid-1")
                self.ours(GPU_LABELS)
                self.api.annotate(BARE[PRESENT])
                self.api.inject("PATCH", "/nodes/", status(code, "the server rejected our request"))
                result = self.run_labels(nfdServed=True)
                self.assert_result(result, handedOver=[PRESENT])
                self.assertEqual(result["requests"]["get"], 2)
                self.assertEqual(self.api.owned(), [COUNT])

    def test_really_changed_meanwhile(self):
        """The same with a Node that did change: another entry comes before ours."""
        def change(_request):
            self.api.node["metadata"]["managedFields"].insert(0, entry("a", ["other/label"]))
            self.api.annotate(BARE[PRESENT])

        self.ours(GPU_LABELS)
        self.api.annotate(BARE[PRESENT])
        self.api.inject("PATCH", "/nodes/", change)
        self.assert_result(self.run_labels(nfdServed=True), handedOver=[PRESENT])
        self.always_there(*GPU_LABELS)

    def test_always_changed_meanwhile(self):
        """It gives up after some tries; the labels are there."""
        self.ours(GPU_LABELS)
        self.api.annotate(BARE[PRESENT])
        self.api.always("PATCH", "/nodes/", changed_meanwhile(NODE))
        self.fail_with(self.node_labels(self.server, nfdServed=True), "refused", retry="soon")
        self.assertLess(len(self.api.sent("PATCH")), 10)
        self.always_there(*GPU_LABELS)

    def test_apply_fails_after_the_hand_over(self):
        """What was done before the error is in the result."""
        self.ours({PRESENT: "true", COUNT: "1"})
        self.api.annotate(BARE[PRESENT])
        self.api.always("PATCH", "/nodes/", lambda request:
                        status(500, "no") if request.headers["Content-Type"].startswith(APPLY) else None)
        error = self.fail_with(self.node_labels(self.server, nfdServed=True), "refused", 500, "soon")
        self.assertEqual(error["result"]["handedOver"], [PRESENT])
        self.assertEqual(self.api.owned(), [COUNT])
        self.always_there(PRESENT)

    def test_group_is_gone(self):
        """nfdServed false: the annotation is a leftover, nothing is handed over, missing labels are set."""
        self.ours({PRESENT: "true"})
        self.api.annotate(",".join(BARE.values()))
        result = self.run_labels(nfdServed=False)
        self.assert_result(result, applied=[COUNT])
        self.assertEqual(self.api.owned(), sorted(GPU_LABELS))

    def test_group_is_gone_by_look_up(self):
        """The same when the run found it out itself."""
        self.api.served = False
        self.api.annotate(",".join(BARE.values()))
        result = self.run_labels(bring="unless-served")
        self.assert_result(result, applied=GPU_LABELS)
        self.assertIs(result["nfdServed"], False)

    def test_listed_and_right(self):
        """A label that NFD brought is NFD's: not ours, not missing, nothing to do."""
        self.api.set_labels("nfd-master", GPU_LABELS, "Update")
        self.api.annotate(",".join(BARE.values()))
        for bring in ("now", "wait"):
            with self.subTest(bring):
                result = self.run_labels(bring=bring, nfdServed=True)
                self.assert_result(result)
                self.assertEqual(result["requests"], {"get": 1})

    def test_listed_with_another_value(self):
        """It is left to NFD, and told."""
        self.api.set_labels("nfd-master", {**GPU_LABELS, COUNT: "9"}, "Update")
        self.api.annotate(",".join(BARE.values()))
        result = self.run_labels(nfdServed=True)
        self.assert_result(result, left=[COUNT])
        self.assertEqual(result["requests"], {"get": 1})
        self.assertEqual(self.api.labels[COUNT], "9")

    def test_two_owners(self):
        """NFD and we own it: we give up our part only."""
        self.ours(GPU_LABELS)
        self.api.set_labels("nfd-master", {PRESENT: "true"}, "Update")
        self.api.annotate(BARE[PRESENT])
        self.run_labels(nfdServed=True)
        self.assertEqual(self.api.owned("nfd-master"), [PRESENT])
        self.assertEqual(self.api.owned(), [COUNT])


class UnlessServed(LabelsTest):
    """The look-up of NFD's API group."""

    def test_served(self):
        """NFD is there: what lacks is told, nothing is patched."""
        result = self.run_labels(bring="unless-served")
        self.assert_result(result, missing=GPU_LABELS)
        self.assertIs(result["nfdServed"], True)
        self.assertIs(result["brought"], False)
        self.assertEqual(result["requests"], {"get": 2})

    def test_not_served(self):
        """No NFD: labels are set at once."""
        self.api.served = False
        result = self.run_labels(bring="unless-served")
        self.assert_result(result, applied=GPU_LABELS)
        self.assertIs(result["nfdServed"], False)
        self.assertIs(result["brought"], True)
        self.assertEqual(result["requests"], {"get": 2, "patch": 1})

    def test_not_served_by_status(self):
        """A 404 as Status says the same as one in plain text."""
        self.api.inject("GET", "/apis/", status(404, "the server could not find the requested resource"))
        self.assert_result(self.run_labels(bring="unless-served"), applied=GPU_LABELS)

    def test_earlier_knowledge_does_not_count(self):
        """The group is looked up in any case."""
        result = self.run_labels(bring="unless-served", nfdServed=False)
        self.assert_result(result, missing=GPU_LABELS)
        self.assertIs(result["nfdServed"], True)

    def test_not_known(self):
        """Neither yes nor no: nothing is patched, and it is an error."""
        for reply in (status(403, "forbidden"), status(500, "broken"), status(503, "not ready"), Reset()):
            with self.subTest(getattr(reply, "status", "reset")):
                self.api.inject("GET", "/apis/", reply)
                result = self.call_helper(self.node_labels(self.server, bring="unless-served"))
                self.assertIn("error", result)
                self.assertNotIn("nfdServed", result)
                self.assertEqual(self.api.sent("PATCH"), [])

    def test_look_up(self):
        """lookUp asks in any case, and what is found counts."""
        for served in (True, False):
            self.api.served = served
            result = self.run_labels(bring="now", lookUp=True)
            self.assertIs(result["nfdServed"], served)
            self.assertIs(result["brought"], True)

    def test_not_looked_up(self):
        """now and wait do not ask."""
        for bring in ("wait", "now"):
            with self.subTest(bring):
                self.run_labels(bring=bring)
                self.assertEqual(self.api.sent("GET", "/apis/"), [])


class Look(LabelsTest):
    """node-look."""

    def look_at(self, key):
        """The label of the result; one request was made."""
        result = self.succeed(self.look(self.server, key))
        self.assertEqual(result["requests"], {"get": 1})
        self.assertEqual(self.counts(), {"get": 1})
        self.assertEqual(result["node"]["uid"], "uid-1")
        return result["label"]

    def test_missing(self):
        """Not there."""
        self.assertIsNone(self.look_at(PRESENT))

    def test_missing_but_listed(self):
        """NFD lists a key that is not on the Node."""
        self.api.annotate(BARE[PRESENT])
        self.assertIsNone(self.look_at(PRESENT))

    def test_two_managers(self):
        """Both are named, with their operation."""
        self.ours({PRESENT: "true"})
        self.api.set_labels("nfd-master", {PRESENT: "true"}, "Update")
        label = self.look_at(PRESENT)
        self.assertEqual(label["value"], "true")
        self.assertEqual(sorted((one["manager"], one["operation"]) for one in label["managers"]),
                         [("nfd-master", "Update"), (OURS, "Apply")])
        self.assertIs(label["listedByNfd"], False)

    def test_listed(self):
        """Without a manager, and listed by NFD; an empty value is a value."""
        self.api.labels[PRESENT] = ""
        self.api.annotate(BARE[PRESENT])
        self.assertEqual(self.look_at(PRESENT), {"value": "", "managers": [], "listedByNfd": True})

    def test_key_with_tilde(self):
        """A key is looked up as it is, whatever a JSON pointer would make of it."""
        self.ours({"a.b/c_d.e": "1"})
        self.assertEqual(self.look_at("a.b/c_d.e")["managers"], [{"manager": OURS, "operation": "Apply"}])

    def test_nfd(self):
        """Whether an nfd-master has been here."""
        self.assertIs(self.succeed(self.look(self.server))["node"]["nfd"], False)
        self.api.annotate("")
        self.assertIs(self.succeed(self.look(self.server))["node"]["nfd"], True)

    def test_node_is_missing(self):
        """The message names it."""
        self.api.node = None
        error = self.fail_with(self.look(self.server), "refused", 404)
        self.assertIn(NODE, error["message"])
