# SPDX-License-Identifier: GPL-2.0-or-later
"""doctor: whether driver packages can move by themselves (spec/gpu-stack.md 5): apt, dnf, zypper."""

from doctor_case import UBUNTU, DoctorTest
from test_doctor_library import SET

STATUS = "var/lib/dpkg/status"
AUTO = 'APT::Periodic::Unattended-Upgrade "1";'
CONF = "etc/apt/apt.conf.d"
ROWS = ("GPU-DRV-UNPINNED", "GPU-DRV-PINPARTIAL")


class Pins(DoctorTest):
    """Base: the healthy machine with other packages on hold."""

    def holding(self, *names, lines=(), machine=UBUNTU):
        """The machine with just these packages on hold."""
        root = self.machine(machine, *lines)
        status = root / STATUS
        text = status.read_text().replace("Status: hold ", "Status: install ")
        for name in names:
            text = text.replace(f"Package: {name}\nStatus: install ", f"Package: {name}\nStatus: hold ")
        status.write_text(text)
        return root


class Apt(Pins):
    """Debian and Ubuntu."""

    def test_unpinned(self):
        """Nothing held, and an automatic upgrade is on: every package is named once, and no other."""
        finding = self.both_ways(self.holding(), "GPU-DRV-UNPINNED", "warning",
                                 {CONF: 'Unattended-Upgrade "1"; origins: ${distro_id}:${distro_codename}'},
                                 ["apt-mark hold", "Unattended-Upgrade::Package-Blacklist"])
        held = finding["fix"][0].split()[2:]
        self.assertEqual(sorted(held), sorted([*SET, "nvidia-firmware-580-580.126.09"]))

    def test_partial(self):
        """One held."""
        finding = self.both_ways(
            self.holding("nvidia-driver-580-open"), "GPU-DRV-PINPARTIAL", "warning",
            {f"{STATUS}: nvidia-driver-580-open": "held"}, ["apt-mark hold"])
        self.assertNotIn("nvidia-driver-580-open", finding["fix"][0].split())
        self.assertIn("libnvidia-compute-580", finding["fix"][0].split())
        self.silent(self.holding("nvidia-driver-580-open"), "GPU-DRV-UNPINNED")

    def test_partial_by_black_list(self):
        """The list has nvidia- only: the match is at the start of the name."""
        line = f'file {CONF}/60ours Unattended-Upgrade::Package-Blacklist {{ "nvidia-"; }};'
        finding = self.fires(self.holding(lines=[line]), "GPU-DRV-PINPARTIAL", "warning", None, ["apt-mark hold"])
        self.assertIn("libnvidia-compute-580", finding["fix"][0])
        self.assertNotIn(" nvidia-utils-580", finding["fix"][0])

    def test_held_by_other_means(self):
        """A whole black list, a pin below 0, a version's pin, by glob and by regular expression."""
        entries = '"nvidia-"; "libnvidia-"; "linux-modules-nvidia-"; "cuda-drivers";'
        rows = (
            f"file {CONF}/60ours Unattended-Upgrade::Package-Blacklist {{ {entries} }};",
            "file etc/apt/preferences.d/nvidia.pref Package: *nvidia*\\nPin: version 580.126.*\\nPin-Priority: 1001",
            "file etc/apt/preferences.d/nvidia Package: /nvidia/\\nPin: release o=Ubuntu\\nPin-Priority: -1",
            "file etc/apt/preferences Explanation: ours\\nPackage: libnvidia-* nvidia-* linux-modules-nvidia-*\\n"
            "Pin: version 580.126.09-0ubuntu0.24.04.1\\nPin-Priority: 990",
        )
        for line in rows:
            with self.subTest(line):
                self.silent(self.holding(lines=[line]), *ROWS)

    def test_not_held_by(self):
        """Files that apt does not read, priorities that hold nothing, comments, a cleared list."""
        rows = (
            "file etc/apt/preferences.d/nvidia.bak Package: *\\nPin: version 1\\nPin-Priority: 1001",
            "file etc/apt/preferences.d/nvidia.pref Package: *nvidia*\\nPin: version 580.126.*\\nPin-Priority: 500",
            "file etc/apt/preferences.d/nvidia.pref Package: *nvidia*\\nPin: origin x.com\\nPin-Priority: 600",
            f'file {CONF}/60ours Unattended-Upgrade::Package-Blacklist {{ // "nvidia-"; "libnvidia-";\\n}};',
            f'file {CONF}/60ours Unattended-Upgrade::Package-Blacklist {{ "linux-image"; }};',
            f'file {CONF}/60ours Unattended-Upgrade::Package-Blacklist {{ ".*"; }};\\n'
            "#clear Unattended-Upgrade::Package-Blacklist;",
        )
        for line in rows:
            with self.subTest(line):
                self.fires(self.holding(lines=[line]), "GPU-DRV-UNPINNED", "warning")

    def test_no_upgrader(self):
        """Free packages, and nothing that moves them: silent."""
        rows = (
            [f"remove {CONF}/20auto-upgrades"],
            [f'file {CONF}/20auto-upgrades APT::Periodic::Unattended-Upgrade "0";'],
            [f'file {CONF}/99off APT::Periodic::Enable "0";'],
            [f'file {CONF}/99off APT {{ Periodic {{ Unattended-Upgrade "0"; }}; }};'],
            ["link etc/systemd/system/apt-daily-upgrade.timer /dev/null"],
        )
        for lines in rows:
            with self.subTest(lines):
                self.silent(self.holding(lines=lines), "GPU-DRV-UNPINNED")

    def test_origins_that_do_not_cover(self):
        """Packages of NVIDIA's own repository: Ubuntu's and Debian's default origins never move them (spec 5)."""
        root = self.tree(
            "file etc/os-release ID=ubuntu\\nID_LIKE=debian\\nVERSION_CODENAME=noble",
            "pci 0000:3b:00.0 030200 10de:27b8 driver=nvidia", "nvidia 580.126.09 open loaded",
            "file proc/driver/nvidia/gpus/0000:3b:00.0/information Model: \\t L4",
            "elf usr/lib64/libnvidia-ml.so.580.126.09 64",
            f'file {CONF}/20auto-upgrades {AUTO}',
            f'file {CONF}/50unattended-upgrades Unattended-Upgrade::Allowed-Origins {{ '
            '"${distro_id}:${distro_codename}-security"; };',
            *(f"dpkg {name} 580.126.09-1ubuntu1" for name in ("cuda-drivers-580", "libnvidia-compute-580")))
        report = self.report(root)
        self.assertEqual([one for one in report["findings"] if one["verdict"] != "info"], [])

    def test_container_tools_are_free(self):
        """Toolkit and libnvidia-container need not move with the module; i386 and other packages do not count."""
        root = self.holding(*SET, "nvidia-firmware-580-580.126.09")
        self.silent(root, *ROWS)

    def test_no_package(self):
        """A driver of a .run file: not checked, and why."""
        report = self.report(self.machine("doctor/k3s"))
        for name in ROWS:
            self.not_checked(report, name, ".run")

    def test_long_list(self):
        """Sixty packages: the command names packages that are there, no half a name."""
        names = [f"libnvidia-part-{number:02}-of-a-long-name-580" for number in range(60)]
        root = self.tree("file etc/os-release ID=ubuntu", "pci 0000:3b:00.0 030200 10de:27b8 driver=nvidia",
                         "nvidia 580.126.09 open loaded", f"file {CONF}/20auto-upgrades {AUTO}",
                         *(f"dpkg {name} 580.126.09-1" for name in names))
        finding = self.fires(root, "GPU-DRV-UNPINNED", "warning")
        self.assertEqual(finding["fix"][0].split()[2:], names)

    def test_hostile_expression(self):
        """A regular expression that explodes costs neither the time nor the memory of the node."""
        for text in ("((((n{1,120}){1,120}){1,120}){1,120}){1,120}", "(n*)*" * 20 + "z", "[", "(", "\\\\\\\\"):
            with self.subTest(text):
                root = self.holding(lines=[f'file {CONF}/60ours Unattended-Upgrade::Package-Blacklist {{ "{text}"; }};',
                                           f"file etc/apt/preferences Package: /{text}/\\nPin: version 1\\n"
                                           "Pin-Priority: 1001"])
                self.report(root, timeout=10)


