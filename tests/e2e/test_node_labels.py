# SPDX-License-Identifier: GPL-2.0-or-later
"""nfd-source alone with a real API server: labels by patch onto our own Node, where nobody else brings them.

The API server does not know NFD, and unless a test says otherwise the credentials are a node certificate with no
RBAC object at all.
"""

import os
import pathlib
import signal
import sys
import unittest

import access
import cluster
from api import NodeWatch
from nodecase import GPU, GPUS, HOST, OURS, PRESENT, VERSION, NodeCase, plug, set_version, unplug
from program import rescan
from testcase import FEATURE

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "hotplug"))
import host_events  # noqa: E402 (found by the line above)

ADMIN = "kubectl-label"
NOTE = "example.com/note"
LISTED = "nfd.node.kubernetes.io/feature-labels"


class Credentials(NodeCase):
    """Each kind of credentials that the program finds."""

    get_cluster = staticmethod(cluster.without_nfd)

    def check_patched(self, program):
        """The labels are there by our patch, and no request was one that needs another right."""
        self.assertEqual(self.cluster.labels(self.node), program.scan())
        self.assertEqual(self.managed(), program.scan().keys())
        refused = [each for each in self.requests() if each.code in (401, 403)]
        self.assertEqual(refused, [])
        self.assertTrue(self.requests("patch"))

    def test_service_account_with_get_and_patch_alone(self):
        program = self.make_program(self.make_root(GPUS), "outputs.nodeLabels.mode=fallback")
        self.make_account().enter(program)
        self.start_and_arrive(program)
        self.check_patched(program)

    def test_kubelets_certificate_below_root_without_rbac(self):
        root = self.make_root(GPUS)
        access.write_kubelet_config(self.cluster, self.node, root)
        program = self.make_program(root, "outputs.nodeLabels.mode=fallback")
        self.start_and_arrive(program)
        self.check_patched(program)

    def test_kubeconfig_with_token_file(self):
        program = self.make_program(self.make_root(GPUS), "outputs.nodeLabels.mode=always")
        kubeconfig = self.make_account().kubeconfig(self.directory / "token.kubeconfig")
        program.settings.append(f"api.kubeconfig={kubeconfig}")
        program.call("publish", "--no-wait")
        self.check_patched(program)

    def test_publish_alone_brings_the_labels(self):
        program = self.make_patcher(self.make_root(GPUS), "fallback", "outputs.featureFile.mode=off")
        program.call("publish")
        self.check_patched(program)

    def test_get_alone_does_not_suffice_and_is_told(self):
        root = self.make_root(GPUS)
        program = self.make_program(root, "outputs.nodeLabels.mode=always")
        self.make_account([access.NODES_READ_ONLY]).enter(program)
        daemon = self.start(program)
        self.wait_for_log(daemon, "patch", "nodes", r"403|[Ff]orbidden|cannot|not allowed")
        self.wait_for_status(program, "patch", "nodes")
        self.assertEqual(self.cluster.labels(self.node), {})
        key = plug(root, "1002")
        rescan(daemon)
        self.wait_until("the feature file goes on", lambda: f"{key}=true" in program.file.read_text())
        self.assertEqual(daemon.end(), 0)


