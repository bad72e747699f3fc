# SPDX-License-Identifier: GPL-2.0-or-later
"""The decoding of CPUID agrees with a second implementation of the table, on processors made at random."""

import os
import random
import subprocess
import tempfile
import unittest

import cpu_program
import cpuid_rules

COUNT = 10_000
SEED = int(os.environ.get("NFD_SOURCE_TEST_SEED", "20260"))


class RandomProcessors(unittest.TestCase):
    """10,000 of them."""

    maxDiff = None

    def setUp(self):
        directory = tempfile.TemporaryDirectory()  # pylint: disable=consider-using-with
        self.addCleanup(directory.cleanup)
        try:
            self.program = cpu_program.build(directory.name)
        except OSError as error:
            self.skipTest(f"no C compiler: {error}")
        except subprocess.CalledProcessError as error:
            self.fail(f"does not build: {error.stderr}")

    def test_flags(self):
        rules = cpuid_rules.table()
        places = cpuid_rules.places(rules)
        cpus = [cpuid_rules.Cpu(random.Random(SEED + number), places) for number in range(COUNT)]
        found = cpu_program.decode(self.program, "".join(cpu.dump() for cpu in cpus))
        self.assertEqual(len(found), COUNT)
        seen = set()
        for number, (cpu, ours) in enumerate(zip(cpus, found)):
            theirs = cpu.facts(rules)
            if ours != theirs:
                only = (sorted(ours.flags - theirs.flags), sorted(theirs.flags - ours.flags))
                self.fail(f"seed {SEED + number}: only ours, only by the rules: {only}\n{ours}\n{theirs}\n{cpu.dump()}")
            seen |= ours.flags
        # A flag that no processor had was not tried.
        self.assertEqual(seen, {rule.name for rule in rules})

    def test_names_are_legal(self):
        illegal = [rule.name for rule in cpuid_rules.table() if not cpuid_rules.is_name(rule.name)]
        self.assertEqual(illegal, [])


if __name__ == "__main__":
    unittest.main()
