// Boxes that formats give in pixels of the real picture: checked, clipped and normalised in one
// place. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/image_info.h"
#include "dataset/parsed_labels.h"

namespace yoload {

struct PixelBox {
  double x0 = 0, y0 = 0, x1 = 0, y1 = 0;
};

/// Appends the part of the box inside the picture as a row. False, with a Problem, when the numbers
/// are not finite, a side is not positive, or nothing lies inside.
bool append_pixel_box(float cls, const PixelBox& box, const ImageInfo& info,
                      const std::string& path, uint32_t line, ParsedLabels* labels);

/// Appends a Problem of severity error.
void complain(const char* kind, const std::string& path, uint32_t line, std::string cause,
              ParsedLabels* labels);

/// Removes the row appended last if an equal one came before, with a warning; true when it did.
bool drop_repeated_row(const std::string& path, uint32_t line, ParsedLabels* labels);

}  // namespace yoload
