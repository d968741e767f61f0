// NumPy arrays as pictures: any number of channels, kept in stored order (three are R, G, B).
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "decode/job.h"
#include "decode/npy/npy_layout.h"
#include "decode/sixteen_bit.h"

namespace yoload::decode {
namespace {

void widen(const uint8_t* bytes, bool big_endian, std::span<uint16_t> out) {
  for (uint16_t& value : out) {
    value = static_cast<uint16_t>(big_endian ? bytes[0] << 8 | bytes[1] : bytes[1] << 8 | bytes[0]);
    bytes += 2;
  }
}

}  // namespace

Status decode_npy(Job& job) {
  MemorySource source(job.bytes);
  NpyLayout layout;
  if (Status status = read_npy_layout(source, &layout); !status.ok()) return status;
  const int wanted = job.options.channels;
  const bool as_stored = wanted == layout.channels;
  // Gray may become colour and colour gray; anything else has no meaning.
  if (!as_stored && !(layout.channels == 1 && wanted == 3) &&
      !(layout.channels == 3 && wanted == 1)) {
    return fail(Code::unsupported,
                fmt::format("NPY with {} channels where {} are wanted", layout.channels, wanted));
  }
  const size_t row_samples =
      static_cast<size_t>(layout.width_px) * static_cast<size_t>(layout.channels);
  const size_t row_bytes = row_samples * static_cast<size_t>(layout.bits / 8);
  const size_t available = job.bytes.size() - std::min<size_t>(job.bytes.size(), layout.data_start);
  const int rows_there = static_cast<int>(
      std::min<size_t>(available / row_bytes, static_cast<size_t>(layout.height_px)));
  const std::string message = fmt::format("{} of {} rows are there", rows_there, layout.height_px);
  const bool whole = rows_there == layout.height_px;
  if (!whole && (!job.accepts_damage() || rows_there == 0)) return fail(Code::truncated, message);
  const bool deep = layout.bits == 16;
  const size_t deep_bytes = deep ? sixteen_bit_bytes(layout.width_px, layout.height_px,
                                                     layout.channels, job.options.scale_16bit)
                                 : 0;
  if (Status refused =
          job.begin_picture(layout.width_px, layout.height_px, wanted, deep_bytes + row_bytes * 2);
      !refused.ok()) {
    return refused;
  }

  const uint8_t* bytes = job.bytes.data() + layout.data_start;
  SixteenBitRows reducer(job, layout.channels);
  std::vector<uint8_t>& row = job.scratch.rows;
  if (row.size() < row_bytes + kReadPadding) row.resize(row_bytes + kReadPadding);
  if (job.scratch.deep.size() < row_samples) job.scratch.deep.resize(row_samples);
  for (int y = 0; y < rows_there; ++y, bytes += row_bytes) {
    if (deep) {
      widen(bytes, layout.big_endian, std::span(job.scratch.deep).first(row_samples));
      reducer.put(y, job.scratch.deep.data());
    } else {
      std::memcpy(row.data(), bytes, row_bytes);  // vector loads may reach behind the row
      job.sink.put_samples(y, row.data(), layout.channels);
    }
    if (job.deadline.passed()) return time_refused(job.options.limits);
  }
  if (deep) reducer.finish();
  return whole ? Status() : job.end_damaged(Code::truncated, message);
}

}  // namespace yoload::decode
