// engine_decode_bench FOLDER [--batch 64,256] [--rounds 7] [--images 4096] [--threads 1,4,16]
//                     [--shares 150:100,...] [--skip engines,helpers,together]
//
// JPEG bytes in page-locked memory to planar RGB in device memory, images per second, one JSON line
// a row: median, least and most over the rounds, and cpu_us, the process's CPU time for an image.
// Rows of one group take turns in every round, so that clocks and neighbours hit all alike.
//   engines   a bare loop over the library (nothing but its calls, plain cudaMalloc, outputs in
//             place) with one, two and three states, against JpegEngines with the same; also with a
//             different batch size each time
//   helpers   multiprocessors by back end and threads; CPU decoder with upload by threads
//   together  engines with CPU and multiprocessors helping, by shares in thousandths (CPU:SM)
// Two lines a batch size, "group":"ratio", say what the rows are for: the product's engines (two
// states) against the fastest bare loop, and the best shares against no help. Each is the median of
// the rounds' own ratios, beside what it should be at least.
// Files that are no engine food or turned by EXIF are left out and counted.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <ctime>
#include <functional>
#include <map>
#include <memory>
#include <sstream>
#include <thread>

#include "core/json.h"
#include "core/machine.h"
#include "decode/cuda/jpeg_engines.h"
#include "decode/cuda/jpeg_multiprocessors.h"
#include "decode/cuda/test_device_pictures.h"
#include "decode/jpeg/supplier.h"
#include "device/cuda/stream.h"
#include "device/device.h"

namespace {

using namespace yoload;
using namespace yoload::decode;
using namespace yoload::decode::test;

double now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Of all threads: the library has some of its own.
double process_cpu_s() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

struct Arguments {
  std::string folder;
  std::vector<int> batches = {64, 256};
  std::vector<int> threads = {1, 4, 8, 16};
  std::vector<std::pair<int, int>> shares = {{0, 0},   {150, 0},  {200, 0},   {250, 0},
                                             {0, 100}, {150, 50}, {150, 100}, {200, 50}};
  std::string skip;
  int rounds = 7;
  int images = 4096;
};

std::vector<int> numbers(const std::string& text) {
  std::vector<int> out;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, ',');) out.push_back(std::atoi(part.c_str()));
  return out;
}

// False where the usage should be shown.
bool parse(int argc, char** argv, Arguments* arguments) {
  if (argc < 2) return false;
  arguments->folder = argv[1];
  for (int i = 2; i + 1 < argc; i += 2) {
    const std::string option = argv[i], value = argv[i + 1];
    if (option == "--batch") {
      arguments->batches = numbers(value);
    } else if (option == "--threads") {
      arguments->threads = numbers(value);
    } else if (option == "--rounds") {
      arguments->rounds = std::max(1, std::atoi(value.c_str()));
    } else if (option == "--images") {
      arguments->images = std::max(1, std::atoi(value.c_str()));
    } else if (option == "--skip") {
      arguments->skip = value;
    } else if (option == "--shares") {
      arguments->shares.clear();
      std::istringstream stream(value);
      for (std::string part; std::getline(stream, part, ',');) {
        int cpu = 0, multiprocessors = 0;
        if (std::sscanf(part.c_str(), "%d:%d", &cpu, &multiprocessors) != 2) return false;
        arguments->shares.emplace_back(cpu, multiprocessors);
      }
    } else {
      return false;
    }
  }
  return argc % 2 == 0;
}

// Files in page-locked memory, and where they are decoded to. Places are as many as may be in
// flight at once; a file's picture goes to the place of its turn.
struct Files {
  std::vector<std::unique_ptr<PinnedFile>> files;
  std::vector<JpegFacts> facts;
  int width_px = 0, height_px = 0;  // the largest
  double mean_bytes = 0;

  size_t size() const { return files.size(); }
};

Files load(const std::string& folder, bool (*takes)(const JpegFacts&), int* left_out) {
  Files out;
  for (const auto& path : jpegs_under(folder)) {
    const Bytes bytes = read_file(path);
    const JpegFacts facts = scan_jpeg(bytes);
    if (!takes(facts) || facts.orientation != 1) {
      ++*left_out;
      continue;
    }
    out.files.push_back(std::make_unique<PinnedFile>(std::span(bytes).first(facts.end)));
    out.facts.push_back(facts);
    out.width_px = std::max(out.width_px, facts.width_px);
    out.height_px = std::max(out.height_px, facts.height_px);
    out.mean_bytes += static_cast<double>(facts.end);
  }
  if (out.size() != 0) out.mean_bytes /= static_cast<double>(out.size());
  return out;
}

