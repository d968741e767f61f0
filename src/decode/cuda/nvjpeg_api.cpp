// SPDX-License-Identifier: Apache-2.0
#include "decode/cuda/nvjpeg_api.h"

#include <string>

#include "core/raise.h"

namespace yoload::nvjpeg {
namespace {

yoload::Code kind_of(Code code) {
  switch (code) {
    case Code::success:
      return yoload::Code::ok;
    case Code::bad_jpeg:
      return yoload::Code::corrupt;
    case Code::incomplete_bitstream:
      return yoload::Code::truncated;
    case Code::jpeg_not_supported:
    case Code::implementation_not_supported:
    case Code::arch_mismatch:
      return yoload::Code::unsupported;
    case Code::allocator_failure:
      return yoload::Code::out_of_memory;
    default:
      return yoload::Code::device;
  }
}

}  // namespace

const char* name(Code code) {
  switch (code) {
    case Code::success:
      return "success";
    case Code::not_initialized:
      return "not initialized";
    case Code::invalid_parameter:
      return "invalid parameter";
    case Code::bad_jpeg:
      return "bad JPEG";
    case Code::jpeg_not_supported:
      return "JPEG not supported";
    case Code::allocator_failure:
      return "allocator failure";
    case Code::execution_failed:
      return "execution failed";
    case Code::arch_mismatch:
      return "GPU not supported";
    case Code::internal_error:
      return "internal error";
    case Code::implementation_not_supported:
      return "implementation not supported";
    case Code::incomplete_bitstream:
      return "incomplete bitstream";
  }
  return "unknown code";
}

yoload::Status status_of(Code code, const char* what) {
  if (code == Code::success) return {};
  return {kind_of(code), Stage::decode,
          std::string("nvJPEG: ") + what + ": " + name(code) + " (" +
              std::to_string(static_cast<int>(code)) + ")"};
}

void check(Code code, const char* what) {
  if (code != Code::success) raise(status_of(code, what));
}

}  // namespace yoload::nvjpeg
