// `yoload digest`: 16 hex digits that two runs share exactly if they delivered the same batches.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstdio>

#include "core/json.h"
#include "yoload/batch_digest.h"
#include "yoload/build_info.h"
#include "yoload/commands.h"
#include "yoload/measured_run.h"
#include "yoload/open_loader.h"
#include "yoload/progress.h"
#include "yoload/settings_json.h"

namespace yoload::cli {

int run_digest(const DigestCommand& command) {
  Loader loader = open_loader(for_epochs(command.loader, command.epochs));
  Progress progress("digest", loader.images_per_epoch() * static_cast<uint64_t>(command.epochs),
                    "images");
  BatchDigest digest;
  uint64_t images = 0, batches = 0;
  JsonWriter json;
  json.begin_object().field("command", "digest");
  if (command.each_batch) json.key("batches").begin_array();
  for (int epoch = 0; epoch < command.epochs; ++epoch) {
    loader.set_epoch(static_cast<uint32_t>(epoch));
    Batch batch;
    while (loader.next(&batch)) {
      loader.to_host(&batch);
      digest.add(batch);
      images += static_cast<uint64_t>(batch.size);
      ++batches;
      progress.update(images);
      if (!command.each_batch) continue;
      BatchDigest own;
      own.add(batch);
      const std::string hex = fmt::format("{:016x}", own.value());
      json.begin_object()
          .field("epoch", batch.epoch)
          .field("batch", batch.index)
          .field("digest", hex)
          .end_object();
      if (!command.json) fmt::print("epoch {} batch {} {}\n", batch.epoch, batch.index, hex);
    }
  }
  progress.finish();
  print_ledger(loader, stderr);
  if (command.each_batch) json.end_array();

  const std::string hex = fmt::format("{:016x}", digest.value());
  if (!command.json) {
    fmt::print("{}\n", hex);
    return kExitOk;
  }
  json.field("digest", hex).field("epochs", command.epochs).field("images", images);
  json.field("batch_count", batches).field("version", version()).field("commit", commit());
  json.key("settings").begin_object();
  write_settings(loader.options(), &json);
  json.end_object().end_object();
  std::puts(json.take().c_str());
  return kExitOk;
}

}  // namespace yoload::cli
