# SPDX-License-Identifier: GPL-2.0-or-later
"""Field cases F (API server) of spec/field-cases.md that the helper nfd-source-api decides, each under its id.

What the daemon decides between its runs is in test_api_daemon.py.
"""

import email.utils
import os
import socket
import time
import unittest

from api_helper import GPU_LABELS, NODE, ApiTest
from fake_api import APPLY, changed_meanwhile, field_conflict, not_allowed, status, unknown_path
from https_server import Reply
from program import PREFIX

OLD, NEW = "old-token-0123456789abcdef", "new-token-fedcba9876543210"
COUNT_KEY = f"{PREFIX}gpu-10de.count"
PRESENT_KEY = f"{PREFIX}pci-10de.present"
MOST_MS = 300000
SERVICE_VARIABLES = ("KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT")


class TokenRotation(ApiTest):
    """FC-F1."""

    def setUp(self):
        super().setUp()
        self.secrets += [OLD, NEW]
        self.account = self.tmp / "account"
        self.account.mkdir()
        self.turn(OLD)
        for name in ("token", "ca.crt", "namespace"):
            (self.account / name).symlink_to(f"..data/{name}")
        self.api.tokens = {OLD}

    def turn(self, token):
        """Put a token in place as the kubelet does: a new directory, then ..data is renamed onto it."""
        self.serial += 1
        directory = self.account / f"..{self.serial}"
        directory.mkdir()
        (directory / "token").write_text(token)
        (directory / "namespace").write_text("nfd")
        (directory / "ca.crt").write_bytes(self.pki.path("ca.crt").read_bytes())
        (self.account / "..new").symlink_to(directory.name)
        os.replace(self.account / "..new", self.account / "..data")

    def ways(self):
        """Credentials that use the token file, with the environment that they need."""
        server = self.serve()
        environment = dict(zip(SERVICE_VARIABLES, ("127.0.0.1", str(server.port))))
        by_file = self.credentials(server, user={"tokenFile": str(self.account / "token")})
        in_cluster = {"inCluster": True, "serviceAccountDir": str(self.account)}
        return {"tokenFile": (by_file, {}), "inCluster": (in_cluster, environment)}

    def test_FC_F1_each_run_reads_the_token(self):
        """Old token, then the server and the file turn: the next run uses the new one at once."""
        for name, (credentials, environment) in self.ways().items():
            with self.subTest(name):
                self.turn(OLD)
                self.api.tokens = {OLD}
                self.succeed(self.look(credentials), env=environment)
                self.turn(NEW)
                self.api.tokens = {NEW}
                before = len(self.api.requests)
                self.succeed(self.look(credentials), env=environment)
                self.assertEqual([request.token for request in self.api.requests[before:]], [NEW])

    def test_FC_F1_server_turns_first(self):
        """The server turns while the old token is on its way, the file right after: one more try with the new one."""
        def turn(_request):
            self.turn(NEW)
            self.api.tokens = {NEW}
            return status(401, "Unauthorized")

        for name, (credentials, environment) in self.ways().items():
            with self.subTest(name):
                self.turn(OLD)
                self.api.tokens = {OLD}
                self.api.inject("GET", "/nodes/", turn)
                before = len(self.api.requests)
                # The fake lets the old token pass its door once, so that the answer above can be given.
                self.succeed(self.look(credentials), env=environment)
                self.assertEqual([request.token for request in self.api.requests[before:]], [OLD, NEW])

    def test_FC_F1_turns_between_get_and_apply(self):
        """The same between the GET and the apply of one run."""
        def turn(_request):
            self.turn(NEW)
            self.api.tokens = {NEW}
            return status(401, "Unauthorized")

        credentials, _ = self.ways()["tokenFile"]
        self.api.inject("PATCH", "/nodes/", turn)
        result = self.succeed(self.node_labels(credentials))
        self.assertEqual(sorted(result["applied"]), sorted(GPU_LABELS))
        self.assertEqual(self.api.sent("PATCH")[-1].token, NEW)

    def test_FC_F1_second_401_ends_it(self):
        """No token counts: two attempts, then an error."""
        self.api.tokens = set()
        for name, (credentials, environment) in self.ways().items():
            with self.subTest(name):
                before = len(self.api.requests)
                self.fail_with(self.look(credentials), "refused", 401, env=environment)
                self.assertEqual(len(self.api.requests) - before, 2)

    def test_FC_F1_white_space_around_the_token(self):
        """It is not part of the token."""
        credentials, _ = self.ways()["tokenFile"]
        for text in (f"{OLD}\n", f"  {OLD}\r\n\n", f"\t{OLD} "):
            with self.subTest(text):
                self.turn(text)
                self.succeed(self.look(credentials))
                self.assertEqual(self.api.requests[-1].headers["Authorization"], f"Bearer {OLD}")

    def test_FC_F1_token_with_control_bytes(self):
        """It would be more than one header: refused, nothing is sent."""
        for name, (credentials, environment) in self.ways().items():
            for text in (f"{OLD}\nX-Evil: 1", f"{OLD}\r\nX-Evil: 1", f"{OLD}\x01{NEW}", f"{OLD}\x7f", f"{OLD}\0{NEW}",
                         "", " \n"):
                with self.subTest((name, text)):
                    self.turn(text)
                    before = len(self.api.requests)
                    self.fail_with(self.look(credentials), "credentials", env=environment)
                    self.assertEqual(self.api.requests[before:], [])

    def test_FC_F1_inline_token_with_control_bytes(self):
        """The same for a token in the kubeconfig itself."""
        server = self.serve()
        for text in (f"{OLD}\nX-Evil: 1", f"{OLD}\x01{NEW}"):
            with self.subTest(text):
                self.fail_with(self.look(self.credentials(server, user={"token": text})), "credentials")
        self.assertEqual(server.requests, [])


