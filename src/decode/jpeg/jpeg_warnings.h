// Which of libjpeg's warnings mean that part of the picture is lost.
//
// libjpeg goes on after almost anything. A loader must not: some warnings only tell of an odd
// encoder, others of garbage in the picture. The table follows the library's sources and a set of
// damaged files (tests/torture).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>  // jpeglib.h needs FILE

#include <jpeglib.h>

namespace yoload::decode {

enum class JpegWarning : unsigned char {
  harmless,
  early_end,  ///< the bytes end without an end marker; the pixels may still all be there
  damage,
};

/// Judges the message in `cinfo.err`. `scan_started` is false while header segments are read.
JpegWarning judge_warning(const jpeg_decompress_struct& cinfo, bool scan_started);

}  // namespace yoload::decode
