// Pascal VOC annotations: one XML file a picture.
//
// Rules. Pixels count from 1 and both ends belong to the box, so a box is [xmin - 1, xmax) x [ymin
// - 1, ymax); files that count from 0 lose nothing, since boxes are clipped to the picture. The
// size in the file is ignored, the picture's own counts. The file belongs to the picture with the
// same stem, whatever its <filename> says. Objects marked difficult are kept. An object's own
// <bndbox> counts, not those of its <part>s. Entities are never expanded. SPDX-License-Identifier:
// Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "dataset/discovery.h"
#include "dataset/label_source.h"

namespace yoload {

/// Objects of one annotation file. A file that is not well-formed gives one problem, with its line.
ParsedLabels parse_voc(std::string_view xml, const std::string& path, const ImageInfo& info,
                       const std::vector<std::string>& names);

/// A folder with Annotations/ and JPEGImages/ (or images/).
struct VocDataset {
  PictureList pictures;
  std::vector<std::string> names;  ///< classes.txt, else all names found, sorted
  std::unique_ptr<LabelSource> labels;
};

bool is_voc_folder(const std::string& folder);
/// Pictures of ImageSets/Main/<split>.txt where that exists, else all of them.
Result<VocDataset> open_voc(const std::string& folder, const std::string& split);

}  // namespace yoload