class Changes(NodeCase):
    """The Node follows the hardware, and only what is ours is touched."""

    get_cluster = staticmethod(cluster.without_nfd)

    def test_each_change_is_one_patch(self):
        root = self.make_root(GPUS)
        set_version(root, "580.1.1")
        program = self.make_patcher(root, "always")
        with NodeWatch(self.cluster.api, self.node) as watch:
            daemon = self.start_and_arrive(program)
            self.assertEqual(self.cluster.labels(self.node)[VERSION], "580.1.1")
            set_version(root, "580.1.2")
            self.change(daemon, program)
            self.assertEqual(self.cluster.labels(self.node)[VERSION], "580.1.2")
            key = plug(root, "1002")
            self.change(daemon, program)
            self.assertEqual(self.cluster.labels(self.node)[key], "true")
            unplug(root, GPU)
            self.change(daemon, program)
            self.assertNotIn(PRESENT, self.cluster.labels(self.node))
            self.assertEqual([each.code for each in self.requests("patch")], [200] * 4)
            states = [{key: value for key, value in node["metadata"]["labels"].items() if key.startswith(FEATURE)}
                      for node in watch.drain()]
        changes = sum(state != before for before, state in zip([{}, *states], states))
        self.assertEqual(changes, 4)

    def test_hardware_removed_while_we_were_down(self):
        root = self.make_root(GPUS)
        program = self.make_patcher(root, "fallback")
        daemon = self.start_and_arrive(program)
        self.assertEqual(daemon.end(), 0)
        self.assertIn(PRESENT, self.cluster.labels(self.node))
        unplug(root, GPU)
        self.start_and_arrive(program)
        self.assertNotIn(PRESENT, self.cluster.labels(self.node))

    def test_hardware_removed_while_we_were_down_without_any_file(self):
        root = self.make_root(GPUS)
        program = self.make_patcher(root, "fallback", "outputs.featureFile.mode=off")
        program.call("publish")
        self.assertIn(PRESENT, self.cluster.labels(self.node))
        self.assertFalse(program.status_file.exists())
        unplug(root, GPU)
        self.start_and_arrive(program)
        self.assertNotIn(PRESENT, self.cluster.labels(self.node))

    def test_restart_does_not_blink(self):
        program = self.make_patcher(self.make_root(GPUS), "fallback", "outputs.nodeLabels.resync=1s")
        daemon = self.start_and_arrive(program)
        expected = program.scan()
        with NodeWatch(self.cluster.api, self.node) as watch:
            self.assertEqual(daemon.end(), 0)
            patches = len(self.requests("patch"))
            self.start(program)
            self.wait_for_looks(2)
            for node in watch.drain():
                self.assertLessEqual(expected.items(), node["metadata"]["labels"].items())
        self.assertEqual(len(self.requests("patch")), patches)

    def forget_and_lose_the_bus(self, root, program):
        """As after a reboot: no file of ours is left, and sysfs shows no PCI device at all, which no scan believes.

        Returns the labels that are to be on the Node after the next run: all, with another release of the system.
        """
        expected = program.scan()
        program.status_file.unlink(missing_ok=True)
        for link in (root / "sys/bus/pci/devices").iterdir():
            link.unlink()
        (root / "etc/os-release").write_text('ID=debian\nVERSION_ID="13"\n')
        key = FEATURE + "system-os_release.VERSION_ID"
        return {**expected, key: "13", f"{key}.major": "13"}

    def test_bus_that_cannot_be_read_takes_no_label_away_at_publish(self):
        root = self.make_root(GPUS)
        program = self.make_patcher(root, "fallback", "outputs.featureFile.mode=off")
        program.call("publish")
        expected = self.forget_and_lose_the_bus(root, program)
        program.call("publish")
        self.assertEqual(self.cluster.labels(self.node), expected)

    def test_bus_that_cannot_be_read_takes_no_label_away_at_start(self):
        root = self.make_root(GPUS)
        program = self.make_patcher(root, "fallback", "outputs.featureFile.mode=off")
        program.call("publish")
        expected = self.forget_and_lose_the_bus(root, program)
        self.start(program)
        release = FEATURE + "system-os_release.VERSION_ID"
        self.wait_for_labels("the new release is on the Node", lambda labels: labels.get(release) == "13")
        self.assertEqual(self.cluster.labels(self.node), expected)

    def test_event_of_the_kernel_reaches_the_node(self):
        root = self.make_root(HOST)
        program = self.make_patcher(root, "always")
        self.start_and_arrive(program)
        key = plug(root, "10de")
        host_events.fire(host_events.device())
        self.wait_for_labels("the card is on the Node", lambda labels: labels.get(key) == "true")

    def test_annotation_that_nfd_left_behind_hands_nothing_over(self):
        self.cluster.api.annotate_node(self.node, LISTED, "pci-10de.present")
        program = self.make_patcher(self.make_root(GPUS), "fallback", "outputs.nodeLabels.resync=1s")
        self.start_and_arrive(program)
        self.wait_for_looks(3)
        self.assertEqual(self.cluster.labels(self.node), program.scan())
        self.assertEqual(self.managed(), program.scan().keys())

    def test_nfd_that_is_installed_later_takes_over(self):
        program = self.make_patcher(self.make_root(GPUS), "fallback", "outputs.nodeLabels.resync=1s")
        self.start_and_arrive(program)
        expected = program.scan()
        self.addCleanup(self.cluster.remove_crds)
        self.cluster.apply_crds()
        with NodeWatch(self.cluster.api, self.node) as watch:
            # As nfd-master does it, which finds the labels there already.
            names = sorted(key.removeprefix(FEATURE) for key in expected)
            self.cluster.api.annotate_node(self.node, LISTED, ",".join(names))
            self.wait_until("we own no label any more", lambda: not self.managed())
            self.wait_for_looks(2)
            for node in watch.drain():
                self.assertLessEqual(expected.items(), node["metadata"]["labels"].items())
        self.assertFalse(self.managed())


