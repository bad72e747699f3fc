# SPDX-License-Identifier: GPL-2.0-or-later
"""Each machine of tests/fixtures/machines against what tests/fixtures/expected says the program prints for it.

labels.txt was written by hand from design.md section 4 and is the independent check. The other files are rewritten by
update_golden.py; a change of any of them is a reviewed diff.
"""

from program import EXPECTED, MACHINES, ProgramTest, bare, load_json, mask_expiry, parse_lines

NODE = "node-a"
NODE_LABEL = "nfd.node.kubernetes.io/node-name"

# Output form and the file that holds it.
FORMS = {
    "text": "labels.txt",
    "json": "scan.json",
    "feature-file": "feature-file",
    "nodefeature": "nodefeature.json",
}

# The machines' libraries are no libraries; without them what NVIDIA's labels say comes from files alone.
WITHOUT_NVML = ("--set", "sources.vendor.nvidia.nvml=off")

# Nothing is mounted there: every fact is unknown, and whether such a scan counts as done is not what is tested here.
UNKNOWN = ("no-sysfs",)


def machines():
    """The names of all machines."""
    return sorted(path.stem for path in MACHINES.glob("*.tree"))


def normalise(text, root):
    """Output without what differs from run to run: the expiry time and the place of the root."""
    return mask_expiry(text).replace(str(root), "ROOT")


class Golden(ProgramTest):
    """One test per output form, one subtest per machine."""

    maxDiff = None

    def scan(self, root, form):
        """Output of one scan in a form."""
        result = self.run_program(root, "--node-name", NODE, *WITHOUT_NVML, "scan", "-o", form)
        if root.name.rsplit("-", 1)[0] not in UNKNOWN:
            self.assertEqual(result.code, 0, result.err)
        return result.out

    def compare(self, form):
        """Every machine's output in one form against its file."""
        for machine in machines():
            with self.subTest(machine):
                root = self.machine(machine)
                expected = EXPECTED / machine / FORMS[form]
                self.assertTrue(expected.exists(), f"{expected} is missing: run update_golden.py and review")
                self.assertEqual(normalise(self.scan(root, form), root), expected.read_text())

    def test_text(self):
        """scan -o text is labels.txt: key=value, sorted by key."""
        self.compare("text")

    def test_json(self):
        """scan -o json."""
        self.compare("json")

    def test_feature_file(self):
        """scan -o feature-file."""
        self.compare("feature-file")

    def test_nodefeature(self):
        """scan -o nodefeature."""
        self.compare("nodefeature")

    def test_forms_agree(self):
        """Feature file and NodeFeature carry exactly the labels of the text form."""
        for machine in machines():
            with self.subTest(machine):
                root = self.machine(machine)
                labels = parse_lines(self.scan(root, "text"))
                file = self.scan(root, "feature-file")
                self.assertTrue(file.startswith("# +expiry-time="))
                self.assertEqual(parse_lines(file), labels)
                node_feature = load_json(self.scan(root, "nodefeature"))
                self.assertEqual(node_feature["apiVersion"], "nfd.k8s-sigs.io/v1alpha1")
                self.assertEqual(node_feature["kind"], "NodeFeature")
                self.assertEqual(node_feature["metadata"]["name"], f"{NODE}-nfd-source")
                self.assertEqual(node_feature["metadata"]["labels"], {NODE_LABEL: NODE})
                self.assertEqual(node_feature["spec"]["labels"], labels)


class Expectations(ProgramTest):
    """The files in expected/ themselves, without the program."""

    def setUp(self):
        """No program and no directory are needed."""

    def test_expected_labels_are_legal(self):
        """labels.txt: full keys, sorted, legal."""
        for machine in machines():
            with self.subTest(machine):
                labels = parse_lines((EXPECTED / machine / "labels.txt").read_text())
                self.assertEqual(list(labels), sorted(labels))
                self.assert_legal(bare(labels))

    def test_no_expectation_without_machine(self):
        """No directory in expected/ is left over."""
        self.assertEqual(sorted(path.name for path in EXPECTED.iterdir()), machines())
