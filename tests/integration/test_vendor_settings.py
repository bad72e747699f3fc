# SPDX-License-Identifier: GPL-2.0-or-later
"""Settings of the vendors' own labels: what is printed, what is refused and where, what explain says of them."""

from program import VENDOR_PREFIXES, ProgramTest, invoke, parse_lines, select

VENDORS = ("nvidia", "amd", "intel", "gaudi", "mellanox", "neuron", "tpu", "qualcomm", "ascend", "alveo")
DEFAULTS = {
    **{f"{vendor}.labels": "auto" for vendor in VENDORS},
    "nvidia.nvml": "on",
    "nvidia.migStrategy": "",
    "nvidia.config": "",
}
PRODUCT = "nvidia.com/gpu.product"

EVERYTHING = """
sources:
  vendor:
    nvidia:
      labels: "on"
      nvml: "off"
      migStrategy: mixed
      config: /etc/gfd.yaml
    amd: {labels: "off"}
"""

# Text of a file, place of the fault in it, words of the refusal.
REFUSED = (
    ("sources:\n  vendor:\n    nvidia:\n      labels: maybe\n", "4:15",
     'sources.vendor.nvidia.labels: "maybe" is not allowed; allowed: auto, on, off'),
    ("sources:\n  vendor:\n    amd: {labels: true}\n", "3:19", '"true" is not allowed; allowed: auto, on, off'),
    ("sources:\n  vendor:\n    nvidia:\n      migStrategy: double\n", "4:20",
     'sources.vendor.nvidia.migStrategy: "double" is not allowed; allowed: "", none, single, mixed'),
    ("sources:\n  vendor:\n    nvidia:\n      nvml: auto\n", "4:13", "allowed: on, off"),
    ("sources:\n  vendor:\n    nvidia:\n      config: [a, b]\n", "4:15", "takes one plain value"),
    ("sources:\n  vendor:\n    nvidia:\n      strategy: single\n", "4:7",
     'unknown key "sources.vendor.nvidia.strategy"; allowed here: labels, nvml, migStrategy, config'),
    ("sources:\n  vendor:\n    intel:\n      nvml: off\n", "4:7", 'unknown key "sources.vendor.intel.nvml"'),
    ("sources:\n  vendor:\n    voodoo:\n      labels: auto\n", "3:5",
     'unknown key "sources.vendor.voodoo"; allowed here: nvidia, amd, intel'),
    ("sources:\n  vendor: auto\n", "2:11", "sources.vendor: holds further keys"),
)


class VendorSettings(ProgramTest):
    """settings and settings --check."""

    def settings(self, *options, env=None):
        """What settings prints of ours: key below sources.vendor -> (value, origin)."""
        result = invoke("--config", self.config, *options, "settings", env=env)
        self.assertEqual((result.code, result.err), (0, ""))
        lines = [line.removeprefix("sources.vendor.").split(": ", 1) for line in result.out.splitlines()
                 if line.startswith("sources.vendor.")]
        return {key: tuple(part.strip() for part in rest.split("# ", 1)) for key, rest in lines}

    def test_defaults(self):
        """Every vendor is auto, NVML is asked."""
        self.assertEqual(self.settings(), {key: (value, "default") for key, value in DEFAULTS.items()})

    def test_origins(self):
        """A file, a variable and an option, each with its place; empty lets the strategy of the file count again."""
        self.config.write_text(EVERYTHING)
        found = self.settings("--set", "sources.vendor.nvidia.migStrategy=",
                              env={"NFD_SOURCE_SOURCES_VENDOR_INTEL_LABELS": "off"})
        self.assertEqual({key: value for key, (value, _) in found.items()}, {
            **DEFAULTS, "nvidia.labels": "on", "nvidia.nvml": "off", "nvidia.config": "/etc/gfd.yaml",
            "amd.labels": "off", "intel.labels": "off"})
        for key, origin in (("nvidia.labels", f"{self.config}:5:15"), ("nvidia.config", f"{self.config}:8:15"),
                            ("nvidia.migStrategy", "option --set"), ("tpu.labels", "default"),
                            ("intel.labels", "environment NFD_SOURCE_SOURCES_VENDOR_INTEL_LABELS")):
            self.assertEqual(found[key][1], origin, key)

    def test_check(self):
        """A right file is right, whether the file that it names is there or not."""
        self.config.write_text(EVERYTHING)
        result = invoke("settings", "--check", self.config)
        self.assertEqual(result.code, 0, result.err)

    def test_check_refuses(self):
        """Exit 2, with file, line, column and what is allowed."""
        for text, place, words in REFUSED:
            with self.subTest(words):
                self.config.write_text(text)
                result = invoke("settings", "--check", self.config)
                self.assertEqual(result.code, 2, result.out + result.err)
                self.assertIn(f"{self.config}:{place}: ", result.err)
                self.assertIn(words, result.err)

    def test_scan_refuses(self):
        """Nothing is scanned with such a file."""
        self.config.write_text(REFUSED[0][0])
        result = self.run_program(self.machine("server-l4"), "scan")
        self.assertEqual((result.code, result.out), (2, ""))


class VendorLabels(ProgramTest):
    """What the settings do."""

    def test_off(self):
        """No label in a vendor's own domain, on any of these machines."""
        off = {f"sources.vendor.{vendor}.labels": "off" for vendor in VENDORS}
        for machine in ("server-l4", "amd-mi300", "intel-flex-sriov", "gaudi"):
            with self.subTest(machine):
                labels = parse_lines(self.ok(self.machine(machine), "scan", settings=off).out)
                self.assertTrue(labels)
                self.assertEqual(select(labels, *VENDOR_PREFIXES), {})

    def test_explain_off(self):
        """explain says that the labels are not written, and which setting keeps them away."""
        result = self.run_program(self.machine("server-l4"), "explain", PRODUCT,
                                  settings={"sources.vendor.nvidia.labels": "off"})
        self.assertIn(PRODUCT, result.out)
        self.assertRegex(result.out, r"(?m)^vendor nvidia: not written, because .*\boff\b")

    def test_explain_names_the_other_program(self):
        """auto: the file of gpu-feature-discovery in features.d is named as the reason."""
        other = self.features / "gfd"
        other.write_text(f"{PRODUCT}=NVIDIA-L4\n")
        result = self.run_program(self.machine("server-l4"), "explain", PRODUCT)
        self.assertRegex(result.out, r"(?m)^vendor nvidia: not written, because .*gpu-feature-discovery")
        self.assertIn(str(other), result.out)

    def test_explain_on(self):
        """on: the file does not matter."""
        (self.features / "gfd").write_text(f"{PRODUCT}=NVIDIA-L4\n")
        result = self.run_program(self.machine("server-l4"), "explain", PRODUCT,
                                  settings={"sources.vendor.nvidia.labels": "on"})
        self.assertNotRegex(result.out, r"(?m)^vendor nvidia: not written")
