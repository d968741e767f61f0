// A yoload batch as LibTorch tensors, without copying anything.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <torch/torch.h>

#include <memory>
#include <utility>

#include "yoload/loader.h"

/// The tensors share one owner, the batch itself: it is freed with the last of them, and may
/// outlive the loader it came from.
struct BatchTensors {
  torch::Tensor img;        // size,channels,height,width of the loader's dtype
  torch::Tensor cls;        // n
  torch::Tensor bboxes;     // n,4 xywh, fractions of the picture
  torch::Tensor batch_idx;  // n: the picture in the batch that a box belongs to
};

inline torch::ScalarType scalar_type(yoload::DType dtype) {
  switch (dtype) {
    case yoload::DType::uint8:
      return torch::kUInt8;
    case yoload::DType::float16:
      return torch::kHalf;
    case yoload::DType::float32:
      return torch::kFloat;
    case yoload::DType::bfloat16:
      return torch::kBFloat16;
  }
  TORCH_CHECK(false, "unknown dtype ", static_cast<int>(dtype));
}

inline BatchTensors to_tensors(yoload::Batch batch) {
  auto owner = std::make_shared<yoload::Batch>(std::move(batch));
  // from_blob calls the deleter once, when the tensor and all of its views are gone. What it holds,
  // not what it does, keeps the memory.
  const auto share = [&owner](void* memory, torch::IntArrayRef shape, torch::ScalarType type) {
    return torch::from_blob(
        memory, shape, [owner](void*) {}, torch::TensorOptions(type));
  };
  const auto n = static_cast<int64_t>(owner->cls.size());
  BatchTensors tensors;
  tensors.img =
      share(owner->img.get(), {owner->size, owner->channels, owner->height_px, owner->width_px},
            scalar_type(owner->dtype));
  tensors.cls = share(owner->cls.data(), {n}, torch::kFloat);
  tensors.bboxes = share(owner->bboxes.data(), {n, 4}, torch::kFloat);
  tensors.batch_idx = share(owner->batch_idx.data(), {n}, torch::kFloat);
  return tensors;
}
