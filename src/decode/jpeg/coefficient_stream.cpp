// SPDX-License-Identifier: Apache-2.0
#include "decode/jpeg/coefficient_stream.h"

#include <algorithm>
#include <cstdlib>
#include <new>

#include "decode/jpeg/entropy_dispatch.h"

namespace yoload::decode::jpeg {
namespace {

constexpr size_t kBlockBytes = 64 * sizeof(int16_t);
constexpr size_t kAlignment = 64;

size_t blocks_in_row(const FrameComponent& component) {
  return static_cast<size_t>(component.blocks_x) * static_cast<size_t>(component.v);
}

}  // namespace

bool CoefficientStream::begin(std::span<const uint8_t> bytes) {
  state_ = State::failed;
  if (!read_scan_header(bytes, &header_)) return false;
  const Frame& frame = header_.frame;
  const int64_t mcus = int64_t{frame.mcus_x} * frame.mcus_y;
  const int64_t in_segment = frame.restart_interval == 0 ? mcus : frame.restart_interval;
  const auto segments = static_cast<size_t>((mcus + in_segment - 1) / in_segment);
  if (!coded_.read(bytes.subspan(header_.coded_at), segments)) return false;
  for (size_t c = 0; c < static_cast<size_t>(frame.components); ++c) {
    const size_t dc = header_.dc_table[c], ac = header_.ac_table[c];
    dc_tables_[dc].build(header_.dc_tables[dc], HuffmanTable::Kind::dc);
    ac_tables_[ac].build(header_.ac_tables[ac], HuffmanTable::Kind::ac);
  }
  header_.dc_tables = {};  // they point into `bytes`
  header_.ac_tables = {};
  lane_ = {};
  lane_.coded = &coded_;
  lane_.reader.next = coded_.begin();
  lane_.mcus_in_segment = static_cast<int>(std::min<int64_t>(in_segment, INT32_MAX));
  lane_.mcus_left_in_segment = lane_.mcus_in_segment;
  lane_.rows_left = frame.mcus_y;
  lay_out_row();
  start_row();
  return true;
}

void CoefficientStream::lay_out_row() {
  const Frame& frame = header_.frame;
  const std::span components(frame.component.data(), static_cast<size_t>(frame.components));
  size_t blocks = 0;
  for (size_t c = 0; c < components.size(); ++c) {
    first_block_[c] = blocks;
    blocks += blocks_in_row(components[c]);
  }
  if (blocks_capacity_ < blocks) {
    blocks_.reset();
    blocks_capacity_ = 0;
    blocks_.reset(static_cast<int16_t*>(std::aligned_alloc(kAlignment, blocks * kBlockBytes)));
    if (blocks_ == nullptr) throw std::bad_alloc();
    blocks_capacity_ = blocks;
  }
  if (last_.size() < blocks) last_.resize(blocks);
  lane_.blocks = blocks_.get();
  lane_.last = last_.data();
  for (size_t c = 0; c < components.size(); ++c) {
    const FrameComponent& component = components[c];
    for (int y = 0; y < component.v; ++y) {
      for (int x = 0; x < component.h; ++x) {
        BlockStep& step = lane_.step_of[static_cast<size_t>(lane_.steps++)];
        const size_t block = first_block_[c] + static_cast<size_t>(y * component.blocks_x + x);
        step.row_begin = blocks_.get() + block * 64;
        step.stride = component.h * 64;
        step.dc = &dc_tables_[header_.dc_table[c]];
        step.ac = &ac_tables_[header_.ac_table[c]];
        step.prediction = &lane_.prediction[c];
      }
    }
  }
}

void CoefficientStream::start_row() {
  begin_row(lane_, header_.frame.mcus_x);
  take_state();
}

void CoefficientStream::take_state() {
  switch (lane_.state) {
    case Lane::State::running:
      state_ = State::running;
      break;
    case Lane::State::row_ready:
      state_ = State::row_ready;
      break;
    case Lane::State::failed:
      state_ = State::failed;
  }
}

McuRow CoefficientStream::row() const {
  McuRow row;
  for (size_t c = 0; c < static_cast<size_t>(header_.frame.components); ++c) {
    row.blocks[c] = blocks_.get() + first_block_[c] * 64;
    row.last[c] = last_.data() + first_block_[c];
  }
  return row;
}

void CoefficientStream::release_row() {
  if (state_ != State::row_ready) return;
  if (--lane_.rows_left == 0) {
    state_ = State::done;
  } else {
    start_row();
  }
}

size_t CoefficientStream::memory_bytes() const {
  return sizeof(*this) + coded_.memory_bytes() + blocks_capacity_ * kBlockBytes + last_.capacity();
}

void advance(std::span<CoefficientStream* const> streams, bool portable) {
  std::array<Lane*, kMostLanes> lanes{};
  size_t running = 0;
  for (CoefficientStream* stream : streams) {
    if (stream->state_ == CoefficientStream::State::running && running < kMostLanes) {
      lanes[running++] = &stream->lane_;
    }
  }
  if (running == 0) return;
  decode_lanes(std::span<Lane* const>(lanes.data(), running), portable);
  for (CoefficientStream* stream : streams) {
    if (stream->state_ == CoefficientStream::State::running) stream->take_state();
  }
}

}  // namespace yoload::decode::jpeg
