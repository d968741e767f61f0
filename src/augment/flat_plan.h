// A batch of plans as flat arrays: what GPU kernels read, and how a batch falls into launches.
//
// Everything that needs a decision is decided here, on the CPU, so that kernels only compute. The
// same arrays drive the CPU twin in the tests (flat_testing.h).
//
// Note [Steps]. A kernel renders a sample in one go unless pixels have to exist in between: a
// canvas for copy-paste (the mirrored pixels lie elsewhere on it), a picture for filters. Such a
// sample is rendered several times, the first times into scratch pictures as a plain sample of its
// own, the last time with the scratch picture as its only tile, under the identity map. Scratch
// memory is bounded: samples that do not fit any more wait for the next round, which uses the same
// memory again.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/image.h"
#include "core/plan.h"
#include "yoload/options.h"

namespace yoload {

/// A kernel votes on tiles with the 32 threads of a warp.
inline constexpr int kMaxFlatTiles = 32;

struct FlatTile {
  /// exact: where canvas pixel (0, 0) would lie in the tile's first plane, outside of it or not;
  /// fused: the tile's own pixel (0, 0).
  const uint8_t* base = nullptr;
  int64_t plane_bytes = 0;
  int64_t step_x = 0, step_y = 0;  ///< fused: tile pixels per canvas pixel, Q32
  int32_t row_bytes = 0;
  int32_t x0 = 0, y0 = 0, x1 = 0, y1 = 0;  ///< visible rectangle on the canvas
  int32_t offset_x = 0, offset_y = 0;      ///< fused: canvas position of the pixel (0, 0)
  int32_t width_px = 0, height_px = 0;     ///< fused: the tile's own size
};

struct FlatLayer {
  int64_t xx = 0, xy = 0, x0 = 0, yx = 0, yy = 0, y0 = 0;  ///< InverseMap's, Q32
  double h[9] = {};
  bool perspective = false;
  int32_t first_tile = 0, tiles = 0;  ///< into the batch's tiles
};

struct FlatSample {
  FlatLayer layers[2];
  uint8_t* out = nullptr;  ///< first element of the sample's place
  int32_t width_px = 0, height_px = 0, channels = 0;
  bool paired = false;  ///< two elements at an even column may be stored at once
  bool fused = false;
  bool flipud = false, fliplr = false, bgr = false;

  MixKind mix = MixKind::none;
  uint32_t mixup_weight = 0;     ///< Q16, of the first layer
  PlanRect cutmix;               ///< before flips
  int64_t paste_mask_word = -1;  ///< paste: first word of the mask, rows of whole words

  bool hsv = false;
  float hue_shift = 0, sat_gain = 0, val_gain = 0;  ///< gains as fractions, exact
  float pad_level = kPadValue;                      ///< padding after HSV: gray stays gray
  bool erases = false;
  PlanRect erase;
};

/// Numbers of the elements of a launch.
struct FlatOutput {
  DType dtype = DType::uint8;
  MemoryFormat format = MemoryFormat::contiguous;
  float mul[3] = {1, 1, 1};
  float add[3] = {0, 0, 0};
};

/// Which instance of the kernel can render a sample.
enum class FlatKind : uint8_t {
  exact_axis,  ///< one layer of three channels, axis-aligned
  fused_axis,
  exact_affine,
  fused_affine,
  any,  ///< perspective, mixes, other channel counts
};
inline constexpr int kFlatKinds = 5;

/// Copy-paste on a canvas of bytes: where the mask is set, the mirrored pixel shows.
struct FlatPaste {
  uint8_t* canvas = nullptr;  ///< C,H,W without gaps
  int32_t width_px = 0, height_px = 0, channels = 0;
  int64_t mask_word = 0;
};

/// Filters of one sample: `picture` holds it before; the result lies where FlatBatch said.
struct FlatFilter {
  PlanFilter filter;
  uint8_t* from = nullptr;    ///< C,H,W without gaps
  uint8_t* to = nullptr;      ///< another picture of this size; in place for gray and CLAHE
  uint8_t* tables = nullptr;  ///< CLAHE: 256 bytes a tile and channel
  int32_t width_px = 0, height_px = 0, channels = 0;
};

/// One thing to launch.
struct FlatStep {
  enum class Kind : uint8_t { render, paste, filter };
  Kind kind = Kind::render;
  FlatKind render = FlatKind::any;
  bool into_scratch = false;            ///< render: uint8, contiguous; else the batch's own output
  int32_t first = 0, count = 0;         ///< into samples(), pastes() or filters()
  int32_t width_px = 0, height_px = 0;  ///< render: of the largest sample
};

/// The launches of one batch. Reused from batch to batch so that its arrays stay allocated.
class FlatBatch {
 public:
  /// Where samples that are rendered in steps keep their pictures. `bytes` must be at least
  /// scratch_bytes() of every sample.
  void begin(const FlatOutput& output, uint8_t* scratch, size_t bytes);
  /// tiles[i] is plan.sources[i]; `out` the sample's first element. Throws std::invalid_argument
  /// for a layer of more than kMaxFlatTiles tiles.
  void add(const SamplePlan& plan, std::span<const ImageView> tiles, int channels, void* out);
  /// Orders the launches; call after the last add().
  void finish();

  static size_t scratch_bytes(const SamplePlan& plan, int channels);

  std::span<const FlatSample> samples() const { return ordered_; }
  std::span<const FlatTile> tiles() const { return tiles_; }
  std::span<const uint32_t> masks() const { return masks_; }
  std::span<const FlatPaste> pastes() const { return pastes_; }
  std::span<const FlatFilter> filters() const { return filters_; }
  std::span<const FlatStep> steps() const { return steps_; }

 private:
  enum Stage { canvas, input, final, kStages };
  struct Pending {
    FlatSample sample;
    FlatKind kind = FlatKind::any;
    Stage stage = final;
    int round = 0;
  };

  uint8_t* take_scratch(size_t bytes);
  FlatLayer flat_layer(const SamplePlan& plan, const PlanLayer& layer,
                       std::span<const ImageView> tiles);
  FlatSample flat_sample(const SamplePlan& plan, std::span<const ImageView> tiles, int channels,
                         void* out);
  void add_pending(FlatSample sample, const SamplePlan& plan, Stage stage);
  int64_t add_mask(const std::vector<PlanPaste>& pastes, int width_px, int height_px);
  void draw_canvases(SamplePlan* plan, std::vector<ImageView>* tiles, int channels);
  void draw_filtered(SamplePlan* plan, std::vector<ImageView>* tiles, int channels);

  FlatOutput output_;
  uint8_t* scratch_ = nullptr;
  size_t scratch_size_ = 0, scratch_used_ = 0;
  int round_ = 0;
  std::vector<Pending> pending_;
  std::vector<FlatSample> ordered_;
  std::vector<FlatTile> tiles_;
  std::vector<uint32_t> masks_;
  std::vector<int32_t> mask_cells_;
  std::vector<FlatPaste> pastes_;
  std::vector<int> paste_rounds_;
  std::vector<FlatFilter> filters_;
  std::vector<int> filter_rounds_;
  std::vector<FlatStep> steps_;
};

}  // namespace yoload