class Places {
 public:
  Places(const Files& files, size_t count)
      : pitch_bytes_((static_cast<size_t>(files.width_px) + 127) / 128 * 128),
        place_bytes_(pitch_bytes_ * static_cast<size_t>(files.height_px) * 3),
        block_(place_bytes_ * count),
        count_(count) {}
  MutableImageView at(size_t turn, const JpegFacts& facts) const {
    MutableImageView view;
    view.data = block_.data() + turn % count_ * place_bytes_;
    view.width_px = facts.width_px, view.height_px = facts.height_px, view.channels = 3;
    view.row_stride_bytes = pitch_bytes_;
    view.plane_stride_bytes = pitch_bytes_ * static_cast<size_t>(facts.height_px);
    return view;
  }

 private:
  size_t pitch_bytes_, place_bytes_;
  device::DeviceBlock block_;
  size_t count_;
};

// ---- rows ----

struct Measured {
  double images_per_s = 0;
  double cpu_us = 0;  // for an image
};

struct Row {
  std::string name;
  std::map<std::string, double> settings;
  std::function<Measured()> run;
  std::vector<Measured> results = {};
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// Row `of` against row `to`, by rounds: what a machine's moods cannot blur.
double ratio(const Row& of, const Row& to) {
  std::vector<double> ratios;
  for (size_t round = 0; round < of.results.size(); ++round) {
    ratios.push_back(of.results[round].images_per_s / to.results[round].images_per_s);
  }
  return median(ratios);
}

double median_rate(const Row& row) {
  std::vector<double> rates;
  for (const Measured& measured : row.results) rates.push_back(measured.images_per_s);
  return median(rates);
}

const Row& fastest(const std::vector<const Row*>& rows) {
  return **std::max_element(rows.begin(), rows.end(), [](const Row* a, const Row* b) {
    return median_rate(*a) < median_rate(*b);
  });
}

void print_ratio(const char* what, int batch, const Row& of, const Row& to, double at_least) {
  const double value = ratio(of, to);
  JsonWriter json;
  json.begin_object().field("group", "ratio").field("row", what).field("batch", batch);
  for (const auto& [key, row] : {std::pair{"of", &of}, {"to", &to}}) {
    json.key(key).begin_object().field("row", row->name);
    for (const auto& [name, setting] : row->settings) json.field(name, setting);
    json.field("images_per_s", std::round(median_rate(*row))).end_object();
  }
  json.field("ratio", std::round(value * 1000) / 1000)
      .field("at_least", at_least)
      .field("met", value >= at_least);
  fmt::print("{}\n", json.end_object().take());
  std::fflush(stdout);
}

void run_group(const std::string& group, std::vector<Row>* rows, int rounds) {
  for (int round = -1; round < rounds; ++round) {  // round -1 warms up
    for (Row& row : *rows) {
      const Measured measured = row.run();
      if (round >= 0) row.results.push_back(measured);
    }
  }
  for (const Row& row : *rows) {
    std::vector<double> rates, cpu;
    for (const Measured& measured : row.results) {
      rates.push_back(measured.images_per_s);
      cpu.push_back(measured.cpu_us);
    }
    JsonWriter json;
    json.begin_object().field("group", group).field("row", row.name);
    for (const auto& [name, value] : row.settings) json.field(name, value);
    json.field("images_per_s", std::round(median(rates)))
        .field("least", std::round(*std::min_element(rates.begin(), rates.end())))
        .field("most", std::round(*std::max_element(rates.begin(), rates.end())))
        .field("cpu_us", std::round(median(cpu) * 10) / 10)
        .field("rounds", rounds);
    fmt::print("{}\n", json.end_object().take());
    std::fflush(stdout);
  }
}

// The driver's memory without any keeping: CreateExV2 takes no null for "yours".
nvjpeg::Allocator plain_device_memory() {
  return {[](void*, void** pointer, size_t bytes, cudaStream_t) {
            return static_cast<int>(cudaMalloc(pointer, bytes));
          },
          [](void*, void* pointer, size_t, cudaStream_t) {
            return static_cast<int>(cudaFree(pointer));
          },
          nullptr};
}

nvjpeg::Allocator plain_pinned_memory() {
  return {[](void*, void** pointer, size_t bytes, cudaStream_t) {
            return static_cast<int>(cudaHostAlloc(pointer, bytes, cudaHostAllocPortable));
          },
          [](void*, void* pointer, size_t, cudaStream_t) {
            return static_cast<int>(cudaFreeHost(pointer));
          },
          nullptr};
}

// What a careful C program does: one handle, plain memory, one state a stream, a wait before a
// state is used again.
class BareLoop {
 public:
  BareLoop(const Files& files, int batch, int states)
      : files_(files),
        batch_(batch),
        api_((*nvjpeg_library())->api),
        places_(files, static_cast<size_t>(batch * states)),
        streams_(static_cast<size_t>(states)) {
    nvjpeg::check(api_.CreateExV2(nvjpeg::Backend::hardware, &device_memory_, &pinned_memory_,
                                  nvjpeg::kInterpolatedChroma, &handle_),
                  "open the engines");
    for (int i = 0; i < states; ++i) {
      nvjpeg::State state = nullptr;
      nvjpeg::check(api_.JpegStateCreate(handle_, &state), "make a state");
      nvjpeg::check(api_.DecodeBatchedInitialize(handle_, state, batch, 1, nvjpeg::Output::rgb),
                    "set up a batch");
      states_.push_back(state);
    }
    data_.resize(static_cast<size_t>(batch));
    lengths_.resize(data_.size());
    planes_.resize(data_.size());
  }
  ~BareLoop() {
    for (const nvjpeg::State state : states_) api_.JpegStateDestroy(state);
    api_.Destroy(handle_);
  }

