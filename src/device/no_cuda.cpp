// What the rest of yoload sees where it was built without CUDA.
// SPDX-License-Identifier: Apache-2.0
#include "device/device.h"

namespace yoload {

Result<DeviceFacts> find_device(int) {
  return Status(Code::unsupported, Stage::transfer, "this yoload was built without CUDA");
}

}  // namespace yoload
