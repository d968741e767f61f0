// Resizing on the GPU against the CPU, byte for byte.
// SPDX-License-Identifier: Apache-2.0
#include "augment/cuda/resize_cuda.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "augment/cuda/device_images.h"
#include "augment/resize_testing.h"

namespace yoload {
namespace {

void expect_turned_and_resized(CudaResizer* resizer, bool antialias) {
  const std::vector<ResizeCase> cases = resize_cases(antialias);
  std::vector<ImageView> stored, empty;
  std::vector<Image> poison;
  for (const ResizeCase& c : cases) {
    stored.push_back(c.stored.view());
    Image image(nullptr, c.expected.width_px(), c.expected.height_px(), c.expected.channels());
    const MutableImageView view = image.mutable_view();
    std::memset(view.data, 0xa5, view.plane_stride_bytes * static_cast<size_t>(view.channels));
    empty.push_back(image.view());
    poison.push_back(std::move(image));
  }
  const DeviceImages from(stored), to(empty);
  std::vector<ResizeJob> jobs;
  for (size_t i = 0; i < cases.size(); ++i) {
    const ImageView& view = to.views()[i];
    jobs.push_back({from.views()[i],
                    cases[i].orientation,
                    {const_cast<uint8_t*>(view.data), view.width_px, view.height_px, view.channels,
                     view.row_stride_bytes, view.plane_stride_bytes}});
  }
  device::Stream stream;
  resizer->resize(jobs, antialias, stream.get());
  stream.synchronise();
  for (size_t i = 0; i < cases.size(); ++i) {
    const MutableImageView view = poison[i].mutable_view();
    device::check(cudaMemcpy(view.data, to.views()[i].data,
                             view.plane_stride_bytes * static_cast<size_t>(view.channels),
                             cudaMemcpyDeviceToHost),
                  "read");
    ASSERT_EQ(difference(poison[i].view(), cases[i].expected.view()), "")
        << "case " << i << ", orientation " << cases[i].orientation;
  }
}

TEST(ResizeCuda, TurnsAndResizesAsTheCpuDoes) {
  CudaResizer resizer;
  expect_turned_and_resized(&resizer, false);
}

TEST(ResizeCuda, TurnsAndResizesWithAntialiasingAsTheCpuDoes) {
  CudaResizeLimits limits;
  limits.scratch_bytes = 1 << 16;  // several rounds
  CudaResizer resizer(limits);
  expect_turned_and_resized(&resizer, true);
}

TEST(ResizeCuda, SteadyStateNeitherAllocatesNorWaits) {
  CudaResizer resizer;
  expect_turned_and_resized(&resizer, true);
  const Image picture = noise(300, 200, 3, 1), small = noise(150, 100, 3, 2);
  const std::vector<ImageView> views = {picture.view(), small.view()};
  const DeviceImages images(views);
  const ImageView& to = images.views()[1];
  const ResizeJob job = {images.views()[0],
                         1,
                         {const_cast<uint8_t*>(to.data), to.width_px, to.height_px, to.channels,
                          to.row_stride_bytes, to.plane_stride_bytes}};
  device::Stream stream;
  resizer.resize({&job, 1}, true, stream.get());
  const device::CallCounts& counts = device::call_counts();
  for (int i = 0; i < 20; ++i) {
    stream.synchronise();
    const uint64_t device_before = counts.device_allocations,
                   pinned_before = counts.pinned_allocations, waits = counts.synchronisations;
    resizer.resize({&job, 1}, i % 2 == 0, stream.get());
    EXPECT_EQ(counts.device_allocations, device_before);
    EXPECT_EQ(counts.pinned_allocations, pinned_before);
    EXPECT_EQ(counts.synchronisations, waits);
  }
  stream.synchronise();
}

}  // namespace
}  // namespace yoload
