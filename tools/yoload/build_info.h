// What this binary is and where it runs: for --version and for every benchmark result.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace yoload::cli {

std::string_view version();
/// `git describe` of the source at configure time; "unknown" outside a repository.
std::string_view commit();
/// The best vector instruction set that this binary has code for and this machine can run.
std::string simd_target();
/// The text of `yoload --version`.
std::string version_text();

struct Machine {
  std::string cpu;      ///< model name as the kernel reports it
  int usable_cpus = 0;  ///< logical, by this process's affinity
  uint64_t memory_bytes = 0;
  std::string kernel;
};
Machine this_machine();

/// Highest resident set of this process since it was executed. (ru_maxrss would carry over what the
/// parent had before exec.)
uint64_t peak_rss_bytes();
/// User and system time of all threads of this process.
double process_cpu_s();

}  // namespace yoload::cli
