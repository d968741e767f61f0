// `yoload preview`: a picture of what training will see.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "core/json.h"
#include "yoload/commands.h"
#include "yoload/image_files.h"
#include "yoload/measured_run.h"
#include "yoload/open_loader.h"
#include "yoload/preview_grid.h"

namespace yoload::cli {

int run_preview(const PreviewCommand& command) {
  LoaderOptions options = for_epochs(command.loader, static_cast<int>(command.epoch) + 1);
  // A window of batches beyond the grid would be prepared for nothing.
  options.batch_size = std::min(options.batch_size, command.count);
  options.prefetch_factor = 1;
  Loader loader = open_loader(options);
  const RgbImage grid = make_preview_grid(
      &loader, {command.epoch, command.count, command.tile_px, grid_title(options, command.epoch)});
  write_png(grid, command.out_path);
  if (!command.json) {
    fmt::print("written: {} ({} x {} px)\n", command.out_path, grid.width_px, grid.height_px);
    return kExitOk;
  }
  JsonWriter json;
  json.begin_object().field("command", "preview").field("out", command.out_path);
  json.field("width_px", grid.width_px).field("height_px", grid.height_px).end_object();
  std::puts(json.take().c_str());
  return kExitOk;
}

}  // namespace yoload::cli
