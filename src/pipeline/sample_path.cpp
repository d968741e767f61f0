// SPDX-License-Identifier: Apache-2.0
#include "pipeline/sample_path.h"

namespace yoload {

SamplePath::SamplePath(const LoaderOptions& options, const DatasetIndex& index)
    : options_(options), index_(index) {}

PlanContext SamplePath::context(const Epoch& epoch, BatchShape shape) const {
  PlanContext context;
  context.augment = &options_.augment;
  context.enabled = options_.augment_enabled;
  context.seed = options_.seed;
  context.imgsz = options_.imgsz;
  context.out_height_px = shape.height_px;
  context.out_width_px = shape.width_px;
  context.fidelity = options_.fidelity;
  context.resize = options_.resize;
  context.channels = index_.channels;
  context.images = index_.images.size();
  context.window = static_cast<uint32_t>(options_.window);
  context.mosaic_allowed = epoch.mosaic_allowed();
  context.task = index_.task;
  context.mask_ratio = options_.mask_ratio;
  context.overlap_mask = options_.overlap_mask;
  return context;
}

SampleDraws SamplePath::draw(const Epoch& epoch, uint64_t position) const {
  // The shape does not influence a draw.
  return draw_sample(context(epoch, {options_.imgsz, options_.imgsz}), epoch.number(), position,
                     epoch.window_of(position));
}

PlannedSample SamplePath::lay_out_sample(const Epoch& epoch, const SampleDraws& draws,
                                         BatchShape shape,
                                         std::span<const uint32_t> records) const {
  return lay_out(context(epoch, shape), draws, index_, records);
}

PlannedSample SamplePath::plan(const Epoch& epoch, const SampleDraws& draws, BatchShape shape,
                               std::span<const uint32_t> records, ThreadClocks* clocks,
                               SampleInfo* info) const {
  StageTimer timer(clocks, Work::plan);
  const ImageRecord& own = index_.images[records.front()];
  info->record = records.front();
  info->replaced = records.front() != epoch.record_at(info->position);
  info->ori_height_px = own.height_px;
  info->ori_width_px = own.width_px;
  resized_size(own.width_px, own.height_px, options_.imgsz, options_.resize,
               &info->resized_width_px, &info->resized_height_px);
  return lay_out_sample(epoch, draws, shape, records);
}

RenderTarget SamplePath::target(BatchShape shape) const {
  RenderTarget target;
  target.width_px = shape.width_px;
  target.height_px = shape.height_px;
  target.channels = index_.channels;
  target.dtype = options_.dtype;
  for (size_t c = 0; c < 3; ++c) {
    target.mul[c] = options_.scale / options_.std[c];
    target.add[c] = -options_.mean[c] / options_.std[c];
  }
  return target;
}

SampleLabels SamplePath::render(const Epoch& epoch, const SampleDraws& draws, BatchShape shape,
                                std::span<const SampleSource> sources, void* place,
                                WorkerState* worker, SampleInfo* info) const {
  std::vector<uint32_t> records;
  std::vector<ImageView> tiles;
  records.reserve(sources.size());
  tiles.reserve(sources.size());
  for (const SampleSource& source : sources) {
    records.push_back(source.record);
    tiles.push_back(source.tile->view);
  }
  PlannedSample planned = plan(epoch, draws, shape, records, worker->clocks, info);
  StageTimer timer(worker->clocks, Work::augment);
  RenderTarget target = this->target(shape);
  target.data = place;
  if (options_.simd == "ref") {
    run_ref(planned.plan, tiles, target, worker->scratch);
  } else {
    run_simd(planned.plan, tiles, target, worker->scratch);
  }
  return std::move(planned.labels);
}

}  // namespace yoload