class Others(NodeCase):
    """What other people own on the Node."""

    get_cluster = staticmethod(cluster.without_nfd)

    def set_by_admin(self, value):
        """An admin sets a label of ours, and things that are not ours at all, before we come."""
        self.cluster.api.patch_node(
            self.node, {"labels": {PRESENT: value, "example.com/role": "db"}, "annotations": {NOTE: "mind the gap"}},
            ADMIN)

    def check_others(self, value):
        """What the admin set is as it was."""
        metadata = self.cluster.api.node(self.node)["metadata"]
        wanted = {PRESENT: value, "example.com/role": "db", "kubernetes.io/hostname": self.node}
        self.assertLessEqual(wanted.items(), metadata["labels"].items())
        self.assertEqual(metadata["annotations"], {NOTE: "mind the gap", "e2e.nfd-source/node": self.node})

    def clean_up(self, program):
        """Clean up twice: we are no manager any more, and the second time nothing happens."""
        program.call("cleanup")
        self.assertIsNone(self.managed())
        self.assertFalse(program.file.exists())
        version = self.cluster.api.node(self.node)["metadata"]["resourceVersion"]
        program.call("cleanup")
        self.assertEqual(self.cluster.api.node(self.node)["metadata"]["resourceVersion"], version)

    def test_cleanup_takes_exactly_ours_away(self):
        program = self.make_patcher(self.make_root(GPUS), "always")
        before = self.cluster.api.node(self.node)["metadata"]
        program.call("publish", "--no-wait")
        self.assertEqual(self.cluster.labels(self.node), program.scan())
        self.clean_up(program)
        after = self.cluster.api.node(self.node)["metadata"]
        for field in ("uid", "labels", "annotations"):
            self.assertEqual(after[field], before[field])
        self.assertNotIn(OURS, [entry["manager"] for entry in after["managedFields"]])

    def test_cleanup_of_an_output_that_is_off_now(self):
        root = self.make_root(GPUS)
        self.make_patcher(root, "always").call("publish", "--no-wait")
        self.assertIn(PRESENT, self.cluster.labels(self.node))
        self.clean_up(self.make_patcher(root, "off"))
        self.assertEqual(self.cluster.labels(self.node), {})

    def test_same_label_of_an_admin_survives(self):
        self.set_by_admin("true")
        root = self.make_root(GPUS)
        program = self.make_patcher(root, "always")
        daemon = self.start_and_arrive(program)
        self.check_others("true")
        unplug(root, GPU)
        rescan(daemon)
        self.wait_for_labels("the GPU's other labels are gone", lambda labels: labels == {
            **program.scan(), PRESENT: "true"})
        self.assertEqual(daemon.end(), 0)
        self.clean_up(program)
        self.check_others("true")
        self.assertEqual(self.cluster.labels(self.node), {PRESENT: "true"})

    def test_other_value_of_an_admin_is_left_alone_and_told(self):
        self.set_by_admin("maintenance")
        program = self.make_patcher(self.make_root(GPUS), "always", "outputs.nodeLabels.resync=1s")
        daemon = self.start(program)
        self.wait_for_exactly({**program.scan(), PRESENT: "maintenance"})
        self.wait_for_log(daemon, PRESENT, ADMIN)
        self.wait_for_status(program, PRESENT, ADMIN)
        patches = len(self.requests("patch"))
        self.wait_for_looks(3)
        self.assertEqual(len(self.requests("patch")), patches, "tried again at a resync")
        told = program.call("explain", PRESENT)
        self.assertRegex(told, rf"(?m)^Node {self.node}: .*\"maintenance\".* {ADMIN} \(Update\)")
        self.assertEqual(daemon.end(), 0)
        self.clean_up(program)
        self.check_others("maintenance")
        self.assertEqual(self.cluster.labels(self.node), {PRESENT: "maintenance"})

    def set_label(self, value):
        """An admin sets a label of ours with kubectl, or takes it away for None."""
        self.cluster.api.patch_node(self.node, {"labels": {PRESENT: value}}, ADMIN)

    def test_label_that_somebody_takes_away_comes_back(self):
        program = self.make_patcher(self.make_root(GPUS), "always", "outputs.nodeLabels.resync=1s")
        self.start_and_arrive(program)
        self.set_label(None)
        self.wait_for_exactly(program.scan())
        self.assertEqual(self.managed(), program.scan().keys())

    def test_label_that_somebody_overwrites_is_theirs_until_they_take_it_away(self):
        program = self.make_patcher(self.make_root(GPUS), "always", "outputs.nodeLabels.resync=1s")
        daemon = self.start_and_arrive(program)
        self.set_label("maintenance")
        self.wait_for_log(daemon, PRESENT, ADMIN)
        self.wait_for_looks(2)
        self.assertEqual(self.cluster.labels(self.node), {**program.scan(), PRESENT: "maintenance"})
        self.set_label(None)
        self.wait_for_exactly(program.scan())
        self.wait_until("the status has no fault any more", lambda: not program.status()["faults"])

    def test_explain_names_us_as_the_manager(self):
        program = self.make_patcher(self.make_root(GPUS), "always")
        program.call("publish", "--no-wait")
        told = program.call("explain", PRESENT)
        self.assertRegex(told, rf"(?m)^Node {self.node}: .*\"true\".* nfd-source \(Apply\)")


