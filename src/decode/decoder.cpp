// SPDX-License-Identifier: Apache-2.0
#include "decode/decoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <new>
#include <optional>
#include <stdexcept>

#include "decode/header.h"
#include "decode/job.h"
#include "decode/jpeg/jpeg_scale.h"
#include "decode/jpeg/own_jpeg.h"

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

/// Bad allocations are that file's failure.
template <class Step>
Status guarded(const Step& step) {
  try {
    return step();
  } catch (const std::bad_alloc&) {
    return fail(Code::out_of_memory, "no memory for this picture");
  } catch (const std::length_error&) {  // a size that no vector can have
    return fail(Code::out_of_memory, "no memory for this picture");
  }
}

}  // namespace

/// One place for a picture in flight. `own` works while `job` is there.
struct Decoder::Lane {
  decode::Scratch scratch;
  decode::RowSink sink;
  std::optional<decode::Job> job;
  decode::jpeg::OwnJpeg own;
  size_t request = 0;
};

struct Decoder::State {
  DecodeOptions options;
  std::array<Lane, kTogether> lanes;
};

/// The requests of one decode_many() on their way through the lanes.
class Decoder::Run {
 public:
  Run(Decoder& decoder, std::span<const DecodeRequest> requests, BufferPool* pool,
      int min_long_side_px, const Done& done)
      : options_(decoder.state_->options),
        lanes_(decoder.state_->lanes),
        requests_(requests),
        pool_(pool),
        min_long_side_px_(min_long_side_px),
        done_(done) {}

  void to_the_end() {
    for (Lane& lane : lanes_) refill(lane);
    for (;;) {
      std::array<decode::jpeg::OwnJpeg*, kTogether> running{};
      size_t count = 0;
      for (Lane& lane : lanes_) {
        if (lane.job) running[count++] = &lane.own;
      }
      if (count == 0) return;
      decode::jpeg::advance(std::span(running).first(count));
      for (Lane& lane : lanes_) {
        if (!lane.job || lane.own.state() == decode::jpeg::OwnJpeg::State::running) continue;
        end_own(lane);
        refill(lane);
      }
    }
  }

 private:
  /// Takes requests until one of them is in flight; the others are done.
  void refill(Lane& lane) {
    while (next_ < requests_.size()) {
      lane.request = next_++;
      bool in_flight = false;
      Status status = guarded([&]() -> Status {
        if (Status bad = open(lane); !bad.ok()) return bad;
        const bool ours = options_.jpeg == JpegDecode::automatic &&
                          lane.job->out.info.format == ImageFormat::jpeg;
        in_flight = ours && lane.own.begin(*lane.job);
        return in_flight ? Status() : whole(*lane.job);
      });
      if (in_flight) return;
      close(lane, std::move(status));
    }
  }

  Status open(Lane& lane) {
    const DecodeRequest& request = requests_[lane.request];
    decode::MemorySource source(request.bytes);
    Result<ImageInfo> info = checked_header(source, options_.limits);
    if (!info.ok()) return std::move(info).status();
    lane.job.emplace(decode::Job{.bytes = request.bytes,
                                 .options = options_,
                                 .pool = pool_,
                                 .min_long_side_px = min_long_side_px_,
                                 .target = request.target,
                                 .scratch = lane.scratch,
                                 .sink = lane.sink,
                                 .deadline = deadline(),
                                 .out = {}});
    lane.job->out.info = *info;
    return {};
  }

  void end_own(Lane& lane) {
    Status status;
    if (lane.own.state() == decode::jpeg::OwnJpeg::State::gave_up) {
      status = guarded([&] { return whole(*lane.job); });
    }
    lane.own.forget_large();
    close(lane, std::move(status));
  }

  /// From the start, by the format's library.
  Status whole(decode::Job& job) {
    job.out.image = {};
    job.begun = false;
    job.deadline = deadline();
    return dispatch(job);
  }

  void close(Lane& lane, Status status) {
    std::optional<decode::Job> job = std::exchange(lane.job, std::nullopt);
    if (status.ok()) job->deliver();
    lane.scratch.forget_large();
    if (status.ok()) {
      done_(lane.request, std::move(job->out));
    } else {
      done_(lane.request, std::move(status));
    }
  }

  decode::CpuDeadline deadline() const {
    return decode::CpuDeadline(options_.limits, options_.cancelled);
  }

  const DecodeOptions& options_;
  std::span<Lane> lanes_;
  std::span<const DecodeRequest> requests_;
  BufferPool* pool_;
  int min_long_side_px_;
  const Done& done_;
  size_t next_ = 0;
};

Decoder::Decoder(const DecodeOptions& options) : state_(new State{options, {}}) {}
Decoder::~Decoder() = default;
Decoder::Decoder(Decoder&&) noexcept = default;
Decoder& Decoder::operator=(Decoder&&) noexcept = default;

Result<Decoded> Decoder::decode(std::span<const uint8_t> bytes, BufferPool* pool,
                                int min_long_side_px) {
  Result<Decoded> only = Status();
  const DecodeRequest request{bytes};
  decode_many({&request, 1}, pool, min_long_side_px,
              [&](size_t, Result<Decoded> decoded) { only = std::move(decoded); });
  return only;
}

void Decoder::decode_many(std::span<const DecodeRequest> requests, BufferPool* pool,
                          int min_long_side_px, const Done& done) {
  for (Lane& lane : state_->lanes) lane.job.reset();  // `done` may have thrown
  Run(*this, requests, pool, min_long_side_px, done).to_the_end();
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
  return "JPEG (own, libjpeg-turbo), PNG (libpng), WebP (libwebp), TIFF (libtiff), BMP, GIF, NPY "
         "(own); "
         "named but not decoded: AVIF, HEIC, JPEG XL, JPEG 2000";
}

}  // namespace yoload