  Measured run(int images) {
    const int batches = std::max(1, images / batch_);
    const double start = now_s(), start_cpu = process_cpu_s();
    for (int b = 0; b < batches; ++b) {
      const size_t lane = static_cast<size_t>(b) % states_.size();
      device::check(cudaStreamSynchronize(streams_[lane].get()), "wait");
      for (size_t i = 0; i < data_.size(); ++i) {
        const size_t turn = static_cast<size_t>(b) * data_.size() + i;
        const size_t file = turn % files_.size();
        data_[i] = files_.files[file]->bytes().data();
        lengths_[i] = files_.files[file]->bytes().size();
        planes_[i] = planes_of(places_.at(turn, files_.facts[file]));
      }
      nvjpeg::check(api_.DecodeBatched(handle_, states_[lane], data_.data(), lengths_.data(),
                                       planes_.data(), streams_[lane].get()),
                    "decode a batch");
    }
    const double cpu = process_cpu_s() - start_cpu;
    device::check(cudaDeviceSynchronize(), "wait");
    const double count = static_cast<double>(batches) * batch_;
    return {count / (now_s() - start), cpu / count * 1e6};
  }

 private:
  const Files& files_;
  const int batch_;
  const nvjpeg::Api& api_;
  Places places_;
  std::vector<device::Stream> streams_;
  nvjpeg::Allocator device_memory_ = plain_device_memory();
  nvjpeg::Allocator pinned_memory_ = plain_pinned_memory();
  nvjpeg::Handle handle_ = nullptr;
  std::vector<nvjpeg::State> states_;
  std::vector<const unsigned char*> data_;
  std::vector<size_t> lengths_;
  std::vector<nvjpeg::Planes> planes_;
};

// JpegEngines, used as the pipeline will: one thread, streams in turn, no wait of the caller's.
class EngineLoop {
 public:
  EngineLoop(const Files& files, int batch, int states, bool varying = false)
      : files_(files),
        batch_(batch),
        varying_(varying),
        places_(files, static_cast<size_t>(batch * (states + 1))),
        streams_(static_cast<size_t>(states)) {
    auto created = JpegEngines::create(0, {.max_batch = batch, .states = states});
    if (!created.ok()) raise(created.status());
    engines_ = std::move(created).value();
    jobs_.resize(static_cast<size_t>(batch));
  }

