// Resizing a batch of pictures, turned upright on the way, as flat arrays and arithmetic for
// kernels.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "augment/flat_pixel.h"
#include "augment/resize_antialias.h"
#include "augment/resize_tap.h"
#include "core/image.h"
#include "device/host_device.h"

namespace yoload {

/// `from` as it was decoded; `to` upright. Orientation as EXIF counts, 1..8.
struct ResizeJob {
  ImageView from;
  int orientation = 1;
  MutableImageView to;
};

struct FlatResize {
  /// The upright picture's pixel (0, 0) and the way to its right and lower neighbours: an
  /// orientation is nothing but other strides.
  const uint8_t* from = nullptr;
  int64_t right = 1, down = 0, plane = 0;
  int32_t width_px = 0, height_px = 0;  ///< upright
  int32_t channels = 0;
  uint8_t* to = nullptr;
  int64_t to_row = 0, to_plane = 0;
  int32_t to_width_px = 0, to_height_px = 0;
  int64_t step_x = 0, step_y = 0;  ///< bilinear: source pixels per output pixel, Q32
  // antialiased only
  uint8_t* narrowed = nullptr;             ///< C, height, to_width: after the horizontal pass
  int32_t across_taps = 0, down_taps = 0;  ///< first entry of each axis in taps()
};

FlatResize flat_resize(const ResizeJob& job);

/// Triangle filters of a batch; equal sizes share theirs.
class FlatTaps {
 public:
  struct Tap {
    int32_t first, count, weight;  ///< weight: index of the first one in weights()
  };

  void clear();
  /// Entry of output position 0 in taps().
  int32_t add(int in, int out);

  std::span<const Tap> taps() const { return taps_; }
  std::span<const int32_t> weights() const { return weights_; }

 private:
  struct Known {
    int in, out;
    int32_t first;
  };
  std::vector<Known> known_;
  std::vector<Tap> taps_;
  std::vector<int32_t> weights_;
};

namespace flat {

/// resize_bilinear_ref of resize.h at one pixel.
YOLOAD_HD inline uint8_t resized_level(const FlatResize& r, ResizeTap column, ResizeTap row,
                                       int channel) {
  const uint8_t* top = r.from + channel * r.plane + row.first * r.down;
  const uint8_t* bottom = r.from + channel * r.plane + row.second * r.down;
  const int64_t left = column.first * r.right, right = column.second * r.right;
  return static_cast<uint8_t>(blended(pixel_at(top + left), pixel_at(top + right),
                                      pixel_at(bottom + left), pixel_at(bottom + right),
                                      column.weight_q15, row.weight_q15));
}

/// One output of one pass of resize_antialiased: inputs lie `step` apart.
YOLOAD_HD inline uint8_t antialiased_level(const uint8_t* from, int64_t step, FlatTaps::Tap tap,
                                           const int32_t* weights) {
  int32_t sum = 1 << 21;
  for (int k = 0; k < tap.count; ++k) {
    sum += weights[tap.weight + k] * pixel_at(from + (tap.first + k) * step);
  }
  sum >>= 22;
  return static_cast<uint8_t>(sum < 0 ? 0 : sum > 255 ? 255 : sum);
}
YOLOAD_HD inline void narrow_pixel(const FlatResize& r, const FlatTaps::Tap* taps,
                                   const int32_t* weights, int channel, int x, int y) {
  r.narrowed[(static_cast<int64_t>(channel) * r.height_px + y) * r.to_width_px + x] =
      antialiased_level(r.from + channel * r.plane + y * r.down, r.right, taps[r.across_taps + x],
                        weights);
}
YOLOAD_HD inline void flatten_pixel(const FlatResize& r, const FlatTaps::Tap* taps,
                                    const int32_t* weights, int channel, int x, int y) {
  const uint8_t* column =
      r.narrowed + static_cast<int64_t>(channel) * r.height_px * r.to_width_px + x;
  r.to[channel * r.to_plane + y * r.to_row + x] =
      antialiased_level(column, r.to_width_px, taps[r.down_taps + y], weights);
}

}  // namespace flat
}  // namespace yoload
