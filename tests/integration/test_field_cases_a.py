# SPDX-License-Identifier: GPL-2.0-or-later
"""Field cases A (feature files) of spec/field-cases.md, each under its id."""

import errno
import os
import signal
import stat
from datetime import datetime, timedelta, timezone

from inotify import ATTRIB, DELETE, MODIFY, MOVED_FROM, MOVED_TO, WORKER_MASK, Watch
from namespace import CLONE_NEWNS, become_nobody, mount_tmpfs, remount, run_in_child, unshare
from program import FEATURE_FILE, SMALL, STAGING, ProgramTest, is_touch, mask_expiry, renames, select, wait_for

RUNS = 1000
SPACING = 1.1
# Times are taken when we read an event, which on a busy machine is long after it happened. What is left tells a distance
# from none; tests/unit/test_spacing has the exact one.
JITTER = 0.5

OTHER = SMALL + "pci 0000:5e:00.0 020000 15b3:101d driver=mlx5_core\n"
GROWTH = ("pci 0000:5e:00.0 020000 15b3:101d driver=mlx5_core", "pci 0000:5f:00.0 020000 1d0f:ec20 driver=ena")


class Reader:
    """A child process, another user when we are root, that reads the file all the time and checks what it gets."""

    def __init__(self, path, states, on_events):
        self.result, writer = os.pipe()
        self.pid = os.fork()
        if self.pid:
            os.close(writer)
            return
        try:
            os.close(self.result)
            signal.signal(signal.SIGTERM, self.end)
            self.running, self.count = True, 0
            try:
                become_nobody()
                self.loop(path, states, on_events)
                text = f"read {self.count}"
            except BaseException as error:  # pylint: disable=broad-except
                text = f"failed after {self.count} reads: {error!r}"
            os.write(writer, text.encode())
        finally:
            os._exit(0)

    def end(self, *_):
        """The parent has seen enough."""
        self.running = False

    def loop(self, path, states, on_events):
        """Read on every event of the directory, or without a pause."""
        with Watch(path.parent) as watch:
            while self.running:
                if on_events and not watch.read(0.2):
                    continue
                with open(path, "rb") as file:
                    content = mask_expiry(file.read().decode())
                if content not in states:
                    raise AssertionError(f"no complete state: {content!r}")
                self.count += 1

    def finish(self):
        """Stop it and return what it says."""
        os.kill(self.pid, signal.SIGTERM)
        with os.fdopen(self.result, "rb") as file:
            text = file.read().decode()
        os.waitpid(self.pid, 0)
        return text


