#!/usr/bin/env python3
"""Kills, damages and starves the running program and looks at what it leaves behind.

usage: robust_test.py PATH_TO_YOLOAD [unittest arguments]

Sizes follow YOLOAD_ROBUST_KILLS (default 30; the long suite uses 200).
SPDX-License-Identifier: Apache-2.0
"""
import hashlib
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

YOLOAD = ""
KILLS = int(os.environ.get("YOLOAD_ROBUST_KILLS", "30"))


def run(*arguments, timeout=120, **keywords):
    return subprocess.run([YOLOAD, *map(str, arguments)], capture_output=True, text=True,
                          timeout=timeout, **keywords)


def tree_hash(folder):
    """Names, sizes, times and contents of everything below `folder`."""
    state = hashlib.sha256()
    for path in sorted(pathlib.Path(folder).rglob("*")):
        facts = path.lstat()
        state.update(f"{path} {facts.st_size} {facts.st_mtime_ns} {facts.st_mode}\n".encode())
        if path.is_file():
            state.update(path.read_bytes())
    return state.hexdigest()


class Robust(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="yoload_robust_"))
        cls.data = cls.folder / "data"
        made = run("demo", "--only-data", cls.data, "--count", 150, "--width", 320, "--height", 240)
        assert made.returncode == 0, made.stderr
        cls.yaml = cls.data / "data.yaml"
        cls.images = sorted((cls.data / "images" / "train").glob("*.jpg"))
        assert len(cls.images) == 150, len(cls.images)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def options(self, cache="cache", imgsz=160, threads=2, epochs=3):
        return ["--cache-dir", self.folder / cache, "--imgsz", imgsz, "--threads", threads,
                "--epochs", epochs, "--batch", 8]

    def test_sigint_and_sigterm_end_it_within_two_seconds(self):
        before = tree_hash(self.data)
        chance = random.Random(1)
        for kill in range(KILLS):
            process = subprocess.Popen([YOLOAD, "bench", *map(str, [self.yaml, *self.options(epochs=200)])],
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(chance.uniform(0, 0.4))
            process.send_signal(chance.choice([signal.SIGINT, signal.SIGTERM]))
            start = time.monotonic()
            process.wait(timeout=30)
            self.assertLess(time.monotonic() - start, 2.0, f"kill {kill}")
        self.assertEqual(tree_hash(self.data), before)

    def test_a_label_cache_killed_while_written_is_rebuilt(self):
        expected = run("digest", self.yaml, *self.options("fresh", epochs=1)).stdout
        chance = random.Random(2)
        for _ in range(20):
            shutil.rmtree(self.folder / "killed", ignore_errors=True)
            process = subprocess.Popen([YOLOAD, "digest", *map(str, [self.yaml, *self.options("killed", epochs=1)])],
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(chance.uniform(0, 0.12))
            process.kill()
            process.wait()
            self.assertEqual(run("digest", self.yaml, *self.options("killed", epochs=1)).stdout, expected)
        left = [path for path in (self.folder / "killed").rglob("*") if "tmp" in path.name]
        self.assertEqual(left, [], "temporary files are cleared away by the next run")

    def test_a_killed_scan_goes_on_where_it_stopped(self):
        many = self.folder / "many"
        (many / "images").mkdir(parents=True)
        (many / "data.yaml").write_text("train: images\nval: images\nnc: 1\n")
        for number in range(60_000):  # links: nothing but names to write
            if number % 30_000 == 0:
                original = many / "images" / f"p{number}.jpg"
                shutil.copy(self.images[0], original)
            else:
                os.link(original, many / "images" / f"p{number}.jpg")
        cache = self.folder / "cache_many"
        command = [YOLOAD, "explain", str(many / "data.yaml"), "--index", "0", "-o", str(self.folder / "x.png"),
                   "--imgsz", "64", "--mosaic", "0", "--cache-dir", str(cache)]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while not list(cache.glob("*.cache")) and process.poll() is None:
            time.sleep(0.001)
        process.kill()
        if process.wait() == 0:
            self.skipTest("the scan was faster than the kill")
        again = subprocess.run(command, capture_output=True, text=True, timeout=120)
        self.assertEqual(again.returncode, 0, again.stderr)
        total = int(re.search(r"scan +\d+/(\d+)", again.stderr).group(1))
        self.assertLessEqual(total, 40_000)
        third = subprocess.run(command, capture_output=True, text=True, timeout=120)
        self.assertNotIn("scan ", third.stderr, "nothing is left to scan")

    def test_a_full_disk_costs_the_cache_and_not_the_run(self):
        probe = ["unshare", "-m", "mount", "-t", "tmpfs", "none", "/tmp"]
        if shutil.which("unshare") is None or subprocess.run(probe, capture_output=True).returncode != 0:
            self.skipTest("needs the right to mount for a full disk")
        full = self.folder / "full"
        full.mkdir(exist_ok=True)
        script = (f'mount -t tmpfs -o size=16k none "{full}" && head -c 16k /dev/zero >"{full}/filler"; '
                  f'"$@" && ls "{full}"')
        result = subprocess.run(["unshare", "-m", "bash", "-c", script, "-", YOLOAD, "digest", str(self.yaml),
                                 *map(str, self.options("full", epochs=1))],
                                capture_output=True, text=True, timeout=120)
        self.assertEqual(result.returncode, 0, result.stderr)
        digest, *left = result.stdout.split()
        self.assertEqual(digest + "\n", run("digest", self.yaml, *self.options("fresh", epochs=1)).stdout)
        self.assertEqual(left, ["filler"], "no half-written file stays behind")
        self.assertIn("label cache not written", result.stderr)

    def test_files_damaged_while_running_are_replaced_and_in_the_ledger_once(self):
        copy = self.folder / "damaged"
        shutil.copytree(self.data, copy)
        victims = sorted((copy / "images" / "train").glob("*.jpg"))[10:13]

        def damage():
            time.sleep(0.3)
            victims[0].write_bytes(victims[0].read_bytes()[:500])
            victims[1].write_bytes(b"junk" * 100)
            victims[2].unlink()

        thread = threading.Thread(target=damage)
        thread.start()
        result = run("bench", copy / "data.yaml", *self.options("cache_damaged", epochs=20), "--json")
        thread.join()
        self.assertEqual(result.returncode, 0, result.stderr)
        report = json.loads(result.stdout)
        self.assertEqual(report["images"], 20 * 150)
        ledger = report["ledger"]
        self.assertEqual({pathlib.Path(entry["path"]).name for entry in ledger},
                         {victim.name for victim in victims})
        keys = [(entry["epoch"], entry["path"]) for entry in ledger]
        self.assertEqual(len(keys), len(set(keys)))

    def test_a_read_only_data_set_and_cache_folder_work_with_one_warning(self):
        probe = ["unshare", "-m", "mount", "-t", "tmpfs", "none", "/tmp"]
        if shutil.which("unshare") is None or subprocess.run(probe, capture_output=True).returncode != 0:
            self.skipTest("needs the right to mount for a read-only data set")
        locked = self.folder / "locked"
        locked.mkdir(exist_ok=True)
        script = (f'mount --bind "{self.data}" "{self.data}" && mount -o remount,ro,bind "{self.data}" && '
                  f'mount -t tmpfs -o ro,size=1m none "{locked}" && exec "$@"')
        result = subprocess.run(["unshare", "-m", "bash", "-c", script, "-", YOLOAD, "digest", str(self.yaml),
                                 *map(str, self.options("locked", epochs=1))],
                                capture_output=True, text=True, timeout=120)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stdout, run("digest", self.yaml, *self.options("fresh", epochs=1)).stdout)
        self.assertEqual(result.stderr.count("warning"), 1, result.stderr)

    def test_few_file_descriptors_are_enough(self):
        result = subprocess.run(["bash", "-c", 'ulimit -n 64; exec "$@"', "-", YOLOAD, "digest", str(self.yaml),
                                 *map(str, self.options("fds", threads=16, epochs=2))],
                                capture_output=True, text=True, timeout=120)
        self.assertEqual(result.returncode, 0, result.stderr)


if __name__ == "__main__":
    YOLOAD = os.path.abspath(sys.argv.pop(1))
    unittest.main(verbosity=2)
