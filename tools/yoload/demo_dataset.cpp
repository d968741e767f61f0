// SPDX-License-Identifier: Apache-2.0
#include "yoload/demo_dataset.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <vector>

#include "core/machine.h"
#include "yoload/board_art.h"
#include "yoload/image_files.h"
#include "yoload/progress.h"

namespace yoload::cli {
namespace {

namespace fs = std::filesystem;

constexpr int kDrawingVersion =
    1;  ///< raise it when the boards look different: old demo sets are redrawn
constexpr int kJpegQuality = 90;
constexpr const char* kMarker = ".yoload-demo";

std::string read_text(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

void write_text(const fs::path& path, const std::string& text) {
  std::ofstream stream(path, std::ios::binary);
  stream << text;
  stream.close();
  if (!stream) throw std::runtime_error(path.string() + ": cannot write");
}

std::string marker_text(const DemoDataset& d) {
  return fmt::format("drawing {} seed {} train {} val {} size {}x{}\n", kDrawingVersion, d.seed,
                     d.train_images, d.val_images, d.width_px, d.height_px);
}

std::string label_text(const BoardPhoto& photo) {
  std::string text;
  const auto width = static_cast<float>(photo.image.width_px),
             height = static_cast<float>(photo.image.height_px);
  for (const Defect& d : photo.defects) {
    text += fmt::format("{} {:.6f} {:.6f} {:.6f} {:.6f}\n", d.cls, (d.x0 + d.x1) / 2 / width,
                        (d.y0 + d.y1) / 2 / height, (d.x1 - d.x0) / width, (d.y1 - d.y0) / height);
  }
  return text;
}

std::string yaml_text() {
  std::string text =
      "# Drawn by `yoload demo`: circuit boards with known defects.\npath: .\ntrain: "
      "images/train\nval: images/val\nnames:\n";
  for (size_t i = 0; i < kDefectNames.size(); ++i)
    text += fmt::format("  {}: {}\n", i, kDefectNames[i]);
  return text;
}

void draw_one(const DemoDataset& d, int number) {
  const char* split = number < d.train_images ? "train" : "val";
  const std::string stem = fmt::format("board_{:05}", number);
  const BoardPhoto photo = draw_board(d.seed, number, d.width_px, d.height_px);
  const fs::path root = d.folder;
  write_jpeg(photo.image, kJpegQuality, (root / "images" / split / (stem + ".jpg")).string());
  write_text(root / "labels" / split / (stem + ".txt"), label_text(photo));
}

void draw_all(const DemoDataset& d) {
  const int total = d.train_images + d.val_images;
  const int threads =
      std::clamp(d.threads > 0 ? d.threads : read_machine().logical_cpus, 1, std::max(1, total));
  Progress progress("draw boards", static_cast<uint64_t>(total), "pictures");
  std::atomic<int> next{0};
  std::mutex mutex;  // progress, done, failure
  uint64_t done = 0;
  std::exception_ptr failure;
  std::vector<std::thread> workers;
  for (int t = 0; t < threads; ++t) {
    workers.emplace_back([&] {
      try {
        for (int number = next++; number < total; number = next++) {
          draw_one(d, number);
          const std::lock_guard lock(mutex);
          progress.update(++done);
        }
      } catch (...) {
        next = total;
        const std::lock_guard lock(mutex);
        if (!failure) failure = std::current_exception();
      }
    });
  }
  for (std::thread& worker : workers) worker.join();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace

std::string make_demo_dataset(const DemoDataset& wanted) {
  const fs::path root = wanted.folder;
  const fs::path marker = root / kMarker;
  const std::string yaml = (root / "data.yaml").string();
  if (fs::exists(root) && !fs::is_empty(root)) {
    if (!fs::exists(marker)) {
      throw std::runtime_error(root.string() +
                               ": not empty and not drawn by yoload demo: choose another folder");
    }
    if (read_text(marker) == marker_text(wanted)) return yaml;
    for (const char* name : {"images", "labels", "data.yaml", kMarker}) fs::remove_all(root / name);
  }
  for (const char* kind : {"images", "labels"}) {
    for (const char* split : {"train", "val"}) fs::create_directories(root / kind / split);
  }
  // The marker comes first but empty, so that an interrupted run is recognised and drawn again.
  write_text(marker, "");
  draw_all(wanted);
  write_text(yaml, yaml_text());
  write_text(marker, marker_text(wanted));
  return yaml;
}

}  // namespace yoload::cli
