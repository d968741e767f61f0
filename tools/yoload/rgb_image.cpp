// SPDX-License-Identifier: Apache-2.0
#include "yoload/rgb_image.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace yoload::cli {
namespace {

/// Source pixels first..first+weights.size()-1 that a target pixel covers, and by how much of each.
struct Coverage {
  int first = 0;
  std::vector<float> weights;
};

std::vector<Coverage> coverage(int from_px, int to_px) {
  std::vector<Coverage> all(static_cast<size_t>(to_px));
  const double step = static_cast<double>(from_px) / to_px;
  for (int i = 0; i < to_px; ++i) {
    const double start = i * step, end = std::min<double>((i + 1) * step, from_px);
    Coverage& c = all[static_cast<size_t>(i)];
    c.first = static_cast<int>(start);
    for (int s = c.first; s < end; ++s) {
      const double covered = std::min<double>(s + 1, end) - std::max<double>(s, start);
      c.weights.push_back(static_cast<float>(covered / step));
    }
  }
  return all;
}

}  // namespace

RgbImage shrink_to(const RgbImage& image, int longest_px) {
  const int longest = std::max(image.width_px, image.height_px);
  if (longest <= longest_px) return image;
  const auto scaled = [&](int side) {
    return std::max(
        1, static_cast<int>(std::lround(static_cast<double>(side) * longest_px / longest)));
  };
  RgbImage out(scaled(image.width_px), scaled(image.height_px));
  const std::vector<Coverage> columns = coverage(image.width_px, out.width_px);
  const std::vector<Coverage> rows = coverage(image.height_px, out.height_px);
  for (int y = 0; y < out.height_px; ++y) {
    const Coverage& row = rows[static_cast<size_t>(y)];
    for (int x = 0; x < out.width_px; ++x) {
      const Coverage& column = columns[static_cast<size_t>(x)];
      std::array<float, 3> sum = {0, 0, 0};
      for (size_t j = 0; j < row.weights.size(); ++j) {
        for (size_t i = 0; i < column.weights.size(); ++i) {
          const Rgb p =
              image.at(column.first + static_cast<int>(i), row.first + static_cast<int>(j));
          const float weight = row.weights[j] * column.weights[i];
          sum[0] += weight * p.r;
          sum[1] += weight * p.g;
          sum[2] += weight * p.b;
        }
      }
      const auto level = [](float v) {
        return static_cast<uint8_t>(std::clamp(v + 0.5f, 0.0f, 255.0f));
      };
      out.at(x, y) = {level(sum[0]), level(sum[1]), level(sum[2])};
    }
  }
  return out;
}

void paste(const RgbImage& source, int x0, int y0, RgbImage* target) {
  const int left = std::max(0, -x0), top = std::max(0, -y0);
  const int right = std::min(source.width_px, target->width_px - x0);
  const int bottom = std::min(source.height_px, target->height_px - y0);
  for (int y = top; y < bottom; ++y) {
    for (int x = left; x < right; ++x) target->at(x0 + x, y0 + y) = source.at(x, y);
  }
}

}  // namespace yoload::cli
