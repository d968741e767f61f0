// Makes an index of pictures and labels that the calling program holds.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <span>

#include "core/image_info.h"
#include "dataset/dataset.h"
#include "yoload/records.h"

namespace yoload {

/// Header facts of a picture in memory.
using BytesProbe = std::function<Result<ImageInfo>(std::span<const uint8_t> bytes)>;

/// The index keeps `records` alive. Columns that are out of step or classes that do not exist are
/// the caller's mistake: invalid_argument. A picture that cannot be read, a box without area or
/// outside of its picture is bad data: left out and reported, as in a data set on disk. Of
/// `options`, `classes`, `single_cls`, `fraction` and `threads` matter.
Result<DatasetIndex> index_records(std::shared_ptr<const RecordSet> records,
                                   const DatasetOptions& options, const ImageProbe& probe,
                                   const BytesProbe& probe_bytes, DatasetReport* report);

}  // namespace yoload
