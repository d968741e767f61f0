// SPDX-License-Identifier: Apache-2.0
#include "decode/jpeg/jpeg_warnings.h"

#include <jerror.h>

namespace yoload::decode {
namespace {

// Some encoders leave a few bytes between the last code and the end marker. More is a picture whose
// size field was damaged: the bytes belong to rows that it no longer has.
constexpr int kHarmlessTailBytes = 8;

}  // namespace

JpegWarning judge_warning(const jpeg_decompress_struct& cinfo, bool scan_started) {
  switch (cinfo.err->msg_code) {
    case JWRN_JPEG_EOF:
      return JpegWarning::early_end;
    case JWRN_HIT_MARKER:
    case JWRN_HUFF_BAD_CODE:
    case JWRN_ARITH_BAD_CODE:
    case JWRN_MUST_RESYNC:
    case JWRN_BOGUS_PROGRESSION:
      return JpegWarning::damage;
    case JWRN_EXTRANEOUS_DATA: {
      const int skipped_bytes = cinfo.err->msg_parm.i[0];
      const int next_marker = cinfo.err->msg_parm.i[1];
      const bool at_end = next_marker == JPEG_EOI && skipped_bytes <= kHarmlessTailBytes;
      return at_end || !scan_started ? JpegWarning::harmless : JpegWarning::damage;
    }
    default:
      return JpegWarning::harmless;
  }
}

}  // namespace yoload::decode
