// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

#include "core/raise.h"
#include "decode/decoder.h"
#include "yoload/jpeg.h"

namespace yoload {
namespace {

DecodeOptions decode_options(const PictureDecoderOptions& options) {
  DecodeOptions decode;
  decode.channels = options.channels;
  decode.limits = options.limits;
  decode.jpeg = options.decode;
  return decode;
}

PictureInfo facts_of(const ImageInfo& info, bool own_jpeg) {
  return {info.width_px, info.height_px, info.channels, own_jpeg};
}

}  // namespace

struct PictureDecoder::State {
  PictureDecoderOptions options;
  Decoder decoder;
};

PictureDecoder::PictureDecoder(const PictureDecoderOptions& options)
    : state_(new State{options, Decoder(decode_options(options))}) {}
PictureDecoder::~PictureDecoder() = default;
PictureDecoder::PictureDecoder(PictureDecoder&&) noexcept = default;
PictureDecoder& PictureDecoder::operator=(PictureDecoder&&) noexcept = default;

PictureInfo PictureDecoder::info(std::span<const uint8_t> file) const {
  const Result<ImageInfo> info = read_info(file, state_->options.limits);
  if (!info.ok()) raise(info.status());
  return facts_of(*info, false);
}

PictureInfo PictureDecoder::decode(std::span<const uint8_t> file, const PixelTarget& target) {
  Result<Decoded> decoded = Status();
  const DecodeRequest request{file, &target};
  state_->decoder.decode_many({&request, 1}, nullptr, 0,
                              [&](size_t, Result<Decoded> one) { decoded = std::move(one); });
  if (!decoded.ok()) {
    if (decoded.status().code() == Code::invalid_argument) {
      throw std::invalid_argument(decoded.status().message());
    }
    raise(decoded.status());
  }
  return facts_of(decoded->info, decoded->own_jpeg);
}

void PictureDecoder::decode_many(std::span<Task> tasks, const std::function<void(size_t)>& done) {
  std::vector<DecodeRequest> requests;
  requests.reserve(tasks.size());
  for (const Task& task : tasks) requests.push_back({task.file, &task.target});
  state_->decoder.decode_many(requests, nullptr, 0, [&](size_t i, Result<Decoded> decoded) {
    Task& task = tasks[i];
    if (decoded.ok()) {
      task.info = facts_of(decoded->info, decoded->own_jpeg);
      task.error.clear();
    } else {
      const Status& status = decoded.status();
      task.error = fmt::format("{}: {}", name(status.code()), status.message());
    }
    if (done) done(i);
  });
}

void decode_pictures(std::span<PictureDecoder::Task> tasks, const PictureDecoderOptions& options,
                     int threads) {
  constexpr size_t kGroup = 8;  // few enough to share out, enough to keep a decoder's lanes full
  std::atomic<size_t> next{0};
  const auto work = [&] {
    PictureDecoder decoder(options);
    for (;;) {
      const size_t first = next.fetch_add(kGroup, std::memory_order_relaxed);
      if (first >= tasks.size()) return;
      decoder.decode_many(tasks.subspan(first, std::min(kGroup, tasks.size() - first)));
    }
  };
  std::vector<std::jthread> helpers;
  const size_t groups = (tasks.size() + kGroup - 1) / kGroup;
  for (size_t i = 1; i < std::min(groups, static_cast<size_t>(std::max(1, threads))); ++i) {
    helpers.emplace_back(work);
  }
  work();
}

}  // namespace yoload
