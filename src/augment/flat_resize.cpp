// SPDX-License-Identifier: Apache-2.0
#include "augment/flat_resize.h"

#include <utility>

namespace yoload {

FlatResize flat_resize(const ResizeJob& job) {
  const ImageView& from = job.from;
  const int64_t row = static_cast<int64_t>(from.row_stride_bytes);
  FlatResize flat;
  // Which way upright columns and rows run in the stored picture.
  const bool turned = job.orientation >= 5;
  const bool from_right =
      job.orientation == 2 || job.orientation == 3 || job.orientation == 7 || job.orientation == 8;
  const bool from_bottom =
      job.orientation == 3 || job.orientation == 4 || job.orientation == 6 || job.orientation == 7;
  const int64_t along_x = from_right ? -1 : 1, along_y = from_bottom ? -row : row;
  flat.from = from.data + (from_right ? from.width_px - 1 : 0) +
              (from_bottom ? from.height_px - 1 : 0) * row;
  flat.right = along_x, flat.down = along_y;
  flat.width_px = from.width_px, flat.height_px = from.height_px;
  if (turned) {
    std::swap(flat.right, flat.down);
    std::swap(flat.width_px, flat.height_px);
  }
  flat.plane = static_cast<int64_t>(from.plane_stride_bytes);
  flat.channels = job.to.channels;
  flat.to = job.to.data;
  flat.to_row = static_cast<int64_t>(job.to.row_stride_bytes);
  flat.to_plane = static_cast<int64_t>(job.to.plane_stride_bytes);
  flat.to_width_px = job.to.width_px, flat.to_height_px = job.to.height_px;
  flat.step_x = resize_step(flat.width_px, flat.to_width_px);
  flat.step_y = resize_step(flat.height_px, flat.to_height_px);
  return flat;
}

void FlatTaps::clear() {
  known_.clear(), taps_.clear(), weights_.clear();
}

int32_t FlatTaps::add(int in, int out) {
  for (const Known& known : known_) {
    if (known.in == in && known.out == out) return known.first;
  }
  const auto first = static_cast<int32_t>(taps_.size());
  known_.push_back({in, out, first});
  const auto base = static_cast<int32_t>(weights_.size());
  if (in == out) {
    // An axis that keeps its size is copied.
    weights_.push_back(1 << 22);
    for (int i = 0; i < out; ++i) taps_.push_back({i, 1, base});
    return first;
  }
  const TriangleFilter filter = triangle_filter(in, out);
  for (const TriangleTaps& taps : filter.taps) {
    taps_.push_back({taps.first, taps.count, base + static_cast<int32_t>(taps.weights)});
  }
  weights_.insert(weights_.end(), filter.weights.begin(), filter.weights.end());
  return first;
}

}  // namespace yoload
