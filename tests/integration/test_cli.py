# SPDX-License-Identifier: GPL-2.0-or-later
"""The command line: exit codes, options, settings and the commands that are no daemon (design.md 3 and 7)."""

import io
import os
import re
import stat
import tarfile
from pathlib import Path

from program import FEATURE_FILE, PREFIX, SMALL, ProgramTest, bare, invoke, load_json, parse_lines, select, wait_for

COMMANDS = ("scan", "publish", "run", "cleanup", "settings", "explain", "status", "record", "version", "help")
FORMS = ("text", "json", "feature-file", "nodefeature", "table")
SETTING_LINE = re.compile(r"([A-Za-z.]+): *(.*?) *# (.+)")

# What Kubernetes puts into every pod beside a Service named nfd-source.
SERVICE_VARIABLES = {
    "NFD_SOURCE_SERVICE_HOST": "10.96.0.7",
    "NFD_SOURCE_SERVICE_PORT": "443",
    "NFD_SOURCE_SERVICE_PORT_HTTPS": "443",
    "NFD_SOURCE_PORT": "tcp://10.96.0.7:443",
    "NFD_SOURCE_PORT_443_TCP": "tcp://10.96.0.7:443",
    "NFD_SOURCE_PORT_443_TCP_ADDR": "10.96.0.7",
    "NFD_SOURCE_PORT_443_TCP_PORT": "443",
    "NFD_SOURCE_PORT_443_TCP_PROTO": "tcp",
}

WORKER_CONFIG = """
core:
  labelWhiteList: ".*"
  noPublish: false
  sleepInterval: 90s
  featureSources: [all]
  labelSources: [all]
  klog:
    addDirHeader: false
    v: 0
    vmodule: ""
sources:
  cpu:
    cpuid:
      attributeBlacklist: ["BMI1", "BMI2"]
  kernel:
    kconfigFile: "/path/to/kconfig"
    configOpts: ["NO_HZ", "X86"]
  pci:
    deviceClassWhitelist: ["0200", "03", "12"]
    deviceLabelFields: ["class", "vendor", "device"]
  usb:
    deviceClassWhitelist: ["0e", "ef", "fe", "ff"]
    deviceLabelFields: ["class", "vendor", "device"]
  local: {}
  custom:
    - name: "my custom rule"
      labels:
        my-feature: "true"
      matchFeatures:
        - feature: pci.device
          matchExpressions:
            vendor: {op: In, value: ["10de"]}
"""


