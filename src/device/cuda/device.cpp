// SPDX-License-Identifier: Apache-2.0
#include "device/device.h"

#include <cuda_runtime_api.h>

#include "device/cuda/check.h"

namespace yoload {

Result<DeviceFacts> find_device(int ordinal) {
  int count = 0;
  if (const cudaError_t code = cudaGetDeviceCount(&count); code != cudaSuccess || count == 0) {
    cudaGetLastError();
    const std::string why = code == cudaSuccess || code == cudaErrorNoDevice
                                ? "no CUDA GPU in this machine"
                                : std::string("no usable CUDA driver: ") + cudaGetErrorString(code);
    return Status(Code::not_found, Stage::transfer, why);
  }
  if (ordinal < 0 || ordinal >= count) {
    return Status(Code::not_found, Stage::transfer,
                  "GPU " + std::to_string(ordinal) + ": there are " + std::to_string(count));
  }
  cudaDeviceProp properties;
  if (auto code = cudaGetDeviceProperties(&properties, ordinal); code != cudaSuccess) {
    return device::status_of(code, "ask for the GPU's properties");
  }
  DeviceFacts facts;
  facts.ordinal = ordinal;
  facts.name = properties.name;
  facts.compute_major = properties.major, facts.compute_minor = properties.minor;
  facts.multiprocessors = properties.multiProcessorCount;
  facts.memory_bytes = properties.totalGlobalMem;
  cudaDriverGetVersion(&facts.driver_version);
  char bus_id[32] = {};
  if (cudaDeviceGetPCIBusId(bus_id, sizeof(bus_id), ordinal) == cudaSuccess) {
    facts.pci_bus_id = bus_id;
  }
  return facts;
}

}  // namespace yoload
