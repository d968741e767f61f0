// Neighbourhood and histogram operations on a whole sample: blur, median, gray, CLAHE.
//
// They run on about one sample in a hundred each, so they are plain integer code without a vector
// twin; both executors call the same functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "augment/run.h"
#include "core/image.h"
#include "core/plan.h"

namespace yoload {

/// Applies the filters in order, in place. A 1-channel picture skips to_gray.
void apply_filters(const std::vector<PlanFilter>& filters, MutableImageView sample,
                   RenderScratch& scratch);

/// Mean over size x size, borders mirrored without the edge pixel, halves rounded up.
void box_blur(ImageView in, int size_px, MutableImageView out, RenderScratch& scratch);
/// Median over size x size, borders repeated.
void median_blur(ImageView in, int size_px, MutableImageView out, RenderScratch& scratch);
/// All three channels become (9798 R + 19235 G + 3735 B + 16384) >> 15.
void to_gray(MutableImageView sample);
/// Contrast-limited adaptive histogram equalisation of L in L*a*b* (three channels), or of every
/// channel by itself.
void clahe(MutableImageView sample, int tiles_per_side, double clip_limit, RenderScratch& scratch);

}  // namespace yoload
