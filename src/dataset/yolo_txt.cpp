// SPDX-License-Identifier: Apache-2.0
#include "dataset/yolo_txt.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <span>
#include <unordered_set>

#include "dataset/text_lines.h"

namespace yoload {
namespace {

using Severity = Problem::Severity;

constexpr float kTolerance = 0.01F;    // rounding of labelling tools at the border
constexpr float kFarOutside = 1;       // corners and keypoints farther out are not normalised
constexpr size_t kMaxProblems = 100;   // per file: a wrong file is wrong in every line
constexpr size_t kBoxColumns = 5;      // cls x y w h
constexpr size_t kCornerColumns = 9;   // cls and four corners
constexpr size_t kPolygonColumns = 7;  // cls and at least three points
constexpr const char* kWholeImage = "drops the whole image";

struct Fault {
  const char* kind = nullptr;  ///< null is success
  std::string cause;
  Severity severity = Severity::error;
  const char* reference = kWholeImage;
};

std::string printable(std::string_view word) {
  std::string text(word.substr(0, 24));
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = '?';
  }
  return "'" + text + "'" + (word.size() > 24 ? "..." : "");
}

Fault parse_number(std::string_view word, float& value) {
  std::string_view digits = word;
  if (digits.size() > 1 && digits[0] == '+' && digits[1] != '-') digits.remove_prefix(1);
  double number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error == std::errc::invalid_argument || end != digits.data() + digits.size()) {
    return {"not_a_number", printable(word) + " is not a number"};
  }
  value = static_cast<float>(number);
  if (error == std::errc::result_out_of_range || !std::isfinite(value)) {
    return {"not_finite", printable(word) + " is not a finite number"};
  }
  return {};
}

float clip(float value) {
  return std::clamp(value, 0.0F, 1.0F);
}

/// Are all coordinates within `margin` of the picture?
Fault check_range(std::span<const float> values, float margin) {
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  if (*low >= -margin && *high <= 1 + margin) return {};
  const float worst = *low < -margin ? *low : *high;
  Fault fault{"out_of_range", "coordinate " + std::to_string(worst) + " is outside 0..1"};
  if (*low >= 0 && *high >= 2) fault.cause += "; looks like pixels";
  return fault;
}

class Parser {
 public:
  explicit Parser(const LabelRules& rules) : rules_(rules) {}

  ParsedLabels parse(std::string_view text) {
    TextLines lines(text);
    while (lines.next()) {
      line_ = lines.number();
      const Fault fault = parse_line(lines.line());
      if (fault.kind != nullptr) report(fault);
    }
    if (rules_.task == Task::segment) judge_boxes_of_segment_set();
    if (unreported_ > 0) {
      line_ = 0;
      labels_.problems.push_back({Severity::note,
                                  "more_problems",
                                  {},
                                  0,
                                  std::to_string(unreported_) + " more problems in this file",
                                  {}});
    }
    return std::move(labels_);
  }

 private:
  void report(const Fault& fault) {
    if (labels_.problems.size() >= kMaxProblems) {
      ++unreported_;
      return;
    }
    labels_.problems.push_back(
        {fault.severity, fault.kind, {}, line_, fault.cause, fault.reference});
  }

  Fault parse_line(std::string_view line) {
    values_.clear();
    for (std::string_view word = take_word(line); !word.empty(); word = take_word(line)) {
      float value = 0;
      if (Fault fault = parse_number(word, value); fault.kind != nullptr) return fault;
      values_.push_back(value);
    }
    if (Fault fault = check_columns(); fault.kind != nullptr) return fault;
    if (Fault fault = check_class(); fault.kind != nullptr) return fault;
    if (!seen_.emplace(reinterpret_cast<const char*>(values_.data()), values_.size() * 4).second) {
      return {"duplicate_row", "same row as an earlier line", Severity::warning, "drops the row"};
    }
    switch (rules_.task) {
      case Task::pose:
        return add_pose();
      case Task::obb:
        return add_oriented();
      default:
        return values_.size() == kBoxColumns ? add_box() : add_polygon();
    }
  }

  Fault check_columns() const {
    const size_t columns = values_.size();
    const std::string got = std::to_string(columns) + " columns, ";
    if (rules_.task == Task::pose) {
      const size_t needed = kBoxColumns + static_cast<size_t>(rules_.kpt_count * rules_.kpt_dims);
      if (columns == needed) return {};
      return {"wrong_columns", got + std::to_string(needed) + " needed"};
    }
    if (columns == kBoxColumns) return {};
    if (rules_.task == Task::obb) {
      if (columns == kCornerColumns) return {};
      return {"wrong_columns", got + "9 needed (class and four corners)"};
    }
    if (columns >= kPolygonColumns && columns % 2 == 1) return {};
    if (columns == kBoxColumns + 1) {
      return {"wrong_columns", got + "5 needed; a prediction file with confidences?"};
    }
    if (columns < kBoxColumns) return {"wrong_columns", got + "5 needed"};
    return {"wrong_columns", got + "a polygon needs the class and pairs of x y"};
  }

  Fault check_class() {
    float& cls = values_[0];
    if (cls != std::floor(cls)) {
      return {"class_not_integer", "class " + std::to_string(cls) + " is not a whole number",
              Severity::error, "keeps the fraction"};
    }
    const int limit = rules_.single_cls || rules_.nc == 0 ? kMaxClasses : rules_.nc;
    if (cls < 0 || cls >= static_cast<float>(limit)) {
      return {"class_out_of_range", "class " + fmt::format("{:.0f}", cls) + " is outside 0.." +
                                        std::to_string(limit - 1)};
    }
    cls += 0.0F;  // -0 is 0
    return {};
  }

