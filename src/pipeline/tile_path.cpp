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
  return facts.file_bytes + decode_memory_bytes(info, index_.channels, min_long_side_px()) +
         Image::bytes_for(width_px, height_px, index_.channels);
}

Result<std::shared_ptr<const Tile>> TilePath::load(uint32_t record, BudgetLease lease,
                                                   WorkerState* worker) {
  if (options_.cache == CacheMode::pixels) {
    if (auto tile = pixel_cache_.find(record)) {
      cache_hits_.fetch_add(1, std::memory_order_relaxed);
      return tile;
    }
    cache_misses_.fetch_add(1, std::memory_order_relaxed);
  }
  auto bytes = read(record, worker);
  if (!bytes.ok()) return std::move(bytes).status();
  auto image = picture(record, {(*bytes)->data(), (*bytes)->size()}, worker);
  if (!image.ok()) return std::move(image).status();
  auto tile = std::make_shared<HostTile>();
  tile->image = std::move(*image);
  tile->view = tile->image.view();
  lease.resize(tile->image.bytes());
  tile->lease = std::move(lease);
  const size_t tile_bytes = tile->image.bytes();
  if (options_.cache == CacheMode::pixels) pixel_cache_.insert(record, tile, tile_bytes);
  return std::shared_ptr<const Tile>(std::move(tile));
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
  auto decoded = decode(record, bytes, worker);
  if (!decoded.ok()) return std::move(decoded).status().with_path(index_.path(record));
  const ImageRecord& facts = index_.images[record];
  int width_px = 0, height_px = 0;
  resized_size(facts.width_px, facts.height_px, options_.imgsz, options_.resize, &width_px,
               &height_px);
  return resize(std::move(decoded->image), width_px, height_px, worker);
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

Result<Decoded> TilePath::decode(uint32_t record, std::span<const uint8_t> bytes,
                                 WorkerState* worker) const {
  StageTimer timer(worker->clocks, Work::decode);
  decodes_.fetch_add(1, std::memory_order_relaxed);
  auto decoded = worker->decoder.decode(bytes, memory_->pool(), min_long_side_px());
  if (!decoded.ok()) return decoded;
  timer.add_bytes(decoded->image.bytes());
  const ImageRecord& facts = index_.images[record];
  // Plans and labels rest on the scanned size. With DCT scaling the picture is smaller; info is
  // not.
  if (decoded->info.width_px != facts.width_px || decoded->info.height_px != facts.height_px) {
    return Status(
        Code::changed, Stage::decode,
        fmt::format("{}x{} now, {}x{} when the data set was scanned", decoded->info.width_px,
                    decoded->info.height_px, facts.width_px, facts.height_px));
  }
  return decoded;
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
