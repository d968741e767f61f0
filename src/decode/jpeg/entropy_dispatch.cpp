// SPDX-License-Identifier: Apache-2.0
#include "decode/jpeg/entropy_dispatch.h"

#include "decode/jpeg/entropy_loop.h"

namespace yoload::decode::jpeg {
namespace {

YOLOAD_INLINE void decode_any(std::span<Lane* const> lanes) {
  switch (lanes.size()) {
    case 1:
      return decode_lanes(lanes.data(), std::make_index_sequence<1>());
    case 2:
      return decode_lanes(lanes.data(), std::make_index_sequence<2>());
    case 3:
      return decode_lanes(lanes.data(), std::make_index_sequence<3>());
    default:
      return decode_lanes(lanes.data(), std::make_index_sequence<4>());
  }
}

void decode_portable(std::span<Lane* const> lanes) {
  decode_any(lanes);
}

#if defined(__x86_64__)
// Shifts by a register that leave flags and rcx alone: without them the loop is bound by moves.
__attribute__((target("avx2,bmi,bmi2,lzcnt"))) void decode_bmi2(std::span<Lane* const> lanes) {
  decode_any(lanes);
}
bool has_bmi2() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
         __builtin_cpu_supports("bmi2");
}
#else
void decode_bmi2(std::span<Lane* const> lanes) {
  decode_any(lanes);
}
bool has_bmi2() {
  return false;
}
#endif

}  // namespace

void decode_lanes(std::span<Lane* const> lanes, bool portable) {
  static const bool fast = has_bmi2();
  if (fast && !portable) {
    decode_bmi2(lanes);
  } else {
    decode_portable(lanes);
  }
}

}  // namespace yoload::decode::jpeg
