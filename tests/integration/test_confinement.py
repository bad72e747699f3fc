# SPDX-License-Identifier: GPL-2.0-or-later
"""Confinement: what the running daemon and its helpers gave up, what status says of it, and how it is switched off.

What a process can no longer do is tests/unit/test_confinement's; here the kernel's own word about the processes counts.
"""

import ctypes
import errno
import os
import subprocess
from pathlib import Path

import nvml_standin
from api_helper import TOKEN, ApiTest
from https_server import Reply
from program import BINARY, SMALL, ProgramTest, clean_environment, load_json, wait_for
from refuse_calls import deny_confinement

SYS_LANDLOCK_CREATE_RULESET = 444
ASK_VERSION = 1
LANDLOCK_LEAST = 2  # renames between folders, from Linux 5.19 on


def landlock():
    """The version of this kernel's Landlock; 0 without."""
    return max(ctypes.CDLL(None).syscall(SYS_LANDLOCK_CREATE_RULESET, None, 0, ASK_VERSION), 0)


def kernel_says(pid):
    """The fields of /proc/PID/status."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}


class ConfinementTest(ProgramTest):
    """Base: a daemon at rest and what is known of it."""

    def setUp(self):
        super().setUp()
        if landlock() < LANDLOCK_LEAST:
            self.skipTest("this kernel has no Landlock that renames between folders")
        self.root = self.tree(SMALL)

    def say(self):
        """The status file's word on confinement."""
        return load_json(self.status.read_text())["confinement"]

    def status_text(self):
        """What the command prints."""
        return self.ok(self.root, "status").out


class Daemon(ConfinementTest):
    """The daemon itself."""

    def test_by_default(self):
        """On: the kernel says so, the status says so, and all that is written is in its folders."""
        daemon = self.begin(self.root)
        facts = kernel_says(daemon.process.pid)
        self.assertEqual((facts["Seccomp"], facts["NoNewPrivs"]), ("2", "1"))
        self.assertEqual(self.say(), {"off": False, "systemCalls": True, "landlock": landlock(),
                                      "writable": [str(self.tmp)]})
        self.assertIn(f"Landlock (version {landlock()}): writes below {self.tmp}\n", self.status_text())

    def test_off(self):
        """By the setting."""
        daemon = self.begin(self.root, settings={"confinement.mode": "off"})
        facts = kernel_says(daemon.process.pid)
        self.assertEqual((facts["Seccomp"], facts["NoNewPrivs"]), ("0", "0"))
        self.assertIn("confined:     no (confinement.mode: off)\n", self.status_text())

    def test_reload_asks_for_more(self):
        """A reload cannot bring back what was given up: said, with what to do, and the rest goes on."""
        daemon = self.begin(self.root)
        other = self.temporary_directory() / "metrics.prom"
        self.config.write_text(f"metrics: {{path: {other}}}\n")
        daemon.rescan(self.root)
        wait_for(lambda: "restart it" in daemon.log, 15, "the word in the log")
        wait_for(lambda: any(fault["id"] == "confinement" for fault in load_json(self.status.read_text())["faults"]),
                 15, "the fault in the status")
        self.assertFalse(other.exists())
        self.grow(self.root, "pci 0000:99:00.0 030200 1002:74a1 driver=amdgpu")
        daemon.rescan(self.root)
        self.published(daemon, lambda labels: "pci-1002.present" in labels)

    def test_waits_for_features_d(self):
        """NFD may be installed later: writing is restricted when its folder is there, and the labels come."""
        later = self.temporary_directory() / "nfd/features.d"
        daemon = self.daemon(self.root, settings={"outputs.featureFile.mode": "auto", "outputs.featureFile.dir": later})
        wait_for(self.status.exists, 15, "the status file")
        self.assertIn(f'Landlock: waits until "{later.parent}" is there', self.status_text())
        later.mkdir(parents=True)
        self.file = later / "nfd-source"
        self.published(daemon, lambda labels: "pci-10de.present" in labels)
        wait_for(lambda: self.say()["landlock"] == landlock(), 15, "Landlock in force")


