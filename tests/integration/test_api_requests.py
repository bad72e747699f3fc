# SPDX-License-Identifier: GPL-2.0-or-later
"""Requests that nfd-source-api cannot take: exit 2 and an error of kind request, never a crash, nothing is sent."""

import json

from api_helper import GPU_LABELS, NODE, SOON_S, ApiTest, run_helper
from program import PREFIX, load_json

MIB = 1 << 20
DELETED = object()


class Requests(ApiTest):
    """Standard input that is wrong."""

    def setUp(self):
        super().setUp()
        self.server = self.serve()

    def refused(self, request, *words, code=2):
        """It is not taken: the message has the words."""
        before = self.server.accepted
        error = self.fail_with(request, "request", code=code)
        for word in words:
            self.assertIn(word, error["message"])
        self.assertEqual(self.server.accepted, before)
        return error

    def test_no_json(self):
        """Texts that are no JSON object."""
        for text in ("", " ", "\n", "x", "{", "[]", "null", "5", '"x"', "{}{}", '{"schema":1', "\0", "{}\0{}",
                     b"\xff\xfe{", "[" * 100000, '{"a":' * 100000):
            with self.subTest(text[:20]):
                self.refused(text)

    def test_trailing_text(self):
        """A whole request and something behind it."""
        self.refused(json.dumps(self.look(self.server)) + " x")

    def test_fields(self):
        """Each field that is needed missing or of a wrong type or value."""
        rows = [
            ("schema", (DELETED, 2, 0, -1, "1", None, [], True)),
            ("action", (DELETED, "", "nonsense", "node-labels ", 5, None, [], {})),
            ("node", (DELETED, "", 5, None, [], {}, True)),
            ("deadlineMilliseconds", (0, -1, 3600001, 1e300, "30000", None, [], True)),
            ("credentials", (DELETED, 5, None, [], "x")),
            ("labels", (DELETED, 5, None, [], "x", {f"{PREFIX}a": 5}, {f"{PREFIX}a": None}, {f"{PREFIX}a": ["x"]})),
            ("bring", (DELETED, "", "later", 5, None, True)),
        ]
        self.refuse_each(rows)

    def test_fields_that_may_lack(self):
        """A wrong type is no valid request either."""
        self.refuse_each([
            ("nfdServed", (5, "true", [], {})),
            ("leave", (5, "x", {}, [5], [None], [[]])),
            ("keep", (5, "x", {}, [5], [None])),
            ("lookUp", (5, "true", [], {})),
            ("dryRun", (5, "true", [], {})),
            ("proxy", (5, [], {}, True)),
        ])

    def refuse_each(self, rows):
        """rows: (field, values that it must not have)."""
        for name, values in rows:
            for value in values:
                with self.subTest((name, value if value is not DELETED else "missing")):
                    request = self.node_labels(self.server)
                    request[name] = value
                    if value is DELETED:
                        del request[name]
                    self.refused(request)

    def test_credentials(self):
        """None, both, or of a wrong type."""
        kubeconfig = self.credentials(self.server)
        rows = [{}, {"kubeconfig": 5}, {"kubeconfig": ""}, {"inCluster": "yes"}, {"inCluster": False},
                {**kubeconfig, "inCluster": True}, {**kubeconfig, "root": 5},
                {"inCluster": True, "serviceAccountDir": 5}]
        for credentials in rows:
            with self.subTest(credentials):
                self.fail_with(self.look(credentials), ("request", "credentials"), code=None)
        self.assertEqual(self.server.accepted, 0)

    def test_other_actions(self):
        """Fields of the other actions."""
        good = {"node-look": {"key": f"{PREFIX}a"},
                "vendor-look": {"vendors": [{"name": "a", "objects": [], "keys": []}]},
                "node-feature-delete": {"namespace": "nfd", "name": "a"},
                "node-feature": {"namespace": "nfd", "object": {"metadata": {"name": "a"}}, "standardFeatures": {}}}
        rows = [
            ("node-look", "key", (DELETED, 5, None, [])),
            ("vendor-look", "vendors", (DELETED, 5, None, {}, "x", [5], [{}], [{"name": 5}], [{"name": ""}],
                                        [{"name": "a", "keys": 5}], [{"name": "a", "objects": [5]}])),
            ("vendor-look", "mine", (5, "x", {}, [5])),
            ("node-feature-delete", "name", (DELETED, "", 5, None, [])),
            ("node-feature-delete", "namespace", (5, [], {})),
            ("node-feature", "object", (DELETED, 5, None, [], {}, {"metadata": 5}, {"metadata": {"name": 5}})),
            ("node-feature", "standardFeatures", (5, [], {"a": 5})),
            ("node-feature", "namespace", (5, [])),
            ("node-feature", "worker", (5, "x", [])),
            ("node-feature", "pod", (5, [], {})),
            ("node-feature", "owner", (5, "x", [])),
        ]
        for action, name, values in rows:
            for value in values:
                with self.subTest((action, name, value if value is not DELETED else "missing")):
                    request = {**self.request(action, self.server, **good[action]), name: value}
                    if value is DELETED:
                        del request[name]
                    self.refused(request)

    def test_names_that_are_no_names(self):
        """A namespace or name that would lead to another path."""
        for value in ("../x", "a/b", "a?b", "a%2fb", ".."):
            with self.subTest(value):
                for field in ("name", "namespace"):
                    more = {"namespace": "nfd", "name": "a", field: value}
                    before = len(self.server.requests)
                    self.call_helper(self.request("node-feature-delete", self.server, **more), code=None)
                    for request in self.server.requests[before:]:
                        self.assertRegex(request.path, r"\A/apis/nfd\.k8s-sigs\.io/v1alpha1/namespaces/[^/?]+"
                                                       r"/nodefeatures/[^/?]+\Z")
                    self.api.surprises.clear()

    def test_illegal_labels(self):
        """Keys and values outside Kubernetes' grammar: refused before anything is sent."""
        keys = ("", "a b", PREFIX, f"{PREFIX}-a", f"{PREFIX}{'a' * 64}", f"{PREFIX}a/b", "A_B/c", f"{PREFIX}a\n",
                f"{PREFIX}\u00e9")
        values = ("b c", "x" * 64, "-x", "\n")
        for key, value in [*((key, "x") for key in keys), *((f"{PREFIX}a", value) for value in values)]:
            with self.subTest((key, value)):
                self.fail_with(self.node_labels(self.server, {**GPU_LABELS, key: value}), "request", code=None)
        self.assertEqual(self.server.accepted, 0)

    def test_key_twice(self):
        """The same label twice: one of both or none, never a crash."""
        text = json.dumps(self.node_labels(self.server))
        key = f"{PREFIX}gpu-10de.count"
        self.call_helper(text.replace('"labels": {', f'"labels": {{"{key}": "1", '), code=None)

    def test_unknown_fields(self):
        """They are refused by name or not looked at."""
        result = self.call_helper({**self.look(self.server), "nonsense": 1}, code=None)
        if "error" in result:
            self.assertEqual(result["error"]["kind"], "request", result)
            self.assertIn("nonsense", result["error"]["message"])

    def test_too_large(self):
        """More than 1 MiB is refused, also without end; just below it is taken."""
        request = {**self.look(self.server), "leave": ["x" * 100]}
        small = json.dumps(request)
        self.refused(small + " " * (MIB + 1 - len(small)))
        self.refused(" " * (20 * MIB))
        self.assertNotIn("error", self.call_helper(json.dumps(self.look(self.server)) + " " * (MIB - 4096)))

    def test_no_end_of_input(self):
        """A parent that never closes the pipe: the helper does not wait for ever, or ends when the pipe does."""
        ended, _ = run_helper(b"", {}, SOON_S)
        self.assertEqual(ended.code, 2)

    def test_arguments(self):
        """It takes none: exit 2, a result, a word on standard error."""
        for arguments in (["x"], ["--help"], ["--version"], ["-"], [""]):
            with self.subTest(arguments):
                ended, _ = run_helper(json.dumps(self.look(self.server)).encode(), {}, SOON_S, arguments)
                self.assertEqual(ended.code, 2, ended)
                self.assertEqual(load_json(ended.out.decode())["error"]["kind"], "request")
                self.assertTrue(ended.err)
        self.assertEqual(self.server.accepted, 0)

    def test_label_text_is_kept(self):
        """What JSON escapes in a request is what is sent."""
        text = json.dumps(self.node_labels(self.server, {f"{PREFIX}a": "x"})).replace(': "x"', ': "\\u0078"')
        self.assertNotIn("error", self.call_helper(text))
        self.assertEqual(self.api.labels[f"{PREFIX}a"], "x")

    def test_schema_of_the_result(self):
        """Also an error of the request has the number of requests."""
        result = self.call_helper(self.look(self.server, node=NODE))
        self.assertEqual(result["requests"], {"get": 1})
