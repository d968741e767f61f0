// SPDX-License-Identifier: Apache-2.0
#include "yoload/open_loader.h"

#include <fmt/format.h>

#include <cstdio>
#include <memory>

#include "yoload/progress.h"

namespace yoload::cli {

Loader open_loader(LoaderOptions options) {
  // Made by the first call: a data set that comes from the label cache shows no bar at all.
  const auto progress = std::make_shared<std::unique_ptr<Progress>>();
  options.scan_progress = [progress](uint64_t done, uint64_t total) {
    if (*progress == nullptr) *progress = std::make_unique<Progress>("scan", total, "images");
    (*progress)->update(done);
  };
  Loader loader(options);
  progress->reset();
  for (const std::string& warning : loader.warnings()) fmt::print(stderr, "warning: {}\n", warning);
  return loader;
}

}  // namespace yoload::cli
