"""What is measured: the installed Ultralytics training loader, as a black box through its public functions.

usage: ultralytics_loader.py DATA.yaml IMGSZ BATCH WORKERS CACHE EPOCHS
prints {"images_per_s": .., "cpu_s_per_image": ..}; one more epoch before these warms everything up.
SPDX-License-Identifier: Apache-2.0
"""
import json
import os
import sys
import time

os.environ.setdefault("YOLO_VERBOSE", "False")

import torch
from ultralytics.cfg import get_cfg
from ultralytics.data import build_dataloader, build_yolo_dataset
from ultralytics.data.utils import check_det_dataset


def children_and_self_cpu_s():
    """CPU seconds of this process and of its living worker processes."""
    total = sum(os.times()[:2])
    tick = os.sysconf("SC_CLK_TCK")
    own = os.getpid()
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            fields = open(f"/proc/{entry}/stat").read().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if int(fields[1]) == own:
            total += (int(fields[11]) + int(fields[12])) / tick
    return total


def main():
    data, imgsz, batch, workers, cache, epochs = sys.argv[1:]
    torch.set_num_threads(1)
    facts = check_det_dataset(data)
    options = get_cfg(overrides={"imgsz": int(imgsz), "batch": int(batch), "workers": int(workers), "data": data,
                                 "cache": False if cache == "none" else cache, "task": "detect", "mode": "train"})
    dataset = build_yolo_dataset(options, facts["train"], int(batch), facts, mode="train", rect=False, stride=32)
    loader = build_dataloader(dataset, batch=int(batch), workers=int(workers), shuffle=True, rank=-1)
    for _ in loader:
        pass
    images = 0
    cpu_before, start = children_and_self_cpu_s(), time.perf_counter()
    for _ in range(int(epochs)):
        for item in loader:
            images += item["img"].shape[0]
    wall_s = time.perf_counter() - start
    cpu_s = children_and_self_cpu_s() - cpu_before
    print(json.dumps({"images_per_s": images / wall_s, "cpu_s_per_image": cpu_s / images}))


if __name__ == "__main__":
    main()