class Usage(ProgramTest):
    """Exit codes, help, version, unknown words."""

    def test_help(self):
        """help and --help succeed and name every command and global option."""
        for arguments in (["help"], ["--help"]):
            with self.subTest(arguments):
                result = invoke(*arguments)
                self.assertEqual((result.code, result.err), (0, ""))
                for command in COMMANDS:
                    self.assertRegex(result.out, rf"(?m)\b{command}\b")
                for option in ("--root", "--config", "--node-name", "--log-format", "--set"):
                    self.assertIn(option, result.out)

    def test_help_of_a_command(self):
        """help COMMAND and COMMAND --help say the same."""
        for command in COMMANDS:
            with self.subTest(command):
                one, other = invoke("help", command), invoke(command, "--help")
                self.assertEqual((one.code, other.code), (0, 0), (one, other))
                self.assertIn(command, one.out)
                self.assertEqual(one.out, other.out)

    def test_version(self):
        """version and --version print one line that ends in a version."""
        for arguments in (["version"], ["--version"]):
            result = invoke(*arguments)
            self.assertEqual((result.code, result.err), (0, ""))
            self.assertRegex(result.out, r"\Anfd-source .*[0-9]+\.[0-9]+[^\n]*\n\Z")

    def test_wrong_usage(self):
        """Exit 2, a message that names the word, nothing on stdout."""
        rows = [
            ([], ""),
            (["--nonsense", "scan"], "nonsense"),
            (["scan", "--nonsense"], "nonsense"),
            (["nonsense"], "nonsense"),
            (["help", "nonsense"], "nonsense"),
            (["scan", "surplus"], "surplus"),
            (["scan", "-o", "nonsense"], "nonsense"),
            (["scan", "-o"], "-o"),
            (["explain"], "explain"),
            (["scan", "--log-format", "nonsense"], "nonsense"),
            (["scan", "--config", self.tmp / "missing.yaml"], "missing.yaml"),
        ]
        for arguments, word in rows:
            with self.subTest(arguments):
                result = invoke(*arguments)
                self.assertEqual((result.code, result.out), (2, ""), result.err)
                self.assertIn(word, result.err)
                self.assertTrue(result.err)

    def test_wrong_root(self):
        """A root that is not there cannot be scanned."""
        result = invoke("--root", self.tmp / "missing", "scan")
        self.assertIn(result.code, (1, 2))
        self.assertIn("missing", result.err)

    def test_root_by_environment(self):
        """NFD_SOURCE_ROOT is the default of --root."""
        root, other = self.tree(SMALL), self.tree("pci 0000:01:00.0 020000 1d0f:ec20")
        arguments = ["--config", self.config]
        result = invoke(*arguments, "scan", env={"NFD_SOURCE_ROOT": str(root)})
        self.assertIn("pci-10de.present", result.out)
        result = invoke(*arguments, "--root", other, "scan", env={"NFD_SOURCE_ROOT": str(root)})
        self.assertNotIn("pci-10de.present", result.out)

    def test_global_options_anywhere(self):
        """Global options count before and after the command."""
        root = self.tree(SMALL)
        options = ["--root", root, "--config", self.config, "--node-name", "node-b"]
        before = invoke(*options, "scan", "-o", "nodefeature")
        after = invoke("scan", *options, "-o", "nodefeature")
        last = invoke("scan", "-o", "nodefeature", *options)
        self.assertEqual(before.code, 0, before.err)
        self.assertIn("node-b-nfd-source", before.out)
        self.assertEqual(before, after)
        self.assertEqual(before, last)

    def test_output_error(self):
        """Output that cannot be written is a failure, not a silent half."""
        with open("/dev/full", "wb") as full:
            result = self.run_program(self.tree(SMALL), "scan", stdout=full)
        self.assertEqual(result.code, 1)
        self.assertTrue(result.err)


class Scan(ProgramTest):
    """The forms of scan."""

    def test_forms(self):
        """Every form prints something of its own shape, and nothing on stderr."""
        root = self.tree(SMALL)
        out = {form: self.ok(root, "scan", "-o", form) for form in FORMS}
        for form, result in out.items():
            with self.subTest(form):
                self.assertEqual(result.err, "")
                self.assertTrue(result.out.endswith("\n"))
        self.assertEqual(out["text"].out, self.ok(root, "scan").out)
        self.assertIn(PREFIX + "pci-10de.present=true\n", out["text"].out)
        self.assertIn(PREFIX + "pci-10de.present", str(load_json(out["json"].out)))
        self.assertTrue(out["feature-file"].out.startswith("# +expiry-time="))
        self.assertEqual(load_json(out["nodefeature"].out)["kind"], "NodeFeature")

    def test_table(self):
        """The table shows address, driver and label; no colours where it is no terminal."""
        table = self.ok(self.tree(SMALL), "scan", "-o", "table").out
        for text in ("0000:3b:00.0", "nvidia", "pci-10de.present"):
            self.assertIn(text, table)
        self.assertNotIn("\033", table)

    def test_table_of_domains(self):
        """A key loses our domain and no other, and the table says so."""
        before, other = self.ok(self.machine("laptop"), "scan", "-o", "table").out.split("\nOTHER LABELS ")
        self.assertIn("pci-8086.present", before)
        self.assertTrue(other.startswith(f"(those without a domain are below {PREFIX})\n"), other)
        keys = {line.split("=")[0] for line in other.splitlines()[1:]}
        self.assertLessEqual({"gpu-8086.count", "gpu.intel.com/cards", "intel.feature.node.kubernetes.io/gpu"}, keys)

    def test_text_is_sorted(self):
        """Sorted by key, every key once."""
        lines = self.ok(self.machine("server-l4"), "scan").out.splitlines()
        keys = [line.split("=")[0] for line in lines]
        self.assertEqual(keys, sorted(set(keys)))

    def test_only_the_root_is_read(self):
        """An empty root gives no labels, whatever the machine below us is."""
        root = self.tree("dir sys", "dir proc", "dir etc")
        self.assertEqual(self.run_program(root, "scan").out, "")

    def test_class_white_list(self):
        """Class entries match as prefixes."""
        root = self.tree(SMALL)
        self.config.write_text("sources: {pci: {deviceClassWhitelist: ['0302']}}\n")
        self.assertEqual(set(select(self.labels(root), "pci-")), {"pci-10de.present", "pci-0302_10de.present"})

    def test_label_white_list(self):
        """core.labelWhiteList is a regular expression on the part after the prefix."""
        self.config.write_text("core: {labelWhiteList: 'driver|os_release.ID$'}\n")
        labels = self.labels(self.machine("server-l4"))
        self.assertIn("driver-nvidia.match", labels)
        self.assert_none(labels, "pci-0302", "gpu-10de.count", "system-os_release.VERSION_ID")

    def test_scan_writes_nothing(self):
        """scan publishes nothing."""
        self.ok(self.tree(SMALL), "scan")
        self.assertEqual(os.listdir(self.features), [])

    def test_log_json(self):
        """--log-format json: every line of stderr is one object."""
        result = self.ok(self.machine("unplug-half-state"), "-v", "--log-format", "json", "scan")
        self.assertTrue(result.err)
        for line in result.err.splitlines():
            self.assertIsInstance(load_json(line), dict)

    def test_quiet(self):
        """-q leaves errors only."""
        self.assertEqual(self.ok(self.machine("unplug-half-state"), "-q", "scan").err, "")


