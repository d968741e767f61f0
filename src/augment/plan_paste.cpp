// SPDX-License-Identifier: Apache-2.0
#include "augment/plan_paste.h"

#include <algorithm>
#include <utility>

#include "augment/exact_math.h"

namespace yoload {

void paste_mirrored(double probability, int canvas_width_px, std::vector<LabelObject>* objects,
                    std::vector<PlanPaste>* pastes) {
  constexpr double kMaxCover = 0.30;
  if (!(probability > 0) || objects->empty()) return;
  std::vector<std::pair<double, LabelObject>> candidates;
  for (const LabelObject& object : *objects) {
    if (object.polygon.size() < 3) continue;
    std::vector<LabelObject> copy = {object};
    flip_objects(false, true, canvas_width_px, 0, {}, &copy);
    double cover = 0;
    for (const LabelObject& other : *objects) {
      cover = std::max(cover, copy[0].box.intersect(other.box).area() / other.box.area());
    }
    if (cover < kMaxCover) candidates.emplace_back(cover, std::move(copy[0]));
  }
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  const double wanted = std::min(probability, 1.0) * static_cast<double>(candidates.size());
  // Half to even, as Python's round().
  auto count = static_cast<size_t>(exact::floor_to_int(wanted + 0.5));
  if (static_cast<double>(count) - wanted == 0.5 && count % 2 == 1) --count;
  for (size_t i = 0; i < count; ++i) {
    PlanPaste paste;
    for (const Point& p : candidates[i].second.polygon) {
      paste.polygon.push_back(static_cast<float>(p.x));
      paste.polygon.push_back(static_cast<float>(p.y));
    }
    pastes->push_back(std::move(paste));
    objects->push_back(std::move(candidates[i].second));
  }
}

}  // namespace yoload
