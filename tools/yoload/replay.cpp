// `yoload replay`: one batch of a run, made anew, to look at what stood behind a loss spike.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstdio>
#include <stdexcept>

#include "core/dataset_index.h"
#include "core/json.h"
#include "yoload/batch_digest.h"
#include "yoload/commands.h"
#include "yoload/image_files.h"
#include "yoload/open_loader.h"
#include "yoload/preview_grid.h"

namespace yoload::cli {

int run_replay(const ReplayCommand& command) {
  LoaderOptions options = command.loader;
  options.prefetch_factor = 1;
  Loader loader = open_loader(options);
  if (command.batch >= loader.batches_per_epoch()) {
    throw std::invalid_argument(
        fmt::format("--index {}: the epoch has {} batches, so 0 to {} are possible", command.batch,
                    loader.batches_per_epoch(), loader.batches_per_epoch() - 1));
  }
  loader.set_epoch(command.epoch, command.batch);
  Batch batch;
  loader.next(&batch);
  loader.to_host(&batch);
  const DatasetIndex& index = loader.index();
  GridOptions grid;
  grid.epoch = command.epoch;
  grid.count = batch.size;
  grid.tile_px = command.tile_px;
  grid.title = fmt::format("{}   batch {}", grid_title(options, command.epoch), command.batch);
  write_png(make_batch_grid(batch, index, grid), command.out_path);
  BatchDigest digest;
  digest.add(batch);
  const std::string hash = fmt::format("{:016x}", digest.value());

  if (!command.json) {
    fmt::print("epoch {}, batch {}: {} pictures of {} x {} px, {} objects, digest {}\n",
               command.epoch, command.batch, batch.size, batch.width_px, batch.height_px,
               batch.cls.size(), hash);
    for (const SampleInfo& sample : batch.samples) {
      fmt::print("{:>10}  {}{}\n", sample.position, index.path(sample.record),
                 sample.replaced ? "  (in place of one that cannot be read)" : "");
    }
    fmt::print("written: {}\n", command.out_path);
    return kExitOk;
  }
  JsonWriter json;
  json.begin_object().field("command", "replay").field("epoch", command.epoch);
  json.field("batch", command.batch).field("digest", hash).field("out", command.out_path);
  json.field("objects", batch.cls.size()).key("samples").begin_array();
  for (const SampleInfo& sample : batch.samples) {
    json.begin_object().field("position", sample.position);
    json.field("path", index.path(sample.record)).field("replaced", sample.replaced).end_object();
  }
  json.end_array().end_object();
  std::puts(json.take().c_str());
  return kExitOk;
}

}  // namespace yoload::cli
