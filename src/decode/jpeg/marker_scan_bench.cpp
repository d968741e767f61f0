// scan_jpeg on a noisy 640 x 480 picture, whose coded data is as large as a photo's.
// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>

#include <random>

#include "decode/jpeg/marker_scan.h"
#include "decode/test_pictures.h"

namespace yoload::decode {
namespace {

void BM_ScanJpeg(benchmark::State& state) {
  test::Rgb rgb = test::card(640, 480);
  std::mt19937 random(1);
  for (uint8_t& value : rgb.pixels) value = static_cast<uint8_t>(value + random() % 32);
  const test::Bytes file =
      test::jpeg(rgb, {.restart_interval_mcus = static_cast<int>(state.range(0))});
  for (auto _ : state) benchmark::DoNotOptimize(scan_jpeg(file));
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * file.size()));
  state.counters["file_bytes"] = static_cast<double>(file.size());
}
BENCHMARK(BM_ScanJpeg)->ArgName("restart_interval_mcus")->Arg(0)->Arg(80)->Arg(4);

}  // namespace
}  // namespace yoload::decode
