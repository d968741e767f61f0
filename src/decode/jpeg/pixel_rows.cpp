// SPDX-License-Identifier: Apache-2.0
#include "decode/jpeg/pixel_rows.h"

#include <algorithm>
#include <cstring>

#include "decode/jpeg/ycc_rows.h"

namespace yoload::decode::jpeg {
namespace {

constexpr size_t kBlock = 8;  // samples
// Before a row: what the row's filter reads left of the first sample. Behind: what vectors overrun.
constexpr size_t kMargin = 64;

// An odd number of cache lines, so that the eight rows of a block never share a set of the L1
// cache.
size_t row_stride(size_t bytes) {
  return (bytes + 2 * kMargin + 63) / 64 / 2 * 128 + 64;
}

size_t scratch_stride(const Frame& frame) {
  return row_stride(static_cast<size_t>(frame.mcus_x * frame.max_h) * kBlock);
}

struct Functions {
  decltype(&inverse_dct_row) dct;
  decltype(&sum_rows) sum;
  decltype(&blend_rows) blend;
  decltype(&widen_row) widen;
  decltype(&full_ycc_to_rgb) full;
  decltype(&half_ycc_to_rgb) half;
};

const Functions& functions(PixelRows::Kernels kernels) {
  static constexpr Functions kVector{inverse_dct_row, sum_rows,        blend_rows,
                                     widen_row,       full_ycc_to_rgb, half_ycc_to_rgb};
  static constexpr Functions kScalar{scalar::inverse_dct_row,    scalar::sum_rows,
                                     scalar::blend_rows,         scalar::widen_row,
                                     decode::scalar::ycc_to_rgb, scalar::half_ycc_to_rgb};
  return kernels == PixelRows::Kernels::vector ? kVector : kScalar;
}

}  // namespace

bool PixelRows::supports(const Frame& /*frame*/, int shrink) {
  return shrink == 1;
}

// Fills in what follows from the frame; returns the bytes of all strips.
size_t PixelRows::lay_out(const Frame& frame, std::array<Component, 3>* components) {
  size_t bytes = 0;
  for (size_t c = 0; c < static_cast<size_t>(frame.components); ++c) {
    const FrameComponent& from = frame.component.at(c);
    Component& to = components->at(c);
    to.blocks_x = from.blocks_x;
    to.blocks_used = std::min(from.blocks_x, (from.width + 7) / 8);
    to.block_rows = from.v;
    to.width = from.width;
    to.height = from.height;
    to.doubled_x = from.h < frame.max_h;
    to.doubled_y = from.v < frame.max_v;
    // libjpeg repeats the columns of components that are too narrow for its filter, and then the
    // rows too.
    to.fancy = !to.doubled_x || from.width > 2;
    to.stride_bytes =
        static_cast<ptrdiff_t>(row_stride(static_cast<size_t>(from.blocks_x) * kBlock));
    bytes += static_cast<size_t>(to.stride_bytes) * (static_cast<size_t>(from.v) * kBlock + 1);
  }
  return bytes;
}

size_t PixelRows::memory_bytes(const Frame& frame, int /*shrink*/) {
  std::array<Component, 3> components{};
  // Three rows of samples, two of 16-bit sums, and an RGB row.
  return lay_out(frame, &components) + scratch_stride(frame) * (3 + 2 * 2 + 3) + 2 * kMargin;
}

void PixelRows::begin(const Frame& frame, RowSink* sink, int shrink) {
  sink_ = sink;
  colour_ = frame.colour;
  lay_out(frame, &components_);
  memory_.resize(std::max(memory_.size(), memory_bytes(frame, shrink)));
  uint8_t* next = memory_.data() + kMargin;
  next += (kMargin - reinterpret_cast<uintptr_t>(next) % kMargin) % kMargin;
  for (size_t c = 0; c < static_cast<size_t>(frame.components); ++c) {
    Component& component = components_.at(c);
    component.factors = dequantisation(frame.component.at(c).quantisation);
    component.first_row = next + component.stride_bytes;
    component.first_y = -component.block_rows * static_cast<int>(kBlock);
    next += component.stride_bytes * (component.block_rows * static_cast<int>(kBlock) + 1);
  }
  const size_t stride = scratch_stride(frame);
  for (int16_t*& sums : sums_) {
    sums = reinterpret_cast<int16_t*>(next);
    next += 2 * stride;
  }
  for (uint8_t*& row : scratch_rows_) {
    row = next;
    next += stride;
  }
  const bool luma_only = sink->channels() == 1 && frame.colour == ColourModel::ycc;
  used_components_ = luma_only ? 1 : frame.components;
  waits_ = false;
  for (int c = 0; c < used_components_; ++c) {
    const Component& component = components_.at(static_cast<size_t>(c));
    waits_ = waits_ || (component.doubled_y && component.fancy);
  }
  const auto& [first, second, third] = components_;
  half_chroma_ = used_components_ == 3 && frame.colour == ColourModel::ycc && !first.doubled_x &&
                 !first.doubled_y && second.doubled_x && third.doubled_x && second.fancy &&
                 third.fancy && second.doubled_y == third.doubled_y;
  strip_rows_ = frame.max_v * static_cast<int>(kBlock);
  strips_ = frame.mcus_y;
  strips_done_ = 0;
  next_y_ = 0;
}

void PixelRows::add_mcu_row(const McuRow& row) {
  transform(row);
  ++strips_done_;
  const bool last = strips_done_ == strips_;
  const int end_y = strips_done_ * strip_rows_;
  emit_until(last || !waits_ ? end_y : end_y - 1);
}

void PixelRows::finish() {
  for (int c = 0; c < used_components_; ++c) {
    Component& component = components_.at(static_cast<size_t>(c));
    const int rows = component.block_rows * static_cast<int>(kBlock);
    component.height = std::min(component.height, component.first_y + rows);
  }
  emit_until(strips_done_ * strip_rows_);
}

void PixelRows::transform(const McuRow& row) {
  const auto dct = functions(kernels_).dct;
  for (size_t c = 0; c < static_cast<size_t>(used_components_); ++c) {
    Component& component = components_.at(c);
    const int rows = component.block_rows * static_cast<int>(kBlock);
    const auto stride = static_cast<size_t>(component.stride_bytes);
    if (waits_ && strips_done_ > 0) {
      std::memcpy(component.first_row - stride,
                  component.first_row + static_cast<size_t>(rows - 1) * stride,
                  static_cast<size_t>(component.width));
    }
    component.first_y += rows;
    for (int v = 0; v < component.block_rows; ++v) {
      const auto block = static_cast<size_t>(v) * static_cast<size_t>(component.blocks_x);
      if (component.first_y + v * static_cast<int>(kBlock) >= component.height) break;
      dct(row.blocks.at(c) + block * 64, row.last.at(c) + block, component.blocks_used,
          component.factors, component.first_row + static_cast<size_t>(v) * kBlock * stride,
          stride);
    }
  }
}

void PixelRows::emit_until(int end_y) {
  for (const int end = std::min(end_y, sink_->height_px()); next_y_ < end; ++next_y_) emit(next_y_);
}

// The component's rows around row `y` of the picture; the rows outside of it are its outermost
// ones.
void PixelRows::near_and_far(const Component& component, int y, const uint8_t** near,
                             const uint8_t** far) const {
  if (!component.doubled_y) {
    *near = *far = component.row(y);
    return;
  }
  const int other = y % 2 == 0 ? y / 2 - 1 : y / 2 + 1;
  *near = component.row(y / 2);
  *far = component.row(std::clamp(other, 0, component.height - 1));
}

void PixelRows::sum(const Component& component, int y, int16_t* sums) const {
  const uint8_t* near = nullptr;
  const uint8_t* far = nullptr;
  near_and_far(component, y, &near, &far);
  functions(kernels_).sum(near, far, component.width, sums);
}

// Row `y` of component `index` in the picture's width.
const uint8_t* PixelRows::full_row(int index, int y) {
  const auto i = static_cast<size_t>(index);
  const Component& component = components_.at(i);
  if (!component.doubled_x && !component.doubled_y) return component.row(y);
  uint8_t* out = scratch_rows_.at(i);
  if (!component.fancy) {
    const uint8_t* row = component.row(component.doubled_y ? y / 2 : y);
    if (!component.doubled_x) return row;
    for (int x = 0; x < component.width; ++x) out[2 * x] = out[2 * x + 1] = row[x];
  } else if (component.doubled_x) {
    sum(component, y, sums_[0]);
    functions(kernels_).widen(sums_[0], component.width,
                              component.doubled_y ? kBothWays : kAlongTheRow, out);
  } else {
    const uint8_t* near = nullptr;
    const uint8_t* far = nullptr;
    near_and_far(component, y, &near, &far);
    functions(kernels_).blend(near, far, component.width, y % 2 == 0 ? 1 : 2, out);
  }
  return out;
}

void PixelRows::emit(int y) {
  if (colour_ == ColourModel::ycc && sink_->channels() == 3) {
    emit_ycc(y);
  } else if (colour_ == ColourModel::rgb) {
    emit_rgb(y);
  } else {
    const uint8_t* luma = full_row(0, y);
    for (int c = 0; c < sink_->channels(); ++c) {
      std::memcpy(sink_->row(c, y), luma, static_cast<size_t>(sink_->width_px()));
    }
    sink_->commit(y);
  }
}

void PixelRows::emit_ycc(int y) {
  const Rows rgb{sink_->row(0, y), sink_->row(1, y), sink_->row(2, y)};
  if (half_chroma_) {
    sum(components_[1], y, sums_[0]);
    sum(components_[2], y, sums_[1]);
    const Rounding rounding = components_[1].doubled_y ? kBothWays : kAlongTheRow;
    functions(kernels_).half(sink_->width_px(), components_[0].row(y),
                             {sums_[0], sums_[1], rounding}, rgb);
  } else {
    const ConstRows ycc{full_row(0, y), full_row(1, y), full_row(2, y)};
    functions(kernels_).full(sink_->width_px(), ycc, rgb);
  }
  sink_->commit(y);
}

void PixelRows::emit_rgb(int y) {
  const std::array<const uint8_t*, 3> planes = {full_row(0, y), full_row(1, y), full_row(2, y)};
  const auto width = static_cast<size_t>(sink_->width_px());
  if (sink_->channels() == 3) {
    for (int c = 0; c < 3; ++c)
      std::memcpy(sink_->row(c, y), planes.at(static_cast<size_t>(c)), width);
    sink_->commit(y);
    return;
  }
  // Never seen outside of tests, so through pixels: the weights are the sink's.
  uint8_t* pixels = scratch_rows_[2] + (scratch_rows_[2] - scratch_rows_[1]);
  for (size_t x = 0; x < width; ++x) {
    for (size_t c = 0; c < 3; ++c) pixels[3 * x + c] = planes.at(c)[x];
  }
  sink_->put(y, pixels, Pixels::rgb);
}

}  // namespace yoload::decode::jpeg