  Measured run(int images) {
    const double start = now_s(), start_cpu = process_cpu_s();
    std::mt19937 random(5);
    size_t turn = 0;
    for (size_t b = 0; turn < static_cast<size_t>(images); ++b) {
      const size_t batch = varying_ ? static_cast<size_t>(batch_ * 3 / 4) +
                                          random() % static_cast<size_t>(batch_ / 4)
                                    : static_cast<size_t>(batch_);
      const std::span<DeviceJpegJob> jobs(jobs_.data(), batch);
      for (DeviceJpegJob& job : jobs) {
        const size_t file = turn % files_.size();
        job.bytes = files_.files[file]->bytes();
        job.to = places_.at(turn++, files_.facts[file]);
      }
      engines_->decode(jobs, streams_[b % streams_.size()].get());
      for (const DeviceJpegJob& job : jobs) {
        if (!job.status.ok()) raise(job.status);
      }
    }
    const double cpu = process_cpu_s() - start_cpu;
    device::check(cudaDeviceSynchronize(), "wait");
    return {static_cast<double>(turn) / (now_s() - start), cpu / static_cast<double>(turn) * 1e6};
  }

 private:
  const Files& files_;
  const int batch_;
  const bool varying_;
  Places places_;
  std::vector<device::Stream> streams_;
  std::unique_ptr<JpegEngines> engines_;
  std::vector<DeviceJpegJob> jobs_;
};

// Threads that take files from one list: each decodes on the CPU and uploads, or lets the
// multiprocessors decode.
class HelperLoop {
 public:
  static constexpr size_t kPlacesEach = 8;

  HelperLoop(const Files& files, int threads, nvjpeg::Backend backend)
      : files_(files),
        threads_(threads),
        places_(files, static_cast<size_t>(threads) * kPlacesEach) {
    auto created = JpegMultiprocessors::create(0, {.workers = threads, .backend = backend});
    if (!created.ok()) raise(created.status());
    multiprocessors_ = std::move(created).value();
    const size_t staging_bytes = (static_cast<size_t>(files.width_px) + 15) / 16 * 16 *
                                 static_cast<size_t>(files.height_px) * 3;
    for (int i = 0; i < threads; ++i) {
      auto worker = std::make_unique<Worker>();
      for (auto& staging : worker->staging) staging = device::PinnedBlock(staging_bytes);
      workers_.push_back(std::move(worker));
    }
  }

  // `next` deals out turns; `supplier` says who has a turn's file. Turns of the engines are
  // skipped.
  void run(std::atomic<size_t>* next, size_t turns,
           const std::function<Supplier(size_t)>& supplier) {
    std::vector<std::thread> threads;
    for (int i = 0; i < threads_; ++i) {
      threads.emplace_back([&, i] {
        Worker& worker = *workers_[static_cast<size_t>(i)];
        for (size_t turn; (turn = next->fetch_add(1)) < turns;) {
          const Supplier has = supplier(turn);
          if (has == Supplier::cpu) on_cpu(worker, i, turn);
          if (has == Supplier::multiprocessors) on_multiprocessors(worker, i, turn);
        }
        worker.stream.synchronise();
      });
    }
    for (std::thread& thread : threads) thread.join();
  }

  Measured run_all(int images, Supplier supplier) {
    std::atomic<size_t> next = 0;
    const double start = now_s(), start_cpu = process_cpu_s();
    run(&next, static_cast<size_t>(images), [&](size_t) { return supplier; });
    return {images / (now_s() - start), (process_cpu_s() - start_cpu) / images * 1e6};
  }

 private:
  struct Worker {
    device::Stream stream;
    Decoder decoder{DecodeOptions{}};
    std::shared_ptr<BufferPool> pool = BufferPool::create(size_t{64} << 20);
    device::PinnedBlock staging[2];
    device::Event uploaded[2];
    bool used[2] = {};
    size_t count = 0;
  };

  MutableImageView place(Worker& worker, int thread, size_t file) const {
    return places_.at(static_cast<size_t>(thread) * kPlacesEach + worker.count++ % kPlacesEach,
                      files_.facts[file]);
  }

