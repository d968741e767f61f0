// Labels of one finished sample, and the counts of what was dropped on the way and why.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace yoload {

/// Objects removed by the augmentation, by reason; a dropped object counts once.
struct DropCounts {
  uint64_t outside = 0;     ///< nothing left inside the frame
  uint64_t too_small = 0;   ///< a side of at most 2 px (or min_box_px)
  uint64_t aspect = 0;      ///< aspect ratio of 100 or more
  uint64_t area = 0;        ///< too small a share of the object's area left
  uint64_t empty_mask = 0;  ///< the mask vanished at mask_ratio

  uint64_t total() const { return outside + too_small + aspect + area + empty_mask; }
  void add(const DropCounts& other) {
    outside += other.outside;
    too_small += other.too_small;
    aspect += other.aspect;
    area += other.area;
    empty_mask += other.empty_mask;
  }
};

/// n objects. Coordinates are normalised by the output size, except polygons (output pixels).
struct SampleLabels {
  std::vector<float> cls;                 // n
  std::vector<float> bboxes;              // n,4 x y w h; OBB: n,5 x y w h r (radians)
  std::vector<float> keypoints;           // n,K,3 x y visibility
  std::vector<uint64_t> polygon_offsets;  // n+1, or empty
  std::vector<float> polygons;            // P,2 output pixels
  std::vector<int32_t> mask;  // segment: mask_h,mask_w instance numbers 1..n (overlap) ...
  int32_t mask_width_px = 0;  //   ... or n,mask_h,mask_w of 0/1 without overlap_mask
  int32_t mask_height_px = 0;
  DropCounts dropped;

  size_t size() const { return cls.size(); }
};

}  // namespace yoload
