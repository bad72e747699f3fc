# SPDX-License-Identifier: GPL-2.0-or-later
"""doctor: dcgm-exporter, and the helper's action for it."""

import http.server
import threading

from api_helper import ApiTest
from doctor_case import UBUNTU, DoctorNodeTest, DoctorTest
from https_server import refused_port

SAMPLE = ('DCGM_FI_DEV_GPU_UTIL{{gpu="{0}",UUID="GPU-{0}",pci_bus_id="00000000:3B:00.0",device="nvidia{0}",'
          'modelName="NVIDIA L4",Hostname="gpu-1"}} 5\n')


class Rows(DoctorTest):
    """What is not checked, and why."""

    def test_no_process(self):
        """None runs here."""
        report = self.report(self.machine())
        for name in ("GPU-DCGM-DOWN", "GPU-DCGM-EMPTY"):
            self.not_checked(report, name, "no dcgm-exporter")

    def test_not_asked(self):
        """--no-api."""
        report = self.report(self.machine(UBUNTU, "process 2500 dcgm-exporter start=70"))
        for name in ("GPU-DCGM-DOWN", "GPU-DCGM-EMPTY"):
            self.not_checked(report, name, "not to be asked")

    def test_processes_are_not_visible(self):
        """No proc."""
        root = self.machine("server-l4")
        self.not_checked(self.report(root), "GPU-DCGM-DOWN", "not visible")


class Exporting(DoctorNodeTest):
    """An exporter that runs on this node and answers on a loopback address."""

    def examine(self, body, code=200):
        """The report on a machine with two GPUs whose exporter says this."""
        url = start_exporter(self, body, code)
        root = self.machine(UBUNTU, "process 2500 dcgm-exporter start=70")
        return self.report(root, settings={"doctor.dcgm": url})

    def test_every_gpu(self):
        """Samples of each GPU: nothing to say."""
        report = self.examine(SAMPLE.format(0) + SAMPLE.format(1))
        self.assertEqual(report["findings"], [], self.brief(report))
        self.assertEqual({check["verdict"] for check in report["checks"] if check["id"].startswith("GPU-DCGM")}, {"ok"})

    def test_empty(self):
        """No samples, or of one GPU alone."""
        for body, words in (("", "0 of 2"), (SAMPLE.format(1), "1 of 2")):
            with self.subTest(words):
                finding = self.find(self.examine(body), "GPU-DCGM-EMPTY")
                self.assertEqual(finding["verdict"], "warning")
                self.assertIn(words, finding["cause"])
                self.assertIn("nvidia-dcgm-exporter", finding["fix"][0])

    def test_down(self):
        """It answers with an error."""
        report = self.examine("no", 500)
        finding = self.find(report, "GPU-DCGM-DOWN")
        self.assertEqual(finding["verdict"], "warning")
        self.assertIn("500", finding["evidence"][0]["value"])
        self.not_checked(report, "GPU-DCGM-EMPTY", "error")

    def test_nobody_there(self):
        """No answer on the loopback address says nothing: its pod has an address of its own."""
        holder, port = refused_port()
        with holder:
            root = self.machine(UBUNTU, "process 2500 dcgm-exporter start=70")
            report = self.report(root, settings={"doctor.dcgm": f"http://127.0.0.1:{port}/metrics"})
        self.not_checked(report, "GPU-DCGM-DOWN", "does not answer")


class Exporter(http.server.BaseHTTPRequestHandler):
    """Answers as the test wants."""

    status, body = 200, b""

    def do_GET(self):  # pylint: disable=invalid-name
        """One reply."""
        self.send_response(self.status)
        self.send_header("Content-Length", str(len(self.body)))
        self.end_headers()
        self.wfile.write(self.body)

    def log_message(self, format, *args):  # pylint: disable=redefined-builtin
        """Nothing."""


def start_exporter(test, body, code=200):
    """A server that ends with the test; returns its URL."""
    handler = type("Handler", (Exporter,), {"body": body.encode(), "status": code})
    server = http.server.HTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    test.addCleanup(thread.join)
    test.addCleanup(server.server_close)
    test.addCleanup(server.shutdown)
    return f"http://127.0.0.1:{server.server_port}/metrics"


class Action(ApiTest):
    """The action "dcgm" of nfd-source-api."""

    @staticmethod
    def ask(url):
        """The request; it takes no credentials."""
        return {"schema": 1, "action": "dcgm", "deadlineMilliseconds": 10000, "url": url}

    def test_counts(self):
        """Different GPUs in the samples; comments, other metrics and repeats do not count."""
        text = "# HELP DCGM_FI_DEV_GPU_UTIL x\n# TYPE DCGM_FI_DEV_GPU_UTIL gauge\n"
        rows = (("", 0), (text, 0), (text + SAMPLE.format(0), 1), (SAMPLE.format(0) * 3, 1),
                (SAMPLE.format(0) + SAMPLE.format(1).replace("GPU_UTIL", "XID_ERRORS"), 2),
                ("".join(SAMPLE.format(number) for number in range(16)), 16),
                ('node_x{gpu="7"} 1\n' + SAMPLE.format(0), 1),
                ('DCGM_FI_DEV_GPU_UTIL{gpu="99999999999999999999"} 1\n', 0),
                ("\0\xff" * 1000, 0), (SAMPLE.format(3).rstrip("\n"), 1))
        for body, count in rows:
            with self.subTest(body[:60]):
                self.assertEqual(self.succeed(self.ask(start_exporter(self, body)))["gpus"], count)

    def test_faults(self):
        """An error status, nobody there."""
        self.fail_with(self.ask(start_exporter(self, "no", 500)), "refused", 500)
        holder, port = refused_port()
        with holder:
            self.fail_with(self.ask(f"http://127.0.0.1:{port}/metrics"), "connect")

    def test_only_this_host(self):
        """Plain HTTP goes nowhere else."""
        for url in ("http://10.0.0.1:9400/metrics", "https://127.0.0.1:9400/metrics", "file:///etc/passwd", "",
                    "http://127.0.0.1.example.com:9400/", "http://localhost:9400@example.com/",
                    "http://127.0.0.1:80@example.com/"):
            with self.subTest(url):
                self.fail_with(self.ask(url), ("request", "connect"), code=None)