  void on_cpu(Worker& worker, int thread, size_t turn) {
    const size_t file = turn % files_.size();
    auto decoded = worker.decoder.decode(files_.files[file]->bytes(), worker.pool.get());
    if (!decoded.ok()) raise(decoded.status());
    const ImageView from = decoded->image.view();
    const size_t half = worker.count % 2;
    if (worker.used[half]) worker.uploaded[half].synchronise();
    const size_t bytes = from.plane_stride_bytes * 3;
    std::memcpy(worker.staging[half].data(), from.data, bytes);
    MutableImageView to = place(worker, thread, file);
    device::check(cudaMemcpyAsync(to.data, worker.staging[half].data(), bytes,
                                  cudaMemcpyHostToDevice, worker.stream.get()),
                  "upload");
    worker.uploaded[half].record(worker.stream.get());
    worker.used[half] = true;
  }

  void on_multiprocessors(Worker& worker, int thread, size_t turn) {
    const size_t file = turn % files_.size();
    DeviceJpegJob job{files_.files[file]->bytes(), place(worker, thread, file), {}};
    multiprocessors_->decode(thread, &job, worker.stream.get());
    if (!job.status.ok()) raise(job.status);
  }

  const Files& files_;
  const int threads_;
  Places places_;
  std::unique_ptr<JpegMultiprocessors> multiprocessors_;
  std::vector<std::unique_ptr<Worker>> workers_;
};

// All three at once. The engines' thread makes batches of what the helpers do not take.
class TogetherLoop {
 public:
  TogetherLoop(const Files& files, int batch, int threads)
      : files_(files),
        batch_(batch),
        places_(files, static_cast<size_t>(batch * 3)),
        helpers_(files, threads, nvjpeg::Backend::hybrid) {
    auto created = JpegEngines::create(0, {.max_batch = batch, .states = 2});
    if (!created.ok()) raise(created.status());
    engines_ = std::move(created).value();
  }

  Measured run(int images, const SupplierShares& shares) {
    const auto turns = static_cast<size_t>(images);
    const auto supplier = [&](size_t turn) {
      return supplier_of(files_.facts[turn % files_.size()], static_cast<uint32_t>(turn), shares,
                         {.engines = true, .multiprocessors = true});
    };
    std::atomic<size_t> next = 0;
    const double start = now_s(), start_cpu = process_cpu_s();
    std::jthread helping;
    if (shares.cpu_permille + shares.multiprocessors_permille != 0) {
      helping = std::jthread([&] { helpers_.run(&next, turns, supplier); });
    }
    std::vector<DeviceJpegJob> jobs;
    size_t batches = 0;
    const auto flush = [&] {
      engines_->decode(jobs, streams_[batches++ % 2].get());
      for (const DeviceJpegJob& job : jobs) {
        if (!job.status.ok()) raise(job.status);
      }
      jobs.clear();
    };
    for (size_t turn = 0; turn < turns; ++turn) {
      if (supplier(turn) != Supplier::engines) continue;
      const size_t file = turn % files_.size();
      jobs.push_back(
          {files_.files[file]->bytes(),
           places_.at(batches * static_cast<size_t>(batch_) + jobs.size(), files_.facts[file]),
           {}});
      if (jobs.size() == static_cast<size_t>(batch_)) flush();
    }
    if (!jobs.empty()) flush();
    if (helping.joinable()) helping.join();
    const double cpu = process_cpu_s() - start_cpu;
    for (const device::Stream& stream : streams_) stream.synchronise();
    return {images / (now_s() - start), cpu / images * 1e6};
  }

