// SPDX-License-Identifier: Apache-2.0
#include "augment/resize.h"

#include <vector>

#include "augment/column_kernels.h"
#include "augment/pixel.h"
#include "augment/resize_tap.h"
#include "augment/scratch.h"

namespace yoload {
namespace {

ResizeTap tap(int i, int from, int to) {
  return resize_tap(i, resize_step(from, to), from);
}

}  // namespace

void resize_bilinear_ref(ImageView source, MutableImageView target) {
  for (int channel = 0; channel < target.channels; ++channel) {
    for (int y = 0; y < target.height_px; ++y) {
      const ResizeTap row = tap(y, source.height_px, target.height_px);
      for (int x = 0; x < target.width_px; ++x) {
        const ResizeTap column = tap(x, source.width_px, target.width_px);
        const auto blended = [&](int sx) {
          return lerp_q7(q7(source.at(channel, row.first, sx)),
                         q7(source.at(channel, row.second, sx)), row.weight_q15);
        };
        target.at(channel, y, x) =
            level_of_q7(lerp_q7(blended(column.first), blended(column.second), column.weight_q15));
      }
    }
  }
}

void resize_bilinear_simd(ImageView source, MutableImageView target, RenderScratch* scratch) {
  ColumnTable table;
  table.resize(static_cast<size_t>(target.width_px));
  for (int x = 0; x < target.width_px; ++x) {
    const ResizeTap column = tap(x, source.width_px, target.width_px);
    table.index[static_cast<size_t>(x)] = column.first;
    table.weight_q15[static_cast<size_t>(x)] =
        static_cast<int16_t>(column.second == column.first ? 0 : column.weight_q15);
  }
  table.finish();
  const auto width = static_cast<size_t>(source.width_px);
  std::vector<int16_t>& blended = scratch->buffers().blended;
  if (blended.size() < width + 192) blended.resize(width + 192);
  // Two output rows on: the decoder left the picture in another core's cache, or in none.
  const ptrdiff_t ahead_bytes = 2 * static_cast<ptrdiff_t>(source.height_px) / target.height_px *
                                static_cast<ptrdiff_t>(source.row_stride_bytes);
  for (int channel = 0; channel < target.channels; ++channel) {
    for (int y = 0; y < target.height_px; ++y) {
      const ResizeTap row = tap(y, source.height_px, target.height_px);
      blend_rows(source.row(channel, row.first), source.row(channel, row.second), row.weight_q15,
                 width, ahead_bytes, blended.data());
      sample_columns(blended.data(), table, {0, table.columns}, target.row(channel, y));
    }
  }
}

}  // namespace yoload
