// SPDX-License-Identifier: Apache-2.0
#include "pipeline/cuda/cuda_lane.h"

#include <fmt/format.h>
#include <nvtx3/nvToolsExt.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "device/cuda/check.h"
#include "device/cuda/device_guard.h"
#include "device/device.h"
#include "storage/file_reader.h"

namespace yoload {

using decode::Supplier;
using device::check;

namespace {

constexpr uint64_t kGiB = uint64_t{1} << 30;
constexpr uint64_t kMiB = uint64_t{1} << 20;

/// A range in the profiler's time line.
class Range {
 public:
  explicit Range(const char* name) { nvtxRangePushA(name); }
  ~Range() { nvtxRangePop(); }
};

int ordinal_of(const LoaderOptions& options) {
  return std::stoi(options.device.substr(options.device.find(':') + 1));
}

/// Room for the window, twice over; at least 2 GiB; at most a tenth of the card.
uint64_t tile_memory(const LoaderOptions& options, const DatasetIndex& index, int ordinal) {
  if (options.device_memory_budget_bytes > 0) return options.device_memory_budget_bytes;
  const auto facts = find_device(ordinal);
  if (!facts.ok()) raise(facts.status());
  const uint64_t tile = Image::bytes_for(options.imgsz, options.imgsz, index.channels);
  const uint64_t window = tile * static_cast<uint64_t>(options.window);
  return std::min(std::max(2 * kGiB, 2 * window), facts->memory_bytes / 10);
}

/// Files on their way: a few decode batches of photos.
uint64_t staging_memory(const LoaderOptions& options) {
  return std::clamp<uint64_t>(options.memory_budget_bytes / 8, 64 * kMiB, 512 * kMiB);
}

/// Device memory for one batch that the consumer gives back by dropping it.
struct BatchAllocation : DeviceAllocation {
  std::shared_ptr<device::Timeline> timeline;
  device::DevicePool::Block memory;
  StreamHandle stream = 0;
  int ordinal = 0;
  bool delivered = false;

