// engine_probe_bench [FOLDER]
//
// Asks the machine what no documentation says about nvJPEG, one JSON line a file: what each back
// end says it can do, what decoding returns, and how far the pixels are from the CPU decoder's.
// Without a folder for generated files of every kind, else for the JPEGs in it, regular or broken.
// A file that upsets the GPU ends only its own child process; a hang ends after 30 s.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <functional>
#include <memory>

#include "core/json.h"
#include "decode/cuda/nvjpeg_session.h"
#include "decode/cuda/probe_cases.h"
#include "decode/jpeg/supplier.h"
#include "device/cuda/stream.h"

namespace {

using namespace yoload;
using namespace yoload::decode;
using namespace yoload::decode::test;

constexpr unsigned kSecondsPerCase = 30;
constexpr int kExitSticky = 3;

const nvjpeg::Api& api() {
  return (*nvjpeg_library())->api;
}

// {"code": ..., "gpu": ..., "most": ..., "mean": ...} of one decode.
struct Outcome {
  nvjpeg::Code code = nvjpeg::Code::success;
  cudaError_t gpu = cudaSuccess;
  Difference difference;
  bool compared = false;

  void write(JsonWriter* json) const {
    json->begin_object().field("code", nvjpeg::name(code));
    if (gpu != cudaSuccess) json->field("gpu", cudaGetErrorString(gpu));
    if (compared) {
      json->field("most", difference.most).field("mean", std::round(difference.mean * 1e4) / 1e4);
      if (!difference.padding_kept) json->field("padding", "overwritten");
    }
    json->end_object();
  }
};

class Prober {
 public:
  Prober() {
    const auto library = nvjpeg_library();
    try {
      engines_ = std::make_unique<NvjpegSession>(**library, nvjpeg::Backend::hardware,
                                                 nvjpeg::kInterpolatedChroma);
      strict_ =
          std::make_unique<NvjpegSession>(**library, nvjpeg::Backend::hardware,
                                          nvjpeg::kInterpolatedChroma | nvjpeg::kStrictBitstream);
    } catch (const std::exception& error) {
      fmt::print("{{\"engines\":\"{}\"}}\n", error.what());
    }
    multiprocessors_ = std::make_unique<NvjpegSession>(**library, nvjpeg::Backend::any,
                                                       nvjpeg::kInterpolatedChroma);
  }

  // Prints one line; false where the GPU's context is lost.
  bool probe(const std::string& name, const Bytes& bytes) {
    const JpegFacts facts = scan_jpeg(bytes);
    const PinnedFile file(facts.regular() ? std::span(bytes).first(facts.end) : std::span(bytes));
    const auto cpu = decode_on_cpu(bytes);
    const auto cpu_luma = decode_on_cpu(bytes, 1);
    JsonWriter json;
    json.begin_object()
        .field("case", name)
        .field("scan", facts.regular() ? "regular" : facts.irregular)
        .field("supplier", decode::name(supplier_of(facts, 0, {}, {true, true})))
        .field("coding", decode::name(facts.coding))
        .field("sampling", sampling_name(facts))
        .field("width_px", facts.width_px)
        .field("height_px", facts.height_px)
        .field("orientation", static_cast<int>(facts.orientation))
        .field("cpu", cpu.ok() ? "ok" : cpu.status().to_string());
    write_claims(file.bytes(), &json);
    bool alive = facts.width_px > 0 && facts.height_px > 0 &&
                 int64_t{facts.width_px} * facts.height_px < 50'000'000;
    const bool was_decodable = alive;
    const auto run = [&](const char* key, const auto& decode) {
      if (!alive) return;
      const Outcome outcome = decode();
      json.key(key);
      outcome.write(&json);
      alive = outcome.gpu == cudaSuccess;
    };
    if (engines_) {
      run("engines", [&] { return batched(*engines_, file, facts, 3, cpu); });
      run("engines_luma", [&] { return batched(*engines_, file, facts, 1, cpu_luma); });
      run("engines_strict", [&] { return batched(*strict_, file, facts, 3, cpu); });
    }
    constexpr auto kHybrid = nvjpeg::Backend::hybrid;
    constexpr auto kGpuHybrid = nvjpeg::Backend::gpu_hybrid;
    run("hybrid", [&] { return single(kHybrid, file, facts, 3, cpu); });
    run("hybrid_luma", [&] { return single(kHybrid, file, facts, 1, cpu_luma); });
    run("gpu_hybrid", [&] { return single(kGpuHybrid, file, facts, 3, cpu); });
    run("gpu_hybrid_luma", [&] { return single(kGpuHybrid, file, facts, 1, cpu_luma); });
    fmt::print("{}\n", json.end_object().take());
    std::fflush(stdout);
    return alive || !was_decodable;
  }

