// Which GPU there is. Compiles with and without CUDA.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "core/status.h"

namespace yoload {

struct DeviceFacts {
  int ordinal = 0;
  std::string name;
  int compute_major = 0, compute_minor = 0;
  int multiprocessors = 0;
  uint64_t memory_bytes = 0;
  int driver_version = 0;  ///< 13000 is 13.0
  std::string pci_bus_id;  ///< "0000:18:00.0": the same GPU for every library, whatever is visible
};

/// Facts of GPU `ordinal`; without GPU, driver or CUDA support a status that says which is missing.
Result<DeviceFacts> find_device(int ordinal);

}  // namespace yoload
