// engine_flight_bench
//
// Asks the machine how the batched call of nvJPEG's hardware back end behaves in time, one JSON
// line an answer: does it wait for the stream, when may input and state be used again, what does
// setting up for another batch size cost, what does it ask of its allocators. A stream is held back
// by a host function that sleeps 200 ms, so a call that takes as long has waited for the GPU.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <chrono>
#include <thread>

#include "core/json.h"
#include "decode/cuda/nvjpeg_session.h"
#include "decode/cuda/test_device_pictures.h"
#include "device/cuda/stream.h"

namespace {

using namespace yoload;
using namespace yoload::decode;
using namespace yoload::decode::test;

constexpr auto kHold = std::chrono::milliseconds(200);

double now_us() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double, std::micro>(now).count();
}

template <class Call>
double time_us(const Call& call) {
  const double start = now_us();
  call();
  return now_us() - start;
}

void hold(cudaStream_t stream) {
  device::check(cudaLaunchHostFunc(
                    stream, [](void*) { std::this_thread::sleep_for(kHold); }, nullptr),
                "hold a stream");
}

// A batch with its input, its output and what should come out.
struct Batch {
  Batch(int pictures, uint32_t seed) {
    for (int i = 0; i < pictures; ++i) {
      const Bytes bytes = jpeg(busy_picture(640, 427, seed + static_cast<uint32_t>(i)),
                               {.h_sampling = 1 + i % 2, .v_sampling = 1 + i % 2, .quality = 90});
      files.emplace_back(bytes);
      to.emplace_back(640, 427, 3);
      expected.push_back(std::move(decode_on_cpu(bytes).value().image));
    }
    for (int i = 0; i < pictures; ++i) {
      data.push_back(files[static_cast<size_t>(i)].bytes().data());
      lengths.push_back(files[static_cast<size_t>(i)].bytes().size());
      planes.push_back(planes_of(to[static_cast<size_t>(i)].view()));
    }
  }
  int size() const { return static_cast<int>(files.size()); }
  void clear() {
    for (DevicePicture& picture : to) picture.clear();
  }
  int wrong() const {
    int count = 0;
    for (size_t i = 0; i < to.size(); ++i) count += compare(to[i], expected[i].view()).most > 1;
    return count;
  }

  std::vector<PinnedFile> files;
  std::vector<DevicePicture> to;
  std::vector<Image> expected;
  std::vector<const unsigned char*> data;
  std::vector<size_t> lengths;
  std::vector<nvjpeg::Planes> planes;
};

class Flight {
 public:
  Flight()
      : session_(**nvjpeg_library(), nvjpeg::Backend::hardware, nvjpeg::kInterpolatedChroma),
        first_(session_.make_state()),
        second_(session_.make_state()) {
    unsigned engines = 0, cores = 0;
    if (api().GetHardwareDecoderInfo != nullptr) {
      api().GetHardwareDecoderInfo(session_.handle(), &engines, &cores);
    }
    say("engines",
        [&](JsonWriter& json) { json.field("engines", engines).field("cores_per_engine", cores); });
  }
  ~Flight() { session_.close_memory(); }

  int run() {
    for (const int pictures : {1, 16, 64, 256}) time_batches(pictures);
    Batch a(64, 1000), b(64, 2000), small(24, 3000);
    set_up(first_, 64), set_up(second_, 64);
    decode(first_, a, stream_), decode(second_, b, other_);
    wait();

    ask("call on a held stream", a, [&](JsonWriter& json) {
      hold(stream_.get());
      json.field("call_us", time_us([&] { decode(first_, a, stream_); }));
    });
    ask("second call with the same state on a held stream", a, [&](JsonWriter& json) {
      b.clear();
      hold(stream_.get());
      json.field("first_call_us", time_us([&] { decode(first_, a, stream_); }));
      json.field("second_call_us", time_us([&] { decode(first_, b, stream_); }));
      wait();
      json.field("wrong_pictures_of_second", b.wrong());
    });
    ask("other batch size with the same state on a held stream", a, [&](JsonWriter& json) {
      small.clear();
      hold(stream_.get());
      json.field("first_call_us", time_us([&] { decode(first_, a, stream_); }));
      json.field("set_up_us", time_us([&] { set_up(first_, small.size()); }));
      json.field("second_call_us", time_us([&] { decode(first_, small, stream_); }));
      wait();
      json.field("wrong_pictures_of_second", small.wrong());
    });
    set_up(first_, 64);
    ask("same state on two streams, the first held, no event between", a, [&](JsonWriter& json) {
      b.clear();
      hold(stream_.get());
      json.field("first_call_us", time_us([&] { decode(first_, a, stream_); }));
      json.field("second_call_us", time_us([&] { decode(first_, b, other_); }));
      wait();
      json.field("wrong_pictures_of_second", b.wrong());
    });
    ask("two states on two streams, the first held", a, [&](JsonWriter& json) {
      b.clear();
      hold(stream_.get());
      json.field("first_call_us", time_us([&] { decode(first_, a, stream_); }));
      json.field("second_call_us", time_us([&] { decode(second_, b, other_); }));
      json.field("second_done_us",
                 time_us([&] { device::check(cudaStreamSynchronize(other_.get()), "wait"); }));
      wait();
      json.field("wrong_pictures_of_second", b.wrong());
    });
    ask("two states from two threads", a, [&](JsonWriter& json) {
      b.clear();
      json.field("both_us", time_us([&] {
                              std::thread thread([&] {
                                for (int i = 0; i < 10; ++i) decode(second_, b, other_);
                              });
                              for (int i = 0; i < 10; ++i) decode(first_, a, stream_);
                              thread.join();
                              wait();
                            }) / 20);
      json.field("wrong_pictures_of_second", b.wrong());
    });
    ask("pageable input", a, [&](JsonWriter& json) {
      std::vector<Bytes> pageable;
      std::vector<const unsigned char*> data;
      for (const PinnedFile& file : a.files) {
        pageable.emplace_back(file.bytes().begin(), file.bytes().end());
        data.push_back(pageable.back().data());
      }
      json.field("call_us", time_us([&] {
                   api().DecodeBatched(session_.handle(), first_.get(), data.data(),
                                       a.lengths.data(), a.planes.data(), stream_.get());
                 }));
      json.field("done_us", time_us([&] { wait(); }));
    });
    ask("input at odd addresses", a, [&](JsonWriter& json) {
      std::vector<PinnedFile> odd;
      std::vector<const unsigned char*> data;
      for (const PinnedFile& file : a.files) {
        Bytes bytes(1 + odd.size() % 7);
        bytes.insert(bytes.end(), file.bytes().begin(), file.bytes().end());
        odd.emplace_back(bytes);
        data.push_back(odd.back().bytes().data() + 1 + (odd.size() - 1) % 7);
      }
      json.field("code", nvjpeg::name(api().DecodeBatched(session_.handle(), first_.get(),
                                                          data.data(), a.lengths.data(),
                                                          a.planes.data(), stream_.get())));
      wait();
    });
    // Last: it destroys the input.
    ask("input overwritten after the call, stream held", a, [&](JsonWriter& json) {
      hold(stream_.get());
      json.field("call_us", time_us([&] { decode(first_, a, stream_); }));
      for (PinnedFile& file : a.files) {
        std::fill(file.writable().begin() + 700, file.writable().end(), uint8_t{0});
      }
    });
    return 0;
  }