class Refusals(NodeCase):
    """What the API server or the helper does not take; our scanners make no such label, so the helper is asked."""

    get_cluster = staticmethod(cluster.without_nfd)

    def bring(self, labels, **fields):
        """Ask the helper to bring labels now; returns its result."""
        return self.call_helper("node-labels", labels=labels, bring="now", **fields)

    def test_key_that_node_restriction_forbids_is_left_out(self):
        key = "node-role.kubernetes.io/gpu"
        wanted = {PRESENT: "true", key: "true"}
        result = self.bring(wanted)
        self.assertNotIn("error", result)
        self.assertEqual([each["key"] for each in result["refused"]], [key])
        self.assertIn(key, result["refused"][0]["message"])
        self.assertEqual(result["applied"], [PRESENT])
        self.assertNotIn(key, self.cluster.api.node(self.node)["metadata"]["labels"])
        self.assertEqual(self.cluster.labels(self.node), {PRESENT: "true"})
        again = self.bring(wanted, leave=[key])
        self.assertEqual(again["requests"], {"get": 1})

    def test_value_that_is_no_label_value_is_never_sent(self):
        result = self.call_helper("node-labels", status=2, labels={PRESENT: "true", VERSION: "no value"}, bring="now")
        self.assertEqual(result["error"]["kind"], "request")
        self.assertIn(VERSION, result["error"]["message"])
        self.assertEqual(self.requests(), [])

    def test_other_node_is_refused(self):
        other = self.cluster.create_node()
        result = self.bring({PRESENT: "true"}, node=other)
        self.assertEqual(result["error"]["status"], 403)
        self.assertEqual(result["error"]["retry"], "slow")
        self.assertIn(other, result["error"]["message"])
        self.assertEqual(self.cluster.labels(other), {})


