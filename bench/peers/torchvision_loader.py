"""What is measured: torch's DataLoader with torchvision: decode_jpeg, letterbox to a square, collate. Nothing else:
no mosaic, no augmentation, no labels.

The workers are processes that stay between epochs. A picture whose longest side is IMGSZ already isn't resampled.
Arguments and output: side.py.
SPDX-License-Identifier: Apache-2.0
"""
import side
import torch
import torchvision
from torch.utils.data import DataLoader, Dataset
from torchvision.io import ImageReadMode, decode_jpeg, read_file
from torchvision.transforms.v2 import functional

GRAY = 114


class Letterboxed(Dataset[torch.Tensor]):
    """Pictures as uint8 (3, imgsz, imgsz), centred on gray."""

    def __init__(self, paths: list[str], imgsz: int) -> None:
        self.paths, self.imgsz = paths, imgsz

    def __len__(self) -> int:
        return len(self.paths)

    def __getitem__(self, index: int) -> torch.Tensor:
        image = decode_jpeg(read_file(self.paths[index]), mode=ImageReadMode.RGB)
        height, width = image.shape[1:]
        scale = self.imgsz / max(height, width)
        height, width = round(height * scale), round(width * scale)
        image = functional.resize(image, [height, width])
        left, top = (self.imgsz - width) // 2, (self.imgsz - height) // 2
        return functional.pad(image, [left, top, self.imgsz - width - left, self.imgsz - height - top], fill=GRAY)


def main() -> None:
    arguments = side.arguments(__doc__)
    torch.set_num_threads(1)
    dataset = Letterboxed(side.photographs(arguments.data), arguments.imgsz)
    loader = DataLoader(dataset, batch_size=arguments.batch, shuffle=True, num_workers=arguments.workers,
                        persistent_workers=True)
    side.report(lambda: sum(len(batch) for batch in loader), arguments.epochs, torchvision.__version__)


if __name__ == "__main__":
    main()
