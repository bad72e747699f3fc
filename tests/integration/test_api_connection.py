# SPDX-License-Identifier: GPL-2.0-or-later
"""How nfd-source-api bears a server or a way to it that is broken, hostile, or just not there.

Every such run ends by itself, soon after its deadline at the latest, with an error that says what happened.
"""

import base64
import json
import os
import socket
import time
import unittest

from api_helper import GPU_LABELS, NODE, SHORT_MS, SOON_S, TOKEN, ApiTest
from certificates import OTHER_NAME, openssl
from fake_api import status
from https_server import (Endless, Raw, Reply, Reset, Silence, Slow, Truncated, json_reply, refused_port,
                          script)
from namespace import CLONE_NEWNS, mount_tmpfs, run_in_child, unshare
from program import PREFIX

MIB = 1 << 20
CAP = 4 * MIB
SYSTEM_AUTHORITIES = "/etc/ssl/certs"
LABEL = f"{PREFIX}pci-10de.present"


def node_of_size(size):
    """A Node as JSON text of about that many bytes."""
    return json.dumps({"kind": "Node", "apiVersion": "v1", "metadata": {
        "name": NODE, "uid": "u", "labels": {LABEL: "true"}, "annotations": {"big": "x" * (size - 200)}}})


class Replies(ApiTest):
    """Answers that are no right ones."""

    def test_500(self):
        """The API server's own trouble heals by itself."""
        for code in (500, 502, 503, 504):
            with self.subTest(code):
                self.api.inject("GET", "/nodes/", status(code, "etcdserver: request timed out"))
                error = self.fail_with(self.look(self.serve()), "refused", code, "soon")
                self.assertIn("etcdserver: request timed out", error["message"])
                self.assertIn(f"/api/v1/nodes/{NODE}", error["message"])
                self.assertIn("GET", error["message"].upper())

    def test_500_on_the_apply(self):
        """What was found out before is in the result."""
        self.api.inject("PATCH", "/nodes/", status(500, "etcdserver: request timed out"))
        error = self.fail_with(self.node_labels(self.serve()), "refused", 500, "soon")
        self.assertEqual(error["result"]["node"]["uid"], "uid-1")
        self.assertEqual(error["result"].get("applied", []), [])
        self.assertEqual(error["result"]["requests"], {"get": 1, "patch": 1})

    def test_message_of_the_server_is_one_line(self):
        """Control bytes and excess of a server's message do not get through."""
        text = "first\nsecond\r\n\x1b[31mred\x00 " + "long " * 100000
        self.api.inject("GET", "/nodes/", status(500, text))
        error = self.fail_with(self.look(self.serve()), "refused", 500)
        self.assertLess(len(error["message"]), 4096)

    def test_server_repeats_the_token(self):
        """A server that prints our credentials in its message: they are not passed on."""
        self.api.inject("GET", "/nodes/", status(500, f"I do not like Bearer {TOKEN}"))
        self.fail_with(self.look(self.serve()), "refused", 500)

    def test_reset(self):
        """A connection that is cut."""
        error = self.fail_with(self.look(self.serve(script(Reset()))), "connect", retry="soon")
        self.assertIn(f"/api/v1/nodes/{NODE}", error["message"])

    def test_reset_on_the_apply(self):
        """The same when the GET was fine; once more on a fresh connection is allowed."""
        self.api.always("PATCH", "/nodes/", Reset())
        self.fail_with(self.node_labels(self.serve()), "connect", retry="soon")
        self.assertLessEqual(len(self.api.sent("PATCH")), 2)

    def test_empty_answer(self):
        """The server ends the connection without a word."""
        self.fail_with(self.look(self.serve(script(Raw(b"")))), "connect", retry="soon")

    def test_truncated_body(self):
        """Less than Content-Length says."""
        answer = script(Truncated(200, node_of_size(5000)))
        self.fail_with(self.look(self.serve(answer)), ("connect", "reply"), retry="soon")

    def test_large_body(self):
        """Up to 4 MiB are read."""
        answer = script(Reply(200, node_of_size(CAP - MIB // 2), {"Content-Type": "application/json"}))
        self.assertEqual(self.succeed(self.look(self.serve(answer)))["label"]["value"], "true")

    def test_body_over_the_cap(self):
        """More is refused, however its length is told."""
        chunk = b"10000\r\n" + b"x" * 0x10000 + b"\r\n"
        head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
        rows = {
            "length": Reply(200, node_of_size(CAP + MIB)),
            "length only": Raw(head + b"Content-Length: 99999999999\r\n\r\n{"),
            "chunked": Endless(head + b"Transfer-Encoding: chunked\r\n\r\n", chunk),
            "until the end": Endless(head + b"\r\n", b" " * 65536),
            "error": Reply(500, "x" * (CAP + MIB)),
        }
        for name, reply in rows.items():
            with self.subTest(name):
                # A length alone may be believed, or the end of the connection comes first.
                kinds = ("reply", "refused", "connect") if name == "length only" else ("reply", "refused")
                self.fail_with(self.look(self.serve(script(reply))), kinds)

    def test_no_http(self):
        """Bytes that are no HTTP, headers without end, a length that is none."""
        rows = {
            "rubbish": Raw(b"\x00\x01\x02 no HTTP at all\r\n\r\n"),
            "other protocol": Raw(b"SSH-2.0-OpenSSH_9.2\r\n"),
            "status": Raw(b"HTTP/1.1 999999 What\r\n\r\n"),
            "length": Raw(b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n{}"),
            "headers": Endless(b"HTTP/1.1 200 OK\r\n", b"X-More: " + b"x" * 1000 + b"\r\n"),
            "one header": Endless(b"HTTP/1.1 200 OK\r\nX-More: ", b"x" * 1000),
        }
        for name, reply in rows.items():
            with self.subTest(name):
                self.call_error(self.look(self.serve(script(reply)), deadlineMilliseconds=SHORT_MS))

    def call_error(self, request):
        """Run a request that must fail because of what the server said."""
        return self.fail_with(request, ("connect", "reply", "refused"))

    def test_malformed_json(self):
        """Text that is no JSON, or ends early, or nests without end."""
        texts = ["<html>please log in</html>", "{", '{"metadata": {"labels": {"a": ', "", "null", "[]", '"x"', "17",
                 "{}{}", "[" * 100000, '{"a":' * 100000, "\xff\xfe", '{"metadata": {"uid": "\\ud800"}}\0']
        for text in texts:
            with self.subTest(text[:40]):
                for request in (self.look, self.node_labels):
                    answer = script(Reply(200, text, {"Content-Type": "application/json"}))
                    server = self.serve(answer)
                    self.fail_with(request(server), "reply")
                    self.assertEqual([one.method for one in server.requests], ["GET"])

    def test_json_of_another_shape(self):
        """Fields of a wrong type: an error of kind reply, or the field counts as missing; never a crash."""
        metadata = {"name": NODE, "uid": "u", "labels": {}, "annotations": {}, "managedFields": []}
        rows = [
            {"metadata": None}, {"metadata": 5}, {"metadata": []}, {"nothing": {}},
            *({"metadata": {**metadata, name: value}} for name in metadata
              for value in (None, 5, [5], {"a": 5}, [None], [{}])),
            *({"metadata": {**metadata, "managedFields": [{"manager": "nfd-source", "operation": "Apply", **more}]}}
              for more in ({}, {"fieldsV1": None}, {"fieldsV1": 5}, {"fieldsV1": {"f:metadata": 5}},
                           {"fieldsV1": {"f:metadata": {"f:labels": []}}},
                           {"fieldsV1": {"f:metadata": {"f:labels": {"": 5, "f:": {}, "k:x": {}, "f:a": None}}}})),
        ]
        now = []

        def answer(request):
            return json_reply(200, now[0] if request.method == "GET" else {"kind": "Node", "metadata": 5})

        server = self.serve(answer)
        for row in rows:
            now[:] = [row]
            for request in (self.node_labels, self.look):
                with self.subTest((request.__name__, row)):
                    result = self.call_helper(request(server), code=None)
                    if "error" in result:
                        self.assertEqual(result["error"]["kind"], "reply", result)

    def test_redirect(self):
        """Not followed; nothing goes to the other server, above all no credentials."""
        other = self.serve()
        for code in (301, 302, 303, 307, 308):
            with self.subTest(code):
                for location in (f"{other.url}/api/v1/nodes/{NODE}", "/elsewhere"):
                    answer = script(Reply(code, "moved", {"Location": location}))
                    server = self.serve(answer)
                    error = self.fail_with(self.look(server), "refused", code)
                    self.assertIn(str(code), error["message"])
                    self.assertEqual(len(server.requests), 1)
        self.assertEqual(other.accepted, 0)

    def test_informational_answers(self):
        """100 and 103 before the answer are no answer."""
        body = node_of_size(1000)
        text = ("HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"
                f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\n\r\n{body}")
        self.succeed(self.look(self.serve(script(Raw(text.encode())))))


class Hangs(ApiTest):
    """Servers that do not get to the end."""

    def ends_in_time(self, request):
        """The run fails soon after its deadline and no sooner than half of it."""
        start = time.monotonic()
        error = self.fail_with(request, "connect", retry="soon", timeout=SOON_S)
        self.assertGreater(time.monotonic() - start, SHORT_MS / 2000)
        return error

    def test_half_open(self):
        """The request is taken, no answer comes."""
        self.ends_in_time(self.look(self.serve(script(Silence())), deadlineMilliseconds=SHORT_MS))

    def test_half_open_on_the_apply(self):
        """The same after a good GET: the deadline is that of the whole run."""
        self.api.inject("PATCH", "/nodes/", Silence())
        error = self.ends_in_time(self.node_labels(self.serve(), deadlineMilliseconds=SHORT_MS))
        self.assertEqual(error["result"]["requests"], {"get": 1, "patch": 1})

    def test_no_handshake(self):
        """The connection is taken, TLS does not begin."""
        server = self.serve(silent=True)
        self.ends_in_time(self.look(server, deadlineMilliseconds=SHORT_MS))
        self.assertEqual(server.accepted, 1)

    def test_one_byte_a_second(self):
        """A server that keeps the connection busy does not stretch the deadline."""
        answer = script(Slow(200, node_of_size(1000)))
        self.ends_in_time(self.look(self.serve(answer), deadlineMilliseconds=SHORT_MS))

    def test_hanging_proxy(self):
        """A proxy that says nothing: a plain listener does."""
        with socket.create_server(("127.0.0.1", 0)) as listener:
            proxy = f"http://127.0.0.1:{listener.getsockname()[1]}"
            self.ends_in_time(self.look(self.serve(), proxy=proxy, deadlineMilliseconds=SHORT_MS))

    def test_deadline_of_a_millisecond(self):
        """The shortest that there is."""
        request = self.look(self.serve(script(Silence())), deadlineMilliseconds=1)
        self.fail_with(request, ("connect", "credentials"), retry="soon", timeout=SOON_S)


class Ways(ApiTest):
    """Ports, proxies, other variables of the environment."""

    def test_connection_refused(self):
        """Nobody listens."""
        holder, port = refused_port()
        with holder:
            error = self.fail_with(self.look(self.credentials(f"https://127.0.0.1:{port}")), "connect", retry="soon")
        self.assertIn(f"127.0.0.1:{port}", error["message"])

    def test_unknown_host(self):
        """A name that cannot exist."""
        credentials = self.credentials("https://nowhere.invalid:6443")
        error = self.fail_with(self.look(credentials), "connect", retry="soon")
        self.assertIn("nowhere.invalid", error["message"])

    def test_url_with_a_path(self):
        """A server behind a path, as Rancher's proxy has it; a slash at the end does not double."""
        server = self.serve(script(json_reply(200, json.loads(node_of_size(1000)))))
        for path in ("/k8s/clusters/c-1", "/k8s/clusters/c-1/"):
            with self.subTest(path):
                self.succeed(self.look(self.credentials(f"{server.url}{path}")))
                self.assertEqual(server.requests[-1].route, f"/k8s/clusters/c-1/api/v1/nodes/{NODE}")

    def test_proxy_variables_are_ignored(self):
        """Proxies only by explicit option."""
        proxy = self.proxy()
        names = ("https_proxy", "HTTPS_PROXY", "http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY")
        self.succeed(self.look(self.serve()), env=dict.fromkeys(names, proxy.url))
        self.assertEqual(proxy.accepted, 0)

    def test_proxy_option(self):
        """The request's proxy is used, for every request, and sees no token."""
        server = self.serve()
        proxy = self.proxy(server.server_address)
        self.succeed(self.node_labels(server, proxy=proxy.url))
        self.assertTrue(proxy.targets)
        self.assertEqual(set(proxy.targets), {f"127.0.0.1:{server.port}"})
        self.assertNotIn(TOKEN, "".join(proxy.heads))
        self.assertNotIn("Authorization: Bearer", "".join(proxy.heads))
        self.assertEqual(self.api.owned(), sorted(GPU_LABELS))

    def test_proxy_option_and_no_proxy(self):
        """NO_PROXY is a proxy variable too."""
        server = self.serve()
        proxy = self.proxy(server.server_address)
        self.succeed(self.look(server, proxy=proxy.url), env={"NO_PROXY": "*", "no_proxy": "*"})
        self.assertEqual(len(proxy.targets), 1)

    def test_proxy_of_the_kubeconfig(self):
        """proxy-url counts when the request names none, and only then."""
        server = self.serve()
        proxy, other = self.proxy(server.server_address), self.proxy(server.server_address)
        credentials = self.credentials(server, cluster={"proxy-url": proxy.url})
        self.succeed(self.look(credentials))
        self.assertEqual((proxy.accepted, other.accepted), (1, 0))
        self.succeed(self.look(credentials, proxy=other.url))
        self.assertEqual((proxy.accepted, other.accepted), (1, 1))

    def test_proxy_and_server_name(self):
        """The proxy is asked for the server, not for the name in its certificate."""
        server = self.serve(certificate="other-name")
        proxy = self.proxy(server.server_address)
        credentials = self.credentials(server, cluster={"tls-server-name": OTHER_NAME, "proxy-url": proxy.url})
        self.succeed(self.look(credentials))
        self.assertEqual(proxy.targets, [f"127.0.0.1:{server.port}"])

    def test_proxy_refuses(self):
        """The password in its URL is a credential."""
        password = "pRoXy-pAsSwOrD-12345"
        self.secrets.append(password)
        proxy = self.proxy()
        url = proxy.url.replace("http://", f"http://user:{password}@")
        server = self.serve()
        self.fail_with(self.look(server, proxy=url), "connect", retry="soon")
        self.fail_with(self.look(self.credentials(server, cluster={"proxy-url": url})), "connect", retry="soon")
        holder, port = refused_port()
        with holder:
            self.fail_with(self.look(server, proxy=f"http://user:{password}@127.0.0.1:{port}"), "connect")
        self.assertEqual(server.accepted, 0)

    def test_proxy_rubbish(self):
        """What is no proxy URL."""
        server = self.serve()
        for url in ("http://", "nonsense://127.0.0.1:1", "http://127.0.0.1:99999", "ht tp://x", "http://a\nb"):
            with self.subTest(url):
                self.fail_with(self.look(server, proxy=url), ("request", "credentials", "connect"), code=None)
        self.assertEqual(server.accepted, 0)

    def test_home_is_not_read(self):
        """No .netrc and no .curlrc."""
        home = self.tmp / "home"
        home.mkdir()
        (home / ".netrc").write_text("machine 127.0.0.1 login someone password something-long\n")
        (home / ".curlrc").write_text("insecure\n")
        server = self.serve()
        credentials = self.credentials(server, user={})
        self.call_helper(self.look(credentials), env={"HOME": str(home), "CURL_HOME": str(home)})
        for request in server.requests:
            self.assertNotIn("Authorization", request.headers)


class Tls(ApiTest):
    """The server's certificate, and ours."""

    def not_accepted(self, server, **options):
        """The certificate is refused before anything is sent."""
        error = self.fail_with(self.look(self.credentials(server, **options)), "tls", retry="slow")
        self.assertEqual(server.requests, [])
        return error

    def test_wrong_authority(self):
        """A certificate of another authority."""
        self.not_accepted(self.serve(certificate="strange"))

    def test_expired(self):
        """The message says so."""
        error = self.not_accepted(self.serve(certificate="expired"))
        self.assertIn("expired", error["message"])

    def test_wrong_name(self):
        """A certificate for another name."""
        self.not_accepted(self.serve(certificate="other-name"))

    def test_server_name(self):
        """tls-server-name is the name to check against, and what is asked for."""
        server = self.serve(certificate="other-name")
        self.succeed(self.look(self.credentials(server, cluster={"tls-server-name": OTHER_NAME})))
        self.not_accepted(self.serve(), cluster={"tls-server-name": OTHER_NAME})

    def test_bundle_of_the_cluster_only(self):
        """With an authority in the kubeconfig the system's own do not count, nor those of the environment."""
        strange = str(self.pki.path("other-ca.crt"))
        server = self.serve(certificate="strange")
        request = self.look(self.credentials(server))
        environment = {"SSL_CERT_FILE": strange, "CURL_CA_BUNDLE": strange}
        self.fail_with(request, "tls", env=environment)
        run_in_child(self.with_system_authority, request)
        self.assertEqual(server.requests, [])

    def with_system_authority(self, request):
        """The same where the host's authorities have the strange one: in a mount namespace of its own."""
        if not os.path.isdir(SYSTEM_AUTHORITIES):
            raise unittest.SkipTest(f"no {SYSTEM_AUTHORITIES} here")
        unshare(CLONE_NEWNS)
        mount_tmpfs(SYSTEM_AUTHORITIES, "mode=755")
        for name in ("ca-certificates.crt", "other.pem"):
            with open(f"{SYSTEM_AUTHORITIES}/{name}", "w", encoding="ascii") as file:
                file.write(self.pki.text("other-ca.crt"))
        openssl("rehash", SYSTEM_AUTHORITIES)
        self.fail_with(request, "tls")

    def test_bundle_is_replaced(self):
        """The authority of the cluster is read afresh by each run."""
        server = self.serve(certificate="strange")
        bundle = self.write("ca.crt", self.pki.text("ca.crt"))
        credentials = self.credentials(server, cluster={"certificate-authority": str(bundle)})
        self.fail_with(self.look(credentials), "tls")
        bundle.write_text(self.pki.text("other-ca.crt"))
        self.succeed(self.look(credentials))

    def test_bundle_of_several(self):
        """Old and new authority side by side, as during a rotation; in a file and as data."""
        both = self.write("ca.crt", self.pki.text("ca.crt") + self.pki.text("other-ca.crt"))
        for certificate in ("server", "strange"):
            server = self.serve(certificate=certificate)
            data = {"certificate-authority": None, "certificate-authority-data": self.base64(both)}
            self.succeed(self.look(self.credentials(server, cluster={"certificate-authority": str(both)})))
            self.succeed(self.look(self.credentials(server, cluster=data)))

    @staticmethod
    def base64(path):
        """A file as data of a kubeconfig."""
        return base64.b64encode(path.read_bytes()).decode()

    def test_bundle_is_rubbish(self):
        """No certificate in it: refused, not ignored."""
        server = self.serve()
        for text in ("", "rubbish\n", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"):
            with self.subTest(text):
                bundle = self.write("ca.crt", text)
                rows = [{"certificate-authority": str(bundle)},
                        {"certificate-authority": None, "certificate-authority-data": self.base64(bundle)}]
                for row in rows[: 2 if text else 1]:
                    self.fail_with(self.look(self.credentials(server, cluster=row)), ("credentials", "tls"))
        self.assertEqual(server.requests, [])

    def test_client_certificate(self):
        """As files and as data."""
        server = self.serve(client_ca=self.pki.path("ca.crt"))
        rows = {
            "files": {"client-certificate": str(self.pki.path("client.crt")),
                      "client-key": str(self.pki.path("client.key"))},
            "data": {"client-certificate-data": self.pki.data("client.crt"),
                     "client-key-data": self.pki.data("client.key")},
            "mixed": {"client-certificate": str(self.pki.path("client.crt")),
                      "client-key-data": self.pki.data("client.key")},
        }
        for name, user in rows.items():
            with self.subTest(name):
                self.succeed(self.look(self.credentials(server, user=user)))
                self.assertEqual(self.api.requests[-1].client, "client")
                self.assertNotIn("Authorization", self.api.requests[-1].headers)

    def test_client_certificate_in_one_file(self):
        """The kubelet's own file has certificate and key together."""
        server = self.serve(client_ca=self.pki.path("ca.crt"))
        pem = self.write("kubelet-client-current.pem", self.pki.text("client.crt") + self.pki.text("client.key"))
        user = {"client-certificate": str(pem), "client-key": str(pem)}
        self.succeed(self.look(self.credentials(server, user=user)))
        self.assertEqual(self.api.requests[-1].client, "client")

    def test_client_certificate_is_missing_or_wrong(self):
        """The server wants one: none, and a key that does not fit."""
        server = self.serve(client_ca=self.pki.path("ca.crt"))
        self.fail_with(self.look(self.credentials(server)), ("tls", "connect"))
        user = {"client-certificate": str(self.pki.path("client.crt")), "client-key": str(self.pki.path("server.key"))}
        self.fail_with(self.look(self.credentials(server, user=user)), ("credentials", "tls"))
        for half in ("client-certificate", "client-key"):
            with self.subTest(half):
                self.fail_with(self.look(self.credentials(server, user={half: user[half]})), ("credentials", "tls"))
        self.assertEqual(server.requests, [])

    def test_no_plain_http(self):
        """A server without https is refused before anything is sent; so is every other scheme."""
        server = self.serve(certificate=None)
        for url in (server.url, f"HTTP://127.0.0.1:{server.port}", f"127.0.0.1:{server.port}", "file:///etc/passwd",
                    f"ftp://127.0.0.1:{server.port}", "https://", ""):
            with self.subTest(url):
                self.fail_with(self.look(self.credentials(url)), "credentials", retry="slow")
        self.assertEqual(server.accepted, 0)

    def test_plain_text_on_the_https_port(self):
        """https is asked, plain HTTP answers."""
        server = self.serve(certificate=None)
        self.fail_with(self.look(self.credentials(f"https://127.0.0.1:{server.port}")), ("tls", "connect"))
        self.assertEqual(server.requests, [])

    def test_insecure_is_refused(self):
        """insecure-skip-tls-verify: the message says what to do instead."""
        server = self.serve(certificate="strange")
        for more in ({}, {"certificate-authority": None}):
            options = {"cluster": {"insecure-skip-tls-verify": True, **more}}
            error = self.fail_with(self.look(self.credentials(server, **options)), "credentials", retry="slow")
            self.assertIn("insecure-skip-tls-verify", error["message"])
            self.assertIn("certificate-authority", error["message"])
        self.assertEqual(server.accepted, 0)
        good = self.serve()
        self.succeed(self.look(self.credentials(good, cluster={"insecure-skip-tls-verify": False})))

    def test_no_authority_at_all(self):
        """Then the system's count, and ours is not among them."""
        self.not_accepted(self.serve(), cluster={"certificate-authority": None})