  void deliver(StreamHandle consumer) override { stream = consumer, delivered = true; }
  void written_until(uint64_t point) override { memory.used_until(point); }
  ~BatchAllocation() override {
    if (!delivered) return;
    try {
      const device::DeviceGuard guard(ordinal);
      memory.used_until(timeline->record(reinterpret_cast<cudaStream_t>(stream)));
    } catch (const std::exception&) {
      // The driver is gone or broken: nobody will write here again.
    }
  }
};

}  // namespace

CudaLane::CudaLane(const LoaderOptions& options, const DatasetIndex& index, const TilePath& tiles,
                   uint64_t batch_memory_bytes, std::function<void()> wake)
    : options_(options),
      index_(index),
      tiles_(tiles),
      wake_(std::move(wake)),
      ordinal_((check(cudaSetDevice(ordinal_of(options)), "use the GPU"), ordinal_of(options))),
      decode_batch_(options.decode_batch > 0 ? options.decode_batch : 128),
      shares_{static_cast<uint32_t>(std::lround(1000 * options.cpu_decode_share)),
              static_cast<uint32_t>(std::lround(1000 * options.sm_decode_share))},
      memory_(device::DevicePool::create(tile_memory(options, index, ordinal_), timeline_)),
      batches_(device::DevicePool::create(batch_memory_bytes, timeline_)),
      staging_(device::PinnedPool::create(staging_memory(options), timeline_)),
      kept_(device::PinnedPool::create(
          options.cache == CacheMode::bytes ? options.memory_budget_bytes / 4 * 3 : 0, timeline_)),
      file_cache_(nullptr, options.memory_budget_bytes / 4 * 3),
      tile_cache_(nullptr, memory_->limit_bytes() / 4 * 3),
      renderer_(render_limits()),
      verified_(options.validate == Validate::decode ? index.images.size() : 0) {
  // Without nvJPEG, or engines, the next supplier has the pictures: report() tells who did.
  if (options.hardware_decode) {
    decode::EngineOptions how;
    how.max_batch = decode_batch_;
    how.states = kDecodesUnderWay;
    if (auto engines = decode::JpegEngines::create(ordinal_, how); engines.ok()) {
      engines_ = std::move(*engines);
    }
  }
  decode::MultiprocessorOptions how;
  how.workers = options.workers + 1;  // the consumer's thread may render a single sample
  if (auto decoder = decode::JpegMultiprocessors::create(ordinal_, how); decoder.ok()) {
    multiprocessors_.decoder = std::move(*decoder);
    for (int worker = 0; worker < how.workers; ++worker) {
      multiprocessors_.streams.emplace_back();
      multiprocessors_.idle.push_back(worker);
    }
  }
  waker_ = std::thread([this] { answer_call_backs(); });
}

CudaLane::~CudaLane() {
  try {
    drain();
  } catch (const std::exception&) {
    // Nothing more can be done about a broken driver here.
  }
  {
    std::lock_guard lock(called_back_.mutex);
    called_back_.end = true;
    called_back_.some.notify_one();
  }
  waker_.join();
}

void CudaLane::use_on_this_thread() {
  check(cudaSetDevice(ordinal_), "use the GPU");
}

bool CudaLane::can_stage() const {
  return staging_->lent_bytes() < staging_->limit_bytes();
}

double CudaLane::memory_used() const {
  return static_cast<double>(memory_->lent_bytes()) / static_cast<double>(memory_->limit_bytes());
}

std::unique_ptr<TileReservation> CudaLane::reserve(uint32_t record, bool beyond) {
  const ImageRecord& facts = index_.images[record];
  int width_px = 0, height_px = 0;
  tiles_.tile_size(record, &width_px, &height_px);
  auto reservation = std::make_unique<CudaReservation>();
  reservation->tile =
      memory_->acquire(Image::bytes_for(width_px, height_px, index_.channels), beyond);
  if (!reservation->tile) return nullptr;
  if (width_px != facts.width_px || height_px != facts.height_px) {
    reservation->stored = memory_->acquire(
        Image::bytes_for(facts.width_px, facts.height_px, index_.channels), beyond);
    if (!reservation->stored) return nullptr;
  }
  return reservation;
}

Result<std::shared_ptr<StagedFile>> CudaLane::read_into(
    const std::shared_ptr<device::PinnedPool>& pool, uint32_t record, bool beyond) {
  auto file = std::make_shared<StagedFile>();
  const auto memory = [&](size_t bytes) {
    file->memory = pool->acquire(bytes, beyond);
    return file->memory.data();
  };
  if (!index_.contents.empty() && !index_.contents[record].empty()) {
    const std::span<const uint8_t> contents = index_.contents[record];
    if (uint8_t* to = memory(contents.size()); to != nullptr) {
      std::memcpy(to, contents.data(), contents.size());
    }
    file->bytes = contents.size();
    return file;
  }
  const auto bytes = read_file_into(index_.path(record), memory);
  if (!bytes.ok()) return bytes.status();
  file->bytes = *bytes;
  return file;
}

Result<std::shared_ptr<StagedFile>> CudaLane::read(uint32_t record, WorkerState* worker) {
  if (options_.cache == CacheMode::bytes) {
    if (auto file = file_cache_.find(record)) {
      cache_hits_.fetch_add(1, std::memory_order_relaxed);
      return std::const_pointer_cast<StagedFile>(file);
    }
    cache_misses_.fetch_add(1, std::memory_order_relaxed);
  }
  StageTimer timer(worker->clocks, Work::read);
  const uint64_t known_bytes = index_.images[record].file_bytes;
  const bool keep = options_.cache == CacheMode::bytes &&
                    kept_->lent_bytes() + 2 * known_bytes < kept_->limit_bytes();
  auto file = read_into(keep ? kept_ : staging_, record, true);
  if (!file.ok()) return file;
  timer.add_bytes((*file)->bytes);
  if (keep) file_cache_.insert(record, *file, (*file)->memory.capacity());
  return file;
}

bool CudaLane::refused(uint32_t record) const {
  std::lock_guard lock(refused_mutex_);
  return refused_.contains(record);
}

void CudaLane::refuse(uint32_t record) {
  std::lock_guard lock(refused_mutex_);
  refused_.insert(record);
}

Supplier CudaLane::route(uint32_t record, const decode::JpegFacts& facts) const {
  if (index_.channels != 3 && index_.channels != 1) return Supplier::cpu;
  const ImageRecord& known = index_.images[record];
  const bool turned = facts.orientation >= 5;
  const int width_px = turned ? facts.height_px : facts.width_px;
  const int height_px = turned ? facts.width_px : facts.height_px;
  // The CPU path says what is wrong with a file that has changed, and whether it is too large.
  if (width_px != known.width_px || height_px != known.height_px) return Supplier::cpu;
  if (refused(record)) return Supplier::cpu;
  return decode::supplier_of(facts, record, shares_,
                             {engines_ != nullptr, multiprocessors_.decoder != nullptr});
}

Status CudaLane::verify(uint32_t record, std::span<const uint8_t> bytes, WorkerState* worker) {
  if (verified_.empty() || verified_[record].load(std::memory_order_relaxed) != 0) return {};
  const auto picture = tiles_.picture(record, bytes, worker);
  if (!picture.ok()) return picture.status();
  verified_[record].store(1, std::memory_order_relaxed);
  return {};
}

Status CudaLane::decode_on_cpu(std::span<const uint8_t> bytes, CudaPrepared* prepared,
                               WorkerState* worker) {
  auto picture = tiles_.picture(prepared->record, bytes, worker);
  if (!picture.ok()) return std::move(picture).status();
  const ImageView from = picture->view();
  const MutableImageView to = planar_view(nullptr, from.width_px, from.height_px, from.channels);
  prepared->pixels = std::make_shared<StagedFile>();
  prepared->pixels->memory = staging_->acquire(planar_bytes(to), true);
  prepared->pixels->bytes = planar_bytes(to);
  std::memcpy(prepared->pixels->memory.data(), from.data, planar_bytes(to));
  if (prepared->tile->memory.capacity() < planar_bytes(to)) {
    prepared->tile->memory = memory_->acquire(planar_bytes(to), true);
  }
  prepared->tile->view = read_only(
      planar_view(prepared->tile->memory.data(), from.width_px, from.height_px, from.channels));
  return {};
}

Result<std::unique_ptr<PreparedTile>> CudaLane::prepare(
    uint32_t record, std::unique_ptr<TileReservation> reservation, WorkerState* worker) {
  const Range range("yoload prepare");
  auto prepared = std::make_unique<CudaPrepared>();
  prepared->record = record;
  if (options_.cache == CacheMode::pixels) {
    prepared->resident = tile_cache_.find(record);
    (prepared->resident ? cache_hits_ : cache_misses_).fetch_add(1, std::memory_order_relaxed);
    if (prepared->resident) return std::unique_ptr<PreparedTile>(std::move(prepared));
  }
  auto file = read(record, worker);
  if (!file.ok()) return std::move(file).status();
  auto* reserved = static_cast<CudaReservation*>(reservation.get());
  prepared->tile = std::make_shared<DeviceTile>();
  prepared->tile->memory = std::move(reserved->tile);
  prepared->facts = decode::scan_jpeg((*file)->view());
  prepared->supplier = route(record, prepared->facts);
  const std::span<const uint8_t> bytes = (*file)->view();
  if (prepared->supplier != Supplier::cpu) {
    if (Status status = verify(record, bytes, worker); !status.ok()) return status;
    prepared->file = std::move(*file);
    place(prepared.get(), reserved);
    const bool begun =
        prepared->supplier == Supplier::engines || begin_on_multiprocessors(prepared.get());
    if (begun) return std::unique_ptr<PreparedTile>(std::move(prepared));
    refuse(record);
    *file = std::move(prepared->file);
    prepared->supplier = Supplier::cpu;
  }
  if (Status status = decode_on_cpu(bytes, prepared.get(), worker); !status.ok()) return status;
  return std::unique_ptr<PreparedTile>(std::move(prepared));
}

/// Gives the picture its places in device memory: the tile, and the picture as stored where the two
/// differ.
void CudaLane::place(CudaPrepared* prepared, CudaReservation* reserved) const {
  int width_px = 0, height_px = 0;
  tiles_.tile_size(prepared->record, &width_px, &height_px);
  prepared->tile->view =
      read_only(planar_view(prepared->tile->memory.data(), width_px, height_px, index_.channels));
  const decode::JpegFacts& facts = prepared->facts;
  if (facts.width_px == width_px && facts.height_px == height_px && facts.orientation == 1) return;
  prepared->stored = std::move(reserved->stored);
  const size_t bytes = Image::bytes_for(facts.width_px, facts.height_px, index_.channels);
  if (prepared->stored.capacity() < bytes) prepared->stored = memory_->acquire(bytes, true);
}

decode::DeviceJpegJob CudaLane::job_of(const CudaPrepared& prepared) const {
  const device::DevicePool::Block& to = prepared.stored ? prepared.stored : prepared.tile->memory;
  decode::DeviceJpegJob job;
  job.bytes = prepared.file->view().first(prepared.facts.end);
  job.to =
      planar_view(to.data(), prepared.facts.width_px, prepared.facts.height_px, index_.channels);
  return job;
}

bool CudaLane::begin_on_multiprocessors(CudaPrepared* prepared) {
  Multiprocessors& all = multiprocessors_;
  std::unique_lock lock(all.mutex);
  const int worker = all.idle.back();
  all.idle.pop_back();
  lock.unlock();
  const cudaStream_t stream = all.streams[static_cast<size_t>(worker)].get();
  timeline_->wait(stream, prepared->tile->memory.free_from());
  if (prepared->stored) timeline_->wait(stream, prepared->stored.free_from());
  decode::DeviceJpegJob job = job_of(*prepared);
  clocks_[static_cast<size_t>(Clock::multiprocessors)].time(
      stream, 1, prepared->file->bytes, [&] { all.decoder->decode(worker, &job, stream); });
  prepared->begun = timeline_->record(stream);
  // Whatever becomes of the picture, the GPU may be at it until then.
  prepared->tile->memory.used_until(prepared->begun);
  prepared->stored.used_until(prepared->begun);
  lock.lock();
  all.idle.push_back(worker);
  return job.status.ok();
}

void CudaLane::finish_on_multiprocessors(std::span<CudaPrepared* const> group) {
  if (group.empty()) return;
  const cudaStream_t stream = next_decode_stream();
  for (const CudaPrepared* one : group) timeline_->wait(stream, one->begun);
  resize(group, stream);
  settle(group, timeline_->record(stream));
  by_multiprocessors_.fetch_add(group.size(), std::memory_order_relaxed);
}

CudaRenderLimits CudaLane::render_limits() {
  CudaRenderLimits limits;
  limits.batches_in_flight = kBatchesUnderWay + 1;  // and a single sample beside them
  return limits;
}

bool CudaLane::can_render() const {
  return timeline_->passed(rendered_[next_render_ % kBatchesUnderWay]);
}

bool CudaLane::can_submit() const {
  return timeline_->passed(engine_batches_[next_batch_ % kDecodesUnderWay]);
}

void CudaLane::decode_on_engines(std::span<CudaPrepared* const> group) {
  if (group.empty()) return;
  const cudaStream_t stream = next_decode_stream();
  std::vector<decode::DeviceJpegJob> jobs;
  uint64_t bytes = 0;
  for (CudaPrepared* one : group) {
    timeline_->wait(stream, one->tile->memory.free_from());
    if (one->stored) timeline_->wait(stream, one->stored.free_from());
    jobs.push_back(job_of(*one));
    bytes += one->file->bytes;
  }
  std::vector<CudaPrepared*> decoded;
  clocks_[static_cast<size_t>(Clock::engines)].time(stream, jobs.size(), bytes,
                                                    [&] { engines_->decode(jobs, stream); });
  for (size_t i = 0; i < jobs.size(); ++i) {
    if (jobs[i].status.ok()) decoded.push_back(group[i]);
  }
  resize(decoded, stream);
  const device::Ticket done = timeline_->record(stream);
  engine_batches_[next_batch_++ % kDecodesUnderWay] = done;
  settle(group, done);
  for (size_t i = 0; i < jobs.size(); ++i) {
    if (jobs[i].status.ok()) continue;
    group[i]->tile = nullptr;
    refuse(group[i]->record);
  }
  by_engines_.fetch_add(decoded.size(), std::memory_order_relaxed);
}

void CudaLane::resize(std::span<CudaPrepared* const> group, cudaStream_t stream) {
  std::vector<ResizeJob> jobs;
  for (const CudaPrepared* one : group) {
    if (!one->stored) continue;
    const ImageView& tile = one->tile->view;
    jobs.push_back(
        {read_only(job_of(*one).to), one->facts.orientation,
         planar_view(one->tile->memory.data(), tile.width_px, tile.height_px, tile.channels)});
  }
  if (jobs.empty()) return;
  clocks_[static_cast<size_t>(Clock::resize)].time(stream, jobs.size(), 0, [&] {
    resizer_.resize(jobs, options_.resize == ResizeMode::cover, stream);
  });
}

/// The group's tiles are there at `ticket`, and what they were made from is free again.
void CudaLane::settle(std::span<CudaPrepared* const> group, device::Ticket ticket) {
  std::vector<std::shared_ptr<StagedFile>> staged;
  for (CudaPrepared* one : group) {
    staged.push_back(std::move(one->pixels ? one->pixels : one->file));
    one->stored.used_until(ticket);
    one->tile->memory.used_until(ticket);
    one->tile->decoded = ticket;
  }
  release_after(ticket, std::move(staged));
}

void CudaLane::upload(std::span<CudaPrepared* const> group) {
  if (group.empty()) return;
  uint64_t bytes = 0;
  for (const CudaPrepared* one : group) {
    timeline_->wait(upload_.get(), one->tile->memory.free_from());
    bytes += one->pixels->bytes;
  }
  clocks_[static_cast<size_t>(Clock::upload)].time(upload_.get(), group.size(), bytes, [&] {
    for (const CudaPrepared* one : group) {
      check(cudaMemcpyAsync(one->tile->memory.data(), one->pixels->memory.data(),
                            one->pixels->bytes, cudaMemcpyHostToDevice, upload_.get()),
            "copy a picture to the GPU");
    }
  });
  settle(group, timeline_->record(upload_.get()));
  by_cpu_.fetch_add(group.size(), std::memory_order_relaxed);
}

/// Holds page-locked memory until the GPU has read it, then tells threads that wait for some.
void CudaLane::release_after(device::Ticket ticket,
                             std::vector<std::shared_ptr<StagedFile>> staged) {
  auto held = std::make_unique<CallBack>(CallBack{&called_back_, std::move(staged)});
  timeline_->wait(wake_stream_.get(), ticket);
  check(cudaLaunchHostFunc(wake_stream_.get(), &CallBacks::take, held.release()),
        "ask to be called back");
}

/// Runs on a thread of the driver's; see Note [Call-backs].
void CudaLane::CallBacks::take(void* data) {
  std::unique_ptr<CallBack> held(static_cast<CallBack*>(data));
  CallBacks* to = held->to;
  std::lock_guard lock(to->mutex);
  to->waiting.push_back(std::move(held));
  to->some.notify_one();
}

void CudaLane::answer_call_backs() {
  std::unique_lock lock(called_back_.mutex);
  for (;;) {
    called_back_.some.wait(lock, [&] { return called_back_.end || !called_back_.waiting.empty(); });
    if (called_back_.waiting.empty()) return;
    std::deque<std::unique_ptr<CallBack>> passed;
    passed.swap(called_back_.waiting);
    lock.unlock();
    passed.clear();
    wake_();
    lock.lock();
  }
}

std::vector<std::shared_ptr<const Tile>> CudaLane::submit(
    std::span<const std::unique_ptr<PreparedTile>> prepared) {
  const Range range("yoload submit");
  std::lock_guard lock(submitting_);
  std::vector<CudaPrepared*> engines, multiprocessors, uploads;
  for (const auto& one : prepared) {
    auto* picture = static_cast<CudaPrepared*>(one.get());
    if (picture->resident) continue;
    if (picture->pixels) {
      uploads.push_back(picture);
    } else {
      (picture->supplier == Supplier::engines ? engines : multiprocessors).push_back(picture);
    }
  }
  upload(uploads);
  finish_on_multiprocessors(multiprocessors);
  decode_on_engines(engines);
  std::vector<std::shared_ptr<const Tile>> tiles;
  for (const auto& one : prepared) {
    auto* picture = static_cast<CudaPrepared*>(one.get());
    if (!picture->resident && picture->tile && options_.cache == CacheMode::pixels) {
      tile_cache_.insert(picture->record, picture->tile, picture->tile->memory.capacity());
    }
    tiles.push_back(picture->resident ? picture->resident : picture->tile);
  }
  return tiles;
}

uint64_t CudaLane::render(std::span<const PlannedTiles> samples, const RenderTarget& target,
                          uint64_t free_from) {
  const Range range("yoload render");
  std::lock_guard lock(rendering_);
  const cudaStream_t stream = render_.get();
  timeline_->wait(stream, free_from);
  std::vector<DeviceSample> batch;
  std::vector<std::vector<ImageView>> views(samples.size());
  std::vector<device::Ticket> decoded;
  for (size_t i = 0; i < samples.size(); ++i) {
    for (const auto& tile : samples[i].tiles) {
      views[i].push_back(tile->view);
      decoded.push_back(static_cast<const DeviceTile&>(*tile).decoded);
    }
    batch.push_back({&samples[i].plan, views[i]});
  }
  std::sort(decoded.begin(), decoded.end());
  decoded.erase(std::unique(decoded.begin(), decoded.end()), decoded.end());
  for (const device::Ticket ticket : decoded) timeline_->wait(stream, ticket);
  const uint64_t bytes = samples.size() * static_cast<uint64_t>(target.channels) *
                         static_cast<uint64_t>(target.width_px) *
                         static_cast<uint64_t>(target.height_px) * bytes_of(target.dtype);
  DeviceTarget to;
  to.data = target.data;
  to.width_px = target.width_px, to.height_px = target.height_px, to.channels = target.channels;
  to.dtype = target.dtype;
  to.mul = target.mul, to.add = target.add;
  clocks_[static_cast<size_t>(Clock::render)].time(stream, samples.size(), bytes,
                                                   [&] { renderer_.render(batch, to, stream); });
  const device::Ticket rendered = timeline_->record(stream);
  rendered_[next_render_++ % kBatchesUnderWay] = rendered;
  for (const PlannedTiles& sample : samples) {
    for (const auto& tile : sample.tiles) {
      static_cast<const DeviceTile&>(*tile).memory.used_until(rendered);
    }
  }
  release_after(rendered, {});
  return rendered;
}

uint64_t CudaLane::mark(StreamHandle stream) {
  const device::DeviceGuard guard(ordinal_);
  return timeline_->record(reinterpret_cast<cudaStream_t>(stream));
}

void CudaLane::hand_over(uint64_t point, StreamHandle stream) {
  const device::DeviceGuard guard(ordinal_);
  timeline_->wait(reinterpret_cast<cudaStream_t>(stream), point);
}

void CudaLane::drain() {
  const device::DeviceGuard guard(ordinal_);
  for (const device::Stream& stream : decode_) stream.synchronise();
  for (const device::Stream& stream : multiprocessors_.streams) stream.synchronise();
  upload_.synchronise();
  render_.synchronise();
  wake_stream_.synchronise();
}

std::shared_ptr<DeviceAllocation> CudaLane::allocate(size_t bytes) {
  const device::DeviceGuard guard(ordinal_);
  auto allocation = std::make_shared<BatchAllocation>();
  allocation->timeline = timeline_;
  allocation->memory = batches_->acquire(bytes, true);  // the consumer may keep some
  allocation->ordinal = ordinal_;
  allocation->data = allocation->memory.data();
  allocation->free_from = allocation->memory.free_from();
  return allocation;
}

void CudaLane::copy_to_host(const void* from, void* to, size_t bytes) {
  const device::DeviceGuard guard(ordinal_);
  device::call_counts().synchronisations.fetch_add(1, std::memory_order_relaxed);
  check(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost), "copy a batch to the host");
}