 private:
  // What each back end says it could do.
  void write_claims(std::span<const uint8_t> bytes, JsonWriter* json) {
    const auto ask = [&](const char* key, NvjpegSession* session, auto call) {
      if (session == nullptr) return;
      nvjpeg::Stream parsed = nullptr;
      nvjpeg::Params params = nullptr;
      nvjpeg::check(api().JpegStreamCreate(session->handle(), &parsed), "make a parser");
      nvjpeg::check(api().DecodeParamsCreate(session->handle(), &params), "make parameters");
      api().DecodeParamsSetOutputFormat(params, nvjpeg::Output::rgb);
      nvjpeg::Code code =
          api().JpegStreamParseHeader(session->handle(), bytes.data(), bytes.size(), parsed);
      int refused = -1;
      if (code == nvjpeg::Code::success) code = call(session->handle(), parsed, params, &refused);
      json->field(key, code != nvjpeg::Code::success ? nvjpeg::name(code)
                       : refused == 0                ? "yes"
                                                     : "no");
      api().JpegStreamDestroy(parsed);
      api().DecodeParamsDestroy(params);
    };
    if (api().DecodeBatchedSupported != nullptr) {
      ask("engines_say", engines_.get(), [](auto handle, auto parsed, auto, int* refused) {
        return api().DecodeBatchedSupported(handle, parsed, refused);
      });
    }
    if (api().DecodeBatchedSupportedEx != nullptr) {
      ask("engines_say_ex", engines_.get(),
          [](auto handle, auto parsed, auto params, int* refused) {
            return api().DecodeBatchedSupportedEx(handle, parsed, params, refused);
          });
    }
    const auto asking = [](nvjpeg::Backend backend) {
      return [backend](auto handle, auto parsed, auto params, int* refused) {
        nvjpeg::Decoder decoder = nullptr;
        nvjpeg::Code code = api().DecoderCreate(handle, backend, &decoder);
        if (code != nvjpeg::Code::success) return code;
        code = api().DecoderJpegSupported(decoder, parsed, params, refused);
        api().DecoderDestroy(decoder);
        return code;
      };
    };
    ask("hybrid_says", multiprocessors_.get(), asking(nvjpeg::Backend::hybrid));
    ask("gpu_hybrid_says", multiprocessors_.get(), asking(nvjpeg::Backend::gpu_hybrid));
  }

  Outcome finish(nvjpeg::Code code, const DevicePicture& picture, const JpegFacts& facts,
                 const Result<Decoded>& expected) {
    Outcome outcome;
    outcome.code = code;
    outcome.gpu = cudaStreamSynchronize(stream_.get());
    if (outcome.gpu == cudaSuccess) outcome.gpu = cudaGetLastError();
    if (outcome.gpu != cudaSuccess) return outcome;
    if (code == nvjpeg::Code::success && expected.ok() && facts.orientation == 1) {
      outcome.difference = compare(picture, expected->image.view());
      outcome.compared = true;
    }
    return outcome;
  }

  Outcome batched(NvjpegSession& session, const PinnedFile& file, const JpegFacts& facts,
                  int channels, const Result<Decoded>& expected) {
    const DevicePicture picture(facts.width_px, facts.height_px, channels,
                                static_cast<size_t>(facts.width_px + 127) / 64 * 64);
    const auto state = session.make_state();
    nvjpeg::Code code =
        api().DecodeBatchedInitialize(session.handle(), state.get(), 1, 1, output_for(channels));
    const unsigned char* data = file.bytes().data();
    const size_t length = file.bytes().size();
    nvjpeg::Planes planes = planes_of(picture.view());
    if (code == nvjpeg::Code::success) {
      code = api().DecodeBatched(session.handle(), state.get(), &data, &length, &planes,
                                 stream_.get());
    }
    return finish(code, picture, facts, expected);
  }

