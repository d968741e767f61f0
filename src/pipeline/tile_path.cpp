// SPDX-License-Identifier: Apache-2.0
#include "pipeline/tile_path.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "augment/plan.h"
#include "augment/resize_antialias.h"
#include "storage/file_reader.h"

namespace yoload {
namespace {

DecodeOptions decode_options(const LoaderOptions& options, int channels,
                             const std::atomic<bool>* cancelled) {
  DecodeOptions decode;
  decode.channels = channels;
  decode.on_corrupt = options.on_corrupt;
  decode.limits = options.limits;
  decode.scale_16bit = options.scale_16bit;
  decode.cancelled = cancelled;
  decode.jpeg = options.decode;
  return decode;
}

// The caches may fill three quarters of the budget: the rest keeps the window and the batches
// going.
uint64_t cache_limit(const LoaderOptions& options, CacheMode mode, const MemoryKeeper& memory) {
  return options.cache == mode ? memory.budget().limit_bytes() / 4 * 3 : 0;
}

bool ends_with_jpeg(std::string_view path) {
  const size_t dot = path.rfind('.');
  if (dot == std::string_view::npos) return false;
  const std::string_view suffix = path.substr(dot + 1);
  return suffix == "jpg" || suffix == "jpeg" || suffix == "JPG" || suffix == "JPEG";
}

}  // namespace

WorkerState::WorkerState(const LoaderOptions& options, int channels,
                         const std::atomic<bool>* cancelled, ThreadClocks* thread_clocks)
    : decoder(decode_options(options, channels, cancelled)), clocks(thread_clocks) {}

TilePath::TilePath(const LoaderOptions& options, const DatasetIndex& index, MemoryKeeper* memory)
    : options_(options),
      index_(index),
      memory_(memory),
      byte_cache_(memory->budget(), cache_limit(options, CacheMode::bytes, *memory)),
      pixel_cache_(nullptr, cache_limit(options, CacheMode::pixels, *memory)) {}

int TilePath::min_long_side_px() const {
  return options_.fidelity == Fidelity::fused ? options_.imgsz : 0;
}

uint64_t TilePath::working_bytes(uint32_t record) const {
  const ImageRecord& facts = index_.images[record];
  ImageInfo info;
  info.format = ends_with_jpeg(index_.relative_path(record)) ? ImageFormat::jpeg : ImageFormat::png;
  info.width_px = facts.width_px;
  info.height_px = facts.height_px;
  info.channels = index_.channels;
  int width_px = 0, height_px = 0;
  resized_size(facts.width_px, facts.height_px, options_.imgsz, options_.resize, &width_px,
               &height_px);
  // Our own JPEG decoder works on a copy of the coded data.
  const uint64_t copies = info.format == ImageFormat::jpeg ? 2 : 1;
  return facts.file_bytes * copies +
         decode_memory_bytes(info, index_.channels, min_long_side_px()) +
         Image::bytes_for(width_px, height_px, index_.channels);
}

TilePath::LoadedTile TilePath::load(TileRequest request, WorkerState* worker) {
  LoadedTile only = Status();
  std::vector<TileRequest> requests;
  requests.push_back(std::move(request));
  load_many(std::move(requests), worker, [&](size_t, LoadedTile tile) { only = std::move(tile); });
  return only;
}

void TilePath::load_many(std::vector<TileRequest> requests, WorkerState* worker,
                         const std::function<void(size_t, LoadedTile)>& done) {
  const bool keeps_pixels = options_.cache == CacheMode::pixels;
  std::vector<Encoded> files;
  std::vector<size_t> request_of;  // by file
  std::vector<std::shared_ptr<const Buffer>> held;
  for (size_t i = 0; i < requests.size(); ++i) {
    const uint32_t record = requests[i].record;
    if (keeps_pixels) {
      if (auto tile = pixel_cache_.find(record)) {
        cache_hits_.fetch_add(1, std::memory_order_relaxed);
        done(i, std::move(tile));
        continue;
      }
      cache_misses_.fetch_add(1, std::memory_order_relaxed);
    }
    auto bytes = read(record, worker);
    if (!bytes.ok()) {
      done(i, std::move(bytes).status());
      continue;
    }
    files.push_back({record, {(*bytes)->data(), (*bytes)->size()}});
    request_of.push_back(i);
    held.push_back(std::move(*bytes));
  }
  pictures(files, worker, [&](size_t file, Result<Image> image) {
    held[file] = nullptr;
    const size_t i = request_of[file];
    if (!image.ok()) {
      requests[i].lease = {};
      done(i, std::move(image).status());
      return;
    }
    auto tile = std::make_shared<HostTile>();
    tile->image = std::move(*image);
    tile->view = tile->image.view();
    tile->lease = std::move(requests[i].lease);
    const size_t tile_bytes = tile->image.bytes();
    tile->lease.resize(tile_bytes);
    if (keeps_pixels) pixel_cache_.insert(requests[i].record, tile, tile_bytes);
    done(i, std::shared_ptr<const Tile>(std::move(tile)));
  });
}

void TilePath::tile_size(uint32_t record, int* width_px, int* height_px) const {
  const ImageRecord& facts = index_.images[record];
  resized_size(facts.width_px, facts.height_px, options_.imgsz, options_.resize, width_px,
               height_px);
  // `fused` samples straight from the decode, unless that would keep far more pixels than are
  // shown.
  if (options_.fidelity == Fidelity::fused && facts.width_px < 2 * std::max(*width_px, 1)) {
    *width_px = facts.width_px;
    *height_px = facts.height_px;
  }
}

Result<Image> TilePath::picture(uint32_t record, std::span<const uint8_t> bytes,
                                WorkerState* worker) const {
  Result<Image> only = Status();
  const Encoded file{record, bytes};
  pictures({&file, 1}, worker, [&](size_t, Result<Image> image) { only = std::move(image); });
  return only;
}

void TilePath::pictures(std::span<const Encoded> files, WorkerState* worker,
                        const std::function<void(size_t, Result<Image>)>& done) const {
  if (files.empty()) return;
  decodes_.fetch_add(files.size(), std::memory_order_relaxed);
  std::vector<DecodeRequest> requests;
  for (const Encoded& file : files) requests.push_back({file.bytes});
  const int64_t start_ns = now_ns();
  int64_t elsewhere_ns = 0;  // what follows the decode of a picture
  uint64_t pixel_bytes = 0;
  worker->decoder.decode_many(
      requests, memory_->pool(), min_long_side_px(), [&](size_t i, Result<Decoded> decoded) {
        const int64_t decoded_ns = now_ns();
        const uint32_t record = files[i].record;
        if (decoded.ok()) {
          pixel_bytes += decoded->image.bytes();
          if (decoded->own_jpeg) own_jpeg_decodes_.fetch_add(1, std::memory_order_relaxed);
          done(i, at_training_size(record, std::move(*decoded), worker));
        } else {
          done(i, std::move(decoded).status().with_path(index_.path(record)));
        }
        elsewhere_ns += now_ns() - decoded_ns;
      });
  // Pictures in flight together have no times of their own: each gets its share.
  const auto count = static_cast<int64_t>(files.size());
  const int64_t decode_ns = now_ns() - start_ns - elsewhere_ns;
  for (int64_t i = 0; i < count; ++i) {
    worker->clocks->add(Work::decode, decode_ns / count, pixel_bytes / files.size());
  }
}

Result<Image> TilePath::at_training_size(uint32_t record, Decoded decoded,
                                         WorkerState* worker) const {
  const ImageRecord& facts = index_.images[record];
  // Plans and labels rest on the scanned size. With DCT scaling the picture is smaller; info is
  // not.
  if (decoded.info.width_px != facts.width_px || decoded.info.height_px != facts.height_px) {
    return Status(
        Code::changed, Stage::decode,
        fmt::format("{}x{} now, {}x{} when the data set was scanned", decoded.info.width_px,
                    decoded.info.height_px, facts.width_px, facts.height_px),
        index_.path(record));
  }
  int width_px = 0, height_px = 0;
  resized_size(facts.width_px, facts.height_px, options_.imgsz, options_.resize, &width_px,
               &height_px);
  return resize(std::move(decoded.image), width_px, height_px, worker);
}

Result<std::shared_ptr<const Buffer>> TilePath::read(uint32_t record, WorkerState* worker) {
  if (options_.cache == CacheMode::bytes) {
    if (auto bytes = byte_cache_.find(record)) {
      cache_hits_.fetch_add(1, std::memory_order_relaxed);
      return bytes;
    }
    cache_misses_.fetch_add(1, std::memory_order_relaxed);
  }
  StageTimer timer(worker->clocks, Work::read);
  auto bytes = bytes_of_record(record);
  if (!bytes.ok()) return std::move(bytes).status();
  timer.add_bytes(bytes->size());
  auto shared = std::make_shared<const Buffer>(std::move(*bytes));
  if (options_.cache == CacheMode::bytes) byte_cache_.insert(record, shared, shared->capacity());
  return shared;
}

Result<Buffer> TilePath::bytes_of_record(uint32_t record) const {
  if (index_.contents.empty() || index_.contents[record].empty()) {
    return read_file(index_.path(record), memory_->pool());
  }
  const std::span<const uint8_t> contents = index_.contents[record];
  Buffer bytes = memory_->pool()->acquire(contents.size());
  std::memcpy(bytes.data(), contents.data(), contents.size());
  return bytes;
}

Image TilePath::resize(Image image, int width_px, int height_px, WorkerState* worker) const {
  if (image.width_px() == width_px && image.height_px() == height_px) return image;
  // `fused` samples straight from the decode, unless that would keep far more pixels than are
  // shown.
  if (options_.fidelity == Fidelity::fused && image.width_px() < 2 * std::max(width_px, 1))
    return image;
  StageTimer timer(worker->clocks, Work::resize);
  Image resized(memory_->pool(), width_px, height_px, image.channels());
  timer.add_bytes(resized.bytes());
  if (options_.resize == ResizeMode::cover) {
    resize_antialiased(image.view(), resized.mutable_view());
  } else if (options_.simd == "ref") {
    resize_bilinear_ref(image.view(), resized.mutable_view());
  } else {
    resize_bilinear_simd(image.view(), resized.mutable_view(), &worker->scratch);
  }
  return resized;
}

uint64_t TilePath::cache_bytes() const {
  return byte_cache_.bytes() + pixel_cache_.bytes();
}

}  // namespace yoload
