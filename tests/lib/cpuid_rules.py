# SPDX-License-Identifier: GPL-2.0-or-later
"""x86-64 processors made at random, and what they are by nfd-source/scan/cpuid-flags.tsv.

Written from the table's own explanations and without a look at the C program: the two must agree.
"""

import re

from cpu_program import TABLE, Facts

REGISTERS = ("EAX", "EBX", "ECX", "EDX")
MASK = 0xFFFFFFFF

VENDORS = {
    "GenuineIntel": "Intel",
    "AuthenticAMD": "AMD",
    "AMDisbetter!": "AMD",
    "HygonGenuine": "Hygon",
    "CentaurHauls": "VIA",
    "  Shanghai  ": "VendorUnknown",
    "": "VendorUnknown",
}
HYPERVISORS = {
    "KVMKVMKVM": "kvm",
    "TCGTCGTCGTCG": "qemu",
    "Microsoft Hv": "msvm",
    "XenVMMXenVMM": "xenhvm",
    "GenuineIntel": "intel",
    "My own!one": "My_own_one",
    "  ": "_",
    "": "unknown",
}
FAMILIES = (5, 6, 7, 15, 21, 22, 23, 24, 25, 26)
MAX_LEAVES = (0, 1, 3, 4, 6, 7, 9, 0xA, 0xB, 0xD, 0x12, 0x19, 0x20, 0x21, 0x23, 0x24, 0x28)
MAX_EXTENDED = (0, *(0x80000000 + low for low in (0, 1, 7, 8, 0xA, 0x1A, 0x1B, 0x1D, 0x1E, 0x1F, 0x21)))
XCR0 = (0, 2, 6, 0xE0, 0xE2, 0xE6, 0xE7)


class Rule:
    """One row of the table."""

    def __init__(self, line):
        self.name, self.vendor, leaf, subleaf, register, bit, denied, condition = line.split("\t")
        self.leaf = None if leaf == "-" else (int(leaf, 16), int(subleaf))
        self.registers = () if register == "-" else register.split(",")
        self.bits = 0 if bit == "-" else sum(1 << int(number) for number in bit.split("+"))
        self.denied = denied == "yes"
        conditions = [] if condition == "-" else condition.split(";")
        self.is_clear = "bit-clear" in conditions
        words = [text for text in conditions if text not in ("all-bits", "bit-clear")]
        text = " and ".join(f"({self.translate(word)})" for word in words) or "True"
        self.condition = compile(text, self.name, "eval")

    @staticmethod
    def translate(text):
        """A condition in Python."""
        return text.replace("|", " or ").replace("&", " and ")

    def holds(self, cpu, names):
        """Is this row true? names: the value of each word of a condition."""
        if self.vendor not in ("any", names["vendor"]):
            return False
        if len(self.registers) == 1:
            value = cpu.register(self.leaf, self.registers[0])
            names["value"] = names["EBX"] = value
            if self.is_clear:
                value = ~value
            if value & self.bits != self.bits:
                return False
        elif self.registers:
            names["string"] = text_of(cpu.register(self.leaf, name) for name in self.registers)
        return eval(self.condition, {}, names)  # pylint: disable=eval-used


class Names(dict):
    """Words of conditions: facts, and flags by whether they are there."""

    def __missing__(self, name):
        return name in self["flags"]


def table():
    """The rows of the table."""
    lines = TABLE.read_text().splitlines()
    return [Rule(line) for line in lines if not line.startswith(("#", "name\t"))]


def text_of(registers):
    """The text in registers."""
    data = b"".join(value.to_bytes(4, "little") for value in registers)
    return data.split(b"\0")[0].decode("latin-1")


def words_of(text):
    """Three registers that hold a text."""
    data = text.encode("latin-1").ljust(12, b"\0")
    return [int.from_bytes(data[at:at + 4], "little") for at in (0, 4, 8)]