class RetryAfter(ApiTest):
    """FC-F2, the part of the helper: it says what the server asked for, and does not try again itself."""

    def ask(self, code, header):
        """The error of a run that was answered so."""
        reply = status(code, "too much", headers={} if header is None else {"Retry-After": header})
        self.api.inject("GET", "/nodes/", reply)
        before = len(self.api.requests)
        error = self.fail_with(self.look(self.server), "refused", code, "soon")
        self.assertEqual(len(self.api.requests) - before, 1)
        self.assertEqual(error["result"]["requests"], {"get": 1})
        return error

    def setUp(self):
        super().setUp()
        self.server = self.serve()

    def test_FC_F2_seconds(self):
        """Seconds become milliseconds, more than five minutes are five."""
        for code in (429, 503):
            for header, wanted in (("2", 2000), ("1", 1000), ("300", MOST_MS), ("301", MOST_MS), ("99999", MOST_MS)):
                with self.subTest((code, header)):
                    self.assertEqual(self.ask(code, header).get("retryAfterMilliseconds"), wanted)

    def test_FC_F2_unusable(self):
        """Nothing usable is the same as nothing; also what no number type holds."""
        for code in (429, 503):
            for header in (None, "0", "-5", "", "soon", "0x10", "-99999999999999999999"):
                with self.subTest((code, header)):
                    self.assertNotIn("retryAfterMilliseconds", self.ask(code, header))

    def test_FC_F2_number_and_more(self):
        """A number with something behind it: unusable, or the number."""
        for header, number in (("2s", 2000), ("1e3", 1000), ("2 3", 2000), ("2, 3", 2000)):
            with self.subTest(header):
                self.assertIn(self.ask(429, header).get("retryAfterMilliseconds"), (None, number))

    def test_FC_F2_number_too_large(self):
        """A number beyond every type is at most five minutes."""
        for header in ("99999999999999999999999", "18446744073709551618"):
            with self.subTest(header):
                self.assertIn(self.ask(429, header).get("retryAfterMilliseconds"), (None, MOST_MS))

    def test_FC_F2_date(self):
        """A date counts from now; one in the past is unusable, one far away is five minutes."""
        for code in (429, 503):
            with self.subTest(code):
                header = email.utils.formatdate(time.time() + 200, usegmt=True)
                self.assertTrue(100000 <= self.ask(code, header)["retryAfterMilliseconds"] <= 200000)
                past = email.utils.formatdate(time.time() - 100, usegmt=True)
                self.assertNotIn("retryAfterMilliseconds", self.ask(code, past))
                future = email.utils.formatdate(time.time() + 86400, usegmt=True)
                self.assertEqual(self.ask(code, future)["retryAfterMilliseconds"], MOST_MS)

    def test_FC_F2_on_the_apply(self):
        """It counts for every request of a run."""
        for code in (429, 503):
            with self.subTest(code):
                self.api.inject("PATCH", "/nodes/", status(code, "too much", headers={"Retry-After": "7"}))
                error = self.fail_with(self.node_labels(self.server), "refused", code, "soon")
                self.assertEqual(error["retryAfterMilliseconds"], 7000)
                self.assertEqual(error["result"]["requests"], {"get": 1, "patch": 1})

    def test_FC_F2_no_status_object(self):
        """A proxy in front of the API server answers with text of its own."""
        self.api.inject("GET", "/nodes/", Reply(503, "upstream connect error", {"Retry-After": "2"}))
        error = self.fail_with(self.look(self.server), "refused", 503, "soon")
        self.assertEqual(error["retryAfterMilliseconds"], 2000)