class Rpm(Pins):
    """dnf and zypper: the database is no text, the rules alone tell."""

    def test_dnf(self):
        """dnf-automatic on, and no rule."""
        self.both_ways(
            self.machine("doctor/rhel", "remove etc/dnf/plugins/versionlock.list"), "GPU-DRV-UNPINNED", "warning",
            {"etc/systemd/system/timers.target.wants/dnf-automatic.timer": "apply_updates"},
            ["dnf versionlock add 'nvidia-*' 'kmod-nvidia*'"], self.machine("doctor/rhel"))

    def test_dnf_rules(self):
        """Other files that hold."""
        rows = (
            'file etc/dnf/versionlock.toml version = "1.0"\\n[[packages]]\\nname = "nvidia-driver"\\n'
            '[[packages.conditions]]\\nkey = "evr"\\ncomparator = "="\\nvalue = "3:570.124.06-1.el9"',
            "file etc/dnf/dnf.conf [main]\\ngpgcheck=1\\nexcludepkgs=nvidia-* kmod-nvidia*,libnvidia*",
            "file etc/yum.repos.d/cuda.repo [cuda]\\nname=cuda\\nexclude = cuda-drivers* nvidia-*",
        )
        for line in rows:
            with self.subTest(line):
                self.silent(self.machine("doctor/rhel", "remove etc/dnf/plugins/versionlock.list", line),
                            "GPU-DRV-UNPINNED")

    def test_dnf_off(self):
        """It only downloads, or its timer is off: nothing moves."""
        for line in ("file etc/dnf/automatic.conf [commands]\\napply_updates = no",
                     "remove etc/systemd/system/timers.target.wants/dnf-automatic.timer"):
            with self.subTest(line):
                root = self.machine("doctor/rhel", "remove etc/dnf/plugins/versionlock.list", line)
                self.not_checked(self.report(root), "GPU-DRV-UNPINNED", "rpm")

    def test_zypper(self):
        """transactional-update on, and no lock."""
        path = "etc/systemd/system/timers.target.wants/transactional-update.timer"
        self.both_ways(self.machine("doctor/sles", "remove etc/zypp/locks"), "GPU-DRV-UNPINNED", "warning",
                       {path: "enabled"}, ["zypper addlock 'nvidia-*'"], self.machine("doctor/sles"))
        for text in ("solvable_name: nvidia-driver", "match_type: regex\\nsolvable_name: ^nvidia-",
                     "match_type: exact\\nsolvable_name: cuda-drivers",
                     "match_type: substring\\nsolvable_name: nvidia"):
            with self.subTest(text):
                root = self.machine("doctor/sles", f"file etc/zypp/locks type: package\\n{text}")
                self.silent(root, "GPU-DRV-UNPINNED")