class Settings(ProgramTest):
    """settings, --set, environment, files."""

    def setUp(self):
        super().setUp()
        self.root = self.tree(SMALL)

    def settings(self, *arguments, env=None, config=True):
        """Effective settings as {key: (value, origin)}."""
        files = ["--config", self.config] if config else []
        result = invoke("--root", self.root, *files, *arguments, "settings", env=env)
        self.assertEqual(result.code, 0, result.err)
        found = {}
        for line in result.out.splitlines():
            if line.startswith("# output "):
                continue
            match = SETTING_LINE.fullmatch(line)
            self.assertTrue(match, f"not key: value  # origin: {line!r}")
            found[match[1]] = (match[2].strip('"'), match[3])
        return found

    def test_all_keys(self):
        """Every key of design.md 7, with its default."""
        settings = self.settings()
        expected = {
            "core.sleepInterval": "5m",
            "outputs.featureFile.mode": "auto",
            "outputs.featureFile.dir": "/etc/kubernetes/node-feature-discovery/features.d",
            "outputs.featureFile.name": "nfd-source",
            "outputs.featureFile.lifetime": "1h",
            "watch.group": "kernel",
            "watch.removalDelay": "3s",
            "status.path": "/run/nfd-source/status.json",
            "log.format": "text",
            "log.level": "info",
        }
        for key, value in expected.items():
            with self.subTest(key):
                self.assertEqual(settings[key][0].rstrip("/"), value)
                self.assertIn("default", settings[key][1])
        for key in ("core.labelWhiteList", "core.nodeName", "sources.pci.deviceClassWhitelist"):
            self.assertIn(key, settings)

    def test_origins(self):
        """Default, file, environment, command line: the later wins and is named."""
        key = "core.sleepInterval"
        variable = {"NFD_SOURCE_CORE_SLEEP_INTERVAL": "3m"}
        self.config.write_text("core:\n  sleepInterval: 2m\n")
        value, origin = self.settings()[key]
        self.assertEqual(value, "2m")
        self.assertIn(str(self.config), origin)
        value, origin = self.settings(env=variable)[key]
        self.assertEqual(value, "3m")
        self.assertIn("NFD_SOURCE_CORE_SLEEP_INTERVAL", origin)
        value, origin = self.settings("--set", f"{key}=4m", env=variable)[key]
        self.assertEqual(value, "4m")
        self.assertRegex(origin, "command line|--set")

    def test_json(self):
        """settings -o json has the same values."""
        result = invoke("--root", self.root, "--config", self.config, "settings", "-o", "json")
        self.assertEqual(result.code, 0, result.err)
        self.assertIn("core", str(load_json(result.out)))

    def test_service_variables(self):
        """What Kubernetes injects for a Service named nfd-source is no setting of ours."""
        self.assertEqual(self.settings(env=SERVICE_VARIABLES), self.settings())
        self.assertEqual(self.labels(self.root, env=SERVICE_VARIABLES), self.labels(self.root))

    def test_wrong_environment(self):
        """A wrong value in the environment: exit 2, the variable is named."""
        result = self.run_program(self.root, "scan", env={"NFD_SOURCE_CORE_SLEEP_INTERVAL": "soon"})
        self.assertEqual(result.code, 2)
        self.assertIn("NFD_SOURCE_CORE_SLEEP_INTERVAL", result.err)

    def test_wrong_set(self):
        """A wrong --set: exit 2, key or value is named."""
        rows = {
            "nonsense": "nonsense",
            "core.nonsense=1": "core.nonsense",
            "core=1": "core",
            "core.sleepInterval=soon": "soon",
            "core.sleepInterval=": "core.sleepInterval",
            "core.labelWhiteList=(": "core.labelWhiteList",
            "outputs.featureFile.mode=maybe": "maybe",
            "outputs.featureFile.name=a/b": "outputs.featureFile.name",
            "outputs.featureFile.name=.hidden": "outputs.featureFile.name",
            "=x": "=x",
        }
        for setting, word in rows.items():
            with self.subTest(setting):
                result = self.run_program(self.root, "--set", setting, "scan")
                self.assertEqual((result.code, result.out), (2, ""), result.err)
                self.assertIn(word, result.err)

    def test_wrong_value_names_the_allowed_ones(self):
        """A value that is not of the list: the list is in the message."""
        result = self.run_program(self.root, "--set", "outputs.featureFile.mode=maybe", "scan")
        for word in ("auto", "on", "off"):
            self.assertRegex(result.err, rf"\b{word}\b")

    def check(self, text):
        """Result of settings --check on a file with this text, and its path."""
        path = self.name("checked.yaml")
        path.write_text(text)
        return invoke("settings", "--check", path), path

    def test_check_good(self):
        """A good file: exit 0; an empty file and one of comments are good."""
        for text in ("core:\n  sleepInterval: 90s\n", "", "# nothing\n", "---\n", "{}\n"):
            with self.subTest(text):
                result, _ = self.check(text)
                self.assertEqual(result.code, 0, result.err)

    def test_check_wrong(self):
        """A wrong file: exit 2 and FILE:LINE:COLUMN of the fault with the word that is wrong."""
        rows = [
            ("core:\n  sleepIntervall: 90s\n", 2, 3, "sleepIntervall"),
            ("outputs:\n  nodeLabels:\n    mode: sometimes\n", 3, 11, "sometimes"),
            ("core:\n  sleepInterval: soon\n", 2, 18, "soon"),
            ("nonsense: {}\n", 1, 1, "nonsense"),
            ("core: []\n", 1, 7, "core"),
            ("core:\n  labelWhiteList: '('\n", 2, 19, "labelWhiteList"),
            ("sources:\n  pci:\n    deviceClassWhitelist: [0, [1]]\n", 3, 31, "deviceClassWhitelist"),
        ]
        for text, line, column, word in rows:
            with self.subTest(text):
                result, path = self.check(text)
                self.assertEqual(result.code, 2, result)
                self.assertIn(f"{path}:{line}:{column}: ", result.err)
                self.assertIn(word, result.err)

    def test_check_broken_yaml(self):
        """No YAML, twice the same key, bytes that are no UTF-8: a message with line and column, no crash."""
        for text in ("core: {\n", "core:\n\t- x\n", "a: b: c\n", "core: &a [*a]\n", "core: {}\ncore: {}\n"):
            with self.subTest(text):
                result, path = self.check(text)
                self.assertEqual(result.code, 2, result)
                self.assertRegex(result.err, re.escape(str(path)) + r":[0-9]+:[0-9]+: ")
        path = self.name("bytes.yaml")
        path.write_bytes(b"core:\n  nodeName: \xff\xfe\n")
        self.assertEqual(invoke("settings", "--check", path).code, 2)

    def test_check_lists_allowed_values(self):
        """A wrong choice names the right ones."""
        result, _ = self.check("outputs:\n  nodeLabels:\n    mode: sometimes\n")
        for word in ("fallback", "always", "off"):
            self.assertIn(word, result.err)

    def test_check_missing_file(self):
        """A file that is not there."""
        self.assertEqual(invoke("settings", "--check", self.tmp / "missing.yaml").code, 2)

    def test_worker_config(self):
        """An nfd-worker.conf works unchanged; keys of sources we do not have are one debug line."""
        self.config.write_text(WORKER_CONFIG)
        self.assertEqual(self.settings()["core.sleepInterval"][0], "90s")
        result = self.ok(self.root, "scan")
        self.assertEqual(result.err, "")
        labels = bare(parse_lines(result.out))
        self.assertIn("pci-0302_10de_27b8.present", labels)
        self.assertIn("pci-10de.present", labels)
        self.assertRegex(self.ok(self.root, "-v", "scan").err, "custom|cpu")
        checked, _ = self.check(WORKER_CONFIG)
        self.assertEqual(checked.code, 0, checked.err)

    def test_worker_rules(self):
        """Rules of sources.custom are lost in nfd-worker's place alone, which is a warning there."""
        warning = "the rules of sources.custom are not evaluated"
        rows = {
            "sources: {custom: [{name: x}]}": False,
            "sources: {mode: own, custom: [{name: x}]}": False,
            "sources: {mode: auto, custom: [{name: x}]}": True,
            "sources: {mode: all, custom: [{name: x}]}": True,
            "outputs: {nodeFeature: {mode: worker}}\nsources: {custom: [{name: x}]}": True,
            "sources: {mode: all, custom: []}": False,
            "sources: all": False,
        }
        for text, expected in rows.items():
            with self.subTest(text):
                self.config.write_text(text)
                log = invoke("--root", self.root, "--config", self.config, "settings").err
                lines = [line for line in log.splitlines() if warning in line]
                self.assertEqual(len(lines), expected, log)
                for line in lines:
                    self.assertIn("level=warning", line)
                    self.assertIn(f"file={self.config}", line.replace('"', ""))

    def test_durations(self):
        """Durations as in Kubernetes."""
        for value in ("90s", "1m30s", "1h", "1.5h", "120000ms"):
            with self.subTest(value):
                self.ok(self.root, "--set", f"core.sleepInterval={value}", "scan")


