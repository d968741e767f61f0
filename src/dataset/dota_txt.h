// DOTA text for oriented boxes: `x1 y1 x2 y2 x3 y3 x4 y4 class difficult`, pixels, optional header
// lines.
//
// Rules. Lines `imagesource:` and `gsd:` are skipped. The difficulty may be missing. Corners may
// lie outside the picture; the row's box is the clipped hull, the polygon keeps the corners.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "dataset/discovery.h"
#include "dataset/label_source.h"

namespace yoload {

ParsedLabels parse_dota(std::string_view text, const std::string& path, const ImageInfo& info,
                        const std::vector<std::string>& names);

/// A folder with labelTxt/ and images/. Class names come from classes.txt, else from the labels,
/// sorted.
struct DotaDataset {
  PictureList pictures;
  std::vector<std::string> names;
  std::unique_ptr<LabelSource> labels;
};

bool is_dota_folder(const std::string& folder);
Result<DotaDataset> open_dota(const std::string& folder);

}  // namespace yoload
