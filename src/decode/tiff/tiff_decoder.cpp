// TIFF through libtiff: the first page, or all pages as channels of one picture.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "decode/job.h"
#include "decode/sixteen_bit.h"
#include "decode/tiff/tiff_file.h"
#include "decode/tiff/tiff_samples.h"

namespace yoload::decode {
namespace {

Status over_limit(const Job& job) {
  return fail(Code::limit, fmt::format("libtiff needs more than max_memory_bytes = {} MB",
                                       job.options.limits.max_memory_bytes >> 20));
}

Status damaged(Job& job, const TiffFile& file, int rows, int height_px) {
  if (file.over_limit()) return over_limit(job);
  return job.end_damaged(
      file.read_past_end() ? Code::truncated : Code::corrupt,
      fmt::format("{} of {} rows are readable: {}", rows, height_px,
                  file.error().empty() ? "a strip or tile is too short" : file.error()));
}

Status decode_samples(Job& job, TiffFile& file, TiffSamples& samples) {
  const int count = samples.samples();
  const bool deep = samples.bits() == 16;
  const uint64_t working_bytes =
      samples.working_bytes() + (deep ? sixteen_bit_bytes(samples.width_px(), samples.height_px(),
                                                          count, job.options.scale_16bit)
                                      : 0);
  if (Status refused = job.begin_picture(samples.width_px(), samples.height_px(),
                                         job.options.channels, working_bytes);
      !refused.ok()) {
    return refused;
  }
  std::optional<SixteenBitRows> reducer;
  if (deep) reducer.emplace(job, count);
  bool timed_out = false;
  const int rows = samples.read([&](int y, const uint8_t* row) {
    if (deep) {
      reducer->put(y, reinterpret_cast<const uint16_t*>(row));
    } else {
      job.sink.put_samples(y, row, count);
    }
    return !(timed_out = job.deadline.passed());
  });
  if (timed_out) return time_refused(job.options.limits);
  if (deep) reducer->finish();
  return rows == samples.height_px() ? Status() : damaged(job, file, rows, samples.height_px());
}

// Palette, bilevel, YCbCr, CMYK, Lab and odd depths: libtiff converts them, a whole picture at
// once.
Status decode_converted(Job& job, TiffFile& file, int width_px, int height_px) {
  char reason[1024] = {};
  if (TIFFRGBAImageOK(file.get(), reason) == 0) {
    return fail(Code::unsupported, fmt::format("TIFF of a kind that is not decoded: {}", reason));
  }
  const size_t pixels = static_cast<size_t>(width_px) * static_cast<size_t>(height_px);
  if (Status refused =
          job.begin_picture(width_px, height_px, job.options.channels, pixels * 4 + pixels);
      !refused.ok()) {
    return refused;
  }
  TIFFRGBAImage image;
  if (TIFFRGBAImageBegin(&image, file.get(), job.accepts_damage() ? 0 : 1, reason) == 0) {
    return fail(Code::corrupt, reason);
  }
  // Asked for the orientation that it has, libtiff turns nothing; the sink does it.
  image.req_orientation = image.orientation;
  std::vector<uint32_t> raster(pixels + kReadPadding / 4, 0);
  const bool whole = TIFFRGBAImageGet(&image, raster.data(), static_cast<uint32_t>(width_px),
                                      static_cast<uint32_t>(height_px)) != 0 &&
                     file.error().empty();
  TIFFRGBAImageEnd(&image);
  if (job.deadline.passed()) return time_refused(job.options.limits);
  if (!whole && !job.accepts_damage()) return damaged(job, file, 0, height_px);
  for (int y = 0; y < height_px; ++y) {
    const uint32_t* row = raster.data() + static_cast<size_t>(y) * static_cast<size_t>(width_px);
    job.sink.put(y, reinterpret_cast<const uint8_t*>(row), Pixels::rgba);  // R is the low byte
  }
  return whole ? Status() : damaged(job, file, 0, height_px);
}

// Page i becomes channel i. All pages have to be gray and of the first one's size and depth.
Status decode_pages(Job& job, TiffFile& file, int pages) {
  const TiffSamples first(file);
  const int width_px = first.width_px();
  const int height_px = first.height_px();
  const size_t plane_bytes = static_cast<size_t>(width_px) * static_cast<size_t>(height_px);
  const size_t stacked_bytes = plane_bytes * static_cast<size_t>(pages);
  if (Status refused =
          job.begin_picture(width_px, height_px, pages, stacked_bytes + first.working_bytes());
      !refused.ok()) {
    return refused;
  }
  std::vector<uint8_t> stacked(stacked_bytes);  // C,H,W
  for (int page = 0; page < pages; ++page) {
    if (page > 0 && TIFFReadDirectory(file.get()) == 0) return damaged(job, file, 0, height_px);
    TiffSamples samples(file);
    if (!samples.suits() || samples.samples() != 1 || samples.bits() != first.bits() ||
        samples.width_px() != width_px || samples.height_px() != height_px) {
      return fail(Code::unsupported,
                  fmt::format("page {} is not a gray page like the first", page));
    }
    uint8_t* plane = stacked.data() + plane_bytes * static_cast<size_t>(page);
    const int rows = samples.read([&](int y, const uint8_t* row) {
      uint8_t* out = plane + static_cast<size_t>(y) * static_cast<size_t>(width_px);
      if (samples.bits() == 8) {
        std::memcpy(out, row, static_cast<size_t>(width_px));
      } else {
        const auto* deep = reinterpret_cast<const uint16_t*>(row);
        for (int x = 0; x < width_px; ++x) out[x] = static_cast<uint8_t>(deep[x] >> 8);
      }
      return !job.deadline.passed();
    });
    if (job.deadline.passed()) return time_refused(job.options.limits);
    if (rows != height_px) return damaged(job, file, rows, height_px);
  }
  for (int y = 0; y < height_px; ++y) {
    for (int page = 0; page < pages; ++page) {
      std::memcpy(job.sink.row(page, y),
                  stacked.data() + plane_bytes * static_cast<size_t>(page) +
                      static_cast<size_t>(y) * static_cast<size_t>(width_px),
                  static_cast<size_t>(width_px));
    }
    job.sink.commit(y);
  }
  return {};
}

}  // namespace

Status decode_tiff(Job& job) {
  const int wanted = job.options.channels;
  TiffFile file(job.bytes, job.options.limits.max_memory_bytes);
  if (file.over_limit()) return over_limit(job);
  if (!file.open()) {
    return fail(file.read_past_end() ? Code::truncated : Code::corrupt,
                file.error().empty() ? "libtiff cannot read the directory" : file.error());
  }
  TiffSamples samples(file);
  // Our own header reader planned the picture; a file on which the two disagree is not worth trust.
  if (samples.width_px() != job.stored_width_px() ||
      samples.height_px() != job.stored_height_px()) {
    return fail(Code::corrupt, "TIFF directory that can be read in two ways");
  }
  const bool colour_or_gray = wanted == 1 || wanted == 3;
  if (samples.suits() &&
      (samples.samples() == wanted || (colour_or_gray && samples.samples() <= 4))) {
    return decode_samples(job, file, samples);
  }
  if (!colour_or_gray) {
    if (job.out.info.pages == wanted) return decode_pages(job, file, wanted);
    return fail(Code::unsupported,
                fmt::format("TIFF with {} samples and {} pages where {} channels "
                            "are wanted",
                            samples.samples(), job.out.info.pages, wanted));
  }
  return decode_converted(job, file, job.stored_width_px(), job.stored_height_px());
}

}  // namespace yoload::decode
