# SPDX-License-Identifier: GPL-2.0-or-later
"""Field cases C (USB) of spec/field-cases.md, each under its id."""

from program import ProgramTest, select

INPUT = """
usb usb1 09 1d6b:0002 if=09
usb 1-1 00 1a6e:089a if=fe
usb 1-2 00 046d:0825 if=0e,0e,01
usb 1-3 e0 8087:0a2b if=e0,e0
"""


class FieldCasesC(ProgramTest):
    """C1."""

    def usb(self, root):
        """The USB labels of a root."""
        return select(self.labels(root), "usb-")

    def test_FC_C1_class_at_the_interface(self):
        """One label per device and class of the default list; none for hubs, audio, wireless or interfaces."""
        expected = {"usb-0e_046d_0825.present": "true", "usb-fe_1a6e_089a.present": "true"}
        self.assertEqual(self.usb(self.tree(INPUT)), expected)

    def test_FC_C1_white_list(self):
        """The list is a setting; entries match as prefixes, in any case."""
        self.config.write_text("sources: {usb: {deviceClassWhitelist: ['E', '01']}}\n")
        expected = {"usb-01_046d_0825.present": "true", "usb-e0_8087_0a2b.present": "true"}
        self.assertEqual(self.usb(self.tree(INPUT)), expected)

    def test_FC_C1_label_fields(self):
        """Fields come in NFD's order, whatever the order of the setting."""
        self.config.write_text("sources: {usb: {deviceLabelFields: [vendor, class]}}\n")
        expected = {"usb-0e_046d.present": "true", "usb-fe_1a6e.present": "true"}
        self.assertEqual(self.usb(self.tree(INPUT)), expected)

    def test_FC_C1_device_without_ids(self):
        """A device that is going away, without its files, does not disturb the others."""
        root = self.tree(INPUT, "dir sys/bus/usb/devices/1-4", "link sys/bus/usb/devices/1-5 ../../../devices/gone")
        self.assertEqual(len(self.usb(root)), 2)

    def test_FC_C1_broken_interface(self):
        """An interface that cannot be read hides no other device."""
        root = self.tree(INPUT, "usb 1-4 00 2109:0102 if=fe", "dir sys/bus/usb/devices/1-4/1-4:1.1/bInterfaceClass")
        labels = self.usb(root)
        self.assertIn("usb-0e_046d_0825.present", labels)
        self.assertIn("usb-fe_1a6e_089a.present", labels)

    def test_FC_C1_serial(self):
        """A serial number is no part of a label unless asked for; an illegal one costs its own label only."""
        root = self.tree(INPUT, "usb 1-4 fe 2109:0102 serial=##", "usb 1-5 fe 2109:0103 serial=A1")
        self.assertFalse([key for key in self.usb(root) if "A1" in key])
        self.config.write_text("sources: {usb: {deviceLabelFields: [class, vendor, device, serial]}}\n")
        labels = self.labels(root)
        self.assert_legal(labels)
        self.assertIn("usb-fe_2109_0103_A1.present", labels)
