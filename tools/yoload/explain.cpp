// `yoload explain`: the plan of one training sample as text, and the sample as a picture.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstdio>
#include <stdexcept>

#include "core/dataset_index.h"
#include "core/json.h"
#include "core/plan.h"
#include "yoload/batch_view.h"
#include "yoload/commands.h"
#include "yoload/image_files.h"
#include "yoload/open_loader.h"

namespace yoload::cli {
namespace {

std::string class_name(const DatasetIndex& index, int cls) {
  const auto i = static_cast<size_t>(cls);
  return cls >= 0 && i < index.names.size() ? index.names[i] : fmt::format("class {}", cls);
}

void print_draws(const Loader& loader, const ExplainCommand& command) {
  uint32_t epoch = command.epoch;
  uint64_t index = command.index;
  for (uint64_t i = 0; i < command.draws; ++i, ++index) {
    if (index == loader.images_per_epoch()) {
      ++epoch;
      index = 0;
    }
    std::puts(loader.draws_json(epoch, index).c_str());
  }
}

}  // namespace

int run_explain(const ExplainCommand& command) {
  Loader loader = open_loader(command.loader);
  if (command.index >= loader.images_per_epoch()) {
    throw std::invalid_argument(
        fmt::format("--index {}: the epoch has {} samples, so 0 to {} are possible", command.index,
                    loader.images_per_epoch(), loader.images_per_epoch() - 1));
  }
  if (command.draws > 0) {
    print_draws(loader, command);
    return kExitOk;
  }
  const DatasetIndex& index = loader.index();
  const SamplePlan plan = loader.plan(command.epoch, command.index);
  const Batch batch = loader.render(command.epoch, command.index);
  RgbImage image = sample_image(batch, 0);
  draw_labels(batch, 0, index.names, &image);
  write_png(image, command.out_path);
  const std::vector<DrawnObject> objects = sample_objects(batch, 0);

  if (!command.json) {
    fmt::print("{}", plan.to_string());
    fmt::print("pictures\n");
    for (size_t i = 0; i < plan.sources.size(); ++i) {
      fmt::print("  source {}: {}\n", i, index.path(plan.sources[i].record));
    }
    fmt::print("labels\n");
    for (const DrawnObject& o : objects) {
      fmt::print("  {:<16} centre {:7.1f} {:7.1f}  size {:6.1f} x {:6.1f} px\n",
                 class_name(index, o.cls), o.centre.x, o.centre.y, 2 * o.half.x, 2 * o.half.y);
    }
    fmt::print("written: {}\n", command.out_path);
    return kExitOk;
  }
  JsonWriter json;
  json.begin_object()
      .field("command", "explain")
      .field("epoch", command.epoch)
      .field("index", command.index);
  json.field("plan", plan.to_string()).field("out", command.out_path);
  json.key("pictures").begin_array();
  for (const PlanSource& source : plan.sources) {
    json.begin_object().field("path", index.path(source.record)).field("record", source.record);
    json.field("width_px", source.width_px).field("height_px", source.height_px).end_object();
  }
  json.end_array().key("labels").begin_array();
  for (const DrawnObject& o : objects) {
    json.begin_object().field("cls", o.cls).field("name", class_name(index, o.cls));
    json.field("x_px", o.centre.x).field("y_px", o.centre.y);
    json.field("w_px", 2 * o.half.x)
        .field("h_px", 2 * o.half.y)
        .field("angle_rad", o.angle)
        .end_object();
  }
  json.end_array().end_object();
  std::puts(json.take().c_str());
  return kExitOk;
}

}  // namespace yoload::cli
