# SPDX-License-Identifier: Apache-2.0
"""Interrupts, exceptions, endings: nothing hangs, crashes or leaks. Each case is a process."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import write_set

CASES = 500 if os.environ.get("YOLOAD_FULL") else 24

PRELUDE = """
import gc, os, random, signal, sys, threading, time
import yoload
def make(**options):
    settings = dict(imgsz=64, batch_size=2, workers=2, output="numpy")
    settings.update(options)
    return yoload.Loader(sys.argv[1], **settings)
def threads(): return len(os.listdir("/proc/self/task"))
def files(): return len(os.listdir("/proc/self/fd"))
def settles(count, expected):
    # A thread that was joined may stay in /proc for a moment.
    for _ in range(200):
        if count() == expected: return True
        time.sleep(0.01)
    return False
"""

# What a user's process may do; each ends by itself, however it is interrupted.
SCRIPTS = {
    "interrupted": """
rng = random.Random(int(sys.argv[2]))
loader = make()
before = threads(), files()  # a worker may be reading a picture just now
delay = rng.uniform(0, 0.05)
def interrupt():
    time.sleep(delay)
    os.kill(os.getpid(), signal.SIGINT)
for _ in range(4):
    killer = threading.Thread(target=interrupt)
    try:
        killer.start()
        while True:
            for batch in loader:
                keep = batch["img"].sum()
    except KeyboardInterrupt:
        pass
    killer.join()
loader.set_epoch(1)
assert len(list(loader)) == len(loader)
assert settles(lambda: threads() == before[0] and files() <= before[1], True), (threads(), files(), before)
""",
    "interrupted at the end": """
loader = make()
stream = iter(loader)
next(stream)
os.kill(os.getpid(), signal.SIGINT)
time.sleep(5)
""",
    "left open": """
rng = random.Random(int(sys.argv[2]))
keep = [make() for _ in range(3)]
streams = [iter(loader) for loader in keep]
for _ in range(rng.randrange(5)):
    batch = next(rng.choice(streams), None)
""",
    "in a cycle": """
class Holder: pass
holder = Holder()
holder.self, holder.loader = holder, make()
holder.stream = iter(holder.loader)
batch = next(holder.stream)
del holder
if random.Random(int(sys.argv[2])).random() < 0.5:
    gc.collect()
""",
    "broken off and raised": """
rng = random.Random(int(sys.argv[2]))
with make() as loader:
    for _ in range(20):
        try:
            for batch in loader:
                if rng.random() < 0.4: break
                if rng.random() < 0.1: raise ValueError
        except ValueError:
            pass
    loader.set_epoch(0)
    assert len(list(loader)) == len(loader)
""",
    "closed by another thread": """
before = threads()
loader = make()
thread = threading.Thread(target=lambda: (time.sleep(0.02), loader.close()))
thread.start()
try:
    while True:
        list(loader)
except yoload.Error:
    pass
thread.join()
assert settles(threads, before), (threads(), before)
""",
}


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_process_ends_cleanly(tmp_path: Path, name: str) -> None:
    data = write_set(tmp_path / "set", train=24)
    rng = random.Random(len(name))
    for case in range(max(1, CASES // len(SCRIPTS))):
        process = subprocess.Popen(
            [sys.executable, "-c", PRELUDE + SCRIPTS[name], data, str(rng.randrange(10**6))],
            stderr=subprocess.PIPE,
        )
        try:
            _, errors = process.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            process.kill()
            raise AssertionError(f"{name}, case {case}: hangs") from None
        text = errors.decode()
        if name == "interrupted at the end":
            assert process.returncode == -signal.SIGINT and "KeyboardInterrupt" in text, text
        else:
            assert process.returncode == 0, f"{name}, case {case}: {process.returncode}\n{text}"
        assert "terminate called" not in text and "Exception ignored" not in text, text


def test_ctrl_c_is_noticed_while_a_batch_is_awaited(tmp_path: Path) -> None:
    # A decoder that has nothing to do but wait: one thread, large pictures.
    data = write_set(tmp_path / "set", train=24)
    script = PRELUDE + """
loader = make(batch_size=24, imgsz=4096, workers=1, memory_budget="8GB")
print("ready", flush=True)
for _ in range(100):
    list(loader)
"""
    process = subprocess.Popen(
        [sys.executable, "-c", script, data], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    process.stdout.readline()
    time.sleep(0.5)
    start = time.monotonic()
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)
    assert process.returncode == -signal.SIGINT
    assert time.monotonic() - start < 20


def test_memory_is_flat_over_many_epochs(tmp_path: Path) -> None:
    data = write_set(tmp_path / "set", train=48)
    script = PRELUDE + """
def rss():
    return int(open("/proc/self/statm").read().split()[1]) * 4096 / 1e6
with make(imgsz=256, batch_size=8) as loader:
    kept = []
    sizes = []
    for epoch in range(20):
        if epoch % 3 == 0: kept = list(loader)
        elif epoch % 3 == 1:
            for batch in loader: pass
        else:
            for _ in range(3):
                for batch in loader: break
        if epoch >= 5: sizes.append(rss())
    before = sizes[:3]
    after = sizes[-3:]
    assert max(after) < max(before) * 1.05 + 4, sizes
    assert files() < 32, files()
"""
    subprocess.run([sys.executable, "-c", script, data], check=True, timeout=120)