 private:
  const Files& files_;
  const int batch_;
  Places places_;
  device::Stream streams_[2];
  std::unique_ptr<JpegEngines> engines_;
  HelperLoop helpers_;
};

// ---- groups ----

void bench_engines(const Files& files, const Arguments& arguments) {
  for (const int batch : arguments.batches) {
    BareLoop bare_one(files, batch, 1), bare_two(files, batch, 2), bare_three(files, batch, 3);
    EngineLoop one(files, batch, 1), two(files, batch, 2), three(files, batch, 3);
    EngineLoop varying(files, batch, 2, /*varying=*/true);
    const int images = std::max(arguments.images, batch * 8);
    std::vector<Row> rows;
    const auto add = [&](const char* name, int states, auto& loop) {
      rows.push_back({name, {{"batch", batch}, {"states", states}}, [&loop, images] {
                        return loop.run(images);
                      }});
    };
    add("bare", 1, bare_one), add("JpegEngines", 1, one);
    add("bare", 2, bare_two), add("JpegEngines", 2, two);
    add("bare", 3, bare_three), add("JpegEngines", 3, three);
    add("JpegEngines, varying batch", 2, varying);
    run_group("engines", &rows, arguments.rounds);
    print_ratio("JpegEngines against the fastest bare loop", batch, rows[3],
                fastest({&rows[0], &rows[2], &rows[4]}), 0.97);
  }
}

void bench_helpers(const Files& files, const Arguments& arguments) {
  for (const int threads : arguments.threads) {
    HelperLoop hybrid(files, threads, nvjpeg::Backend::hybrid);
    HelperLoop gpu_hybrid(files, threads, nvjpeg::Backend::gpu_hybrid);
    const int images = std::min(arguments.images, 256 * threads);
    const std::map<std::string, double> settings = {{"threads", threads}};
    std::vector<Row> rows = {
        {"CPU decoder and upload", settings,
         [&, images] { return hybrid.run_all(images, Supplier::cpu); }},
        {"multiprocessors, hybrid", settings,
         [&, images] { return hybrid.run_all(images, Supplier::multiprocessors); }},
        {"multiprocessors, gpu_hybrid", settings,
         [&, images] { return gpu_hybrid.run_all(images, Supplier::multiprocessors); }}};
    run_group("helpers", &rows, std::min(arguments.rounds, 3));
  }
}

void bench_together(const Files& files, const Arguments& arguments) {
  const int threads = std::max(1, read_machine().logical_cpus - 1);
  for (const int batch : arguments.batches) {
    TogetherLoop loop(files, batch, threads);
    const int images = std::max(arguments.images, batch * 16);
    std::vector<Row> rows;
    for (const auto& [cpu, multiprocessors] : arguments.shares) {
      const SupplierShares shares{static_cast<uint32_t>(cpu),
                                  static_cast<uint32_t>(multiprocessors)};
      rows.push_back({"together",
                      {{"batch", batch},
                       {"threads", threads},
                       {"cpu_permille", cpu},
                       {"multiprocessors_permille", multiprocessors}},
                      [&loop, images, shares] { return loop.run(images, shares); }});
    }
    run_group("together", &rows, arguments.rounds);
    const Row* alone = nullptr;
    std::vector<const Row*> helped;
    for (const Row& row : rows) {
      const bool helps =
          row.settings.at("cpu_permille") + row.settings.at("multiprocessors_permille") > 0;
      helps ? helped.push_back(&row) : void(alone = &row);
    }
    if (alone == nullptr || helped.empty()) continue;
    print_ratio("engines with the best help against engines alone", batch, fastest(helped), *alone,
                1.15);
  }
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  if (!parse(argc, argv, &arguments)) {
    fmt::print(
        stderr,
        "usage: engine_decode_bench FOLDER [--batch 64,256] [--rounds 7] [--images 4096]\n"
        "         [--threads 1,4,8,16] [--shares CPU:SM,...] [--skip engines,helpers,...]\n");
    return 2;
  }
  try {
    const auto library = nvjpeg_library();
    if (!library.ok()) raise(library.status());
    const auto device = find_device(0);
    if (!device.ok()) raise(device.status());
    int left_out = 0;
    const Files files = load(arguments.folder, engines_take, &left_out);
    if (files.size() == 0) {
      fmt::print(stderr, "no file for the engines in {}\n", arguments.folder);
      return 2;
    }
    JsonWriter json;
    json.begin_object()
        .field("folder", arguments.folder)
        .field("files", files.size())
        .field("left_out", left_out)
        .field("mean_bytes", std::round(files.mean_bytes))
        .field("gpu", device->name)
        .field("nvjpeg", (*library)->version)
        .field("cpus", read_machine().logical_cpus)
        .field("cpu", read_machine().cpu_model);
    fmt::print("{}\n", json.end_object().take());
    const auto wanted = [&](const char* group) {
      return arguments.skip.find(group) == std::string::npos;
    };
    if (wanted("engines")) bench_engines(files, arguments);
    if (wanted("helpers")) bench_helpers(files, arguments);
    if (wanted("together")) bench_together(files, arguments);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
  return 0;
}
