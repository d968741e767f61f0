// Header facts of every format, read by our own small parsers before any library sees the file.
//
// A picture is measured against the limits before a decoder allocates anything for it, and a data
// set scan needs nothing but these facts. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/image_info.h"
#include "core/status.h"
#include "decode/byte_source.h"

namespace yoload::decode {

/// Which kind the first bytes announce. `unknown` for everything else.
ImageFormat sniff(ByteSource& source);
/// What a file that is no picture probably is, as an error for people.
Status not_a_picture(ByteSource& source);

/// Facts of any format that can be decoded. Sizes are upright but not yet checked for sense.
Result<ImageInfo> read_header(ByteSource& source);

// One per format; `info->format` is already set. Width and height as stored.
Status read_jpeg_header(ByteSource& source, ImageInfo* info);
Status read_png_header(ByteSource& source, ImageInfo* info);
Status read_webp_header(ByteSource& source, ImageInfo* info);
Status read_tiff_header(ByteSource& source, ImageInfo* info);
Status read_bmp_header(ByteSource& source, ImageInfo* info);
Status read_gif_header(ByteSource& source, ImageInfo* info);
Status read_npy_header(ByteSource& source, ImageInfo* info);

}  // namespace yoload::decode
