# SPDX-License-Identifier: GPL-2.0-or-later
"""Where nfd-source-api gets its credentials from: kubeconfig files in all their forms, and exec plugins."""

import base64
import json
import os
import time
from pathlib import Path

from api_helper import NODE, SHORT_MS, SOON_S, TOKEN, ApiTest
from program import wait_for

PLUGIN_TOKEN = "pLuGiN-0123456789.abcdefghijklm"
MIB = 1 << 20
API_VERSION = "client.authentication.k8s.io/v1"

YAML = """\
# written by hand
apiVersion: v1
kind: Config
preferences: {{}}
clusters:
- &cluster
  name: first
  cluster:
    server: https://127.0.0.1:1
- name: second
  cluster: &second
    certificate-authority: >-
      {ca}
    server: "{url}"
- {{name: third, cluster: *second}}
contexts:
- context: {{cluster: third, user: 'me@home', namespace: nfd}}
  name: me@home:third
- context:
    cluster: first
    user: nobody
  name: wrong
current-context: me@home:third
users:
- name: nobody
- name: me@home
  user:
    token: |
      {token}
"""


class Forms(ApiTest):
    """What a kubeconfig may look like."""

    def setUp(self):
        super().setUp()
        self.server = self.serve()
        self.api.tokens = {TOKEN}

    def with_file(self, path, **more):
        """A request with that kubeconfig."""
        return self.look({"kubeconfig": str(path), **more})

    def refused(self, path, *words, deadline=None, **options):
        """That kubeconfig cannot be used: the message has the words; nothing is sent."""
        before = self.server.accepted
        request = {**self.with_file(path), **({"deadlineMilliseconds": deadline} if deadline else {})}
        error = self.fail_with(request, "credentials", **options)
        for word in words:
            self.assertIn(word, error["message"])
        self.assertEqual(self.server.accepted, before)
        return error

    def test_yaml(self):
        """Anchors, block scalars, flow maps, comments, a user without fields."""
        text = YAML.format(ca=self.pki.path("ca.crt"), url=self.server.url, token=TOKEN)
        self.succeed(self.with_file(self.write("kubeconfig", text)))

    def test_json(self):
        """JSON on one line and indented."""
        path = self.kubeconfig(self.server)
        self.succeed(self.with_file(path))
        path.write_text(json.dumps(json.loads(path.read_text()), indent=4))
        self.succeed(self.with_file(path))

    def test_relative_paths(self):
        """They count from the kubeconfig's folder, wherever the helper is started."""
        for name in ("ca.crt", "client.crt", "client.key"):
            (self.tmp / name).write_bytes(self.pki.path(name).read_bytes())
        (self.tmp / "below").mkdir()
        (self.tmp / "below/token").write_text(TOKEN)
        user = {"tokenFile": "below/token", "client-certificate": "./client.crt", "client-key": "client.key"}
        path = self.kubeconfig(self.server, user=user, cluster={"certificate-authority": "below/../ca.crt"})
        self.succeed(self.with_file(path))
        self.assertEqual(self.api.requests[-1].token, TOKEN)

    def test_link_to_the_kubeconfig(self):
        """The folder of the path that was given counts, as for kubectl."""
        (self.tmp / "ca.crt").write_bytes(self.pki.path("ca.crt").read_bytes())
        elsewhere = self.tmp / "elsewhere"
        elsewhere.mkdir()
        path = self.kubeconfig(self.server, cluster={"certificate-authority": "ca.crt"})
        real = path.rename(elsewhere / "config")
        path.symlink_to(real)
        self.succeed(self.with_file(path))

    def test_current_context(self):
        """The one of several that is named, whatever its place."""
        config = json.loads(self.kubeconfig(self.server).read_text())
        config["clusters"].insert(0, {"name": "other", "cluster": {"server": "https://127.0.0.1:1"}})
        config["users"].insert(0, {"name": "other", "user": {"token": "wrong-token-0123456789"}})
        config["contexts"].insert(0, {"name": "other", "context": {"cluster": "other", "user": "other"}})
        config["contexts"].append({"name": "mixed", "context": {"cluster": "k", "user": "other"}})
        self.succeed(self.with_file(self.write("kubeconfig", json.dumps(config))))
        config["current-context"] = "mixed"
        self.fail_with(self.with_file(self.write("kubeconfig", json.dumps(config))), "refused", 401)

    def test_missing_names(self):
        """The message says what is missing and where."""
        rows = [
            ({"current-context": "nowhere"}, {}, "context"),
            ({}, {"cluster": "no-cluster"}, "cluster"),
            ({}, {"user": "no-user"}, "user"),
            ({"contexts": []}, {}, "context"),
            ({"clusters": []}, {}, "cluster"),
            ({"users": []}, {}, "user"),
        ]
        for top, context, word in rows:
            with self.subTest((top, context)):
                path = self.kubeconfig(self.server, context=context, **top)
                self.refused(path, word, str(path))

    def test_no_server(self):
        """A cluster without one."""
        self.refused(self.kubeconfig(self.server, cluster={"server": None}), "server")

    def test_rubbish(self):
        """Files that are no kubeconfig."""
        texts = ["", "\n", "\0", "rubbish", "[]", "- a", "{", "a: [b", "a: b: c", "\t- x", "users: *nowhere\n",
                 "--- \n---\n", "{}", "apiVersion: v1\nkind: Config\n", "apiVersion: v1\nkind: Secret\n",
                 "clusters: 5\nusers: x\ncontexts: {}\ncurrent-context: [a]\n",
                 "clusters: [5]\nusers: [x]\ncontexts: [[]]\ncurrent-context: a\n",
                 "contexts: [{name: {a: b}, context: 7}]\ncurrent-context: a\n",
                 b"\xff\xfe\x00c", b"\x80" * 100, "[" * 100000, "{a: " * 50000, "? " * 50000]
        for text in texts:
            with self.subTest(text[:40]):
                path = self.write("kubeconfig", text)
                self.refused(path, str(path), deadline=SHORT_MS)

    def test_billion_laughs(self):
        """Aliases that grow without end are refused, or cost nothing."""
        lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
        lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 12)]
        self.refused(self.write("kubeconfig", "\n".join(lines) + "\n"), timeout=SOON_S)

    def test_anchor_in_itself(self):
        """An alias inside its own anchor."""
        self.refused(self.write("kubeconfig", "clusters: &a [*a]\nusers: &b {b: *b}\ncurrent-context: c\n"))

    def test_wrong_types(self):
        """A field of another type than text."""
        for user in ({"token": {"a": "b"}}, {"token": [TOKEN]}, {"tokenFile": {}}, {"exec": "x"}, {"exec": []},
                     {"exec": {"command": ["x"]}}, {"client-certificate": {}}):
            with self.subTest(user):
                self.refused(self.kubeconfig(self.server, user=user))
        self.refused(self.kubeconfig(self.server, cluster={"server": ["https://127.0.0.1"]}))

    def test_base64_rubbish(self):
        """Data that is no base64, or no PEM behind it."""
        for text in ("%%%", "AAA", "####", "QUJD", " "):
            with self.subTest(text):
                cluster = {"certificate-authority": None, "certificate-authority-data": text}
                path = self.kubeconfig(self.server, cluster=cluster)
                self.fail_with(self.with_file(path), ("credentials", "tls"))
                user = {"client-certificate-data": text, "client-key-data": self.pki.data("client.key")}
                self.fail_with(self.with_file(self.kubeconfig(self.server, user=user)), ("credentials", "tls"))
                user = {"client-certificate-data": self.pki.data("client.crt"), "client-key-data": text}
                self.fail_with(self.with_file(self.kubeconfig(self.server, user=user)), ("credentials", "tls"))
        self.assertEqual(self.server.requests, [])

    def test_base64_with_line_ends(self):
        """Data as base64(1) breaks it into lines."""
        data = base64.encodebytes(self.pki.path("ca.crt").read_bytes()).decode()
        self.assertIn("\n", data.strip())
        cluster = {"certificate-authority": None, "certificate-authority-data": data}
        self.succeed(self.with_file(self.kubeconfig(self.server, cluster=cluster)))

    def test_no_regular_file(self):
        """A directory, a missing file, a FIFO nobody writes to, a device without end."""
        fifo = self.tmp / "fifo"
        os.mkfifo(fifo)
        (self.tmp / "directory").mkdir()
        dangling = self.tmp / "dangling"
        dangling.symlink_to("nowhere")
        loop = self.tmp / "loop"
        loop.symlink_to("loop")
        for path in (self.tmp / "missing", self.tmp / "missing/deeper", self.tmp / "directory", fifo, dangling, loop,
                     Path("/dev/zero"), Path("")):
            with self.subTest(path):
                request = self.with_file(path, **{}) if str(path) != "." else self.with_file("")
                error = self.fail_with(request, ("credentials", "request"), code=None, timeout=SOON_S)
                self.assertIn(str(path), error["message"] + "." * (str(path) == "."))

    def test_no_regular_file_behind_a_kubeconfig(self):
        """The same for every file that it names: the message has its path."""
        fifo = self.tmp / "fifo"
        os.mkfifo(fifo)
        certificate = {"client-certificate": str(self.pki.path("client.crt")),
                       "client-key": str(self.pki.path("client.key"))}
        for path in (fifo, self.tmp, self.tmp / "missing", Path("/dev/zero")):
            for field in ("tokenFile", "client-certificate", "client-key", "certificate-authority"):
                with self.subTest((path.name, field)):
                    if field == "certificate-authority":
                        config = self.kubeconfig(self.server, cluster={field: str(path)})
                    else:
                        user = {field: str(path)} if field == "tokenFile" else {**certificate, field: str(path)}
                        config = self.kubeconfig(self.server, user=user)
                    self.refused(config, str(path), timeout=SOON_S)

    def test_large_kubeconfig(self):
        """2 MiB are too much, or slow but right; never a crash."""
        config = json.loads(self.kubeconfig(self.server).read_text())
        config["extensions"] = [{"name": "x" * 1000, "extension": None}] * (2 * MIB // 1000)
        path = self.write("kubeconfig", json.dumps(config))
        result = self.call_helper(self.with_file(path), timeout=SOON_S)
        if "error" in result:
            self.assertEqual(result["error"]["kind"], "credentials", result)
            self.assertIn(str(path), result["error"]["message"])

    def test_large_token(self):
        """A token of 2 MiB is none."""
        token = self.write("token", "x" * (2 * MIB))
        result = self.call_helper(self.with_file(self.kubeconfig(self.server, user={"tokenFile": str(token)})))
        self.assertIn(result["error"]["kind"], ("credentials", "refused", "connect"), result)

    def test_token_file_before_token(self):
        """tokenFile counts before token, as for kubectl."""
        token = self.write("token", TOKEN)
        user = {"token": "wrong-token-0123456789", "tokenFile": str(token)}
        self.succeed(self.with_file(self.kubeconfig(self.server, user=user)))

    def test_data_before_files(self):
        """...-data counts before the file of the same name, as for kubectl."""
        cluster = {"certificate-authority": str(self.pki.path("other-ca.crt")),
                   "certificate-authority-data": self.pki.data("ca.crt")}
        self.succeed(self.with_file(self.kubeconfig(self.server, cluster=cluster)))

    def test_what_is_refused(self):
        """Basic authentication and auth-provider: the message says what to use instead, and no password."""
        password = "pAsSwOrD-0123456789-abc"
        self.secrets.append(password)
        rows = [{"username": "someone", "password": password},
                {"auth-provider": {"name": "gcp", "config": {"access-token": password}}}]
        for user in rows:
            with self.subTest(user):
                error = self.refused(self.kubeconfig(self.server, user=user))
                self.assertRegex(error["message"], r"token|exec|certificate")
                self.assertEqual(error["retry"], "slow")


class Root(ApiTest):
    """credentials.root: files of a host whose root is mounted elsewhere."""

    def setUp(self):
        super().setUp()
        self.server = self.serve(client_ca=self.pki.path("ca.crt"))
        self.root = self.tmp / "host"
        self.pem = "/var/lib/kubelet/pki-of-the-test/client-2026.pem"
        self.put(self.pem, self.pki.text("client.crt") + self.pki.text("client.key"))
        self.put("/etc/kubernetes-of-the-test/pki/ca.crt", self.pki.text("ca.crt"))

    def put(self, path, text):
        """A file below the root."""
        below = self.below(path)
        below.parent.mkdir(parents=True, exist_ok=True)
        below.write_text(text)

    def below(self, path):
        """Where a path of the host is."""
        return self.root / path.lstrip("/")

    def put_kubeconfig(self, path, certificate, authority):
        """A kubeconfig of the host."""
        user = {"client-certificate": certificate, "client-key": certificate}
        text = self.kubeconfig(self.server, user=user, cluster={"certificate-authority": authority}).read_text()
        self.put(path, text)

    def with_root(self, path):
        """A request with a kubeconfig below the root."""
        return self.look({"kubeconfig": path, "root": str(self.root)})

    def test_absolute_links(self):
        """The kubelet's own: everything absolute, and behind absolute symbolic links, which stay below the root."""
        current = "/var/lib/kubelet/pki-of-the-test/client-current.pem"
        self.below(current).symlink_to(self.pem)
        self.below("/etc/link-of-the-test").symlink_to("/etc/kubernetes-of-the-test")
        self.put_kubeconfig("/etc/kubernetes-of-the-test/kubelet.conf", current, "/etc/link-of-the-test/pki/ca.crt")
        for path in ("/etc/kubernetes-of-the-test/kubelet.conf", "/etc/link-of-the-test/kubelet.conf"):
            with self.subTest(path):
                self.succeed(self.with_root(path))
                self.assertEqual(self.api.requests[-1].client, "client")

    def test_relative_paths(self):
        """They count from the kubeconfig's folder below the root; one cannot climb out of it."""
        climbing = "../" * 30 + self.pem.lstrip("/")
        self.put_kubeconfig("/etc/kubernetes-of-the-test/kubelet.conf", climbing, "pki/ca.crt")
        self.succeed(self.with_root("/etc/kubernetes-of-the-test/kubelet.conf"))

    def test_nothing_outside(self):
        """A path, or a link, to a file outside the root: not found, though it is there."""
        outside = self.write("outside.pem", self.pki.text("client.crt") + self.pki.text("client.key"))
        self.below("/etc/link.pem").symlink_to(outside)
        self.below("/etc/climb.pem").symlink_to("../" * 30 + str(outside).lstrip("/"))
        for certificate in (str(outside), "/etc/link.pem", "/etc/climb.pem"):
            with self.subTest(certificate):
                self.put_kubeconfig("/etc/kubelet.conf", certificate, "/etc/kubernetes-of-the-test/pki/ca.crt")
                self.fail_with(self.with_root("/etc/kubelet.conf"), "credentials")
        self.fail_with(self.with_root(str(self.kubeconfig(self.server))), "credentials")
        self.assertEqual(self.server.requests, [])

    def test_root_is_missing(self):
        """A root that is not there."""
        request = self.look({"kubeconfig": "/etc/kubelet.conf", "root": str(self.tmp / "no-root")})
        self.fail_with(request, "credentials")


class Plugin(ApiTest):
    """exec plugins: shell scripts."""

    def setUp(self):
        super().setUp()
        self.secrets.append(PLUGIN_TOKEN)
        self.server = self.serve()
        self.api.tokens = {PLUGIN_TOKEN}

    def script(self, *lines):
        """A program of these shell lines."""
        path = self.write("plugin", "\n".join(("#!/bin/sh", *lines, "")))
        path.chmod(0o755)
        return path

    def printing(self, *lines, **fields):
        """A plugin that does the lines and then prints these fields as status."""
        return self.script(*lines, f"cat {self.write('status', self.credential(**fields))}")

    @staticmethod
    def credential(**fields):
        """What a plugin prints."""
        return json.dumps({"kind": "ExecCredential", "apiVersion": API_VERSION,
                           "status": fields or {"token": PLUGIN_TOKEN}})

    def with_plugin(self, command, server=None, cluster=None, deadline=None, **fields):
        """A request whose kubeconfig names the plugin."""
        plugin = {"apiVersion": API_VERSION, "interactiveMode": "Never", "command": str(command), **fields}
        user = {"exec": {name: value for name, value in plugin.items() if value is not None}}
        credentials = self.credentials(server or self.server, user=user, cluster=cluster)
        return self.look(credentials, **({"deadlineMilliseconds": deadline} if deadline else {}))

    def refused(self, request, *words, **options):
        """The plugin gave nothing usable: the message has the words; nothing is sent."""
        error = self.fail_with(request, "credentials", **options)
        for word in words:
            self.assertIn(word, error["message"])
        self.assertEqual(self.server.requests, [])
        return error

    def test_token(self):
        """The plugin's token is the bearer token."""
        self.succeed(self.with_plugin(self.printing()))
        self.assertEqual(self.api.requests[-1].token, PLUGIN_TOKEN)

    def test_beta(self):
        """The older version of the interface, answered in kind."""
        version = "client.authentication.k8s.io/v1beta1"
        text = json.dumps({"kind": "ExecCredential", "apiVersion": version, "status": {"token": PLUGIN_TOKEN}})
        info = self.tmp / "info"
        plugin = self.script(f'printf %s "$KUBERNETES_EXEC_INFO" >{info}', f"cat {self.write('status', text)}")
        self.succeed(self.with_plugin(plugin, apiVersion=version, interactiveMode=None))
        self.assertEqual(json.loads(info.read_text())["apiVersion"], version)

    def test_client_certificate(self):
        """The plugin may give a certificate and key instead."""
        self.api.tokens = None
        server = self.serve(client_ca=self.pki.path("ca.crt"))
        plugin = self.printing(clientCertificateData=self.pki.text("client.crt"),
                               clientKeyData=self.pki.text("client.key"))
        self.succeed(self.with_plugin(plugin, server))
        self.assertEqual(self.api.requests[-1].client, "client")

    def test_arguments_and_environment(self):
        """args and env of the kubeconfig; PATH and the like stay."""
        seen = self.tmp / "seen"
        plugin = self.printing(f'printf "%s|" "$#" "$1" "$2" "$3" "$PLUGIN_HOW" "${{PATH:+path}}" >{seen}')
        env = [{"name": "PLUGIN_HOW", "value": "as $HOME says"}]
        self.succeed(self.with_plugin(plugin, args=["get-token", "", "a b'c\"$HOME"], env=env))
        self.assertEqual(seen.read_text(), "3|get-token||a b'c\"$HOME|as $HOME says|path|")

    def test_null_lists(self):
        """kubectl writes args and env as null when there are none."""
        path = Path(self.with_plugin(self.printing(), args=[], env=[])["credentials"]["kubeconfig"])
        path.write_text(path.read_text().replace('"args": []', '"args": null').replace('"env": []', '"env": null'))
        self.succeed(self.look({"kubeconfig": str(path)}))

    def test_name_in_the_path(self):
        """A command without a slash is looked for in PATH."""
        plugin = self.printing()
        path = f"{self.tmp}:{os.environ.get('PATH', '/usr/bin:/bin')}"
        self.succeed(self.with_plugin(plugin.name), env={"PATH": path})

    def test_relative_command(self):
        """A relative command with a slash counts from the kubeconfig's folder."""
        plugin = self.printing()
        self.succeed(self.with_plugin(f"./{plugin.name}"))

    def test_exec_info(self):
        """KUBERNETES_EXEC_INFO: version, not interactive, no cluster unless asked for."""
        info = self.tmp / "info"
        plugin = self.printing(f'printf %s "$KUBERNETES_EXEC_INFO" >{info}')
        self.succeed(self.with_plugin(plugin))
        value = json.loads(info.read_text())
        self.assertEqual((value["apiVersion"], value["kind"]), (API_VERSION, "ExecCredential"))
        self.assertIs(value["spec"]["interactive"], False)
        self.assertNotIn("cluster", value["spec"])

    def test_cluster_info(self):
        """provideClusterInfo: server, authority, the extension that is meant for plugins."""
        info = self.tmp / "info"
        plugin = self.printing(f'printf %s "$KUBERNETES_EXEC_INFO" >{info}')
        config = {"region": "here", "n": 1}
        cluster = {"certificate-authority": None, "certificate-authority-data": self.pki.data("ca.crt"),
                   "tls-server-name": "localhost",
                   "extensions": [{"name": "other", "extension": {"a": "b"}},
                                  {"name": "client.authentication.k8s.io/exec", "extension": config}]}
        self.succeed(self.with_plugin(plugin, cluster=cluster, provideClusterInfo=True))
        value = json.loads(info.read_text())["spec"]["cluster"]
        self.assertEqual(value["server"], self.server.url)
        self.assertEqual(value["certificate-authority-data"], self.pki.data("ca.crt"))
        self.assertEqual(value.get("tls-server-name"), "localhost")

    def test_no_terminal(self):
        """Its standard input is at its end at once."""
        seen = self.tmp / "seen"
        plugin = self.printing(f"cat >{seen}", f"if [ -t 0 ]; then echo terminal >>{seen}; fi")
        self.succeed(self.with_plugin(plugin))
        self.assertEqual(seen.read_text(), "")

    def test_descriptors(self):
        """It inherits nothing of ours but its own three."""
        seen = self.tmp / "seen"
        plugin = self.printing(f"ls -l /proc/self/fd >{seen}")
        self.succeed(self.with_plugin(plugin))
        targets = [line.rpartition(" -> ")[2] for line in seen.read_text().splitlines() if " -> " in line]
        known = ("/dev/null", "pipe:", "/memfd:", "/proc/", str(seen))
        self.assertEqual([target for target in targets if not target.startswith(known)], [])
        self.assertLessEqual(len(targets), 5, targets)

    def test_standard_error(self):
        """It never appears: it may hold anything."""
        plugin = self.printing(f"echo 'debug: token is {PLUGIN_TOKEN}' >&2")
        self.succeed(self.with_plugin(plugin))
        plugin = self.script(f"echo 'debug: token is {PLUGIN_TOKEN}' >&2", "exit 1")
        self.api.requests.clear()
        self.server.requests.clear()
        self.refused(self.with_plugin(plugin), plugin.name)

    def test_fails(self):
        """Exit status, signal: the message names the plugin and what became of it."""
        for line, word in (("exit 3", "3"), ("kill -9 $$", "9"), (f"echo {PLUGIN_TOKEN}; exit 1", "1")):
            with self.subTest(line):
                plugin = self.script(line)
                error = self.refused(self.with_plugin(plugin), plugin.name)
                self.assertRegex(error["message"], rf"{word}|[Kk]ill")

    def test_rubbish(self):
        """What is no ExecCredential, or has nothing to use. What it printed is not repeated."""
        def status(value, **more):
            return json.dumps({"kind": "ExecCredential", "apiVersion": API_VERSION, "status": value, **more})

        texts = ["", "rubbish", "{", "[]", "null", "5", "{}", f"token: {PLUGIN_TOKEN}", f'"{PLUGIN_TOKEN}"',
                 status(None), status({}), status([]), status("x"), status({"token": ""}), status({"token": 5}),
                 status({"token": f"{PLUGIN_TOKEN}\nX-Evil: 1"}), status({"token": f"{PLUGIN_TOKEN}\r\nX: 1"}),
                 status({"clientCertificateData": self.pki.text("client.crt")}),
                 status({"clientKeyData": self.pki.text("client.key")}),
                 status({"clientCertificateData": "x", "clientKeyData": "y"}),
                 status({"token": PLUGIN_TOKEN}, kind="Other"), "[" * 100000]
        for text in texts:
            with self.subTest(text[:100]):
                plugin = self.script(f"cat {self.write('status', text)}")
                before = len(self.server.requests)
                error = self.fail_with(self.with_plugin(plugin), ("credentials", "tls"))
                self.assertNotIn("rubbish", error["message"])
                self.assertEqual(self.server.requests[before:], [])

    def test_prints_much(self):
        """2 MiB, and without end: refused, and the plugin is gone."""
        much = self.write("much", self.credential(token=PLUGIN_TOKEN, more="x" * (2 * MIB)))
        self.refused(self.with_plugin(self.script(f"cat {much}")), timeout=SOON_S)
        self.refused(self.with_plugin(self.script("exec cat /dev/zero")), timeout=SOON_S)

    def test_missing(self):
        """Not there, not executable, a directory, of a wrong format."""
        plain = self.write("plain", "#!/bin/sh\n")
        binary = self.write("binary", b"\x7fELF rubbish")
        binary.chmod(0o755)
        lost = self.write("lost", "#!/no/such/interpreter\n")
        lost.chmod(0o755)
        for command in (self.tmp / "missing", plain, self.tmp, binary, lost, "no-such-program-of-ours"):
            with self.subTest(command):
                self.refused(self.with_plugin(command), str(command))
        self.refused(self.with_plugin(""))
        self.refused(self.look(self.credentials(self.server, user={"exec": {"apiVersion": API_VERSION}})))

    def test_install_hint(self):
        """What the kubeconfig says about a missing plugin may be in the message; no line end of it."""
        hint = "get it from\nhttps://plugin.example.test"
        self.refused(self.with_plugin(self.tmp / "missing", installHint=hint), "missing")

    def test_hangs(self):
        """The deadline ends it and what it started."""
        pids = self.tmp / "pids"
        plugin = self.script(f"sleep 600 & echo $! $$ >{pids}", "wait")
        start = time.monotonic()
        self.fail_with(self.with_plugin(plugin, deadline=SHORT_MS), ("credentials", "connect"), timeout=SOON_S)
        self.assertGreater(time.monotonic() - start, SHORT_MS / 2000)
        self.assert_gone(pids)

    def test_hangs_and_ignores_signals(self):
        """One that does not want to go."""
        pids = self.tmp / "pids"
        plugin = self.script("trap '' TERM INT HUP PIPE", f"echo $$ >{pids}", "while :; do sleep 600; done")
        self.fail_with(self.with_plugin(plugin, deadline=SHORT_MS), ("credentials", "connect"), timeout=SOON_S)
        self.assert_gone(pids)

    def test_leaves_a_child(self):
        """A child of the plugin keeps its output open: the helper does not wait for it for ever, and it is ended."""
        pids = self.tmp / "pids"
        plugin = self.printing(f"sleep 600 & echo $! >{pids}")
        result = self.call_helper(self.with_plugin(plugin, deadline=SHORT_MS), timeout=SOON_S)
        if "error" in result:
            self.assertEqual(result["error"]["kind"], "credentials", result)
        self.assert_gone(pids)

    def test_closes_its_output(self):
        """One that closes its output and then hangs."""
        pids = self.tmp / "pids"
        plugin = self.script(f"echo $$ >{pids}", f"cat {self.write('status', self.credential())}", "exec >&-",
                             "exec sleep 600")
        result = self.call_helper(self.with_plugin(plugin, deadline=SHORT_MS), timeout=SOON_S)
        if "error" in result:
            self.assertEqual(result["error"]["kind"], "credentials", result)
        self.assert_gone(pids)

    def assert_gone(self, pids):
        """The processes whose ids are in that file have ended."""
        for pid in pids.read_text().split():
            def gone(pid=pid):
                try:
                    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"
                except OSError:
                    return True

            wait_for(gone, 2, f"end of process {pid}")

    def test_401_runs_it_again(self):
        """A 401 makes it read the credentials once more, and that means the plugin too."""
        count = self.tmp / "count"
        plugin = self.printing(f"echo run >>{count}")
        self.api.tokens = set()
        self.fail_with(self.with_plugin(plugin), "refused", 401)
        self.assertEqual(count.read_text(), "run\nrun\n")
        self.assertEqual(len(self.server.requests), 2)

    def test_runs_once(self):
        """One run of the helper asks it once, however many requests it makes."""
        count = self.tmp / "count"
        request = self.with_plugin(self.printing(f"echo run >>{count}"))
        self.succeed(self.node_labels(request["credentials"]))
        self.assertEqual(count.read_text(), "run\n")
        self.assertGreater(len(self.server.requests), 1)

    def test_node_is_not_told(self):
        """The request itself is not in the plugin's environment."""
        seen = self.tmp / "seen"
        self.succeed(self.with_plugin(self.printing(f"env >{seen}")))
        self.assertNotIn(f'"{NODE}"', seen.read_text())
