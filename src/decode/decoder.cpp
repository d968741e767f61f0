// SPDX-License-Identifier: Apache-2.0
#include "decode/decoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <stdexcept>

#include "decode/header.h"
#include "decode/job.h"
#include "decode/jpeg/jpeg_scale.h"

namespace yoload {
namespace {

using decode::fail;

Status dispatch(decode::Job& job) {
  switch (job.out.info.format) {
    case ImageFormat::jpeg:
      return decode::decode_jpeg(job);
    case ImageFormat::png:
      return decode::decode_png(job);
    case ImageFormat::webp:
      return decode::decode_webp(job);
    case ImageFormat::tiff:
      return decode::decode_tiff(job);
    case ImageFormat::bmp:
      return decode::decode_bmp(job);
    case ImageFormat::gif:
      return decode::decode_gif(job);
    case ImageFormat::npy:
      return decode::decode_npy(job);
    default:
      return fail(Code::unsupported, "no decoder");
  }
}

Result<ImageInfo> checked_header(decode::ByteSource& source, const DecodeLimits& limits) {
  Result<ImageInfo> info = decode::read_header(source);
  if (!info.ok()) return info;
  if (Status refused = decode::check_size(*info, limits); !refused.ok()) return refused;
  return info;
}

}  // namespace

struct Decoder::State {
  DecodeOptions options;
  decode::Scratch scratch;
  decode::RowSink sink;
};

Decoder::Decoder(const DecodeOptions& options)
    : state_(new State{.options = options, .scratch = {}, .sink = {}}) {}
Decoder::~Decoder() = default;
Decoder::Decoder(Decoder&&) noexcept = default;
Decoder& Decoder::operator=(Decoder&&) noexcept = default;

Result<Decoded> Decoder::decode(std::span<const uint8_t> bytes, BufferPool* pool,
                                int min_long_side_px) {
  try {
    decode::MemorySource source(bytes);
    Result<ImageInfo> info = checked_header(source, state_->options.limits);
    if (!info.ok()) return std::move(info).status();
    decode::Job job{
        .bytes = bytes,
        .options = state_->options,
        .pool = pool,
        .min_long_side_px = min_long_side_px,
        .scratch = state_->scratch,
        .sink = state_->sink,
        .deadline = decode::CpuDeadline(state_->options.limits, state_->options.cancelled),
        .out = {}};
    job.out.info = *info;
    const Status status = dispatch(job);
    state_->scratch.forget_large();
    if (!status.ok()) return status;
    return std::move(job.out);
  } catch (const std::bad_alloc&) {
    return fail(Code::out_of_memory, "no memory for this picture");
  } catch (const std::length_error&) {  // a size that no vector can have
    return fail(Code::out_of_memory, "no memory for this picture");
  }
}

Result<ImageInfo> read_info(std::span<const uint8_t> head, const DecodeLimits& limits) {
  decode::MemorySource source(head);
  return checked_header(source, limits);
}

Result<ImageInfo> probe_file(const std::string& path, const DecodeLimits& limits) {
  decode::FileSource source;
  if (const int error = source.open(path); error != 0) {
    const Code code = error == ENOENT ? Code::not_found : Code::io;
    return Status(code, Stage::decode, std::strerror(error), path);
  }
  Result<ImageInfo> info = checked_header(source, limits);
  if (!info.ok()) return std::move(info).status().with_path(path);
  return info;
}

size_t decode_memory_bytes(const ImageInfo& info, int channels, int min_long_side_px) {
  const size_t pixels = static_cast<size_t>(info.width_px) * static_cast<size_t>(info.height_px);
  // Row buffers, library state and transposing blocks: some rows, and a few hundred KB at most.
  const size_t rows = size_t{256} * static_cast<size_t>(std::max(info.width_px, info.height_px));
  size_t bytes = (size_t{512} << 10) + rows;
  int shrink = 1;
  switch (info.format) {
    case ImageFormat::jpeg:
      shrink = decode::jpeg_shrink(info.width_px, info.height_px, min_long_side_px);
      // All coefficients of all components, 16 bits each, padded to whole MCUs.
      if (info.whole_picture_state) bytes += pixels * 2 * static_cast<size_t>(info.channels) + rows;
      break;
    case ImageFormat::png:
      if (info.whole_picture_state) {
        bytes += pixels * static_cast<size_t>(info.channels) * (info.bits > 8 ? 2 : 1);
      }
      break;
    case ImageFormat::webp:
      bytes += pixels * 7;
      break;  // RGB and, at worst, lossless ARGB
    case ImageFormat::tiff: {
      // libtiff's RGBA raster, or one strip that holds everything, once raw and once as rows.
      const size_t strip =
          pixels * static_cast<size_t>(info.channels) * static_cast<size_t>((info.bits + 7) / 8);
      bytes += std::max(pixels * 5, strip * 2);
      break;
    }
    case ImageFormat::gif:
      bytes += pixels;
      break;
    default:
      break;
  }
  const int width_px = (info.width_px + shrink - 1) / shrink;
  const int height_px = (info.height_px + shrink - 1) / shrink;
  return bytes + Image::bytes_for(width_px, height_px, channels);
}

std::string_view decode_support() {
  return "JPEG (libjpeg-turbo), PNG (libpng), WebP (libwebp), TIFF (libtiff), BMP, GIF, NPY (own); "
         "named but not decoded: AVIF, HEIC, JPEG XL, JPEG 2000";
}

}  // namespace yoload