class OldKernel(ConfinementTest):
    """A kernel without Landlock and seccomp filters, or a sandbox that refuses them."""

    def start_there(self, mode):
        """Start the daemon under it."""
        return self.start(self.root, "run", settings={"core.sleepInterval": "1h", "confinement.mode": mode},
                          preexec_fn=deny_confinement)

    def test_auto(self):
        """It runs, and the status says what is not there."""
        daemon = self.start_there("auto")
        self.published(daemon)
        wait_for(self.status.exists, 15, "the status file")
        self.assertIn("this kernel has no Landlock", self.status_text())

    def test_on(self):
        """It does not run, and says why."""
        daemon = self.start_there("on")
        self.assertEqual(daemon.process.wait(15), 1)
        self.assertIn("(confinement.mode: on)", daemon.log)
        self.assertFalse(self.file.exists())


class Nvml(ConfinementTest):
    """The child that loads NVIDIA's library: a library that tries what it must not."""

    TRIES = """
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

static int result(int r) { return r < 0 ? errno : 0; }
int nvmlInit_v2(void) { return 0; }
int nvmlSystemGetDriverVersion(char *text, unsigned int size)
{
	char *const argv[] = { "true", NULL };
	int file = result(open("%s", O_WRONLY | O_CREAT, 0600));
	int device = result(open("/dev/null", O_RDWR));
	int local = result(socket(AF_UNIX, SOCK_STREAM, 0));
	int network = result(socket(AF_INET, SOCK_STREAM, 0));
	int program = result(execv("/bin/true", argv));

	snprintf(text, size, "file %%d device %%d local %%d network %%d program %%d", file, device, local, network,
		 program);
	return 0;
}
"""

    def setUp(self):
        super().setUp()
        if nvml_standin.missing():
            self.skipTest(nvml_standin.missing())
        self.target = self.tmp / "made"
        self.library = nvml_standin.compile_library(self.TRIES % self.target, self.tmp / "libnvidia-ml.so.1")

    def tries(self, *options):
        """How the tries end: errno by what was tried."""
        done = subprocess.run([Path(BINARY).with_name("nfd-source-nvml"), *options, self.library],
                              env=clean_environment(), stdin=subprocess.DEVNULL, capture_output=True, check=True)
        if not done.stdout:
            return None
        words = load_json(done.stdout.decode())["driverVersion"].split()
        return dict(zip(words[::2], map(int, words[1::2])))

    def test_confined(self):
        """Device nodes and local services are all that it has."""
        self.assertEqual(self.tries(), {"file": errno.EACCES, "device": 0, "local": 0, "network": errno.ENOSYS,
                                        "program": errno.ENOSYS})
        self.assertFalse(self.target.exists())

    def test_unconfined(self):
        """The same library without: it may do all of it, and becomes another program."""
        self.assertIsNone(self.tries("--unconfined"))
        self.assertTrue(self.target.exists())


class Api(ApiTest):
    """The child that talks to the API server, as the kernel sees it while the server thinks."""

    def facts_of_helper(self, user=None, **fields):
        """The kernel's word about the helper during its first request."""
        seen = []

        def answer(request):
            for status in Path("/proc").glob("[0-9]*/status"):
                facts = kernel_says(status.parent.name)
                if facts["Name"] == "nfd-source-api" and facts["PPid"] == str(os.getpid()):
                    seen.append(facts)
            return self.api(request)

        server = self.serve(answer)
        self.call_helper(self.look(self.credentials(server, user=user), **fields))
        return seen[0]

    def test_confined(self):
        """Also when nobody asked for it."""
        facts = self.facts_of_helper()
        self.assertEqual((facts["Seccomp"], facts["NoNewPrivs"]), ("2", "1"))

    def test_off(self):
        """By the request, which follows the setting."""
        self.assertEqual(self.facts_of_helper(confined=False)["Seccomp"], "0")

    def test_with_a_plugin(self):
        """A plugin is started again when its token is refused: filtered, but it may start programs and keep files."""
        kept = self.tmp / "kept"
        plugin = self.write("plugin", f"#!/bin/sh\necho x >>{kept}\n"
                            'echo \'{"kind": "ExecCredential", "apiVersion": "client.authentication.k8s.io/v1", '
                            f'"status": {{"token": "{TOKEN}"}}}}\'\n')
        plugin.chmod(0o755)
        replies = []

        def answer(request):
            replies.append(request)
            return Reply(401) if len(replies) == 1 else self.api(request)

        user = {"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": str(plugin),
                         "interactiveMode": "Never"}}
        result = self.call_helper(self.look(self.credentials(self.serve(answer), user=user)))
        self.assertNotIn("error", result)
        self.assertEqual(kept.read_text(), "x\nx\n")