class Explain(ProgramTest):
    """explain KEY."""

    def explain(self, key, machine="server-l4"):
        """What the program says about a label."""
        result = self.run_program(self.machine(machine), "explain", key)
        self.assertIn(result.code, (0, 1), result.err)
        return result.out

    def test_present(self):
        """Device, file and value of a label that is there, by its full or its bare key."""
        for key in (PREFIX + "pci-10de.present", "pci-10de.present"):
            with self.subTest(key):
                text = self.explain(key)
                self.assertIn(PREFIX + "pci-10de.present", text)
                self.assertIn("true", text)
                self.assertIn("0000:3b:00.0", text)

    def test_driver_version(self):
        """A label from a file names the file and what it says."""
        text = self.explain("driver-nvidia.version.full")
        self.assertIn("sys/module/nvidia/version", text)
        self.assertIn("580.126.09", text)

    def test_stopped_by_class_white_list(self):
        """The device is there, its class is not on the list: the setting is named."""
        text = self.explain("pci-0108_1344.present")
        self.assertIn("sources.pci.deviceClassWhitelist", text)
        self.assertIn("0000:65:00.0", text)

    def test_stopped_by_label_white_list(self):
        """The label would be there but for core.labelWhiteList."""
        self.config.write_text("core: {labelWhiteList: '^pci-'}\n")
        self.assertIn("core.labelWhiteList", self.explain("gpu-10de.count"))

    def test_unknown(self):
        """A label nobody makes."""
        result = self.run_program(self.machine("server-l4"), "explain", "no-such.label")
        self.assertIn(result.code, (0, 1))
        self.assertIn("no-such.label", result.out + result.err)

    def test_absent_device(self):
        """A key of ours whose device is not in this machine."""
        self.assertIn("pci-1002.present", self.explain("pci-1002.present"))

    def test_illegal_key(self):
        """Text that can be no label key: wrong usage or not found, never a crash."""
        for key in ("a/b/c", "", "-", "x" * 400, "a b"):
            with self.subTest(key):
                result = self.run_program(self.tree(SMALL), "explain", key)
                self.assertIn(result.code, (1, 2))


