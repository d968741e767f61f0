// SPDX-License-Identifier: Apache-2.0
#include "dataset/pixel_box.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace yoload {

void complain(const char* kind, const std::string& path, uint32_t line, std::string cause,
              ParsedLabels* labels) {
  labels->problems.push_back({Problem::Severity::error, kind, path, line, std::move(cause), ""});
}

bool append_pixel_box(float cls, const PixelBox& box, const ImageInfo& info,
                      const std::string& path, uint32_t line, ParsedLabels* labels) {
  const auto refuse = [&](const char* kind, const char* cause) {
    complain(kind, path, line,
             fmt::format("{}: ({}, {}) to ({}, {}) in a {}x{} picture", cause, box.x0, box.y0,
                         box.x1, box.y1, info.width_px, info.height_px),
             labels);
    return false;
  };
  for (const double value : {box.x0, box.y0, box.x1, box.y1}) {
    if (!std::isfinite(value)) return refuse("not_finite", "a coordinate is not a finite number");
  }
  if (!(box.x1 > box.x0) || !(box.y1 > box.y0))
    return refuse("degenerate_box", "the box has no area");
  const double width = info.width_px, height = info.height_px;
  const double x0 = std::clamp(box.x0, 0.0, width), x1 = std::clamp(box.x1, 0.0, width);
  const double y0 = std::clamp(box.y0, 0.0, height), y1 = std::clamp(box.y1, 0.0, height);
  if (!(x1 > x0) || !(y1 > y0)) return refuse("box_outside", "the box lies outside of the picture");
  labels->rows.push_back(
      {cls, static_cast<float>((x0 + x1) / 2 / width), static_cast<float>((y0 + y1) / 2 / height),
       static_cast<float>((x1 - x0) / width), static_cast<float>((y1 - y0) / height)});
  return true;
}

bool drop_repeated_row(const std::string& path, uint32_t line, ParsedLabels* labels) {
  const LabelRow& last = labels->rows.back();
  const auto same = [&](const LabelRow& row) {
    return row.cls == last.cls && row.x == last.x && row.y == last.y && row.w == last.w &&
           row.h == last.h;
  };
  if (std::none_of(labels->rows.begin(), labels->rows.end() - 1, same)) return false;
  labels->rows.pop_back();
  labels->problems.push_back({Problem::Severity::warning, "duplicate_row", path, line,
                              "the same object again: kept once", "keeps one"});
  return true;
}

}  // namespace yoload
