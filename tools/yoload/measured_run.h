// Takes epochs of batches from a loader, as a training run would, and measures it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "device/gpu_use.h"
#include "yoload/loader.h"

namespace yoload::cli {

/// Options for a run of exactly `epochs` epochs: nothing is prepared beyond the last one, which
/// would count as work without a picture. Mosaic is closed only where the user planned it.
LoaderOptions for_epochs(LoaderOptions options, int epochs);

struct RunPlan {
  int epochs = 1;
  int warmup = 0;  ///< epochs before these, not measured
  double step_ms =
      0;  ///< the consumer sleeps this long after each batch, like a thread that waits for a GPU
  std::string title;  ///< of the progress line
};

struct EpochTime {
  uint64_t images = 0;
  double wall_s = 0;
};

struct MeasuredRun {
  /// Of the measured epochs; p50, p99 and peaks are of the whole run, and the verdict leaves the
  /// wait for the first batch out.
  Report report;
  std::vector<EpochTime> epochs;  ///< the measured ones
  double images_per_s = 0;
  double decodes_per_image = 0;
  double cpu_s = 0;          ///< of the whole process
  double first_batch_s = 0;  ///< from the start of the run to its first batch, warm-up included
  /// With a GPU: how busy it was, or why that is not known.
  std::optional<GpuUse> gpu_use;
  std::string gpu_use_unknown;
};

/// One line per replaced picture, at most 20 and then how many more.
void print_ledger(const Loader& loader, std::FILE* out);

/// Runs epochs 0 .. warmup + epochs - 1. Throws what Loader::next throws.
MeasuredRun run_measured(Loader* loader, const RunPlan& plan);

}  // namespace yoload::cli
