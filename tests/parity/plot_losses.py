#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws the loss curves of train_bccd.py: plot_losses.py RESULT.json OUT.svg"""

from __future__ import annotations

import json
import statistics
import sys

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt  # noqa: E402

COLOURS = {"ultralytics": "#888888", "yoload": "#d1495b"}


def main() -> None:
    result, out = sys.argv[1:]
    with open(result) as file:
        runs = json.load(file)["runs"]
    plt.rcParams["svg.hashsalt"] = "yoload"
    figure, axes = plt.subplots(1, 3, figsize=(10, 3.2))
    for ax, key in zip(axes, ("train/box_loss", "train/cls_loss", "train/dfl_loss")):
        for side, colour in COLOURS.items():
            curves = [run["losses"][key] for run in runs if run["side"] == side]
            epochs = range(1, len(curves[0]) + 1)
            for curve in curves:
                ax.plot(epochs, curve, color=colour, alpha=0.25, lw=0.8)
            mean = [statistics.mean(values) for values in zip(*curves)]
            ax.plot(epochs, mean, color=colour, lw=1.8, label=side)
        ax.set_title(key, fontsize=10)
        ax.set_xlabel("epoch")
        ax.grid(alpha=0.3)
    axes[0].legend(frameon=False)
    figure.tight_layout()
    figure.savefig(out, metadata={"Date": None})


if __name__ == "__main__":
    main()
