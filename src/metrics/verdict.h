// Turns rates into one sentence: who waits for whom, by how much, and what to change.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "yoload/loader.h"

namespace yoload {

/// Shares of the wall time that the verdict rests on.
struct Attribution {
  double starved_share = 0;      ///< the consumer stood still for a batch
  double worker_busy_share = 0;  ///< engine threads at work, of wall x threads
  std::string saturated_by;    ///< the stage with the most busy time, when the engine is the limit
  double saturated_share = 0;  ///< its share of the threads' busy time
  // With a GPU.
  double late_share = 0;          ///< batches that the GPU had not finished at hand-over
  std::string device_stage;       ///< the kind of GPU work that took the longest
  double device_stage_share = 0;  ///< of the wall time; 1 where spans overlap beyond it
};

/// Needs wall_s, consumer_wait_s, worker_wait_s, threads and stages; with a GPU also batches,
/// late_batches and device_stages.
Attribution attribute(const Report& report);
std::string verdict_of(const Report& report);

}  // namespace yoload
