# SPDX-License-Identifier: GPL-2.0-or-later
"""doctor: dcgm-exporter. The port is fixed, so the helper's action is tested by itself, on a free port."""

import http.server
import threading

from api_helper import ApiTest
from doctor_case import UBUNTU, DoctorTest
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


class Action(ApiTest):
    """The action "dcgm" of nfd-source-api."""

    def exporter(self, body, status=200):
        """A server that ends with the test; returns its URL."""
        handler = type("Handler", (Exporter,), {"body": body.encode(), "status": status})
        server = http.server.HTTPServer(("127.0.0.1", 0), handler)
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return f"http://127.0.0.1:{server.server_port}/metrics"

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
                self.assertEqual(self.succeed(self.ask(self.exporter(body)))["gpus"], count)

    def test_faults(self):
        """An error status, nobody there."""
        self.fail_with(self.ask(self.exporter("no", 500)), "refused", 500)
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
