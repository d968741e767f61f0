// Every knob of the engine as plain data, with the names that YOLO users know and their defaults.
//
// Names follow Ultralytics' hyper-parameters and torch's DataLoader. Probabilities and gains are
// fractions of 1; sizes are pixels of the output picture unless the name says otherwise.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace yoload {

struct RecordSet;

/// How pixels get from a decoded picture into the batch.
enum class Fidelity : uint8_t {
  exact,  ///< resize to imgsz, then sample the virtual canvas: within 1 level of true float
          ///< bilinear
  fused,  ///< one sampling straight from the (scaled) decode: faster, sharper, not pixel-equal
};

enum class ResizeMode : uint8_t {
  letterbox,  ///< keep the aspect ratio, longest side to imgsz
  stretch,    ///< to imgsz x imgsz
  cover,      ///< keep the aspect ratio, shortest side to imgsz (classification)
};

enum class BoxFilter : uint8_t {
  reference,  ///< drop boxes under 2 px, aspect over 100 or too little area left (SEMANTICS 5, 14)
  keep,       ///< keep everything of which at least min_box_px is left
};

enum class CopyPasteMode : uint8_t { flip, mixup };

/// Augmentation hyper-parameters. Defaults are those of Ultralytics 8.x.
struct AugmentOptions {
  float mosaic = 1.0f;      ///< probability
  int mosaic_tiles = 4;     ///< 4 (2x2) or 9 (3x3)
  float mixup = 0.0f;       ///< probability
  float cutmix = 0.0f;      ///< probability
  float copy_paste = 0.0f;  ///< probability
  CopyPasteMode copy_paste_mode = CopyPasteMode::flip;
  float degrees = 0.0f;       ///< rotation drawn from +-degrees
  float translate = 0.1f;     ///< +- fraction of the output size
  float scale = 0.5f;         ///< gain drawn from 1 +- scale
  float shear = 0.0f;         ///< +- degrees
  float perspective = 0.0f;   ///< +- per pixel, 0..0.001
  float hsv_h = 0.015f;       ///< hue gain
  float hsv_s = 0.7f;         ///< saturation gain
  float hsv_v = 0.4f;         ///< value gain
  float flipud = 0.0f;        ///< probability
  float fliplr = 0.5f;        ///< probability
  float bgr = 0.0f;           ///< probability of leaving the channels in BGR order
  float blur = 0.01f;         ///< probability of a 3..7 px box blur
  float median_blur = 0.01f;  ///< probability of a 3..7 px median
  float to_gray = 0.01f;      ///< probability of losing the colour
  float clahe = 0.01f;        ///< probability of contrast-limited histogram equalisation
  float multi_scale = 0.0f;   ///< batch size drawn from imgsz * (1 +- multi_scale), 0 is off
  int close_mosaic = 10;      ///< last epochs without mosaic, mixup, cutmix and copy-paste
  BoxFilter box_filter = BoxFilter::reference;
  float min_box_px = 0.0f;  ///< smallest side that BoxFilter::keep keeps
  std::string auto_augment =
      "randaugment";     ///< classify only: randaugment, autoaugment, augmix, or ""
  float erasing = 0.4f;  ///< classify only: probability

  /// Everything that is random switched off: letterbox only.
  static AugmentOptions none();
};

enum class CacheMode : uint8_t {
  none,
  bytes,   ///< compressed files in host memory
  pixels,  ///< decoded and resized pictures in host memory
};

enum class OnCorrupt : uint8_t {
  reject,  ///< a damaged picture is replaced and written to the ledger
  accept,  ///< what could be decoded is used; the picture is still counted
};

enum class Validate : uint8_t {
  scan,    ///< a look at the structure of the file; a GPU decoder is silent on some bit errors
  decode,  ///< a full decode on the CPU, once a run
};

/// Who decodes JPEG files on the CPU. Pixels and verdicts are the same.
enum class JpegDecode : uint8_t {
  automatic,      ///< our own decoder for ordinary files, libjpeg-turbo for the others
  libjpeg_turbo,  ///< libjpeg-turbo for all
};

enum class DType : uint8_t { uint8, float16, float32, bfloat16 };

/// Order of a batch's elements, in torch's words.
enum class MemoryFormat : uint8_t {
  contiguous,     ///< B,C,H,W
  channels_last,  ///< B,H,W,C
};

