// SPDX-License-Identifier: Apache-2.0
#include "augment/plan_paste.h"

#include <algorithm>
#include <utility>

#include "augment/exact_math.h"

namespace yoload {
namespace {

constexpr double kMaxCover = 0.30;

/// Adds those of `copies` that cover less than kMaxCover of every object, and of them the first
/// round(probability * n), least covering first.
void paste(double probability, std::vector<LabelObject> copies, std::vector<LabelObject>* objects,
           std::vector<PlanPaste>* pastes) {
  std::vector<std::pair<double, LabelObject>> candidates;
  for (LabelObject& copy : copies) {
    if (copy.polygon.size() < 3) continue;
    double cover = 0;
    for (const LabelObject& other : *objects) {
      cover = std::max(cover, copy.box.intersect(other.box).area() / other.box.area());
    }
    if (cover < kMaxCover) candidates.emplace_back(cover, std::move(copy));
  }
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  const double wanted = std::min(probability, 1.0) * static_cast<double>(candidates.size());
  // Half to even, as Python's round().
  auto count = static_cast<size_t>(exact::floor_to_int(wanted + 0.5));
  if (static_cast<double>(count) - wanted == 0.5 && count % 2 == 1) --count;
  for (size_t i = 0; i < count; ++i) {
    PlanPaste outline;
    for (const Point& p : candidates[i].second.polygon) {
      outline.polygon.push_back(static_cast<float>(p.x));
      outline.polygon.push_back(static_cast<float>(p.y));
    }
    pastes->push_back(std::move(outline));
    objects->push_back(std::move(candidates[i].second));
  }
}

}  // namespace

void paste_mirrored(double probability, int canvas_width_px, std::vector<LabelObject>* objects,
                    std::vector<PlanPaste>* pastes) {
  if (!(probability > 0)) return;
  std::vector<LabelObject> copies = *objects;
  flip_objects(false, true, canvas_width_px, 0, {}, &copies);
  paste(probability, std::move(copies), objects, pastes);
}

void paste_partner(double probability, std::vector<LabelObject> partner,
                   std::vector<LabelObject>* objects, std::vector<PlanPaste>* pastes) {
  paste(probability, std::move(partner), objects, pastes);
}

}  // namespace yoload
