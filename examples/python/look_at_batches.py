#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What training will see, cell by cell: open it as a notebook, or run it.

    python look_at_batches.py data.yaml FOLDER_FOR_PICTURES
"""

# %%
import sys
from pathlib import Path

import yoload

data, out = sys.argv[1], Path(sys.argv[2])
out.mkdir(parents=True, exist_ok=True)

# %% A batch with its boxes. In a notebook, `yoload.show(batch)` as the last line displays it.
loader = yoload.Loader(data, imgsz=320, batch_size=8, output="numpy")
batch = next(iter(loader))
yoload.show(batch).save(out / "batch.png")
print(loader, {key: getattr(value, "shape", len(value)) for key, value in batch.items()})

# %% The very same batch again, whenever: (epoch, number) is all it takes.
again = loader.replay(batch.epoch, batch.index)
assert (again["img"] == batch["img"]).all()

# %% One picture under different seeds.
photo = yoload.decode(batch["im_file"][0])
height, width = photo.shape[:2]
box = [width * 0.25, height * 0.25, width * 0.75, height * 0.75]
calm = yoload.Augment(mosaic=0.0, degrees=10.0)
seen = [yoload.augment(photo, [box], augment=calm, imgsz=320, seed=seed) for seed in range(4)]
print("boxes:", [sample.boxes.round(1).tolist() for sample in seen])

# %% Labels of your own format: no files needed.
mine = yoload.Dataset.from_records(
    [{"image": photo, "boxes": [box], "cls": [0], "name": "mine"}], ["thing"], box_format="xyxy"
)
with yoload.Loader(mine, augment=False, imgsz=320, output="numpy") as single:
    yoload.show(next(iter(single))).save(out / "mine.png")

# %% How fast it was, and what held it up.
print(loader.report())
loader.close()