class Commands(ProgramTest):
    """publish, cleanup, status and record without a daemon."""

    def test_publish_then_cleanup(self):
        """cleanup removes our file and nothing else, and may be repeated."""
        foreign = self.features / "other"
        foreign.write_text("example.com/x=1\n")
        root = self.tree(SMALL)
        self.publish(root)
        for _ in range(2):
            self.ok(root, "cleanup")
            self.assertFalse(self.file.exists())
        self.assertEqual(foreign.read_text(), "example.com/x=1\n")
        self.assertEqual(self.staged(), [])

    def test_cleanup_without_directory(self):
        """Nothing to clean is no failure."""
        self.features.rmdir()
        self.ok(self.tree(SMALL), "cleanup")
        self.assertFalse(self.features.exists())

    def snapshot(self):
        """All files of the test's directory, with content and identity."""
        found = {}
        for path in sorted(self.tmp.rglob("*")):
            status = path.lstat()
            if stat.S_ISREG(status.st_mode):
                found[path] = (status.st_ino, status.st_mtime_ns, path.read_bytes())
            else:
                found[path] = (status.st_ino,)
        return found

    def test_dry_run(self):
        """--dry-run says what would be done and changes nothing."""
        root, other = self.tree(SMALL), self.machine("server-l4")
        before = self.snapshot()
        result = self.ok(root, "publish", "--dry-run")
        self.assertIn("pci-10de.present", result.out + result.err)
        self.assertEqual(self.snapshot(), before)
        self.publish(root)
        before = self.snapshot()
        for command in ("publish", "cleanup"):
            result = self.ok(other, command, "--dry-run")
            self.assertIn(str(self.file), result.out + result.err)
            self.assertEqual(self.snapshot(), before)

    def test_file_mode(self):
        """auto: only where the directory is; off: never; on: the directory is made."""
        root = self.tree(SMALL)
        self.features.rmdir()
        for mode, made in (("auto", False), ("off", False), ("on", True)):
            with self.subTest(mode):
                self.run_program(root, "publish", "--no-wait", settings={"outputs.featureFile.mode": mode})
                self.assertEqual(self.file.exists(), made)
        self.file.unlink()
        self.ok(root, "publish", "--no-wait", settings={"outputs.featureFile.mode": "auto"})
        self.assertTrue(self.file.exists())

    def test_file_name(self):
        """outputs.featureFile.name names the file."""
        self.ok(self.tree(SMALL), "publish", "--no-wait", settings={"outputs.featureFile.name": "50-hardware"})
        self.assertTrue((self.features / "50-hardware").is_file())
        self.assertFalse((self.features / FEATURE_FILE).exists())

    def test_removal_is_immediate_with_publish(self):
        """publish knows no removal delay: a device that is gone is gone from the file."""
        self.assertIn("pci-14e4.present", self.publish(self.tree(SMALL)).labels)
        self.assertNotIn("pci-14e4.present", self.publish(self.tree("pci 0000:3b:00.0 030200 10de:27b8")).labels)

    def test_unknown_keeps_published(self):
        """publish on a host whose sysfs is not mounted keeps what was published."""
        before = select(self.publish(self.tree(SMALL)).labels, "pci-", "gpu-")
        self.run_program(self.machine("no-sysfs"), "publish", "--no-wait")
        self.assertEqual(select(self.feature_file().labels, "pci-", "gpu-"), before)

    def test_status_without_daemon(self):
        """No daemon: exit 1 and a word about it."""
        result = self.run_program(self.tree(SMALL), "status")
        self.assertEqual(result.code, 1)
        self.assertIn(str(self.status), result.out + result.err)

    def test_status_with_daemon(self):
        """With a daemon: exit 0, outputs and last publication; stopped again: not taken for running."""
        root = self.tree(SMALL)
        daemon = self.daemon(root)
        self.published(daemon)
        # The status file follows the publication.
        wait_for(self.status.exists, 15, "status file")
        result = self.ok(root, "status")
        self.assertIn(str(self.features), result.out)
        self.assertEqual(load_json(self.status.read_text())["pid"], daemon.process.pid)
        daemon.stop()
        self.assertEqual(self.run_program(root, "status").code, 1)


