// SPDX-License-Identifier: Apache-2.0
#include "decode/jpeg/entropy_lane.h"

#include <algorithm>

#include "decode/jpeg/entropy_loop.h"
#include "decode/jpeg/zigzag.h"

namespace yoload::decode::jpeg {
namespace {

// libjpeg takes a picture whose predictions overflow 32 bits for broken; a row cannot reach that
// from here.
constexpr int32_t kMostPrediction = 1 << 30;

// Fewer than eight bits may be left: the padding of the last byte, whatever its value.
bool used_up(const Lane& lane, const BitReader& reader) {
  const uint8_t* end = lane.coded->segment_end(lane.segment);
  const int64_t ahead_bits = 63 - static_cast<int64_t>(reader.used & 0xFF);
  const int64_t left_bits = (end - reader.next) * 8 + ahead_bits;
  return left_bits >= 0 && left_bits < 8;
}

void expect_event(Lane& lane) {
  lane.mcus_to_event = std::min(lane.mcus_left_in_row, lane.mcus_left_in_segment);
}

}  // namespace

void begin_row(Lane& lane, int mcus_x) {
  lane.mcus_left_in_row = mcus_x;
  expect_event(lane);
  for (int i = 0; i < lane.steps; ++i) {
    BlockStep& step = lane.step_of[static_cast<size_t>(i)];
    step.next_block = step.row_begin;
  }
  lane.step = 0;
  lane.state = Lane::State::running;
  if (!begin_block(lane, lane.reader, lane.block, lane.entries)) lane.state = Lane::State::failed;
}

bool end_of_row_or_segment(Lane& lane) {
  BitReader& reader = lane.reader;
  const int done = std::min(lane.mcus_left_in_row, lane.mcus_left_in_segment);
  lane.mcus_left_in_row -= done;
  lane.mcus_left_in_segment -= done;
  const bool last_row = lane.rows_left == 1;
  const bool row_ends = lane.mcus_left_in_row == 0;
  const auto fail = [&] {
    lane.state = Lane::State::failed;
    return false;
  };
  if (lane.mcus_left_in_segment == 0 || (last_row && row_ends)) {
    if (!used_up(lane, reader)) return fail();
    if (!(last_row && row_ends)) {
      reader = {0, 63, lane.coded->segment_end(lane.segment)};
      ++lane.segment;
      lane.mcus_left_in_segment = lane.mcus_in_segment;
      lane.prediction = {};
    }
  }
  for (const int32_t prediction : lane.prediction) {
    if (prediction > kMostPrediction || prediction < -kMostPrediction) return fail();
  }
  if (row_ends) {
    lane.state = Lane::State::row_ready;
    return false;
  }
  expect_event(lane);
  return true;
}

AcEscape decode_escape(const HuffmanTable& table, BitReader reader, int16_t* block) {
  uint32_t at = place(reader) - kEscapeMove;
  refill(reader);
  const auto [code_bits, symbol] = table.find(reader.bits);
  if (code_bits == 0) return {reader, 0};
  use(reader, code_bits);
  const int size = symbol & 15;
  const uint32_t run = symbol >> 4;
  if (size == 0) return {reader, run == 15 ? at + 16 : at + kEndOfBlockMove};
  at += run;
  if (at > 63) return {reader, 0};
  const auto stored = static_cast<int>(reader.bits >> (64 - size));
  use(reader, size);
  block[kNaturalOrder[at]] = static_cast<int16_t>(extend(stored, size));
  return {reader, at + 1};
}

DcEscape decode_dc_escape(const HuffmanTable& table, BitReader reader) {
  const auto [code_bits, size] = table.find(reader.bits);
  if (code_bits == 0) return {reader, 0, false};
  use(reader, code_bits);
  if (size == 0) return {reader, 0, true};
  const int difference = extend(static_cast<int>(reader.bits >> (64 - size)), size);
  use(reader, size);
  return {reader, difference, true};
}

}  // namespace yoload::decode::jpeg