std::vector<StageReport> CudaLane::stages() {
  constexpr std::array<const char*, static_cast<size_t>(Clock::count_)> kNames = {
      "gpu engines", "gpu SMs", "gpu resize", "gpu upload", "gpu render"};
  std::vector<StageReport> stages;
  for (size_t i = 0; i < clocks_.size(); ++i) {
    device::GpuClock::Total total = clocks_[i].total();
    StageReport stage;
    stage.stage = kNames[i];
    stage.count = total.items;
    stage.busy_s = total.busy_s;
    stage.bytes = total.bytes;
    if (!total.ms.empty()) {
      std::sort(total.ms.begin(), total.ms.end());
      stage.p50_ms = total.ms[total.ms.size() / 2];
      stage.p99_ms = total.ms[total.ms.size() * 99 / 100];
    }
    stages.push_back(stage);
  }
  return stages;
}

DeviceCounts CudaLane::counts() const {
  DeviceCounts counts;
  counts.by_engines = by_engines_.load(std::memory_order_relaxed);
  counts.by_multiprocessors = by_multiprocessors_.load(std::memory_order_relaxed);
  counts.by_cpu = by_cpu_.load(std::memory_order_relaxed);
  counts.decodes = counts.by_engines + counts.by_multiprocessors + counts.by_cpu;
  {
    std::lock_guard lock(refused_mutex_);
    counts.refused = refused_.size();
  }
  counts.cache_bytes = file_cache_.bytes() + tile_cache_.bytes();
  counts.cache_hits = cache_hits_.load(std::memory_order_relaxed);
  counts.cache_misses = cache_misses_.load(std::memory_order_relaxed);
  counts.memory_bytes = memory_->lent_bytes();
  counts.memory_limit_bytes = memory_->limit_bytes();
  return counts;
}

std::unique_ptr<DeviceLane> make_device_lane(const LoaderOptions& options,
                                             const DatasetIndex& index, const TilePath& tiles,
                                             uint64_t batch_memory_bytes,
                                             std::function<void()> wake) {
  return std::make_unique<CudaLane>(options, index, tiles, batch_memory_bytes, std::move(wake));
}

}  // namespace yoload
