// What `check` looks for beyond the scan: findings that need several files or all of them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "core/dataset_index.h"
#include "dataset/parsed_labels.h"

namespace yoload {

/// What was learnt by reading a picture once.
struct PictureFact {
  uint64_t content_hash = 0;  ///< 0 where the file could not be read
  int orientation = 1;        ///< EXIF
};

/// A split with its pictures' facts, in step with index->images.
struct CheckedSplit {
  std::string name;
  const DatasetIndex* index = nullptr;
  std::vector<PictureFact> facts;
};

/// Label files in the folders of the split's labels that belong to no picture on disk.
void find_orphan_labels(const DatasetIndex& index, std::vector<Problem>* problems);
/// Pictures of a split with the same bytes.
void find_duplicates(const CheckedSplit& split, std::vector<Problem>* problems);
/// Pictures of `other` whose bytes are in `train` too.
void find_leaks(const CheckedSplit& train, const CheckedSplit& other,
                std::vector<Problem>* problems);
/// A split with fewer than ten pictures, or without a single object.
void find_thin_split(const CheckedSplit& split, std::vector<Problem>* problems);

/// Objects by the area that they have once the picture is imgsz long: under 8, 32 and 96 px
/// squared, and larger (COCO's classes, with tiny ones apart).
struct BoxSizes {
  uint64_t tiny = 0, small = 0, medium = 0, large = 0;
  uint64_t under_filter =
      0;  ///< the reference's size filter would drop these at once (SEMANTICS 14)
};
BoxSizes box_sizes(const DatasetIndex& index, int imgsz);

}  // namespace yoload
