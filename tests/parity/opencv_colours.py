# SPDX-License-Identifier: Apache-2.0
"""What OpenCV makes of some colours: prints src/augment/opencv_colours.h, which the tests compare with.

    python tests/parity/opencv_colours.py > src/augment/opencv_colours.h
"""
import cv2
import numpy as np

rng = np.random.default_rng(5)
colours = [(0, 0, 0), (255, 255, 255), (255, 0, 0), (0, 255, 0), (0, 0, 255), (114, 114, 114), (1, 2, 3)]
colours += [tuple(c) for c in rng.integers(0, 256, (57, 3)).tolist()]

print("// Colours as OpenCV converts them, for tests. Made by tests/parity/opencv_colours.py.")
print("// SPDX-License-Identifier: Apache-2.0")
print("#pragma once\n\n#include <cstdint>\n\nnamespace yoload {\n")
print(f"// OpenCV {cv2.__version__}.")
print("struct OpenCvColour {\n  uint8_t rgb[3];\n  uint8_t gray;\n  uint8_t lab[3];\n  uint8_t rgb_of_lab[3];")
print("  int32_t hue_shift;\n  uint32_t sat_gain_q15, val_gain_q15;\n  uint8_t rgb_of_hsv[3];\n};")
print("inline constexpr OpenCvColour kOpenCvColours[] = {")
for colour in colours:
    pixel = np.array([[colour]], np.uint8)
    gray = int(cv2.cvtColor(pixel, cv2.COLOR_RGB2GRAY)[0, 0])
    lab = cv2.cvtColor(pixel, cv2.COLOR_RGB2LAB)
    shift, sat, val = int(rng.integers(180)), int(rng.integers(9000, 56000)), int(rng.integers(19000, 46000))
    h, s, v = (int(x) for x in cv2.cvtColor(pixel, cv2.COLOR_RGB2HSV)[0, 0])
    hsv = np.array([[((h + shift) % 180, min(255, s * sat >> 15), min(255, v * val >> 15))]], np.uint8)
    triples = [pixel, lab, cv2.cvtColor(lab, cv2.COLOR_LAB2RGB), cv2.cvtColor(hsv, cv2.COLOR_HSV2RGB)]
    rgb, lab, back, jittered = ("{%d, %d, %d}" % tuple(t[0, 0]) for t in triples)
    print(f"    {{{rgb}, {gray}, {lab}, {back}, {shift}, {sat}, {val}, {jittered}}},")
print("};\n\n}  // namespace yoload")
