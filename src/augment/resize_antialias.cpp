// SPDX-License-Identifier: Apache-2.0
#include "augment/resize_antialias.h"

#include <algorithm>
#include <cstring>

namespace yoload {
namespace {

constexpr int kWeightBits = 22;
constexpr int32_t kHalf = 1 << (kWeightBits - 1);

uint8_t to_level(int32_t sum) {
  return static_cast<uint8_t>(std::clamp(sum >> kWeightBits, 0, 255));
}

void filter_row(const uint8_t* in, const TriangleFilter& filter, uint8_t* out) {
  for (const TriangleTaps& taps : filter.taps) {
    const int32_t* weights = filter.weights.data() + taps.weights;
    int32_t sum = kHalf;
    for (int k = 0; k < taps.count; ++k) sum += weights[k] * in[taps.first + k];
    *out++ = to_level(sum);
  }
}

}  // namespace

TriangleFilter triangle_filter(int in, int out) {
  TriangleFilter filter;
  const double scale = static_cast<double>(in) / out;
  const double reach = std::max(scale, 1.0);  // half the width of the triangle
  std::vector<double> shares;
  for (int i = 0; i < out; ++i) {
    const double centre = (i + 0.5) * scale;
    TriangleTaps taps;
    taps.first = std::max(0, static_cast<int>(centre - reach + 0.5));
    taps.count = std::min(in, static_cast<int>(centre + reach + 0.5)) - taps.first;
    taps.weights = filter.weights.size();
    shares.clear();
    double total = 0;
    for (int k = 0; k < taps.count; ++k) {
      const double distance = (k + taps.first - centre + 0.5) * (1.0 / reach);
      shares.push_back(std::max(0.0, 1.0 - (distance < 0 ? -distance : distance)));
      total += shares.back();
    }
    for (const double share : shares) {
      filter.weights.push_back(static_cast<int32_t>(share / total * (1 << kWeightBits) + 0.5));
    }
    filter.taps.push_back(taps);
  }
  return filter;
}

void resize_antialiased(ImageView source, MutableImageView target) {
  const TriangleFilter across = triangle_filter(source.width_px, target.width_px);
  const TriangleFilter down = triangle_filter(source.height_px, target.height_px);
  const auto width = static_cast<size_t>(target.width_px);
  std::vector<uint8_t> narrowed(width * static_cast<size_t>(source.height_px));
  std::vector<int32_t> sums(width);
  for (int channel = 0; channel < source.channels; ++channel) {
    for (int y = 0; y < source.height_px; ++y) {
      uint8_t* row = narrowed.data() + static_cast<size_t>(y) * width;
      if (source.width_px == target.width_px) {
        std::memcpy(row, source.row(channel, y), width);
      } else {
        filter_row(source.row(channel, y), across, row);
      }
    }
    for (int y = 0; y < target.height_px; ++y) {
      const TriangleTaps& taps = down.taps[static_cast<size_t>(y)];
      uint8_t* out = target.row(channel, y);
      if (source.height_px == target.height_px) {
        std::memcpy(out, narrowed.data() + static_cast<size_t>(y) * width, width);
        continue;
      }
      std::fill(sums.begin(), sums.end(), kHalf);
      for (int k = 0; k < taps.count; ++k) {
        const int32_t weight = down.weights[taps.weights + static_cast<size_t>(k)];
        const uint8_t* row = narrowed.data() + static_cast<size_t>(taps.first + k) * width;
        for (size_t x = 0; x < width; ++x) sums[x] += weight * row[x];
      }
      for (size_t x = 0; x < width; ++x) out[x] = to_level(sums[x]);
    }
  }
}

}  // namespace yoload
