// COCO annotation files: images, annotations and categories in one JSON document.
//
// Rules. Category ids become classes 0, 1, ... in ascending order of id. Boxes are pixels and are
// normalised by the picture's real size, not by the one in the file. Crowd annotations are no
// training objects and are skipped with a note. Polygons of several parts are joined through their
// nearest points into one; masks given as run lengths leave the box without a polygon. A file_name
// is a path below the image folder and may not leave it. Ids may be integers, floats with a whole
// value, or strings; an image id that stands twice keeps its first image. A document that is no
// valid COCO file is refused with the cause. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "dataset/discovery.h"
#include "dataset/label_source.h"

namespace yoload {

struct CocoDataset {
  PictureList pictures;  ///< of all images that exist on disk, in the file's order
  std::vector<std::string> names;
  int kpt_count = 0;  ///< keypoints of the category that has some, else 0
  std::unique_ptr<LabelSource> labels;
};

/// `image_root` is "" to look for the pictures: beside the file, in ../images and images/, there
/// also in a folder called like the split or like the file (instances_train2017.json -> train2017).
Result<CocoDataset> open_coco(const std::string& path, const std::string& image_root,
                              const std::string& split, Task task);

}  // namespace yoload
