// Turned pictures and resizing jobs for tests.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "augment/resize.h"
#include "augment/resize_antialias.h"
#include "augment/test_noise.h"
#include "core/image.h"

namespace yoload {

/// The upright picture of one stored with an EXIF orientation: turned and mirrored step by step.
inline Image upright(const Image& stored, int orientation) {
  const ImageView from = stored.view();
  const bool turned = orientation >= 5;
  Image image(nullptr, turned ? from.height_px : from.width_px,
              turned ? from.width_px : from.height_px, from.channels);
  const MutableImageView to = image.mutable_view();
  for (int c = 0; c < from.channels; ++c) {
    for (int y = 0; y < from.height_px; ++y) {
      for (int x = 0; x < from.width_px; ++x) {
        const int w = from.width_px - 1, h = from.height_px - 1;
        // Where the stored pixel (x, y) is seen.
        const int seen[8][2] = {{x, y}, {w - x, y}, {w - x, h - y}, {x, h - y},
                                {y, x}, {h - y, x}, {h - y, w - x}, {y, w - x}};
        to.at(c, seen[orientation - 1][1], seen[orientation - 1][0]) = from.at(c, y, x);
      }
    }
  }
  return image;
}

/// A stored picture and what its upright resized twin must be.
struct ResizeCase {
  Image stored, expected;
  int orientation = 1;
};

/// Odd sizes, all orientations, growing, shrinking and keeping each axis.
inline std::vector<ResizeCase> resize_cases(bool antialias) {
  struct Sizes {
    int from_w, from_h, to_w, to_h;  // `from` upright
  };
  std::vector<ResizeCase> cases;
  RenderScratch scratch;
  for (const Sizes& s :
       {Sizes{37, 21, 64, 36}, Sizes{130, 97, 64, 48}, Sizes{64, 48, 64, 48}, Sizes{1, 1, 5, 7},
        Sizes{5, 300, 5, 31}, Sizes{300, 5, 31, 5}, Sizes{201, 77, 1, 1}, Sizes{2, 2, 3, 1}}) {
    for (int orientation = 1; orientation <= 8; ++orientation) {
      for (const int channels : {3, 1}) {
        const bool turned = orientation >= 5;
        ResizeCase c;
        c.orientation = orientation;
        c.stored = noise(turned ? s.from_h : s.from_w, turned ? s.from_w : s.from_h, channels,
                         static_cast<uint32_t>(s.from_w * 8 + orientation));
        c.expected = Image(nullptr, s.to_w, s.to_h, channels);
        const Image seen = upright(c.stored, orientation);
        if (antialias) {
          resize_antialiased(seen.view(), c.expected.mutable_view());
        } else {
          resize_bilinear_ref(seen.view(), c.expected.mutable_view());
        }
        cases.push_back(std::move(c));
      }
    }
  }
  return cases;
}

/// The first pixel that differs, as text; empty when equal.
inline std::string difference(ImageView a, ImageView b) {
  for (int c = 0; c < a.channels; ++c) {
    for (int y = 0; y < a.height_px; ++y) {
      for (int x = 0; x < a.width_px; ++x) {
        if (a.at(c, y, x) != b.at(c, y, x)) {
          return "channel " + std::to_string(c) + ", (" + std::to_string(x) + ", " +
                 std::to_string(y) + "): " + std::to_string(a.at(c, y, x)) + " and " +
                 std::to_string(b.at(c, y, x));
        }
      }
    }
  }
  return {};
}

}  // namespace yoload