SECRETS = {
    "serial": "S1E2R3I4A5L",
    "mac": "02:00:5e:10:20:30",
    "uuid": "6d1f2c3b-4a59-4e8d-9b7c-0f1e2d3c4b5a",
}


class Record(ProgramTest):
    """record: a tar of what scan reads."""

    def record(self, root):
        """The members of the tar, unpacked below a new root."""
        result = invoke(*self.options(root), "record", binary_output=True)
        self.assertEqual(result.code, 0, result.err)
        target = self.name("unpacked")
        with tarfile.open(fileobj=io.BytesIO(result.out)) as tar:
            for member in tar.getmembers():
                self.assertFalse(member.name.startswith("/") or ".." in Path(member.name).parts, member.name)
            # Python before 3.11.4 has no filters; names were checked above.
            tar.extractall(target, **({"filter": "tar"} if hasattr(tarfile, "tar_filter") else {}))
        return target

    def test_same_labels(self):
        """The unpacked record scans to the same output in every form."""
        for machine in ("server-l4", "laptop", "intel-flex-sriov", "vmd", "jetson", "wsl2", "unplug-half-state"):
            root = self.machine(machine)
            again = self.record(root)
            # A tar cannot hold an entry that fails to be read, so what was unknown is absent there.
            forms = ("text",) if machine == "unplug-half-state" else ("text", "json")
            for form in forms:
                with self.subTest(machine=machine, form=form):
                    # What the loader says of a library of which a record has the beginning alone is no matter.
                    command = ("--set", "sources.vendor.nvidia.nvml=off", "scan", "-o", form)
                    out = [self.ok(place, *command).out.replace(str(place), "ROOT") for place in (root, again)]
                    self.assertEqual(out[0], out[1])

    def test_secrets_are_masked(self):
        """Serial numbers, MAC addresses and UUIDs do not leave the host."""
        root = self.tree(
            SMALL,
            f"usb 1-4 ff 2109:0102 serial={SECRETS['serial']}",
            f"file sys/class/net/eth0/address {SECRETS['mac']}",
            f"file sys/class/dmi/id/product_uuid {SECRETS['uuid']}",
            f"file sys/class/dmi/id/product_serial {SECRETS['serial']}",
            f"file proc/driver/nvidia/gpus/0000:3b:00.0/information GPU UUID: \\t GPU-{SECRETS['uuid']}",
            f"file etc/machine-id {SECRETS['uuid'].replace('-', '')}",
        )
        for path in self.record(root).rglob("*"):
            if path.is_file() and not path.is_symlink():
                text = path.read_text(errors="replace")
                for secret in (*SECRETS.values(), SECRETS["uuid"].replace("-", "")):
                    self.assertNotIn(secret.lower(), text.lower(), path)

    def test_links_are_links(self):
        """The record keeps the shape of sysfs: links as links, so that drivers and functions are told apart."""
        root = self.machine("intel-flex-sriov")
        link = "sys/bus/pci/devices/0000:4d:00.1/physfn"
        self.assertEqual(os.readlink(self.record(root) / link), os.readlink(root / link))
