// WebP through libwebp: lossy, lossless, alpha dropped; of an animation the first frame.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <webp/decode.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "decode/job.h"
#include "decode/webp/webp_container.h"

namespace yoload::decode {
namespace {

struct IdecDeleter {
  void operator()(WebPIDecoder* decoder) const { WebPIDelete(decoder); }
};

// Decodes what there is; returns the rows that came out. The one-shot call delivers nothing for a
// truncated file, the incremental one does.
int decode_rows(std::span<const uint8_t> frame, uint8_t* rgb, size_t rgb_bytes, int stride_bytes,
                VP8StatusCode* status) {
  const std::unique_ptr<WebPIDecoder, IdecDeleter> decoder(
      WebPINewRGB(MODE_RGB, rgb, rgb_bytes, stride_bytes));
  if (!decoder) {
    *status = VP8_STATUS_OUT_OF_MEMORY;
    return 0;
  }
  *status = WebPIUpdate(decoder.get(), frame.data(), frame.size());
  int rows = 0;
  int width_px = 0;
  int height_px = 0;
  int stride = 0;
  return WebPIDecGetRGB(decoder.get(), &rows, &width_px, &height_px, &stride) != nullptr ? rows : 0;
}

Code code_of(VP8StatusCode status) {
  switch (status) {
    case VP8_STATUS_OUT_OF_MEMORY:
      return Code::out_of_memory;
    case VP8_STATUS_SUSPENDED:
    case VP8_STATUS_NOT_ENOUGH_DATA:
      return Code::truncated;
    case VP8_STATUS_UNSUPPORTED_FEATURE:
      return Code::unsupported;
    default:
      return Code::corrupt;
  }
}

}  // namespace

Status decode_webp(Job& job) {
  if (job.options.channels != 1 && job.options.channels != 3) {
    return fail(Code::unsupported, fmt::format("a WebP has no {} channels", job.options.channels));
  }
  MemorySource source(job.bytes);
  WebpLayout layout;
  if (!read_webp_layout(source, &layout)) return fail(Code::corrupt, "WebP without a picture");
  std::span<const uint8_t> frame = job.bytes;
  const int width_px = layout.canvas_width_px;
  const int height_px = layout.canvas_height_px;
  if (layout.animated) {
    if (layout.frame_bytes == 0) return fail(Code::corrupt, "animated WebP without a frame");
    if (layout.frame_start >= job.bytes.size()) return fail(Code::truncated, "WebP ends too early");
    frame = frame.subspan(layout.frame_start);
    frame = frame.first(std::min<size_t>(frame.size(), layout.frame_bytes));
  }
  WebPBitstreamFeatures features;
  if (const auto status = WebPGetFeatures(frame.data(), frame.size(), &features);
      status != VP8_STATUS_OK) {
    return fail(code_of(status), "libwebp cannot read the picture's header");
  }
  const int frame_x_px = layout.animated ? layout.frame_x_px : 0;
  const int frame_y_px = layout.animated ? layout.frame_y_px : 0;
  // The container and the bit stream each name a size; memory was planned by the container's.
  if (features.width > width_px - frame_x_px || features.height > height_px - frame_y_px ||
      (!layout.animated && (features.width != width_px || features.height != height_px))) {
    return fail(Code::corrupt, "WebP whose container and picture disagree about the size");
  }

  const size_t stride_bytes = static_cast<size_t>(width_px) * 3;
  const size_t rgb_bytes = stride_bytes * static_cast<size_t>(height_px);
  // libwebp itself keeps the ARGB picture of lossless files and the alpha plane of lossy ones.
  const size_t library_bytes = rgb_bytes / 3 * 4;
  if (Status refused =
          job.begin_picture(width_px, height_px, job.options.channels, rgb_bytes + library_bytes);
      !refused.ok()) {
    return refused;
  }
  // Not kept between pictures: it is as large as the picture.
  const Buffer rgb = job.pool != nullptr ? job.pool->acquire(rgb_bytes + kReadPadding)
                                         : Buffer::allocate(rgb_bytes + kReadPadding);
  if (layout.animated || job.accepts_damage()) std::memset(rgb.data(), 0, rgb_bytes);
  const size_t offset =
      static_cast<size_t>(frame_y_px) * stride_bytes + static_cast<size_t>(frame_x_px) * 3;
  VP8StatusCode status = VP8_STATUS_OK;
  const int rows = decode_rows(frame, rgb.data() + offset, rgb_bytes - offset,
                               static_cast<int>(stride_bytes), &status);
  const bool whole = status == VP8_STATUS_OK && rows == features.height;
  if (!whole && !job.accepts_damage()) {
    return fail(status == VP8_STATUS_OK ? Code::truncated : code_of(status),
                fmt::format("libwebp stopped after {} of {} rows", rows, features.height));
  }
  const int rows_there = whole ? height_px : std::min(height_px, rows == 0 ? 0 : frame_y_px + rows);
  for (int y = 0; y < rows_there; ++y) {
    job.sink.put(y, rgb.data() + stride_bytes * static_cast<size_t>(y), Pixels::rgb);
  }
  if (!whole) {
    return job.end_damaged(
        status == VP8_STATUS_OK ? Code::truncated : code_of(status),
        fmt::format("libwebp stopped after {} of {} rows", rows, features.height));
  }
  if (job.deadline.passed()) return time_refused(job.options.limits);
  // Trailing chunks (EXIF, XMP) may be cut without any pixel missing.
  uint32_t riff_bytes = 0;
  if (source.u32(4, false, &riff_bytes) && uint64_t{riff_bytes} + 8 > job.bytes.size()) {
    job.warn("all pixels are there, but the file is shorter than its header says");
  }
  return {};
}

}  // namespace yoload::decode