class FieldCasesA(ProgramTest):
    """A1 to A5."""

    def watch(self, mask=WORKER_MASK):
        """A watch on features.d like nfd-worker's."""
        return Watch(self.features, mask)

    def events_of(self, watch, root, *command):
        """Run one command and return the events that came meanwhile, with their times."""
        process, events = self.start(root, *command), []
        while process.alive():
            events += watch.read(0.05)
        self.assertEqual(process.process.returncode, 0, process.log)
        return events + watch.read()

    def make_staging(self):
        """The staging directory as an earlier start left it."""
        (self.features / STAGING).mkdir(mode=0o700)

    def test_FC_A1_readers_see_complete_states(self):
        """1,000 runs under umask 077 between two states: no open fails, no read is partial."""
        roots = [self.tree(SMALL), self.tree(OTHER)]
        states = [mask_expiry(self.publish(root).text) for root in roots]
        self.assertNotEqual(*states)
        readers = [Reader(self.file, states, on_events) for on_events in (False, True)]
        try:
            for run in range(RUNS):
                self.ok(roots[run % 2], "publish", "--no-wait", umask=0o077)
        finally:
            reports = [reader.finish() for reader in readers]
        for report in reports:
            self.assertRegex(report, r"\Aread [1-9][0-9]*\Z")
        self.assertEqual(stat.S_IMODE(self.file.stat().st_mode), 0o644)
        self.assertEqual(mask_expiry(self.feature_file().text), states[(RUNS - 1) % 2])

    def test_FC_A1_mode_and_place(self):
        """Mode 0644 under any umask; the staging directory is ours alone; nothing else is left anywhere."""
        elsewhere = self.tmp / "tmpdir"
        elsewhere.mkdir()
        for umask in (0o077, 0o027, 0o000):
            with self.subTest(oct(umask)):
                self.file.unlink(missing_ok=True)
                self.ok(self.tree(SMALL), "publish", "--no-wait", umask=umask, env={"TMPDIR": str(elsewhere)})
                self.assertEqual(stat.S_IMODE(self.file.stat().st_mode), 0o644)
        self.assertEqual(stat.S_IMODE((self.features / STAGING).stat().st_mode), 0o700)
        self.assertEqual(sorted(os.listdir(self.features)), [STAGING, FEATURE_FILE])
        self.assertEqual(self.staged(), [])
        self.assertEqual(os.listdir(elsewhere), [])

    def test_FC_A2_one_event_per_update(self):
        """A watch like nfd-worker's sees one moved-in event for the final name, nothing before or beside it."""
        self.make_staging()
        for text in (SMALL, OTHER):
            with self.watch() as watch:
                self.publish(self.tree(text))
                events = watch.read()
            self.assertEqual([(event.mask, event.name) for event in events], [(MOVED_TO, FEATURE_FILE)])

    def test_FC_A2_touch_follows(self):
        """publish waits: 1.1 s after the rename the file is touched, once."""
        self.make_staging()
        with self.watch() as watch:
            events = self.events_of(watch, self.tree(SMALL), "publish")
        self.assertEqual(
            [(event.mask, event.name) for event in events], [(MOVED_TO, FEATURE_FILE), (ATTRIB, FEATURE_FILE)]
        )
        self.assertGreaterEqual(events[1].when - events[0].when, SPACING - JITTER)

    def has_all_of(self, lines):
        """Does the file know the vendors of these pci lines?"""
        labels = self.feature_file().labels
        return all(f"pci-{line.split()[3][:4]}.present" in labels for line in lines)

    def test_FC_A2_spacing(self):
        """Two changes 0.3 s apart become renames at least 1.1 s apart, the second state wins, the touch follows."""
        root = self.tree(SMALL)
        daemon = self.begin(root)
        with self.watch() as watch:
            self.grow(root, GROWTH[0])
            daemon.hup()
            events = watch.collect(0.3)
            self.grow(root, GROWTH[1])
            daemon.hup()
            events += watch.until(lambda event: renames([event]) and self.has_all_of(GROWTH), 15)
            events += watch.until(is_touch, 15)
        times = renames(events)
        self.assertIn(len(times), (1, 2))
        for first, second in zip(times, times[1:]):
            self.assertGreaterEqual(second - first, SPACING - JITTER)
        self.assertGreaterEqual(events[-1].when - times[-1], SPACING - JITTER)
        self.assertFalse([event for event in events if event.mask & (DELETE | MOVED_FROM | MODIFY)])

    def test_FC_A2_spacing_between_runs(self):
        """publish keeps the distance to the file that an earlier run left."""
        with self.watch() as watch:
            events = self.events_of(watch, self.tree(SMALL), "publish", "--no-wait")
            events += self.events_of(watch, self.tree(OTHER), "publish")
        times = renames(events)
        self.assertEqual(len(times), 2)
        self.assertGreaterEqual(times[1] - times[0], SPACING - JITTER)

    def test_FC_A2_missing_directory_is_made_and_said(self):
        """A features.d that had to be made is worth a line: a worker that runs already has no watch on it."""
        self.features = self.tmp / "etc" / "features.d"
        self.features.parent.mkdir()
        self.file = self.features / FEATURE_FILE
        result = self.ok(self.tree(SMALL), "publish", "--no-wait")
        self.assertIn(str(self.features), result.err)
        self.assertEqual(stat.S_IMODE(self.features.stat().st_mode), 0o755)
        self.assertTrue(self.file.exists())

    def test_FC_A2_foreign_files_are_left_alone(self):
        """Another producer's file is not touched; a features.d that is a link is followed, not replaced."""
        real = self.tmp / "real"
        self.features.rename(real)
        self.features.symlink_to(real)
        (real / "gfd").write_text("nvidia.com/gpu.count=1\n")
        before = (real / "gfd").stat()
        self.publish(self.tree(SMALL))
        after = (real / "gfd").stat()
        self.assertEqual((before.st_ino, before.st_mtime_ns), (after.st_ino, after.st_mtime_ns))
        self.assertTrue(self.features.is_symlink())
        self.assertTrue((real / FEATURE_FILE).is_file())

    def test_FC_A3_restart_does_not_blink(self):
        """SIGTERM leaves the file; the next start does not rewrite what is unchanged."""
        root = self.tree(SMALL)
        daemon = self.daemon(root)
        before = self.published(daemon)
        with self.watch(DELETE | MOVED_FROM | MOVED_TO) as watch:
            code, seconds = daemon.stop()
            self.assertEqual(code, 0, daemon.log)
            self.assertLess(seconds, 2.5)
            self.assertTrue(self.file.exists())
            again = self.daemon(root)
            again.rescan(root)
            again.stop()
            events = [event for event in watch.read() if event.name == FEATURE_FILE]
        self.assertEqual(events, [])
        self.assertEqual(self.feature_file().identity, before.identity)

    def test_FC_A4_expiry_line(self):
        """First line: expiry in UTC, one lifetime ahead; no other directive, only full key=value lines after it."""
        for setting, lifetime in ((None, timedelta(hours=1)), ("10m", timedelta(minutes=10))):
            with self.subTest(lifetime):
                self.file.unlink(missing_ok=True)
                now = datetime.now(timezone.utc)
                settings = {"outputs.featureFile.lifetime": setting} if setting else {}
                file = self.publish(self.tree(SMALL), settings=settings)
                self.assertLess(abs(file.expiry - now - lifetime), timedelta(seconds=30))
                lines = file.text.splitlines()
                self.assertEqual([line for line in lines if line.startswith("#")], lines[:1])
                self.assertTrue(file.text.endswith("\n"))
                self.assertEqual(lines[1:], sorted(lines[1:], key=lambda line: line.split("=")[0]))
                for line in lines[1:]:
                    self.assertRegex(line, r"\A(feature\.node\.kubernetes\.io|nvidia\.com)/[-A-Za-z0-9_.]+=[-A-Za-z0-9_.]+\Z")
                self.assert_legal(file.labels)

    def age(self, left):
        """Set the published file's expiry to a time from now, as if it had been written earlier."""
        file = self.feature_file()
        expiry = (datetime.now(timezone.utc) + left).strftime("%Y-%m-%dT%H:%M:%SZ")
        self.file.write_text(file.text.replace(file.expiry_text, expiry, 1))
        return self.feature_file()

    def test_FC_A4_refresh_at_half_life(self):
        """Unchanged content is left alone in its first half life, renewed in its second, and after it."""
        root = self.tree(SMALL)
        self.publish(root)
        for left, renewed in ((40, False), (31, False), (29, True), (-5, True)):
            with self.subTest(left):
                old = self.age(timedelta(minutes=left))
                new = self.publish(root)
                self.assertEqual(new.labels, old.labels)
                if renewed:
                    self.assertGreater(new.expiry, datetime.now(timezone.utc) + timedelta(minutes=55))
                else:
                    self.assertEqual(new.identity, old.identity)

    def test_FC_A4_daemon_does_not_churn(self):
        """Scan after scan of unchanged hardware: no event in features.d at all."""
        root = self.tree(SMALL)
        daemon = self.begin(root)
        with self.watch() as watch:
            for _ in range(10):
                daemon.rescan(root)
            self.assertEqual(watch.read(), [])

    def read_only_parent(self):
        """(a) the directory is missing and cannot be made."""
        self.features = self.tmp / "mount" / "features.d"
        self.file = self.features / FEATURE_FILE
        unshare(CLONE_NEWNS)
        mount_tmpfs(self.features.parent, "size=64k")
        remount(self.features.parent, "size=64k", True)
        result = self.run_program(self.tree(SMALL), "publish", "--no-wait")
        self.assert_clear_error(result, errno.EROFS)

    def assert_clear_error(self, result, number):
        """Exit 1 and one line with the path and the system's words."""
        self.assertEqual(result.code, 1, result)
        lines = [line for line in result.err.splitlines() if os.strerror(number) in line]
        self.assertEqual(len(lines), 1, result.err)
        self.assertIn(str(self.features), lines[0])

    def test_FC_A5_a_parent_read_only(self):
        """The directory is missing and its parent is read-only."""
        (self.tmp / "mount").mkdir()
        run_in_child(self.read_only_parent)

    def full_directory(self):
        """(b) a tmpfs without a free block that holds an older file."""
        unshare(CLONE_NEWNS)
        mount_tmpfs(self.features, "size=64k")
        old = self.publish(self.tree(SMALL))
        filler = self.features / "filler"
        with self.assertRaises(OSError), open(filler, "wb", buffering=0) as file:
            while True:
                file.write(bytes(4096))
        other = self.tree(OTHER)
        result = self.run_program(other, "publish", "--no-wait")
        self.assert_clear_error(result, errno.ENOSPC)
        self.assertEqual(self.feature_file().identity, old.identity)
        self.assertEqual(self.staged(), [])
        filler.unlink()
        self.assertIn("pci-15b3.present", self.publish(other).labels)

    def test_FC_A5_b_no_space(self):
        """No free block: the old file stays byte-identical, nothing is left behind, and it heals."""
        run_in_child(self.full_directory)

    def read_only_directory(self):
        """(c) the directory is there and read-only."""
        unshare(CLONE_NEWNS)
        mount_tmpfs(self.features, "size=64k")
        old = self.publish(self.tree(SMALL))
        remount(self.features, "size=64k", True)
        self.assert_clear_error(self.run_program(self.tree(OTHER), "publish", "--no-wait"), errno.EROFS)
        self.assertEqual(self.feature_file().identity, old.identity)

    def test_FC_A5_c_read_only(self):
        """The directory is read-only: one clear error, exit 1."""
        run_in_child(self.read_only_directory)

    def read_only_daemon(self):
        """The daemon on a read-only directory that becomes writable later."""
        unshare(CLONE_NEWNS)
        mount_tmpfs(self.features, "size=64k")
        remount(self.features, "size=64k", True)
        root = self.tree(SMALL)
        daemon = self.daemon(root)
        try:
            wait_for(lambda: os.strerror(errno.EROFS) in daemon.log, 10, "the error")
            wait_for(self.status.exists, 10, "the status file")
            for _ in range(5):
                daemon.rescan(root)
            self.assertTrue(daemon.alive(), daemon.log)
            lines = [line for line in daemon.log.splitlines() if os.strerror(errno.EROFS) in line]
            self.assertLessEqual(len(lines), 2, daemon.log)
            remount(self.features, "size=64k", False)
            daemon.rescan(root)
            self.published(daemon, lambda labels: select(labels, "gpu-10de.count"), 90)
        finally:
            daemon.kill()

    def test_FC_A5_daemon_lives_on(self):
        """No crash loop: the daemon keeps trying at a slow pace, its status goes on, and it heals."""
        run_in_child(self.read_only_daemon)

    def test_FC_A5_leftovers_are_cleared(self):
        """A file that a killed writer left in the staging directory does not pile up."""
        self.make_staging()
        (self.features / STAGING / FEATURE_FILE).write_text("half")
        file = self.publish(self.tree(SMALL))
        self.assertNotIn("half", file.text)
        self.assertEqual(self.staged(), [])
