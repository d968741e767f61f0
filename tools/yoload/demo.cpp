// `yoload demo`: the whole job on a drawn data set, or on the user's own: check, look, run,
// measure. SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "core/json.h"
#include "core/machine.h"
#include "yoload/build_info.h"
#include "yoload/commands.h"
#include "yoload/demo_dataset.h"
#include "yoload/image_files.h"
#include "yoload/measured_run.h"
#include "yoload/open_loader.h"
#include "yoload/preview_grid.h"
#include "yoload/units.h"

namespace yoload::cli {
namespace {

namespace fs = std::filesystem;

/// Headings go to stdout with the results, except in JSON mode, where stdout is one document.
void heading(const DemoCommand& command, int step, const std::string& text) {
  if (!command.json) {
    fmt::print("\n== {}/4  {}\n", step, text);
    std::fflush(stdout);
  }
}

DemoDataset drawing(const DemoCommand& command, std::string folder) {
  DemoDataset wanted;
  wanted.folder = std::move(folder);
  wanted.train_images = command.count;
  wanted.val_images = std::max(1, command.count / 5);
  wanted.width_px = command.width_px;
  wanted.height_px = command.height_px;
  return wanted;
}

/// `--only-data DIR`: benchmarks and tests draw their pictures with it.
int draw_only(const DemoCommand& command) {
  const std::string yaml = make_demo_dataset(drawing(command, command.only_data_dir));
  if (command.json) {
    JsonWriter json;
    json.begin_object()
        .field("command", "demo")
        .field("data", yaml)
        .field("count", command.count)
        .end_object();
    std::puts(json.take().c_str());
  } else {
    fmt::print("{}\n", yaml);
  }
  return kExitOk;
}

}  // namespace

int run_demo(const DemoCommand& command) {
  if (!command.only_data_dir.empty()) return draw_only(command);
  const fs::path out = command.out_dir.empty() ? fs::temp_directory_path() / "yoload-demo"
                                               : fs::path(command.out_dir);
  fs::create_directories(out);
  LoaderOptions options = for_epochs(command.loader, command.epochs);

  if (options.data.empty()) {
    heading(command, 1,
            "a data set: circuit boards with scratches, spots, missing parts and solder bridges");
    const DemoDataset wanted = drawing(command, (out / "boards").string());
    options.data = make_demo_dataset(wanted);
    if (!command.json) {
      fmt::print("{}: {} + {} JPEG pictures of {} x {} px\n", options.data, wanted.train_images,
                 wanted.val_images, wanted.width_px, wanted.height_px);
    }
  } else {
    heading(command, 1, "your data set: " + options.data);
  }

  heading(command, 2, "check: are pictures and labels in order?");
  CheckCommand check;
  check.data = options.data;
  check.task = options.task;
  check.cache_dir = options.cache_dir;
  check.imgsz = options.imgsz;
  check.threads = options.workers;
  check.quiet = command.json;
  const int check_result = run_check(check);

  heading(command, 3, "preview: what the network will see");
  const std::string grid_path = (out / "preview.png").string();
  {
    // A loader of its own: pictures it has decoded must not make the measured run look better.
    Loader loader = open_loader(options);
    write_png(make_preview_grid(&loader, {0, 16, 400, grid_title(options, 0)}), grid_path);
  }
  if (!command.json) fmt::print("written: {}\n", grid_path);

  heading(command, 4,
          fmt::format("{} epochs, batch {}, {} px, simulated training step {} ms", command.epochs,
                      options.batch_size, options.imgsz, command.step_ms));
  Loader loader = open_loader(options);
  const MeasuredRun run = run_measured(&loader, {command.epochs, 0, command.step_ms, "train"});
  if (!command.json) {
    fmt::print("{}\n", run.report.to_text());
    fmt::print("{:.1f} images/s, {:.3f} decodes per image, peak RSS {}\n", run.images_per_s,
               run.decodes_per_image, format_bytes(peak_resident_bytes()));
    fmt::print("first batch after {:.0f} ms (start-up, left out of the verdict)\n",
               1000 * run.first_batch_s);
    print_ledger(loader, stdout);
    return check_result;
  }
  JsonWriter json;
  json.begin_object()
      .field("command", "demo")
      .field("data", options.data)
      .field("preview", grid_path);
  json.field("check_exit_code", check_result).field("images_per_s", run.images_per_s);
  json.field("decodes_per_image", run.decodes_per_image)
      .field("peak_rss_bytes", peak_resident_bytes());
  json.field("verdict", run.report.verdict)
      .field("version", version())
      .field("commit", commit())
      .end_object();
  std::puts(json.take().c_str());
  return check_result;
}

}  // namespace yoload::cli