class ServiceAddress(ApiTest):
    """FC-F3: the URL is made of KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT."""

    def setUp(self):
        super().setUp()
        self.account = self.tmp / "account"
        self.account.mkdir()
        (self.account / "token").write_text(OLD)
        (self.account / "ca.crt").write_bytes(self.pki.path("ca.crt").read_bytes())
        (self.account / "namespace").write_text("nfd")
        self.secrets.append(OLD)
        self.credentials_in_cluster = {"inCluster": True, "serviceAccountDir": str(self.account)}

    def look_in_cluster(self, host, port, **more):
        """Look at the Node as a pod that finds the service there."""
        request = self.look(self.credentials_in_cluster, **more)
        return self.call_helper(request, env=dict(zip(SERVICE_VARIABLES, (host, str(port)))))

    def test_FC_F3_ipv4_and_name(self):
        """An IPv4 address and a name are used as they are."""
        server = self.serve()
        for host in ("127.0.0.1", "localhost"):
            with self.subTest(host):
                self.assertNotIn("error", self.look_in_cluster(host, server.port))
                self.assertEqual(self.api.requests[-1].headers["Host"], f"{host}:{server.port}")
                self.assertEqual(self.api.requests[-1].token, OLD)

    def test_FC_F3_ipv6(self):
        """An IPv6 address gets brackets once; the certificate is checked against the address."""
        try:
            with socket.create_server(("::1", 0), family=socket.AF_INET6):
                pass
        except OSError as error:
            raise unittest.SkipTest(f"no IPv6 loopback here: {error}") from error
        server = self.serve(host="::1")
        for host in ("::1", "[::1]"):
            with self.subTest(host):
                self.assertNotIn("error", self.look_in_cluster(host, server.port))
                self.assertEqual(self.api.requests[-1].headers["Host"], f"[::1]:{server.port}")

    def test_FC_F3_address_is_verified(self):
        """A certificate for another name does not do."""
        server = self.serve(certificate="other-name")
        result = self.look_in_cluster("127.0.0.1", server.port)
        self.assertEqual(result["error"]["kind"], "tls", result)
        self.assertEqual(server.requests, [])

    def test_FC_F3_addresses_that_are_not_here(self):
        """The address that a proxy is asked for."""
        rows = [
            ("fd00:1000:ddf0::1", "443", "[fd00:1000:ddf0::1]:443"),
            ("[fd00:1000:ddf0::1]", "6443", "[fd00:1000:ddf0::1]:6443"),
            ("10.96.0.1", "443", "10.96.0.1:443"),
            ("kubernetes.default.svc", "443", "kubernetes.default.svc:443"),
        ]
        for host, port, wanted in rows:
            with self.subTest(host):
                proxy = self.proxy()
                result = self.look_in_cluster(host, port, proxy=proxy.url)
                self.assertEqual(proxy.targets, [wanted], result)
                self.assertEqual(result["error"]["kind"], "connect")

    def test_FC_F3_variables_are_missing(self):
        """The message names them."""
        for environment in ({}, {SERVICE_VARIABLES[0]: "127.0.0.1"}, {SERVICE_VARIABLES[1]: "443"},
                            dict.fromkeys(SERVICE_VARIABLES, "")):
            with self.subTest(environment):
                error = self.fail_with(self.look(self.credentials_in_cluster), "credentials", env=environment)
                missing = [name for name in SERVICE_VARIABLES if not environment.get(name)]
                self.assertTrue(any(name in error["message"] for name in missing), error)
                self.assertIn("KUBERNETES_SERVICE_", error["message"])

    def test_FC_F3_variables_are_rubbish(self):
        """What cannot be part of a URL is refused and does not lead elsewhere."""
        server = self.serve()
        for host, port in (("127.0.0.1/x@", server.port), ("evil@127.0.0.1", server.port), ("127.0.0.1", "x"),
                           ("127.0.0.1", "99999"), ("127.0.0.1", f"{server.port}/api?"), ("a b", "443"),
                           ("[::1", "443"), ("127.0.0.1\r\nX-Evil: 1", server.port)):
            with self.subTest((host, port)):
                result = self.look_in_cluster(host, port)
                self.assertIn(result["error"]["kind"], ("credentials", "connect"), result)
        self.assertEqual(server.requests, [])

    def test_FC_F3_account_is_missing(self):
        """A file of the service account that is not there: the message says which."""
        server = self.serve()
        for name in ("token", "ca.crt"):
            with self.subTest(name):
                path = self.account / name
                content = path.read_bytes()
                path.unlink()
                result = self.look_in_cluster("127.0.0.1", server.port)
                self.assertEqual(result["error"]["kind"], "credentials", result)
                self.assertIn(str(path), result["error"]["message"])
                path.write_bytes(content)
        self.assertEqual(server.requests, [])


