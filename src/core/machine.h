// What this process may really use: cores after affinity and cgroup quota, memory after cgroup
// limits. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace yoload {

/// Facts about the machine as this process sees it. Read once per call; cheap, not for hot loops.
struct MachineFacts {
  int logical_cpus = 1;       ///< allowed by affinity
  int physical_cores = 1;     ///< distinct cores among them
  double cpu_quota = 0;       ///< cgroup v1/v2 CPU quota in cores; 0 is none
  uint64_t memory_bytes = 0;  ///< usable: the smaller of RAM and the cgroup limits up the tree
  std::string cpu_model;

  /// Cores worth a thread: physical cores, bounded by the quota, at least 1.
  int usable_cores() const;
};

/// `root` is "/" outside tests.
MachineFacts read_machine(const std::string& root = "/");

/// 70-90 % of the usable cores, at least 1: the rest is for the training process.
int default_workers(const MachineFacts& machine);
/// A quarter of the usable memory, at most 4 GiB.
uint64_t default_memory_budget_bytes(const MachineFacts& machine);

/// Resident set size of this process now, and its peak.
uint64_t resident_bytes();
uint64_t peak_resident_bytes();

}  // namespace yoload
