// The GPU lane where yoload was built without CUDA.
// SPDX-License-Identifier: Apache-2.0
#include "core/raise.h"
#include "device/device.h"
#include "pipeline/device_lane.h"

namespace yoload {

std::unique_ptr<DeviceLane> make_device_lane(const LoaderOptions&, const DatasetIndex&,
                                             const TilePath&, uint64_t, std::function<void()>) {
  raise(find_device(0).status());
}

}  // namespace yoload
