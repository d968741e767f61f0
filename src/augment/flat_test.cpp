// The kernels' arithmetic on the CPU against the reference executor. The same plans run on a GPU in
// cuda/run_cuda_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "augment/flat_resize.h"
#include "augment/flat_testing.h"
#include "augment/pixel.h"
#include "augment/resize_testing.h"
#include "augment/run.h"
#include "augment/run_testing.h"
#include "core/render_target.h"

namespace yoload {
namespace {

TEST(FlatBatch, RendersABatchOfRandomPlansAsTheReferenceDoes) {
  FlatBatch batch;
  std::set<FlatKind> kinds;
  int scratch_renders = 0, pastes = 0, filters = 0;
  for (uint32_t seed = 0; seed < 240; ++seed) {
    BatchCase c = random_batch(seed, 5);
    const Bytes expected = reference(&c);
    Bytes out(expected.size(), 0xa5);
    std::vector<uint8_t> scratch(scratch_bytes(c));
    batch.begin(flat_output(c), scratch.data(), scratch.size());
    for (size_t i = 0; i < c.samples.size(); ++i) {
      batch.add(c.samples[i].plan, c.samples[i].tiles, c.channels, out.data() + c.place(i));
    }
    batch.finish();
    run_on_host(batch, flat_output(c));
    for (const FlatStep& step : batch.steps()) {
      if (step.kind == FlatStep::Kind::render) kinds.insert(step.render);
      scratch_renders += step.kind == FlatStep::Kind::render && step.into_scratch ? 1 : 0;
      pastes += step.kind == FlatStep::Kind::paste ? 1 : 0;
      filters += step.kind == FlatStep::Kind::filter ? 1 : 0;
    }
    for (size_t i = 0; i < c.samples.size(); ++i) {
      const auto from = static_cast<ptrdiff_t>(c.place(i)),
                 to = static_cast<ptrdiff_t>(c.place(i + 1));
      ASSERT_TRUE(std::equal(out.begin() + from, out.begin() + to, expected.begin() + from))
          << "seed " << seed << ", sample " << i << "\n"
          << c.samples[i].plan.to_string();
    }
  }
  EXPECT_EQ(kinds.size(), size_t{kFlatKinds});
  EXPECT_GT(scratch_renders, 100);
  EXPECT_GT(pastes, 100);
  EXPECT_GT(filters, 100);
}

TEST(FlatPixel, BlendsAsTheReferenceDoesForEveryCornerAndManyWeights) {
  uint32_t state = 1;
  const auto next = [&](uint32_t below) {
    state = state * 1664525u + 1013904223u;
    return static_cast<int>((state >> 8) % below);
  };
  for (int i = 0; i < 2'000'000; ++i) {
    const int a = next(256), b = next(256), c = next(256), d = next(256);
    const int wx = i % 16 == 0 ? 32767 : next(32768), wy = i % 32 == 0 ? 0 : next(32768);
    const auto level = [](int v) { return q7(static_cast<uint8_t>(v)); };
    const int expected =
        level_of_q7(lerp_q7(lerp_q7(level(a), level(c), wy), lerp_q7(level(b), level(d), wy), wx));
    ASSERT_EQ(flat::blended(a, b, c, d, wx, wy), static_cast<float>(expected));
  }
}

TEST(FlatPixel, ConvertsEveryColourAsTheReferenceDoes) {
  // All values and ranges decide saturation and hue steps; three gains and shifts see the rest.
  const PlanHsv shifts[] = {
      {true, 0, 32768, 32768}, {true, 179, 65535, 20000}, {true, 91, 777, 65535}};
  for (const PlanHsv& hsv : shifts) {
    FlatSample sample;
    sample.hue_shift = static_cast<float>(hsv.hue_shift);
    sample.sat_gain = static_cast<float>(hsv.sat_gain_q15) * 0x1p-15f;
    sample.val_gain = static_cast<float>(hsv.val_gain_q15) * 0x1p-15f;
    const int step = hsv.hue_shift == 179 ? 1 : 3;
    for (int r = 0; r < 256; r += step) {
      for (int g = 0; g < 256; ++g) {
        for (int b = 0; b < 256; b += step) {
          float rgb[3] = {static_cast<float>(r), static_cast<float>(g), static_cast<float>(b)};
          flat::hsv_levels(sample, &rgb[0], &rgb[1], &rgb[2]);
          const auto expected = hsv_pixel(static_cast<uint8_t>(r), static_cast<uint8_t>(g),
                                          static_cast<uint8_t>(b), hsv);
          for (size_t c = 0; c < 3; ++c) {
            ASSERT_EQ(rgb[c], static_cast<float>(expected[c])) << r << " " << g << " " << b;
          }
        }
      }
    }
  }
}

TEST(FlatResize, TurnsAndResizesAsTheReferenceDoes) {
  for (const ResizeCase& c : resize_cases(false)) {
    Image to(nullptr, c.expected.width_px(), c.expected.height_px(), c.expected.channels());
    const FlatResize r = flat_resize({c.stored.view(), c.orientation, to.mutable_view()});
    for (int channel = 0; channel < r.channels; ++channel) {
      for (int y = 0; y < r.to_height_px; ++y) {
        for (int x = 0; x < r.to_width_px; ++x) {
          to.mutable_view().at(channel, y, x) =
              flat::resized_level(r, resize_tap(x, r.step_x, r.width_px),
                                  resize_tap(y, r.step_y, r.height_px), channel);
        }
      }
    }
    ASSERT_EQ(difference(to.view(), c.expected.view()), "") << "orientation " << c.orientation;
  }
}

TEST(FlatResize, TurnsAndResizesWithAntialiasingAsTheReferenceDoes) {
  FlatTaps taps;
  for (const ResizeCase& c : resize_cases(true)) {
    Image to(nullptr, c.expected.width_px(), c.expected.height_px(), c.expected.channels());
    FlatResize r = flat_resize({c.stored.view(), c.orientation, to.mutable_view()});
    r.across_taps = taps.add(r.width_px, r.to_width_px);
    r.down_taps = taps.add(r.height_px, r.to_height_px);
    Bytes narrowed(static_cast<size_t>(r.channels * r.height_px * r.to_width_px));
    r.narrowed = narrowed.data();
    const auto each = [&](int height, const auto& pixel) {
      for (int channel = 0; channel < r.channels; ++channel) {
        for (int y = 0; y < height; ++y) {
          for (int x = 0; x < r.to_width_px; ++x) {
            pixel(r, taps.taps().data(), taps.weights().data(), channel, x, y);
          }
        }
      }
    };
    each(r.height_px, flat::narrow_pixel);
    each(r.to_height_px, flat::flatten_pixel);
    ASSERT_EQ(difference(to.view(), c.expected.view()), "") << "orientation " << c.orientation;
  }
}

}  // namespace
}  // namespace yoload