 private:
  const nvjpeg::Api& api() const { return session_.api(); }

  template <class Body>
  void say(const char* what, const Body& body) {
    JsonWriter json;
    json.begin_object().field("question", what);
    body(json);
    fmt::print("{}\n", json.end_object().take());
    std::fflush(stdout);
  }

  // Clears the pictures, asks, waits, and says how many pictures came out wrong and what was
  // allocated and waited for on the way.
  template <class Body>
  void ask(const char* what, Batch& batch, const Body& body) {
    batch.clear();
    const auto& counts = device::call_counts();
    const uint64_t allocations = counts.device_allocations + counts.pinned_allocations;
    const uint64_t requests = this->requests();
    const uint64_t waits = counts.synchronisations;
    say(what, [&](JsonWriter& json) {
      waits_of_ours_ = 0;
      body(json);
      json.field("requests_to_allocators", this->requests() - requests)
          .field("allocations", counts.device_allocations + counts.pinned_allocations - allocations)
          .field("releases_without_a_stream", counts.synchronisations - waits - waits_of_ours_);
      wait();
      json.field("wrong_pictures", batch.wrong());
    });
  }

  void time_batches(int pictures) {
    Batch batch(pictures, 1);
    const double set_up_us = time_us([&] { set_up(first_, pictures); });
    const double first_us = time_us([&] { decode(first_, batch, stream_), wait(); });
    for (int i = 0; i < 3; ++i) decode(first_, batch, stream_), wait();
    ask("idle stream", batch, [&](JsonWriter& json) {
      json.field("batch", pictures).field("set_up_us", set_up_us).field("first_us", first_us);
      json.field("call_us", time_us([&] { decode(first_, batch, stream_); }));
      json.field("done_us", time_us([&] { wait(); }));
      json.field("set_up_smaller_us", time_us([&] { set_up(first_, std::max(1, pictures / 2)); }));
      json.field("set_up_again_us", time_us([&] { set_up(first_, pictures); }));
      json.field("set_up_same_us", time_us([&] { set_up(first_, pictures); }));
      json.field("device_mb", static_cast<double>(session_.device_memory().bytes()) / 1e6);
      json.field("pinned_mb", static_cast<double>(session_.pinned_memory().bytes()) / 1e6);
      decode(first_, batch, stream_);
    });
  }

  uint64_t requests() {
    return session_.device_memory().requests() + session_.pinned_memory().requests();
  }
  void set_up(const nvjpeg::Owned<nvjpeg::State>& state, int batch) {
    nvjpeg::check(api().DecodeBatchedInitialize(session_.handle(), state.get(), batch, 1,
                                                nvjpeg::Output::rgb),
                  "set up a batch");
  }
  void decode(const nvjpeg::Owned<nvjpeg::State>& state, const Batch& batch,
              const device::Stream& stream) {
    auto planes = batch.planes;
    nvjpeg::check(api().DecodeBatched(session_.handle(), state.get(), batch.data.data(),
                                      batch.lengths.data(), planes.data(), stream.get()),
                  "decode a batch");
  }
  void wait() {
    waits_of_ours_ += 2;
    stream_.synchronise();
    other_.synchronise();
  }

  NvjpegSession session_;
  nvjpeg::Owned<nvjpeg::State> first_, second_;
  device::Stream stream_, other_;
  uint64_t waits_of_ours_ = 0;
};

}  // namespace

int main() {
  const auto library = nvjpeg_library();
  if (!library.ok()) {
    fmt::print(stderr, "{}\n", library.status().to_string());
    return 1;
  }
  try {
    return Flight().run();
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