  float cls() const { return rules_.single_cls ? 0.0F : values_[0]; }

  /// Appends a row; `points` are those of its polygon, or none.
  Fault add_row(float x, float y, float w, float h, std::span<const float> points) {
    if (!(w > 0 && h > 0)) {
      return {"zero_size", "box without area", Severity::warning, "keeps it"};
    }
    labels_.rows.push_back({cls(), x, y, w, h});
    row_lines_.push_back(line_);
    if (!points.empty()) {
      labels_.polygon_counts.resize(labels_.rows.size() - 1);
      labels_.polygon_counts.push_back(static_cast<uint32_t>(points.size() / 2));
      labels_.polygon_points.insert(labels_.polygon_points.end(), points.begin(), points.end());
    } else if (!labels_.polygon_counts.empty()) {
      labels_.polygon_counts.push_back(0);
    }
    return {};
  }

  Fault add_hull(std::span<const float> points, bool keep_polygon) {
    float x1 = 1, y1 = 1, x2 = 0, y2 = 0;
    for (size_t i = 0; i < points.size(); i += 2) {
      x1 = std::min(x1, clip(points[i])), x2 = std::max(x2, clip(points[i]));
      y1 = std::min(y1, clip(points[i + 1])), y2 = std::max(y2, clip(points[i + 1]));
    }
    return add_row((x1 + x2) / 2, (y1 + y2) / 2, x2 - x1, y2 - y1,
                   keep_polygon ? points : std::span<const float>());
  }

  Fault add_box() {
    const std::span<float> box = std::span(values_).subspan(1, 4);
    if (Fault fault = check_range(box, kTolerance); fault.kind != nullptr) return fault;
    return add_row(clip(box[0]), clip(box[1]), clip(box[2]), clip(box[3]), {});
  }

  Fault add_polygon() {
    const std::span<float> points = std::span(values_).subspan(1);
    if (Fault fault = check_range(points, kTolerance); fault.kind != nullptr) return fault;
    std::transform(points.begin(), points.end(), points.begin(), clip);
    return add_hull(points, rules_.task == Task::segment);
  }

  Fault add_oriented() {
    if (values_.size() == kBoxColumns) {
      const std::span<const float> box = std::span(values_).subspan(1);
      if (Fault fault = check_range(box, kTolerance); fault.kind != nullptr) return fault;
      const float x = clip(box[0]), y = clip(box[1]), w = clip(box[2]) / 2, h = clip(box[3]) / 2;
      const float corners[] = {x - w, y - h, x + w, y - h, x + w, y + h, x - w, y + h};
      return add_row(x, y, 2 * w, 2 * h, corners);
    }
    const std::span<const float> corners = std::span(values_).subspan(1);
    if (Fault fault = check_range(corners, kFarOutside); fault.kind != nullptr) return fault;
    return add_hull(corners, true);
  }

  Fault add_pose() {
    const auto count = static_cast<size_t>(rules_.kpt_count);
    const auto dims = static_cast<size_t>(rules_.kpt_dims);
    std::vector<float> keypoints;
    keypoints.reserve(count * 3);
    bool outside = false;
    for (size_t k = 0; k < count; ++k) {
      const std::span<const float> point = std::span(values_).subspan(kBoxColumns + k * dims, dims);
      if (Fault fault = check_range(point.first(2), kFarOutside); fault.kind != nullptr) {
        return fault;
      }
      const float x = point[0], y = point[1];
      float visibility =
          x < 0 || y < 0 ? 0.0F : 1.0F;  // two columns: a negative point is unlabelled
      if (dims == 3) {
        visibility = point[2];
        if (visibility != 0 && visibility != 1 && visibility != 2) {
          return {"bad_visibility",
                  "visibility " + std::to_string(visibility) + " is not 0, 1 or 2", Severity::error,
                  "keeps it"};
        }
      }
      if (visibility > 0 && check_range(point.first(2), kTolerance).kind != nullptr) {
        visibility = 0;
        outside = true;
      }
      keypoints.insert(keypoints.end(), {clip(x), clip(y), visibility});
    }
    if (Fault fault = add_box(); fault.kind != nullptr) return fault;
    labels_.keypoints.insert(labels_.keypoints.end(), keypoints.begin(), keypoints.end());
    if (outside) {
      report({"keypoint_outside", "keypoint outside the picture: taken as invisible",
              Severity::warning});
    }
    return {};
  }

  void judge_boxes_of_segment_set() {
    const bool keep = !labels_.polygon_counts.empty();
    for (size_t i = 0; i < row_lines_.size(); ++i) {
      if (keep && i < labels_.polygon_counts.size() && labels_.polygon_counts[i] > 0) continue;
      line_ = row_lines_[i];
      if (keep) {
        report({"box_without_polygon", "a box in a segment set: trains without a mask",
                Severity::warning, "reads it as a polygon of two points"});
      } else {
        report({"box_without_polygon", "a box, but the segment task needs a polygon",
                Severity::error, "drops all polygons of the data set"});
      }
    }
    if (!keep) labels_.rows.clear();
  }

  const LabelRules& rules_;
  ParsedLabels labels_;
  std::vector<uint32_t> row_lines_;  // in step with the rows
  std::vector<float> values_;        // numbers of the current line
  std::unordered_set<std::string> seen_;
  uint32_t line_ = 0;
  uint64_t unreported_ = 0;
};

}  // namespace

ParsedLabels parse_yolo_txt(std::string_view text, const LabelRules& rules) {
  return Parser(rules).parse(text);
}

}  // namespace yoload
