// Loader: hands out finished training batches, in order, prepared ahead by the engine's own
// threads. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "yoload/error.h"
#include "yoload/options.h"

namespace yoload {

struct DatasetIndex;
struct SamplePlan;

/// One sample's entry in a batch.
struct SampleInfo {
  uint64_t position = 0;  ///< place in the epoch's global order
  uint32_t record = 0;    ///< index record of the primary picture
  bool replaced = false;  ///< the planned picture could not be read: see the ledger
  bool repeated = false;  ///< here so that all ranks have as many batches: past the epoch's end
  int32_t ori_height_px = 0, ori_width_px = 0;          ///< upright size of the primary picture
  int32_t resized_height_px = 0, resized_width_px = 0;  ///< its size after resizing to imgsz
};

/// A finished batch. Owns its memory; keeping it costs memory and nothing else. Movable.
struct Batch {
  uint32_t epoch = 0;
  uint64_t index = 0;  ///< number of the batch in its epoch
  int size = 0;        ///< samples
  int channels = 0, height_px = 0, width_px = 0;
  DType dtype = DType::uint8;
  int device = -1;               ///< GPU that img lies on, -1: host memory
  std::shared_ptr<uint8_t> img;  // size,channels,height,width elements of dtype
  uint64_t token = 0;            ///< of the offered buffer that img is
  std::vector<float> cls;        // n
  std::vector<float> bboxes;     // n,4 xywh normalised; OBB: n,5 xywhr
  std::vector<float> batch_idx;  // n
  std::vector<float> keypoints;  // n,K,3 (pose)
  std::vector<int32_t> masks;    // size,mask_h,mask_w (overlap) or n,mask_h,mask_w (segment)
  int mask_height_px = 0, mask_width_px = 0;
  std::vector<SampleInfo> samples;  // size

  size_t img_bytes() const;
};

/// A record that could not be used, and what took its place.
struct LedgerEntry {
  uint32_t epoch = 0;
  uint64_t position = 0;
  std::string path;
  std::string stage;
  std::string cause;
  std::string replacement;  ///< path of the picture that took its place
};

/// One line of the stage table. Times are summed over threads.
struct StageReport {
  std::string stage;
  uint64_t count = 0;
  double busy_s = 0;
  double p50_ms = 0, p99_ms = 0;
  uint64_t bytes = 0;
};

struct Report {
  uint64_t images = 0;
  uint64_t batches = 0;
  uint64_t decodes = 0;
  uint64_t own_jpeg_decodes = 0;  ///< of them by our own JPEG decoder, on the CPU
  double wall_s = 0;
  double cpu_s = 0;               ///< CPU time of the engine's threads
  double consumer_wait_s = 0;     ///< the consumer stood still for a batch
  double consumer_busy_s = 0;     ///< the consumer worked between two calls
  double worker_wait_s = 0;       ///< engine threads had nothing to do or no place to put it
  double mean_ready_batches = 0;  ///< batches that lay ready when one was asked for
  int threads = 0;
  uint64_t memory_budget_bytes = 0;
  uint64_t memory_peak_bytes = 0;  ///< counted by the budget
  uint64_t index_bytes = 0;
  uint64_t polygon_bytes = 0;
  uint64_t cache_bytes = 0, cache_hits = 0, cache_misses = 0;
  uint64_t extra_decodes = 0;  ///< decodes repeated because the window did not fit the budget
  uint64_t replaced = 0;       ///< samples whose planned picture could not be read
  uint64_t dropped_outside = 0, dropped_too_small = 0, dropped_aspect = 0, dropped_area = 0;
  uint64_t dropped_empty_mask = 0;  ///< segment: the mask vanished at mask_ratio
  std::vector<StageReport> stages;
  // With a GPU; else empty and zero.
  std::string device;
  std::vector<StageReport> device_stages;  ///< GPU time by kind of work; kinds may overlap
  uint64_t decoded_by_engines = 0, decoded_by_multiprocessors = 0, decoded_by_cpu = 0;
  uint64_t refused_by_gpu = 0;  ///< pictures that the GPU's decoders gave back to the CPU
  uint64_t late_batches = 0;  ///< batches that the GPU had not finished when they were handed over
  uint64_t device_memory_bytes = 0, device_memory_budget_bytes = 0;  ///< tiles
  std::string verdict;  ///< one sentence: who waits for whom, and what to change

  std::string to_text() const;  ///< the stage table and the verdict
  std::string to_json() const;
};

/// Thread-safe only where a member says so: one consumer at a time.
class Loader {
 public:
  /// Opens the data set and starts the threads. Throws std::invalid_argument for options that make
  /// no sense and Error (with path, stage and cause) when the data cannot be opened.
  explicit Loader(const LoaderOptions& options);
  ~Loader();
  Loader(Loader&&) noexcept;
  Loader& operator=(Loader&&) noexcept;

  const LoaderOptions& options() const;
  const DatasetIndex& index() const;
  uint64_t images_per_epoch() const;  ///< of this rank
  uint64_t batches_per_epoch() const;
  /// Place in the epoch's global order of the rank's sample `sample`.
  uint64_t position_of(uint64_t sample) const;

  /// Starts (or restarts) iteration at batch `first_batch` of `epoch`. What was prepared for
  /// another epoch or place is thrown away; what fits is kept.
  void set_epoch(uint32_t epoch, uint64_t first_batch = 0);

  /// A buffer for a coming batch, of at least buffer_bytes(), with LoaderOptions::offered_memory.
  /// The engine writes there until a batch with this token comes out of next(), or close() has
  /// returned and the loader is destroyed. On a GPU the buffer is device memory, and what `stream`
  /// (a cudaStream_t; 0 is the default stream) has been given so far may still use it.
  void offer(void* memory, size_t bytes, uint64_t token, uintptr_t stream = 0);
  size_t buffer_bytes() const;  ///< that a batch of any shape of this run fits in
  int device() const;           ///< GPU that batches lie on, or -1
  int prefetch() const;         ///< batches that are prepared ahead, as far as the budget allows

  /// Next batch of the epoch; false at its end (the next call starts the following epoch).
  /// Throws Error when the error budget is exhausted or the data set is gone.
  bool next(Batch* batch);
  /// The same, waiting at most `timeout_ms`; then *batch stays as it is and `*ready` says false.
  /// On a GPU the batch may still be on its way: what `stream` is given from now on runs when it is
  /// there, and its memory is used again after what `stream` has been given when it is dropped. The
  /// CPU does not wait for the GPU.
  bool next(Batch* batch, int timeout_ms, bool* ready, uintptr_t stream = 0);
  /// Moves the pictures of a batch to host memory if they lie on a GPU, waiting for it.
  void to_host(Batch* batch) const;
  /// Waits until the GPU has finished everything that was handed out; at once without one.
  void wait_for_device() const;

  /// Plan of one sample, and the sample alone as a batch of one: equal to what the stream delivers.
  SamplePlan plan(uint32_t epoch, uint64_t position);
  Batch render(uint32_t epoch, uint64_t position);
  /// JSON of the random numbers of that sample, the record at each of its positions, and the output
  /// size. Reads no picture, so a damaged one is not yet replaced.
  std::string draws_json(uint32_t epoch, uint64_t position) const;

  /// What opening the data set found odd, one sentence each; empty when all is well.
  const std::vector<std::string>& warnings() const;

  Report report() const;                    ///< thread-safe
  std::vector<LedgerEntry> ledger() const;  ///< thread-safe
  /// Stops the threads; next() then throws. Thread-safe, returns within 2 s.
  void close();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace yoload
