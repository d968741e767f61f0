"""What is measured: yoload through its Python package, default augmentation, torch tensors out.

The workers are threads. The package is found through PYTHONPATH, the engine through YOLOAD_LIBRARY.
Arguments and output: side.py.
SPDX-License-Identifier: Apache-2.0
"""
import side
import yoload


def main() -> None:
    arguments = side.arguments(__doc__)
    more = {} if arguments.cache == "none" else {"cache": arguments.cache}
    loader = yoload.Loader(arguments.data, split="train", imgsz=arguments.imgsz, batch_size=arguments.batch,
                           workers=arguments.workers, output="torch", **more)
    try:
        side.report(lambda: sum(len(batch["img"]) for batch in loader), arguments.epochs,
                    getattr(yoload, "__version__", "unknown"))
    finally:
        loader.close()


if __name__ == "__main__":
    main()
