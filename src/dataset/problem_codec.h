// Packs the complaints of a scan for the label cache, so that a warm start repeats them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "dataset/parsed_labels.h"

namespace yoload {

std::string encode_problems(const std::vector<Problem>& problems);

/// False if the bytes are not what encode_problems writes; `problems` is then unfinished.
bool decode_problems(std::string_view bytes, std::vector<Problem>& problems);

}  // namespace yoload