class Gone(NodeCase):
    """A Node that is not there."""

    get_cluster = staticmethod(cluster.without_nfd)

    def test_wrong_node_name_is_told_with_its_origin(self):
        program = self.make_program(self.make_root(GPUS), "outputs.nodeLabels.mode=always", node="no-such-node")
        self.make_account().enter(program)
        daemon = self.start(program)
        self.wait_for_log(daemon, "no-such-node", "NODE_NAME")
        self.wait_for_status(program, "no-such-node", "NODE_NAME")
        self.assertIn(f"{PRESENT}=true", program.file.read_text())
        self.assertIsNone(self.cluster.api.find("/api/v1/nodes/no-such-node"))
        self.assertEqual(self.requests("patch"), [])
        self.assertEqual(daemon.end(), 0)

    def test_certificate_of_another_node_is_told(self):
        program = self.make_patcher(self.make_root(GPUS), "always")
        program.node = self.cluster.create_node()
        done = program.attempt("publish")
        self.assertEqual(done.returncode, 1)
        self.assertIn(program.node, done.stderr)
        self.assertIn("403", done.stderr)
        self.assertIn(f"{PRESENT}=true", program.file.read_text())
        self.assertEqual(self.cluster.labels(program.node), {})

    def test_node_that_comes_back_gets_its_labels_and_is_never_created(self):
        root = self.make_root(GPUS)
        program = self.make_patcher(root, "always", "outputs.nodeLabels.resync=1s")
        daemon = self.start_and_arrive(program)
        path = f"/api/v1/nodes/{self.node}"
        self.cluster.api.request("DELETE", path)
        plug(root, "1002")
        rescan(daemon)

        def misses():
            return sum(each.code == 404 for each in self.requests("get"))

        self.wait_until("we have seen that the Node is gone", lambda: misses() >= 2)
        self.assertIsNone(self.cluster.api.find(path))
        self.cluster.create_node(self.node)
        self.wait_for_exactly(program.scan())
        self.assertEqual([each for each in self.requests() if each.code == 201], [])

    def test_apply_for_a_node_that_was_replaced_meanwhile_creates_nothing(self):
        self.cluster.api.request("DELETE", f"/api/v1/nodes/{self.node}")
        result = self.call_helper("node-labels", labels={PRESENT: "true"}, bring="now")
        self.assertEqual(result["error"]["status"], 404)
        self.assertEqual(result["requests"], {"get": 1})
        self.assertIsNone(self.cluster.api.find(f"/api/v1/nodes/{self.node}"))


class Hung(NodeCase):
    """An API server that takes connections and never answers."""

    get_cluster = staticmethod(cluster.without_nfd)

    def hang_on(self, daemon, program, root, vendor):
        """A change while the API server hangs: the feature file has it, and a helper hangs on the server."""
        key = plug(root, vendor, f"0000:{vendor[:2]}:00.0")
        rescan(daemon)
        self.wait_until("the feature file has the change", lambda: f"{key}=true" in program.file.read_text())
        children = pathlib.Path(f"/proc/{daemon.pid}/task/{daemon.pid}/children")
        self.wait_until("a helper runs", children.read_text)

    def test_scans_file_and_end_are_as_without_it(self):
        root = self.make_root(GPUS)
        program = self.make_patcher(root, "always", "api.deadline=5s")
        daemon = self.start_and_arrive(program)
        with self.cluster.hung():
            self.hang_on(daemon, program, root, "1002")
            self.hang_on(daemon, program, root, "1da3")
        self.wait_for_exactly(program.scan())
        with self.cluster.hung():
            self.hang_on(daemon, program, root, "17cb")
            children = pathlib.Path(f"/proc/{daemon.pid}/task/{daemon.pid}/children").read_text().split()
            self.assertEqual(daemon.end(signal.SIGTERM), 0)
            for child in children:
                self.assertFalse(os.path.exists(f"/proc/{child}"), "a helper outlives the daemon")
            program.file.unlink()
            daemon = self.start(program)
            self.wait_until("the feature file is there after a start", program.file.exists)
        self.wait_for_exactly(program.scan())
        self.assertEqual(daemon.end(), 0)


if __name__ == "__main__":
    unittest.main()
