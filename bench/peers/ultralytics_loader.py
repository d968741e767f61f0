"""What is measured: the installed Ultralytics training loader, as a black box through its public functions.

Default augmentation; the workers are processes. Arguments and output: side.py.
SPDX-License-Identifier: Apache-2.0
"""
import side
import torch
import ultralytics
from ultralytics.cfg import get_cfg
from ultralytics.data import build_dataloader, build_yolo_dataset
from ultralytics.data.utils import check_det_dataset


def main() -> None:
    arguments = side.arguments(__doc__)
    torch.set_num_threads(1)
    facts = check_det_dataset(arguments.data)
    options = get_cfg(overrides={"imgsz": arguments.imgsz, "batch": arguments.batch, "workers": arguments.workers,
                                 "data": arguments.data, "cache": False if arguments.cache == "none" else arguments.cache,
                                 "task": "detect", "mode": "train"})
    dataset = build_yolo_dataset(options, facts["train"], arguments.batch, facts, mode="train", rect=False, stride=32)
    loader = build_dataloader(dataset, batch=arguments.batch, workers=arguments.workers, shuffle=True, rank=-1)
    side.report(lambda: sum(len(batch["img"]) for batch in loader), arguments.epochs, ultralytics.__version__)


if __name__ == "__main__":
    main()