class OthersWrite(ApiTest):
    """FC-F4."""

    def setUp(self):
        super().setUp()
        self.server = self.serve()

    def test_FC_F4_what_is_applied(self):
        """Our labels, the Node's uid, and nothing else; no force."""
        self.succeed(self.node_labels(self.server))
        patch = self.api.sent("PATCH")[-1]
        self.assertEqual(patch.json(), {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": NODE, "uid": "uid-1", "labels": GPU_LABELS},
        })
        self.assertEqual(patch.headers["Content-Type"].partition(";")[0], APPLY)
        self.assertEqual(patch.query["fieldManager"], "nfd-source")
        self.assertNotIn(patch.query.get("force", "false"), ("true", "1"))
        self.assertEqual(patch.route, f"/api/v1/nodes/{NODE}")

    def test_FC_F4_conflict_twice(self):
        """A 409 without a field conflict is tried again within the run."""
        self.api.inject("PATCH", "/nodes/", changed_meanwhile(NODE), changed_meanwhile(NODE))
        result = self.succeed(self.node_labels(self.server))
        self.assertEqual(sorted(result["applied"]), sorted(GPU_LABELS))
        self.assertEqual(len(self.api.sent("PATCH")), 3)
        self.assertEqual(self.api.owned(), sorted(GPU_LABELS))

    def test_FC_F4_conflict_without_end(self):
        """After three tries it is the parent's matter."""
        self.api.always("PATCH", "/nodes/", changed_meanwhile(NODE))
        error = self.fail_with(self.node_labels(self.server), "refused", 409, "soon")
        self.assertEqual(error.get("reason"), "Conflict")
        self.assertIn(len(self.api.sent("PATCH")), (3, 4))

    def test_FC_F4_labels_of_others_survive(self):
        """Somebody changes the Node between the GET and the apply."""
        def change(_request):
            self.api.set_labels("other", {"other/label": "1"})

        self.api.inject("PATCH", "/nodes/", change)
        self.succeed(self.node_labels(self.server))
        self.assertEqual(self.api.labels, {"kubernetes.io/hostname": NODE, "other/label": "1", **GPU_LABELS})

    def test_FC_F4_node_was_replaced_meanwhile(self):
        """Another Node of the same name between GET and apply: the uid does not fit, and it is looked at again."""
        self.api.inject("PATCH", "/nodes/", lambda _request: self.api.register("uid-2"))
        result = self.call_helper(self.node_labels(self.server))
        if "error" in result:
            self.assertEqual((result["error"]["kind"], result["error"]["retry"]), ("refused", "soon"), result)
        else:
            self.assertEqual(result["node"]["uid"], "uid-2")
            self.assertEqual(self.api.owned(), sorted(GPU_LABELS))

    def test_FC_F4_node_was_deleted_meanwhile(self):
        """It is not created by the apply."""
        def delete(_request):
            self.api.node = None

        self.api.inject("PATCH", "/nodes/", delete)
        self.fail_with(self.node_labels(self.server), "refused")
        self.assertIsNone(self.api.node)

    def test_FC_F4_field_conflict(self):
        """A key that another manager has with another value is left to him; the rest is applied in the same run."""
        self.api.set_labels("kubectl-label", {COUNT_KEY: "7"}, "Update")
        result = self.succeed(self.node_labels(self.server))
        self.assertEqual([conflict["key"] for conflict in result["conflicts"]], [COUNT_KEY])
        self.assertIn("kubectl-label", result["conflicts"][0]["message"])
        self.assertEqual(result["applied"], [PRESENT_KEY])
        self.assertEqual(result["owned"], [PRESENT_KEY])
        self.assertEqual(self.api.labels[COUNT_KEY], "7")

    def test_FC_F4_every_key_in_conflict(self):
        """Then nothing is left to apply, and that is no error."""
        self.api.set_labels("kubectl-label", dict.fromkeys(GPU_LABELS, "x"), "Update")
        result = self.succeed(self.node_labels(self.server))
        self.assertEqual(sorted(one["key"] for one in result["conflicts"]), sorted(GPU_LABELS))
        self.assertEqual((result["applied"], result["owned"]), ([], []))
        self.assertEqual(self.api.labels[COUNT_KEY], "x")

    def test_FC_F4_left_keys_are_not_sent(self):
        """What an earlier run found in conflict is not sent again."""
        self.api.set_labels("kubectl-label", {COUNT_KEY: "7"}, "Update")
        result = self.succeed(self.node_labels(self.server, leave=[COUNT_KEY]))
        self.assertEqual(result["applied"], [PRESENT_KEY])
        self.assertEqual(list(self.api.sent("PATCH")[-1].json()["metadata"]["labels"]), [PRESENT_KEY])
        self.assertEqual(len(self.api.sent("PATCH")), 1)

    def test_FC_F4_conflict_about_a_key_that_is_not_ours(self):
        """A server that complains about a key nobody sent: an error, no endless loop."""
        self.api.always("PATCH", "/nodes/", field_conflict({"other/label": "x"}))
        self.fail_with(self.node_labels(self.server), "refused", 409)
        self.assertLess(len(self.api.sent("PATCH")), 10)