/// Bounds on what one file may cost. Zero means no limit.
struct DecodeLimits {
  uint64_t max_pixels = 268'435'456;              ///< width x height, 2^28
  uint32_t max_scans = 100;                       ///< progressive JPEG
  uint64_t max_memory_bytes = uint64_t{1} << 30;  ///< working memory of one decode
  double max_seconds = 10.0;                      ///< CPU time of one decode
};

struct LoaderOptions {
  std::string data;                          ///< data.yaml, folder, image list, COCO json
  std::shared_ptr<const RecordSet> records;  ///< pictures and labels in memory, instead of `data`
  std::string split = "train";
  std::string task;  ///< detect, segment, pose, obb, classify; "" takes the data set's own
  int imgsz = 640;
  int batch_size = 16;  ///< per rank
  /// Sample i of rank r stands at position i * world_size + r of the epoch's global order. With
  /// augmentation all ranks get as many samples, the last ones perhaps again; without, each picture
  /// comes exactly once over all ranks.
  int rank = 0;
  int world_size = 1;
  AugmentOptions augment;
  bool augment_enabled = true;  ///< false: validation, letterbox only
  bool shuffle = true;
  bool rect = false;      ///< batches of similar aspect ratio, smallest padding
  float rect_pad = 0.5f;  ///< strides of padding around a rect batch: 0.5 val, 0 train
  /// Order of the pictures for rect, sorted by height / width; empty: ties by their number.
  std::vector<int> rect_order;
  int stride = 32;  ///< output sizes are multiples of this
  ResizeMode resize = ResizeMode::letterbox;
  Fidelity fidelity = Fidelity::exact;
  uint64_t seed = 0;
  int epochs = 0;           ///< planned epochs, for close_mosaic; 0 is unknown: never close
  int workers = 0;          ///< threads; 0 takes 70-90 % of the usable physical cores
  int prefetch_factor = 4;  ///< batches kept ready, as far as memory_budget allows
  bool drop_last = false;
  uint64_t memory_budget_bytes = 0;  ///< 0 takes a quarter of the usable memory, at most 4 GiB
  CacheMode cache = CacheMode::none;
  std::string cache_dir;  ///< label caches; "" takes $XDG_CACHE_HOME/yoload
  OnCorrupt on_corrupt = OnCorrupt::reject;
  JpegDecode decode = JpegDecode::automatic;
  DecodeLimits limits;
  bool scale_16bit = false;    ///< stretch the used range of 16-bit pictures over 0..255
  double error_budget = 0.01;  ///< share of records that may fail, with a minimum of 10
  int window = 512;            ///< positions that mosaic and mixup partners come from
  DType dtype = DType::uint8;
  float scale = 1.0f / 255.0f;  ///< float outputs: (value * scale - mean) / std
  std::array<float, 3> mean = {0, 0, 0};
  std::array<float, 3> std = {1, 1, 1};
  int mask_ratio = 4;        ///< segment: masks at 1/mask_ratio of the picture
  bool overlap_mask = true;  ///< segment: one map of instance numbers a picture
  std::vector<int> classes;  ///< keep these classes only; empty keeps all
  bool single_cls = false;
  bool strict_labels = false;   ///< as the reference: a bad label row costs its whole picture
  float fraction = 1.0f;        ///< share of the data set, first round(n * fraction)
  bool offered_memory = false;  ///< batches are written into buffers given by Loader::offer()
  /// "cpu", "cuda", "cuda:N", or "auto": the GPU where there is one. On a GPU, pictures are decoded
  /// and augmented there and Batch::img is device memory.
  std::string device = "cpu";
  uint64_t device_memory_budget_bytes = 0;  ///< tiles on the GPU; 0 takes 2 GiB, at most a tenth
  int decode_batch = 0;         ///< pictures decoded by one call on the GPU; 0 is automatic
  bool hardware_decode = true;  ///< use the GPU's JPEG engines where it has them
  /// Shares of the pictures that the engines could take and others decode instead, picked by
  /// record: the CPU, and the GPU's multiprocessors.
  float cpu_decode_share = 0, sm_decode_share = 0;
  Validate validate = Validate::scan;  ///< how closely a picture is looked at before a GPU decode
  std::string simd;                    ///< "", "avx3", "avx2", "sse4", "scalar" or "ref": for tests
  /// Called now and then, from one thread, while pictures and labels are scanned.
  std::function<void(uint64_t done, uint64_t total)> scan_progress;
};

}  // namespace yoload