class Cpu:
    """A processor: registers by (leaf, sub-leaf)."""

    def __init__(self, random, places):
        self.random = random
        self.density = random.choice((0.1, 0.5, 0.5, 0.9, 0.98))
        self.leaves = {place: [self.noise() for _ in REGISTERS] for place in places}
        self.xcr0 = random.choice(XCR0)
        self.make_leaf_0()
        self.make_leaf_1()
        self.make_topology()
        self.make_pmu()
        self.make_guests()
        self.make_sgx()
        self.make_rdt()

    def noise(self):
        """32 bits, of which about the processor's share are 1."""
        return sum(1 << bit for bit in range(32) if self.random.random() < self.density)

    def register(self, place, name):
        """One register."""
        return self.leaves.get(place, (0, 0, 0, 0))[REGISTERS.index(name)]

    def make_leaf_0(self):
        """Maker, and the highest leaves."""
        self.maker = self.random.choice(("GenuineIntel", "AuthenticAMD", *VENDORS))
        ebx, edx, ecx = words_of(self.maker)
        self.leaves[0, 0] = [self.random.choice((*MAX_LEAVES, 0x28, 0x28)), ebx, ecx, edx]
        highest = self.random.choice((*MAX_EXTENDED, MAX_EXTENDED[-1]))
        self.leaves[0x80000000, 0] = [highest, 0, 0, 0]

    def make_leaf_1(self):
        """A family that the rules tell apart, any model; half of the processors are no guests."""
        family = self.random.choice(FAMILIES)
        base = min(family, 15)
        eax = base << 8 | (family - base) << 20 | self.random.randrange(16) << 4 | self.random.randrange(16) << 16
        _, ebx, ecx, edx = self.leaves[1, 0]
        if self.random.random() < 0.5:
            ecx &= ~(1 << 31)
        if self.random.random() < 0.3:
            ecx |= 7 << 26
        ebx = ebx & 0xFF00FFFF | self.random.randrange(5) << 16
        self.leaves[1, 0] = [eax, ebx, ecx, edx]

    def make_topology(self):
        """Threads: few, or not stated."""
        self.leaves[4, 0] = [self.random.randrange(4) << 26, 0, 0, 0]
        self.leaves[0xB, 0] = [0, self.random.choice((0, 0, 1, 2, 0x10000)), 0, 0]
        self.leaves[0x8000001E, 0] = [0, self.random.randrange(3) << 8 | 0xFF, 0, 0]

    def make_pmu(self):
        """Versions and numbers of counters around what the rules ask for."""
        version, fixed = self.random.randrange(4), self.random.randrange(6)
        ebx = self.random.choice((0, self.random.randrange(16), self.noise()))
        self.leaves[0xA, 0] = [version | self.noise() << 8 & MASK, ebx, 0, fixed | self.noise() << 5 & MASK]

    def make_guests(self):
        """What hypervisors and TDX write."""
        self.hypervisor = self.random.choice(tuple(HYPERVISORS))
        self.leaves[0x40000000, 0] = [0x40000001, *words_of(self.hypervisor)]
        if self.random.random() < 0.3:
            self.leaves[0x4000000C, 0][1] = 0xBE3
        if self.random.random() < 0.3:
            ebx, edx, ecx = words_of(self.random.choice(("IntelTDX    ", "IntelTDX   ")))
            self.leaves[0x21, 0] = [0, ebx, ecx, edx]

    def make_sgx(self):
        """Sections of memory, the list of them mostly with an end."""
        for subleaf in range(2, 11):
            self.leaves[0x12, subleaf] = [self.noise() & ~0xF | self.random.choice((0, 1, 1, 2)), 0, self.noise(),
                                          self.noise()]

    def make_rdt(self):
        """RDT's leaves, and the frequency."""
        for place in ((0xF, 0), (0xF, 1), (0x10, 0)):
            self.leaves[place] = [self.noise() for _ in REGISTERS]
        self.leaves[0x16, 0] = [self.random.choice((0, 800, 2300, 4000)), 0, 0, 0]

    def dump(self):
        """As tests/lib/cpu_facts.c reads it."""
        lines = [f"{leaf:x} {subleaf:x} " + " ".join(f"{value:x}" for value in registers)
                 for (leaf, subleaf), registers in self.leaves.items()]
        return "\n".join([*lines, f"xcr0 {self.xcr0:x}", "end\n"])

    def family_and_model(self):
        """As nfd.md 2.1.1 has them."""
        eax = self.register((1, 0), "EAX")
        base = eax >> 8 & 15
        family = base + (eax >> 20 & 255) if base == 15 else base
        return family, (eax >> 4 & 15) + (eax >> 12 & 0xF0 if base in (6, 15) else 0)

    def threads(self, maxleaf, maxext, family):
        """Threads per core, nfd.md 2.1.2."""
        vendor = VENDORS[self.maker]
        has_htt = self.register((1, 0), "EDX") >> 28 & 1
        if vendor not in ("Intel", "AMD") or maxleaf < 4:
            return 1
        if maxleaf < 0xB:
            logical = self.register((1, 0), "EBX") >> 16 & 255
            if vendor == "AMD" or not has_htt or logical <= 1:
                return 1
            return logical // ((self.register((4, 0), "EAX") >> 26) + 1)
        stated = self.register((0xB, 0), "EBX") & 0xFFFF
        if stated:
            return stated
        if vendor != "AMD" or not has_htt or family < 23:
            return 1
        return (self.register((0x8000001E, 0), "EBX") >> 8 & 255) + 1 if maxext >= 0x8000001E else 2

    def names(self):
        """The words of conditions, without the flags."""
        maxleaf, maxext = self.register((0, 0), "EAX"), self.register((0x80000000, 0), "EAX")
        family, model = self.family_and_model()
        has_xgetbv = self.register((1, 0), "ECX") >> 26 & 3 == 3
        avx = self.xcr0 >> 1 & 3 == 3
        return Names(
            vendor=VENDORS[self.maker], maxleaf=maxleaf, maxext=maxext, family=family, model=model,
            OSAVX=avx, OSAVX512=has_xgetbv and avx and self.xcr0 >> 5 & 7 == 7,
            THREADS=self.threads(maxleaf, maxext, family),
            PMUVER=self.register((0xA, 0), "EAX") & 255, NFIXED=self.register((0xA, 0), "EDX") & 31,
            flags=set(),
        )

    def epc(self):
        """Bytes of SGX's memory."""
        total = 0
        for subleaf in range(2, 10):
            kind = self.register((0x12, subleaf), "EAX") & 15
            if kind == 0:
                break
            if kind == 1:
                total += ((self.register((0x12, subleaf), "EDX") & 0xFFFFF) << 32) + (
                    self.register((0x12, subleaf), "ECX") & 0xFFFFF000)
        return total

    def rdt(self):
        """RDT as the bits of enum nfd_cpu_rdt, nfd.md 3."""
        ebx, bits = self.register((7, 0), "EBX"), 0
        if ebx >> 12 & 1 and self.register((0xF, 0), "EDX") >> 1 & 1:
            kinds = self.register((0xF, 1), "EDX")
            bits |= 1 | (kinds & 1) << 1 | (4 if kinds & 6 == 6 else 0)
        if ebx >> 15 & 1:
            bits |= (self.register((0x10, 0), "EBX") >> 1 & 7) << 3
        return bits

    def facts(self, rules):
        """What this processor is, by the rules."""
        names = self.names()
        flags = names["flags"]
        mhz, rdt = self.register((0x16, 0), "EAX"), self.rdt()
        if names["maxleaf"] < 1:
            return Facts(names["vendor"], 0, 0, "none", 0, rdt, mhz, 0, frozenset())
        for rule in rules:
            if rule.holds(self, names):
                flags.add(rule.name)
        avx10 = self.register((0x24, 0), "EBX") & 255 if "AVX10" in flags and names["maxleaf"] >= 0x24 else 0
        hypervisor = HYPERVISORS[self.hypervisor] if "HYPERVISOR" in flags else "none"
        epc = self.epc() if "SGX" in flags else 0
        return Facts(names["vendor"], names["family"], names["model"], hypervisor, avx10, rdt, mhz, epc,
                     frozenset(flags))


def places(rules):
    """The (leaf, sub-leaf) pairs that rules look at."""
    return sorted({rule.leaf for rule in rules if rule.leaf})


def is_name(text):
    """Whether a flag's name can stand in a label key."""
    return re.fullmatch(r"[A-Z0-9][A-Z0-9_]*[A-Z0-9]", text) is not None