class Refused(ApiTest):
    """FC-F5, for the Node; NodeFeature objects are in test_api_node_feature.py."""

    def setUp(self):
        super().setUp()
        self.server = self.serve()

    def bring(self, *replies, labels=None):
        """Bring the labels to a server that answers the first applies so."""
        self.api.inject("PATCH", "/nodes/", *replies)
        return self.succeed(self.node_labels(self.server, labels))

    def assert_refused(self, result, *keys):
        """Just these were refused, each with a message, and the others are on the Node."""
        self.assertEqual(sorted(one["key"] for one in result["refused"]), sorted(keys))
        self.assertTrue(all(one["message"] for one in result["refused"]))
        self.assertEqual(self.api.owned(), sorted(set(GPU_LABELS) - set(keys)))
        self.assertEqual(sorted(result["owned"]), self.api.owned())

    def test_FC_F5_403_names_a_key(self):
        """It is left out, the rest is applied in the same run."""
        result = self.bring(not_allowed(NODE, COUNT_KEY))
        self.assert_refused(result, COUNT_KEY)
        self.assertEqual(len(self.api.sent("PATCH")), 2)
        self.assertNotIn(COUNT_KEY, self.api.sent("PATCH")[-1].json()["metadata"]["labels"])

    def test_FC_F5_403_names_several_keys(self):
        """All that are named are left out."""
        extra = {"node-role.kubernetes.io/x": "", "node-role.kubernetes.io/y": ""}
        result = self.bring(not_allowed(NODE, *extra), labels={**GPU_LABELS, **extra})
        self.assert_refused(result, *extra)

    def test_FC_F5_403_names_a_key_that_begins_like_ours(self):
        """A key is a whole word of the message: the shorter one of two is not meant by the longer."""
        longer = f"{COUNT_KEY}.more"
        result = self.bring(not_allowed(NODE, longer), labels={**GPU_LABELS, longer: "1"})
        self.assert_refused(result, longer)

    def test_FC_F5_403_for_every_key(self):
        """Nothing is left to apply: no error, no third try."""
        result = self.bring(not_allowed(NODE, *GPU_LABELS), not_allowed(NODE, *GPU_LABELS))
        self.assert_refused(result, *GPU_LABELS)
        self.assertLessEqual(len(self.api.sent("PATCH")), 2)

    def test_FC_F5_403_names_no_key(self):
        """No right to patch at all: somebody has to change something; the message says what is needed."""
        message = (f'nodes "{NODE}" is forbidden: User "system:serviceaccount:nfd:nfd-source" cannot patch resource '
                   '"nodes" in API group "" at the cluster scope')
        self.api.always("PATCH", "/nodes/", status(403, message, {"name": NODE, "kind": "nodes"}))
        error = self.fail_with(self.node_labels(self.server), "refused", 403, "slow")
        self.assertEqual(error["reason"], "Forbidden")
        self.assertIn("patch", error["message"].lower())
        self.assertIn("nodes", error["message"])
        self.assertEqual(len(self.api.sent("PATCH")), 1)

    def test_FC_F5_403_again_and_again(self):
        """A server that refuses one key after the other costs one request for each at most."""
        keys = list(GPU_LABELS)
        result = self.bring(*(not_allowed(NODE, key) for key in keys))
        self.assert_refused(result, *keys)
        self.assertLessEqual(len(self.api.sent("PATCH")), len(keys) + 1)

    def test_FC_F5_422_names_a_key(self):
        """As for 403."""
        details = {"name": NODE, "kind": "Node", "causes": [
            {"reason": "FieldValueInvalid", "field": "metadata.labels",
             "message": f'Invalid value: "{COUNT_KEY}": this server does not take it'}]}
        message = f'Node "{NODE}" is invalid: metadata.labels: {details["causes"][0]["message"]}'
        self.assert_refused(self.bring(status(422, message, details)), COUNT_KEY)

    def test_FC_F5_422_names_the_key_only_in_a_cause(self):
        """The field of a cause names it as well."""
        details = {"name": NODE, "kind": "Node", "causes": [
            {"reason": "FieldValueInvalid", "field": f"metadata.labels[{COUNT_KEY}]", "message": "Invalid value"}]}
        self.assert_refused(self.bring(status(422, f'Node "{NODE}" is invalid', details)), COUNT_KEY)

    def test_FC_F5_422_names_no_key(self):
        """An error, and no second try."""
        self.api.always("PATCH", "/nodes/", status(422, f'Node "{NODE}" is invalid: spec: unlucky', {"causes": []}))
        self.fail_with(self.node_labels(self.server), "refused", 422, "slow")
        self.assertEqual(len(self.api.sent("PATCH")), 1)

    def test_FC_F5_403_on_the_get(self):
        """No right to see the Node: nothing is patched."""
        message = f'nodes "{NODE}" is forbidden: User "x" cannot get resource "nodes" in API group ""'
        self.api.always("GET", "/nodes/", status(403, message))
        error = self.fail_with(self.node_labels(self.server), "refused", 403, "slow")
        self.assertIn("get", error["message"].lower())
        self.assertEqual(self.api.sent("PATCH"), [])

    def test_FC_F5_404_for_the_node(self):
        """The message names the Node; nothing is patched. Also when the 404 is no Status."""
        self.api.node = None
        for request in (self.node_labels(self.server), self.look(self.server)):
            error = self.fail_with(request, "refused", 404)
            self.assertIn(NODE, error["message"])
            self.api.inject("GET", "/nodes/", unknown_path())
            error = self.fail_with(request, "refused", 404)
            self.assertIn(NODE, error["message"])
        self.assertEqual(self.api.sent("PATCH"), [])

    def test_FC_F5_node_name_is_escaped(self):
        """A strange name stays one part of the path (FC-E1)."""
        for name in ("../pods", "a/b", "a?b=c", "a%2fb", "a#b", "a b", ".", ".."):
            with self.subTest(name):
                before = len(self.server.requests)
                result = self.call_helper(self.look(self.server, node=name), code=None)
                self.api.surprises.clear()
                self.assertIn(result["error"]["kind"], ("request", "refused"), result)
                for request in self.server.requests[before:]:
                    self.assertRegex(request.path, r"\A/api/v1/nodes/[^/?]+\Z")
