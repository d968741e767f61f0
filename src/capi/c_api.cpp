// The C interface over Loader: catches every exception, owns every string it returns.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/dataset_index.h"
#include "core/json.h"
#include "core/raise.h"
#include "pipeline/option_table.h"
#include "yoload/error.h"
#include "yoload/jpeg.h"
#include "yoload/loader.h"
#include "yoload/records.h"
#include "yoload/yoload.h"

struct yoload_options {
  yoload::LoaderOptions options;
};

struct yoload_records {
  std::shared_ptr<yoload::RecordSet> set = std::make_shared<yoload::RecordSet>();
};

struct yoload_loader {
  explicit yoload_loader(const yoload::LoaderOptions& options) : loader(options) {}
  yoload::Loader loader;
};

namespace {

struct Failure {
  std::string message, path, stage, cause;
};
thread_local Failure last_failure;

int failed(int status, std::string message) {
  last_failure = {message, "", "", message};
  return status;
}

/// Runs `call` and turns exceptions into a status.
template <class Call>
int guarded(const Call& call) {
  try {
    return call();
  } catch (const std::invalid_argument& error) {
    return failed(YOLOAD_BAD_ARGUMENT, error.what());
  } catch (const yoload::Closed& error) {
    return failed(YOLOAD_CLOSED, error.what());
  } catch (const yoload::Error& error) {
    last_failure = {error.what(), error.path(), error.stage(), error.cause()};
    return YOLOAD_FAILED;
  } catch (const std::exception& error) {
    return failed(YOLOAD_FAILED, error.what());
  }
}

char* copy(const std::string& text) {
  auto* bytes = static_cast<char*>(std::malloc(text.size() + 1));
  if (bytes != nullptr) std::memcpy(bytes, text.c_str(), text.size() + 1);
  return bytes;
}

/// What a yoload_batch points into.
struct BatchOwner {
  yoload::Batch batch;
  std::vector<yoload_sample> samples;
  std::vector<std::string> paths;
  std::vector<const char*> im_files;
};

void fill(yoload::Batch&& from, const yoload::DatasetIndex& index, yoload_batch* to) {
  auto owner = std::make_unique<BatchOwner>();
  owner->batch = std::move(from);
  const yoload::Batch& batch = owner->batch;
  for (const yoload::SampleInfo& sample : batch.samples) {
    owner->samples.push_back({sample.position, sample.record, static_cast<int16_t>(sample.replaced),
                              static_cast<int16_t>(sample.repeated), sample.ori_height_px,
                              sample.ori_width_px, sample.resized_height_px,
                              sample.resized_width_px});
    owner->paths.push_back(index.path(sample.record));
  }
  for (const std::string& path : owner->paths) owner->im_files.push_back(path.c_str());
  const auto pointer = [](const auto& values) { return values.empty() ? nullptr : values.data(); };
  to->epoch = batch.epoch;
  to->index = batch.index;
  to->token = batch.token;
  to->img = batch.img.get();
  to->size = batch.size;
  to->channels = batch.channels;
  to->height_px = batch.height_px;
  to->width_px = batch.width_px;
  to->dtype = static_cast<int32_t>(batch.dtype);
  to->box_values = index.task == yoload::Task::obb ? 5 : 4;
  to->objects = static_cast<int64_t>(batch.cls.size());
  to->cls = pointer(batch.cls);
  to->bboxes = pointer(batch.bboxes);
  to->batch_idx = pointer(batch.batch_idx);
  to->keypoints = pointer(batch.keypoints);
  to->keypoints_per_object = index.kpt_count;
  to->mask_height_px = batch.mask_height_px;
  to->mask_width_px = batch.mask_width_px;
  const auto map =
      static_cast<size_t>(batch.mask_height_px) * static_cast<size_t>(batch.mask_width_px);
  to->mask_count = map > 0 ? static_cast<int64_t>(batch.masks.size() / map) : 0;
  to->masks = pointer(batch.masks);
  to->samples = pointer(owner->samples);
  to->im_files = pointer(owner->im_files);
  to->owner = owner.release();
}

int check_batch(const yoload_batch* batch) {
  // A caller built against an older header has a shorter structure; there is only one length yet.
  if (batch == nullptr || batch->struct_bytes != sizeof(yoload_batch)) {
    return failed(YOLOAD_BAD_ARGUMENT,
                  fmt::format("batch->struct_bytes: expected {}", sizeof(yoload_batch)));
  }
  return YOLOAD_OK;
}

yoload::BoxFormat box_format_named(std::string_view name) {
  if (name == "xywhn") return yoload::BoxFormat::xywhn;
  if (name == "xyxyn") return yoload::BoxFormat::xyxyn;
  if (name == "xyxy") return yoload::BoxFormat::xyxy;
  if (name == "xywh") return yoload::BoxFormat::xywh;
  throw std::invalid_argument(
      fmt::format("box_format = '{}': expected xywhn, xyxyn, xyxy or xywh", name));
}

std::string dataset_json(const yoload::DatasetIndex& index) {
  yoload::JsonWriter json;
  json.begin_object()
      .field("task", yoload::name(index.task))
      .field("nc", index.nc)
      .field("channels", index.channels);
  json.field("images", index.images.size())
      .field("objects", index.rows.size())
      .field("root", index.root);
  json.field("kpt_count", index.kpt_count).field("kpt_dims", index.kpt_dims);
  json.key("names").begin_array();
  for (const std::string& name : index.names) json.value(name);
  json.end_array().key("flip_idx").begin_array();
  for (const int32_t i : index.flip_idx) json.value(i);
  json.end_array().end_object();
  return json.take();
}

}  // namespace

