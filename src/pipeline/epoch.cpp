// SPDX-License-Identifier: Apache-2.0
#include "pipeline/epoch.h"

#include <algorithm>

#include "core/philox.h"

namespace yoload {
namespace {

bool mosaic_in(const LoaderOptions& options, uint32_t epoch) {
  const int close = options.augment.close_mosaic;
  // A run that is no longer than close_mosaic has none at all, as in the reference.
  return close <= 0 || options.epochs <= 0 ||
         int64_t{epoch} < int64_t{options.epochs} - int64_t{close};
}

/// Training: as many for every rank. Validation: each picture once.
uint64_t samples_of_rank(const LoaderOptions& options, uint64_t images) {
  const auto world = static_cast<uint64_t>(options.world_size);
  const uint64_t most = (images + world - 1) / world;
  const bool one_less =
      images % world != 0 && static_cast<uint64_t>(options.rank) >= images % world;
  return !options.augment_enabled && one_less ? most - 1 : most;
}

}  // namespace

Epoch::Epoch(const LoaderOptions& options, const DatasetIndex& index, uint32_t epoch,
             std::shared_ptr<const RectBatches> rect)
    : number_(epoch),
      seed_(options.seed),
      images_(index.images.size()),
      rank_(static_cast<uint64_t>(options.rank)),
      world_size_(static_cast<uint64_t>(options.world_size)),
      samples_(samples_of_rank(options, images_)),
      batch_size_(static_cast<uint64_t>(options.batch_size)),
      batches_(options.drop_last ? samples_ / batch_size_
                                 : (samples_ + batch_size_ - 1) / batch_size_),
      window_(static_cast<uint32_t>(options.window)),
      imgsz_(options.imgsz),
      stride_(options.stride),
      multi_scale_(options.augment_enabled ? options.augment.multi_scale : 0),
      mosaic_allowed_(mosaic_in(options, epoch)),
      order_(images_, options.seed, epoch, options.shuffle && !rect),
      rect_(std::move(rect)) {}

int Epoch::batch_samples(uint64_t batch) const {
  return static_cast<int>(std::min(batch_size_, samples_ - batch * batch_size_));
}

uint32_t Epoch::record_at(uint64_t position) const {
  return rect_ ? rect_->order[position % images_] : order_.record_at(position);
}

uint32_t Epoch::replacement(uint64_t position, uint32_t attempt) const {
  return replacement_record(images_, seed_, number_, position, attempt);
}

BatchShape Epoch::shape_of(uint64_t batch) const {
  if (rect_) return rect_->shapes[batch];
  if (multi_scale_ <= 0) return {imgsz_, imgsz_};
  // SEMANTICS 8: a whole number from max(stride, imgsz(1-m)) to imgsz(1+m) + stride - 1, floored to
  // strides.
  const auto low = std::max(stride_, static_cast<int>(imgsz_ * (1 - multi_scale_)));
  const auto high = static_cast<int>(imgsz_ * (1 + multi_scale_)) + stride_;
  Draws draws(seed_, number_, batch, DrawStream::multi_scale);
  const int drawn =
      low + static_cast<int>(draws.below(static_cast<uint32_t>(std::max(1, high - low))));
  const int side = std::max(stride_, drawn / stride_ * stride_);
  return {side, side};
}

PartnerWindow Epoch::window_of(uint64_t position) const {
  return partner_window(position, images_, window_);
}

uint64_t Epoch::last_user(uint64_t position) const {
  if (images_ <= window_) return images_ - 1;
  // Windows trail: position p + span still sees p as its oldest partner. The first windows of an
  // epoch are clamped to its start, which only moves the last user closer.
  const PartnerWindow window = window_of(images_ - 1);
  return std::min(images_ - 1, position + uint64_t{window.count - 1} * window.stride);
}

}  // namespace yoload
