// The kernels' twin on the CPU: the same per-thread functions, thread after thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "augment/flat_filter.h"
#include "augment/flat_plan.h"
#include "augment/flat_render.h"
#include "augment/lab.h"
#include "augment/run_testing.h"

namespace yoload {

inline FlatOutput flat_output(const BatchCase& batch) {
  FlatOutput output;
  output.dtype = batch.dtype, output.format = batch.format;
  std::copy(batch.mul.begin(), batch.mul.end(), output.mul);
  std::copy(batch.add.begin(), batch.add.end(), output.add);
  return output;
}

/// What the most demanding sample needs, so that the others wait for another round now and then.
inline size_t scratch_bytes(const BatchCase& batch) {
  size_t bytes = 0;
  for (const Case& c : batch.samples) {
    bytes = std::max(bytes, FlatBatch::scratch_bytes(c.plan, batch.channels));
  }
  return bytes;
}

inline flat::Shown vote(const FlatSample& sample, const FlatLayer& layer,
                        std::span<const FlatTile> tiles, int x, int y) {
  const flat::Footprint at = flat::footprint(sample, layer, x, y);
  uint32_t touched = 0, holding = 0;
  for (int i = 0; i < layer.tiles; ++i) {
    const FlatTile& tile = tiles[static_cast<size_t>(layer.first_tile + i)];
    if (flat::touches(tile, at)) touched |= 1u << i;
    if (flat::holds(tile, at)) holding |= 1u << i;
  }
  return flat::shown(touched, holding);
}

inline void render_on_host(FlatKind kind, const FlatSample& sample, const FlatOutput& output,
                           const flat::FlatArrays& arrays, std::span<const FlatTile> tiles) {
  for (int y = 0; y < sample.height_px; y += flat::kPatchHeight) {
    for (int x = 0; x < sample.width_px; x += flat::kPatchWidth) {
      const flat::Shown shows[2] = {vote(sample, sample.layers[0], tiles, x, y),
                                    vote(sample, sample.layers[1], tiles, x, y)};
      for (int lane = 0; lane < 32; ++lane) {
        switch (kind) {
          case FlatKind::exact_axis:
            flat::render_plain<false, false>(sample, output, arrays, x, y, shows[0], lane);
            break;
          case FlatKind::fused_axis:
            flat::render_plain<true, false>(sample, output, arrays, x, y, shows[0], lane);
            break;
          case FlatKind::exact_affine:
            flat::render_plain<false, true>(sample, output, arrays, x, y, shows[0], lane);
            break;
          case FlatKind::fused_affine:
            flat::render_plain<true, true>(sample, output, arrays, x, y, shows[0], lane);
            break;
          case FlatKind::any:
            flat::render_any(sample, output, arrays, x, y, shows, lane);
            break;
        }
      }
    }
  }
}

inline void filter_on_host(const FlatFilter& f) {
  const int64_t pixels = int64_t{f.width_px} * f.height_px;
  const auto every = [&](int channels, const auto& pixel) {
    for (int channel = 0; channel < channels; ++channel) {
      for (int y = 0; y < f.height_px; ++y) {
        for (int x = 0; x < f.width_px; ++x) pixel(channel, x, y);
      }
    }
  };
  switch (f.filter.kind) {
    case FilterKind::blur:
      every(f.channels, [&](int c, int x, int y) { flat::blur_pixel(f, c, x, y); });
      break;
    case FilterKind::median_blur:
      every(f.channels, [&](int c, int x, int y) { flat::median_pixel(f, c, x, y); });
      break;
    case FilterKind::to_gray:
      for (int64_t at = 0; at < pixels; ++at) flat::gray_pixel(f, at);
      break;
    case FilterKind::clahe: {
      const int planes = f.channels == 3 ? 1 : f.channels;
      if (f.channels == 3) {
        for (int64_t at = 0; at < pixels; ++at) flat::lab_pixel(f, lab_tables(), at);
      }
      const int tiles_x = flat::clahe_tiles(f.filter.size_px, f.width_px),
                tiles_y = flat::clahe_tiles(f.filter.size_px, f.height_px);
      for (int channel = 0; channel < planes; ++channel) {
        for (int ty = 0; ty < tiles_y; ++ty) {
          for (int tx = 0; tx < tiles_x; ++tx) {
            std::array<int, 256> histogram{};
            const int x0 = tile_edge(tx, f.width_px, tiles_x),
                      x1 = tile_edge(tx + 1, f.width_px, tiles_x),
                      y0 = tile_edge(ty, f.height_px, tiles_y),
                      y1 = tile_edge(ty + 1, f.height_px, tiles_y);
            for (int y = y0; y < y1; ++y) {
              for (int x = x0; x < x1; ++x) {
                ++histogram[flat::clahe_plane(f, channel)[int64_t{y} * f.width_px + x]];
              }
            }
            equalising_table(histogram.data(), (x1 - x0) * (y1 - y0), f.filter.clip_q8 / 256.0,
                             flat::clahe_table(f, channel, tx, ty));
          }
        }
      }
      every(planes, [&](int c, int x, int y) { flat::clahe_pixel(f, lab_tables(), c, x, y); });
      break;
    }
  }
}

/// Runs the launches of a batch one after the other.
inline void run_on_host(const FlatBatch& batch, const FlatOutput& output) {
  static const uint8_t pad = kPadValue;
  const flat::FlatArrays arrays = {batch.tiles().data(), batch.masks().data(), &pad};
  for (const FlatStep& step : batch.steps()) {
    const auto first = static_cast<size_t>(step.first), count = static_cast<size_t>(step.count);
    switch (step.kind) {
      case FlatStep::Kind::render:
        for (const FlatSample& sample : batch.samples().subspan(first, count)) {
          render_on_host(step.render, sample, step.into_scratch ? FlatOutput{} : output, arrays,
                         batch.tiles());
        }
        break;
      case FlatStep::Kind::paste: {
        const FlatPaste& paste = batch.pastes()[first];
        for (int channel = 0; channel < paste.channels; ++channel) {
          for (int y = 0; y < paste.height_px; ++y) {
            for (int left = 0; left < paste.width_px / 2; ++left) {
              flat::paste_pixel(paste, arrays.masks, channel, left, y);
            }
          }
        }
        break;
      }
      case FlatStep::Kind::filter:
        filter_on_host(batch.filters()[first]);
        break;
    }
  }
}

}  // namespace yoload
