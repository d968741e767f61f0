# SPDX-License-Identifier: Apache-2.0
"""An installed wheel, away from the source tree and without torch: a whole job on a made data set."""

import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import yoload

assert "site-packages" in yoload.__file__, yoload.__file__

root = pathlib.Path(tempfile.mkdtemp())
subprocess.run(
    ["yoload", "demo", "--only-data", root / "boards", "--count", "24"],
    check=True,
    stdout=subprocess.DEVNULL,
)
with yoload.Loader(
    root / "boards/data.yaml", batch_size=8, imgsz=160, cache_dir=root / "cache"
) as loader:
    batches = list(loader)
    again = loader.replay(0, 1)
    assert "decode" in str(loader.report())
assert [len(b["im_file"]) for b in batches] == [8, 8, 8]
assert batches[0]["img"].shape == (8, 3, 160, 160) and batches[0]["img"].dtype == np.uint8
assert np.array_equal(again["img"], batches[1]["img"])
assert yoload.show(batches[0])._repr_png_().startswith(b"\x89PNG")
subprocess.run(["yoload", "--version"], check=True)
print("yoload", yoload.__version__, "python", sys.version.split()[0], "numpy", np.__version__, "ok")

# Nothing under the GPL is inside: libtiff's JBIG is our stand-in, which refuses.
libraries = pathlib.Path(yoload.__file__).parent.parent / "yoload.libs"
(jbig,) = libraries.glob("libjbig*")
assert jbig.stat().st_size < 30_000 and b"JBIG is not in this build" in jbig.read_bytes()