  Outcome single(nvjpeg::Backend backend, const PinnedFile& file, const JpegFacts& facts,
                 int channels, const Result<Decoded>& expected) {
    const DevicePicture picture(facts.width_px, facts.height_px, channels);
    NvjpegSession& session = *multiprocessors_;
    const nvjpeg::Handle handle = session.handle();
    nvjpeg::Decoder decoder = nullptr;
    nvjpeg::State state = nullptr;
    nvjpeg::Stream parsed = nullptr;
    nvjpeg::Params params = nullptr;
    nvjpeg::PinnedBuffer pinned = nullptr;
    nvjpeg::DeviceBuffer device = nullptr;
    nvjpeg::check(api().DecoderCreate(handle, backend, &decoder), "make a decoder");
    nvjpeg::check(api().DecoderStateCreate(handle, decoder, &state), "make a state");
    nvjpeg::check(api().JpegStreamCreate(handle, &parsed), "make a parser");
    nvjpeg::check(api().DecodeParamsCreate(handle, &params), "make parameters");
    nvjpeg::check(api().BufferPinnedCreateV2(handle, session.pinned_memory().allocator(), &pinned),
                  "pinned");
    nvjpeg::check(api().BufferDeviceCreateV2(handle, session.device_memory().allocator(), &device),
                  "device");
    api().StateAttachPinnedBuffer(state, pinned);
    api().StateAttachDeviceBuffer(state, device);
    api().DecodeParamsSetOutputFormat(params, output_for(channels));
    nvjpeg::Planes planes = planes_of(picture.view());
    const std::function<nvjpeg::Code()> steps[] = {
        [&] {
          return api().JpegStreamParse(handle, file.bytes().data(), file.bytes().size(), 0, 0,
                                       parsed);
        },
        [&] { return api().DecodeJpegHost(handle, decoder, state, params, parsed); },
        [&] {
          return api().DecodeJpegTransferToDevice(handle, decoder, state, parsed, stream_.get());
        },
        [&] { return api().DecodeJpegDevice(handle, decoder, state, &planes, stream_.get()); }};
    nvjpeg::Code code = nvjpeg::Code::success;
    for (const auto& step : steps) {
      if (code == nvjpeg::Code::success) code = step();
    }
    const Outcome outcome = finish(code, picture, facts, expected);
    api().JpegStateDestroy(state);
    api().BufferPinnedDestroy(pinned);
    api().BufferDeviceDestroy(device);
    api().JpegStreamDestroy(parsed);
    api().DecodeParamsDestroy(params);
    api().DecoderDestroy(decoder);
    return outcome;
  }

  device::Stream stream_;
  std::unique_ptr<NvjpegSession> engines_, strict_, multiprocessors_;
};

// ---- one child process after the other, until every case had its turn ----

int run_isolated(const std::vector<ProbeCase>& cases) {
  auto* at = static_cast<size_t*>(
      mmap(nullptr, sizeof(size_t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  int failures = 0;
  *at = 0;
  while (*at < cases.size()) {
    std::fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
      try {
        Prober prober;
        for (; *at < cases.size(); ++*at) {
          alarm(kSecondsPerCase);
          if (!prober.probe(cases[*at].name, cases[*at].bytes)) _exit(kExitSticky);
        }
      } catch (const std::exception& error) {
        fmt::print("{{\"error\":\"{}\"}}\n", error.what());
        std::fflush(stdout);
        _exit(1);
      }
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) break;
    fmt::print("{{\"case\":\"{}\",\"ended\":\"{}\"}}\n", cases[*at].name,
               WIFSIGNALED(status)                  ? fmt::format("signal {}", WTERMSIG(status))
               : WEXITSTATUS(status) == kExitSticky ? "the GPU's context was lost"
                                                    : "an exception");
    ++failures;
    if (failures > 20) return 1;
    ++*at;
  }
  return 0;
}

std::vector<ProbeCase> files_of(const std::string& folder) {
  std::vector<ProbeCase> cases;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    Bytes bytes = read_file(entry.path());
    if (bytes.size() < 3 || bytes[0] != 0xFF || bytes[1] != 0xD8) continue;
    cases.push_back({std::filesystem::relative(entry.path(), folder), std::move(bytes)});
  }
  std::sort(cases.begin(), cases.end(), [](auto& a, auto& b) { return a.name < b.name; });
  return cases;
}

}  // namespace

int main(int argc, char** argv) {
  const auto library = nvjpeg_library();
  if (!library.ok()) {
    fmt::print(stderr, "{}\n", library.status().to_string());
    return 1;
  }
  fmt::print("{{\"library\":\"{}\",\"version\":{}}}\n", (*library)->path, (*library)->version);
  // This process itself never touches the GPU: a context does not survive fork().
  return run_isolated(argc > 1 ? files_of(argv[1]) : probe_cases());
}