extern "C" {

int yoload_abi_version(void) {
  return YOLOAD_ABI_VERSION;
}
const char* yoload_version(void) {
  return YOLOAD_VERSION;
}
const char* yoload_error(void) {
  return last_failure.message.c_str();
}
const char* yoload_error_path(void) {
  return last_failure.path.c_str();
}
const char* yoload_error_stage(void) {
  return last_failure.stage.c_str();
}
const char* yoload_error_cause(void) {
  return last_failure.cause.c_str();
}

yoload_options* yoload_options_new(void) {
  auto* options = new yoload_options;
  options->options.offered_memory = true;
  return options;
}
void yoload_options_free(yoload_options* options) {
  delete options;
}

int yoload_options_set(yoload_options* options, const char* name, const char* value) {
  return guarded([&]() -> int {
    if (options == nullptr || name == nullptr || value == nullptr)
      throw std::invalid_argument("a null argument");
    const yoload::Status status = yoload::set_option(name, value, &options->options);
    return status.ok() ? YOLOAD_OK : failed(YOLOAD_BAD_ARGUMENT, status.message());
  });
}
yoload_records* yoload_records_new(const char* task, const char* const* names, int nc, int channels,
                                   int kpt_count, const int* flip_idx, const char* box_format) {
  auto records = std::make_unique<yoload_records>();
  const int status = guarded([&]() -> int {
    yoload::RecordSet& set = *records->set;
    set.task = task != nullptr ? task : "detect";
    for (int i = 0; i < nc; ++i) set.names.emplace_back(names[i]);
    set.channels = channels;
    set.kpt_count = kpt_count;
    if (flip_idx != nullptr) set.flip_idx.assign(flip_idx, flip_idx + kpt_count);
    set.box_format = box_format_named(box_format != nullptr ? box_format : "xywhn");
    return YOLOAD_OK;
  });
  return status == YOLOAD_OK ? records.release() : nullptr;
}
int yoload_records_add(yoload_records* records, const char* path, const void* contents,
                       size_t content_bytes, size_t objects, const float* cls, const float* boxes,
                       const uint32_t* polygon_counts, const float* polygon_points,
                       const float* keypoints) {
  return guarded([&]() -> int {
    if (records == nullptr || (objects > 0 && cls == nullptr))
      throw std::invalid_argument("a null argument");
    yoload::Record record;
    if (path != nullptr) record.path = path;
    const auto take = [](auto* to, const auto* from, size_t count) {
      if (from != nullptr) to->assign(from, from + count);
    };
    take(&record.contents, static_cast<const uint8_t*>(contents), content_bytes);
    take(&record.cls, cls, objects);
    take(&record.boxes, boxes, 4 * objects);
    take(&record.polygon_counts, polygon_counts, objects);
    const size_t points =
        std::accumulate(record.polygon_counts.begin(), record.polygon_counts.end(), size_t{0});
    take(&record.polygon_points, polygon_points, 2 * points);
    take(&record.keypoints, keypoints, 3 * objects * static_cast<size_t>(records->set->kpt_count));
    records->set->records.push_back(std::move(record));
    return YOLOAD_OK;
  });
}
void yoload_records_free(yoload_records* records) {
  delete records;
}
int yoload_options_set_records(yoload_options* options, const yoload_records* records) {
  return guarded([&]() -> int {
    if (options == nullptr || records == nullptr) throw std::invalid_argument("a null argument");
    options->options.records = records->set;
    return YOLOAD_OK;
  });
}
char* yoload_options_help(void) {
  return copy(yoload::option_help());
}

int yoload_open(const yoload_options* options, yoload_loader** loader) {
  return guarded([&]() -> int {
    if (options == nullptr || loader == nullptr) throw std::invalid_argument("a null argument");
    *loader = nullptr;
    *loader = new yoload_loader(options->options);
    return YOLOAD_OK;
  });
}
void yoload_close(yoload_loader* loader) {
  delete loader;
}
void yoload_stop(yoload_loader* loader) {
  if (loader != nullptr) loader->loader.close();
}

uint64_t yoload_images(const yoload_loader* loader) {
  return loader->loader.images_per_epoch();
}
uint64_t yoload_batches(const yoload_loader* loader) {
  return loader->loader.batches_per_epoch();
}
size_t yoload_buffer_bytes(const yoload_loader* loader) {
  return loader->loader.buffer_bytes();
}
int yoload_prefetch(const yoload_loader* loader) {
  return loader->loader.prefetch();
}
char* yoload_dataset_json(const yoload_loader* loader) {
  return copy(dataset_json(loader->loader.index()));
}
char* yoload_warnings_json(const yoload_loader* loader) {
  yoload::JsonWriter json;
  json.begin_array();
  for (const std::string& warning : loader->loader.warnings()) json.value(warning);
  json.end_array();
  return copy(json.take());
}
char* yoload_report_json(const yoload_loader* loader) {
  return copy(loader->loader.report().to_json());
}
char* yoload_report_text(const yoload_loader* loader) {
  return copy(loader->loader.report().to_text());
}
uint64_t yoload_record_count(const yoload_loader* loader) {
  return loader->loader.index().images.size();
}
int yoload_get_record(const yoload_loader* loader, uint32_t record, yoload_record* out) {
  const yoload::DatasetIndex& index = loader->loader.index();
  if (record >= index.images.size()) {
    return failed(YOLOAD_BAD_ARGUMENT,
                  fmt::format("record = {}: expected less than {}", record, index.images.size()));
  }
  const yoload::ImageRecord& image = index.images[record];
  *out = {image.first_row, image.rows, image.width_px, image.height_px};
  return YOLOAD_OK;
}
const float* yoload_rows(const yoload_loader* loader) {
  static_assert(sizeof(yoload::LabelRow) == 5 * sizeof(float));
  return reinterpret_cast<const float*>(loader->loader.index().rows.data());
}
char* yoload_ledger_json(const yoload_loader* loader) {
  yoload::JsonWriter json;
  json.begin_array();
  for (const yoload::LedgerEntry& entry : loader->loader.ledger()) {
    json.begin_object()
        .field("epoch", entry.epoch)
        .field("position", entry.position)
        .field("path", entry.path);
    json.field("stage", entry.stage)
        .field("cause", entry.cause)
        .field("replacement", entry.replacement)
        .end_object();
  }
  json.end_array();
  return copy(json.take());
}
char* yoload_path(const yoload_loader* loader, uint32_t record) {
  const yoload::DatasetIndex& index = loader->loader.index();
  return record < index.images.size() ? copy(index.path(record)) : nullptr;
}
void yoload_free(char* text) {
  std::free(text);
}

int yoload_offer(yoload_loader* loader, void* memory, size_t bytes, uint64_t token) {
  return yoload_offer_on(loader, memory, bytes, token, 0);
}
int yoload_offer_on(yoload_loader* loader, void* memory, size_t bytes, uint64_t token,
                    uintptr_t stream) {
  return guarded([&]() -> int {
    loader->loader.offer(memory, bytes, token, stream);
    return YOLOAD_OK;
  });
}
int yoload_device(const yoload_loader* loader) {
  return loader->loader.device();
}
int yoload_set_epoch(yoload_loader* loader, uint32_t epoch, uint64_t first_batch) {
  return guarded([&]() -> int {
    loader->loader.set_epoch(epoch, first_batch);
    return YOLOAD_OK;
  });
}

int yoload_next(yoload_loader* loader, yoload_batch* batch, int timeout_ms) {
  return yoload_next_on(loader, batch, timeout_ms, 0);
}
int yoload_next_on(yoload_loader* loader, yoload_batch* batch, int timeout_ms, uintptr_t stream) {
  return guarded([&]() -> int {
    if (const int status = check_batch(batch); status != YOLOAD_OK) return status;
    batch->owner = nullptr;
    yoload::Batch next;
    bool ready = false;
    if (!loader->loader.next(&next, timeout_ms, &ready, stream))
      return ready ? YOLOAD_END : YOLOAD_OK;
    fill(std::move(next), loader->loader.index(), batch);
    return YOLOAD_OK;
  });
}

uint64_t yoload_position(const yoload_loader* loader, uint64_t sample) {
  return loader->loader.position_of(sample);
}

int yoload_render(yoload_loader* loader, uint32_t epoch, uint64_t position, void* memory,
                  size_t bytes, yoload_batch* batch) {
  return guarded([&]() -> int {
    if (const int status = check_batch(batch); status != YOLOAD_OK) return status;
    batch->owner = nullptr;
    yoload::Batch one = loader->loader.render(epoch, position);
    if (memory == nullptr || bytes < one.img_bytes()) {
      throw std::invalid_argument(
          fmt::format("bytes = {}: expected at least {}", bytes, one.img_bytes()));
    }
    std::memcpy(memory, one.img.get(), one.img_bytes());
    fill(std::move(one), loader->loader.index(), batch);
    batch->img = memory;
    return YOLOAD_OK;
  });
}

void yoload_batch_free(yoload_batch* batch) {
  if (batch == nullptr || batch->owner == nullptr) return;
  delete static_cast<BatchOwner*>(batch->owner);
  batch->owner = nullptr;
}

int yoload_picture_size(const void* file, size_t bytes, int* height_px, int* width_px) {
  return guarded([&]() -> int {
    const yoload::PictureInfo info =
        yoload::PictureDecoder().info({static_cast<const uint8_t*>(file), bytes});
    *height_px = info.height_px;
    *width_px = info.width_px;
    return YOLOAD_OK;
  });
}

int yoload_decode(yoload_picture* pictures, size_t count, int channels, int libjpeg_turbo,
                  int threads) {
  return guarded([&]() -> int {
    std::vector<yoload::PictureDecoder::Task> tasks(count);
    for (size_t i = 0; i < count; ++i) {
      const yoload_picture& picture = pictures[i];
      tasks[i].file = {static_cast<const uint8_t*>(picture.file), picture.file_bytes};
      tasks[i].target = {static_cast<uint8_t*>(picture.pixels), picture.pixel_bytes,
                         yoload::PixelLayout::interleaved};
    }
    yoload::PictureDecoderOptions options;
    options.channels = channels;
    options.decode =
        libjpeg_turbo != 0 ? yoload::JpegDecode::libjpeg_turbo : yoload::JpegDecode::automatic;
    yoload::decode_pictures(tasks, options, threads);
    for (size_t i = 0; i < count; ++i) {
      pictures[i].own_jpeg = tasks[i].info.own_jpeg ? 1 : 0;
      const std::string& error = tasks[i].error;
      const size_t kept = std::min(error.size(), sizeof(pictures[i].error) - 1);
      std::memcpy(pictures[i].error, error.data(), kept);
      pictures[i].error[kept] = 0;
    }
    return YOLOAD_OK;
  });
}

}  // extern "C"
