// Executors against each other and against an oracle in 64-bit floats, on random plans.
// SPDX-License-Identifier: Apache-2.0
#include "augment/run.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "augment/bfloat16.h"
#include "augment/float16.h"
#include "augment/pixel.h"
#include "augment/run_testing.h"

namespace yoload {
namespace {

template <class Run>
Bytes rendered(Case* c, const Run& run) {
  // Guards on both sides: an executor writes its place and not a byte more.
  const size_t guard = 128;
  const size_t bytes = static_cast<size_t>(c->target.width_px) *
                       static_cast<size_t>(c->target.height_px) *
                       static_cast<size_t>(c->target.channels) * bytes_of(c->target.dtype);
  Bytes buffer(bytes + 2 * guard, 0xa5);
  c->target.data = buffer.data() + guard;
  RenderScratch scratch;
  run(c->plan, c->tiles, c->target, scratch);
  for (size_t i = 0; i < guard; ++i) {
    EXPECT_EQ(buffer[i], 0xa5) << "wrote before its place";
    EXPECT_EQ(buffer[guard + bytes + i], 0xa5) << "wrote behind its place";
  }
  return {buffer.begin() + guard, buffer.begin() + static_cast<ptrdiff_t>(guard + bytes)};
}

class RunOnTarget : public testing::TestWithParam<const char*> {
 protected:
  RunOnTarget() { set_simd_target(GetParam()); }
  ~RunOnTarget() override { set_simd_target(""); }
};

TEST_P(RunOnTarget, SimdEqualsTheReferenceBitForBit) {
  for (uint32_t seed = 0; seed < 400; ++seed) {
    Case c = random_case(seed);
    ASSERT_EQ(rendered(&c, run_simd), rendered(&c, run_ref)) << "seed " << seed << "\n"
                                                             << c.plan.to_string();
  }
}

/// One picture of `width` x `height` on a canvas of its own size, shown through `map`.
Case single_tile_case(Random* random, int width, int height, int out_px, InverseMap map,
                      Fidelity fidelity) {
  Case c;
  c.plan.out_width_px = c.plan.out_height_px = out_px;
  c.plan.fidelity = fidelity;
  c.images.push_back(noise(random, width, height, 3));
  c.tiles.push_back(c.images.back().view());
  PlanSource source;
  source.width_px = fidelity == Fidelity::exact ? width : std::max(1, width / 7);
  source.height_px = fidelity == Fidelity::exact ? height : std::max(1, height / 7);
  c.plan.sources.push_back(source);
  c.plan.layers.push_back({source.width_px,
                           source.height_px,
                           {{0, 0, 0, source.width_px, source.height_px, 0, 0}},
                           {},
                           map});
  c.target.width_px = c.target.height_px = out_px;
  return c;
}

TEST_P(RunOnTarget, SizesAndStepsAtTheLimitsAreEqualToo) {
  constexpr double kOne = 0x1p32;
  Random random(11);
  struct Limit {
    int width, height, out_px;
    double step_x, step_y, cross;
  };
  for (const Limit& limit :
       {Limit{1, 1, 64, 1, 1, 0},              // smaller than a 2x2 neighbourhood
        Limit{10, 10, 2048, 0.005, 0.005, 0},  // every pixel 200 times
        Limit{10, 10, 32, 1e-9, 1e-9, 1e-9},
        Limit{640, 480, 32, 900, 700, 0},  // next to nothing shown
        Limit{640, 480, 32, 60, 40, 13}, Limit{70001, 3, 96, 729.1, 0.03, 0},  // wider than 16 bits
        Limit{3, 70001, 96, 0.03, 729.1, 0}, Limit{5472, 3648, 640, 8.5, 5.7, 0},  // 20 megapixels
        Limit{5472, 3648, 96, 40, 30, 17}}) {
    for (const Fidelity fidelity : {Fidelity::exact, Fidelity::fused}) {
      InverseMap map;
      map.kind = limit.cross == 0 ? MapKind::axis_aligned : MapKind::affine;
      map.xx = static_cast<int64_t>(limit.step_x * kOne);
      map.yy = static_cast<int64_t>(limit.step_y * kOne);
      map.xy = static_cast<int64_t>(limit.cross * kOne), map.yx = -map.xy;
      if (fidelity == Fidelity::fused) {
        for (int64_t* step : {&map.xx, &map.yy, &map.xy, &map.yx}) *step /= 7;
      }
      map.x0 = map.y0 = -(int64_t{1} << 31);
      Case c = single_tile_case(&random, limit.width, limit.height, limit.out_px, map, fidelity);
      ASSERT_EQ(rendered(&c, run_simd), rendered(&c, run_ref))
          << limit.width << " x " << limit.height << ", " << c.plan.to_string();
    }
  }
}

TEST_P(RunOnTarget, APlanThatShowsNoPictureIsAllPadding) {
  Random random(12);
  for (const MapKind kind : {MapKind::axis_aligned, MapKind::affine, MapKind::perspective}) {
    for (const double far : {-5000.0, 5000.0, 1e6}) {
      InverseMap map;
      map.kind = kind;
      map.x0 = map.y0 = static_cast<int64_t>(far * 0x1p32);
      map.h[2] = map.h[5] = far;
      for (const Fidelity fidelity : {Fidelity::exact, Fidelity::fused}) {
        Case c = single_tile_case(&random, 100, 80, 65, map, fidelity);
        const Bytes pixels = rendered(&c, run_simd);
        EXPECT_EQ(pixels, Bytes(pixels.size(), kPadValue));
        EXPECT_EQ(rendered(&c, run_ref), pixels);
      }
    }
  }
}

TEST_P(RunOnTarget, PerspectiveThroughTheHorizonIsEqualToo) {
  // w changes its sign inside the picture and is exactly 0 on a column: quotients are infinite, and
  // 0 / 0 at one pixel.
  Random random(13);
  InverseMap map;
  map.kind = MapKind::perspective;
  map.h = {1, 0, -32, 0, 1, -32, 1.0 / 32, 0, -1};
  for (const Fidelity fidelity : {Fidelity::exact, Fidelity::fused}) {
    for (const bool mirror : {false, true}) {
      Case c = single_tile_case(&random, 90, 70, 80, map, fidelity);
      c.plan.fliplr = mirror;
      ASSERT_EQ(rendered(&c, run_simd), rendered(&c, run_ref));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(AllTargets, RunOnTarget,
                         testing::Values("", "avx3", "avx2", "sse4", "scalar"));

TEST(RunRef, StaysWithinOneLevelOfFloat64Bilinear) {
  for (uint32_t seed = 0; seed < 150; ++seed) {
    Case c = random_case(seed);
    c.plan.fidelity = Fidelity::exact;
    c.plan.mix = {};
    c.plan.erase = {};
    c.plan.layers[0].pastes.clear();
    c.plan.filters.clear();
    c.plan.hsv.enabled = c.plan.flipud = c.plan.fliplr = c.plan.bgr = false;
    c.target.dtype = DType::uint8;
    for (size_t i = 0; i < c.tiles.size(); ++i) {
      if (c.tiles[i].width_px != c.plan.sources[i].width_px ||
          c.tiles[i].height_px != c.plan.sources[i].height_px) {
        goto next_case;  // a fused case
      }
    }
    {
      const Bytes pixels = rendered(&c, run_ref);
      const PlanLayer& layer = c.plan.layers[0];
      size_t at = 0;
      for (int channel = 0; channel < c.plan.channels; ++channel) {
        const auto canvas = [&](double x, double y) -> double {
          const PlanTile* tile = tile_at(layer, static_cast<int64_t>(x), static_cast<int64_t>(y));
          if (x < 0 || y < 0 || tile == nullptr) return kPadValue;
          return c.tiles[static_cast<size_t>(tile->source)].at(
              channel, static_cast<int>(y) - tile->offset_y, static_cast<int>(x) - tile->offset_x);
        };
        for (int y = 0; y < c.plan.out_height_px; ++y) {
          for (int x = 0; x < c.plan.out_width_px; ++x, ++at) {
            const CanvasPosition fixed = canvas_position(layer.map, x, y);
            const double cx = static_cast<double>(fixed.x) * 0x1p-32,
                         cy = static_cast<double>(fixed.y) * 0x1p-32;
            const double fx = std::floor(cx), fy = std::floor(cy), wx = cx - fx, wy = cy - fy;
            const double expected =
                (canvas(fx, fy) * (1 - wx) + canvas(fx + 1, fy) * wx) * (1 - wy) +
                (canvas(fx, fy + 1) * (1 - wx) + canvas(fx + 1, fy + 1) * wx) * wy;
            ASSERT_NEAR(pixels[at], expected, 0.53) << "seed " << seed;
          }
        }
      }
    }
  next_case:;
  }
}

TEST(Run, FlippingTwiceIsTheIdentity) {
  for (uint32_t seed = 0; seed < 40; ++seed) {
    Case c = random_case(seed);
    c.plan.erase = {};  // lies where it is seen, flipped or not
    c.target.dtype = DType::uint8;
    c.plan.flipud = c.plan.fliplr = false;
    const Bytes plain = rendered(&c, run_simd);
    c.plan.flipud = c.plan.fliplr = true;
    Bytes turned = rendered(&c, run_simd);
    const size_t plane =
        static_cast<size_t>(c.target.width_px) * static_cast<size_t>(c.target.height_px);
    for (size_t at = 0; at < turned.size(); at += plane) {
      std::reverse(turned.begin() + static_cast<ptrdiff_t>(at),
                   turned.begin() + static_cast<ptrdiff_t>(at + plane));
    }
    EXPECT_EQ(turned, plain);
  }
}

TEST(Hsv, WithoutGainsReturnsColoursWithinItsQuantisation) {
  // 180 hues and 256 saturations: OpenCV's own round trip is off by up to 5 levels (its measured
  // maximum).
  PlanHsv hsv;
  hsv.enabled = true;
  for (int r = 0; r < 256; r += 5) {
    for (int g = 0; g < 256; g += 5) {
      for (int b = 0; b < 256; b += 5) {
        const auto out = hsv_pixel(static_cast<uint8_t>(r), static_cast<uint8_t>(g),
                                   static_cast<uint8_t>(b), hsv);
        EXPECT_NEAR(out[0], r, 5);
        EXPECT_NEAR(out[1], g, 5);
        EXPECT_NEAR(out[2], b, 5);
      }
    }
  }
}

TEST(Float16, RoundsToNearestEven) {
  EXPECT_EQ(to_float16(1.0f), 0x3c00);
  EXPECT_EQ(to_float16(-2.0f), 0xc000);
  EXPECT_EQ(to_float16(65504.0f), 0x7bff);
  EXPECT_EQ(to_float16(65520.0f), 0x7c00);
  EXPECT_EQ(to_float16(1.0f + 0x1p-11f), 0x3c00) << "a tie goes to even";
  EXPECT_EQ(to_float16(1.0f + 3 * 0x1p-11f), 0x3c02);
  EXPECT_EQ(to_float16(0x1p-24f), 0x0001);
  EXPECT_EQ(to_float16(0x1p-25f), 0x0000);
#ifdef __FLT16_MAX__
  for (uint32_t bits = 0; bits < 0x47800000; bits += 4099) {
    const float value = std::bit_cast<float>(bits);
    EXPECT_EQ(to_float16(value), std::bit_cast<uint16_t>(static_cast<_Float16>(value))) << value;
  }
#endif
}

TEST(Bfloat16, RoundsToNearestEven) {
  EXPECT_EQ(to_bfloat16(1.0f), 0x3f80);
  EXPECT_EQ(to_bfloat16(-2.0f), 0xc000);
  EXPECT_EQ(to_bfloat16(1.0f + 0x1p-8f), 0x3f80) << "a tie goes to even";
  EXPECT_EQ(to_bfloat16(1.0f + 3 * 0x1p-8f), 0x3f82);
  EXPECT_EQ(to_bfloat16(1.0f + 0x1p-8f + 0x1p-20f), 0x3f81);
  EXPECT_EQ(to_bfloat16(3.4e38f), 0x7f80) << "the largest numbers round to infinity";
  EXPECT_EQ(to_bfloat16(NAN), kBfloat16Nan);
}

}  // namespace
}  // namespace yoload
