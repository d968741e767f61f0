// SPDX-License-Identifier: Apache-2.0
#include "decode/job.h"

#include <fmt/format.h>

#include <cstring>

#include "decode/exif.h"

namespace yoload::decode {

int Job::stored_width_px() const {
  return swaps_axes(out.info.orientation) ? out.info.height_px : out.info.width_px;
}

int Job::stored_height_px() const {
  return swaps_axes(out.info.orientation) ? out.info.width_px : out.info.height_px;
}

Status Job::begin_picture(int width_px, int height_px, int channels, size_t working_bytes) {
  const bool swap = swaps_axes(out.info.orientation);
  const int upright_width_px = swap ? height_px : width_px;
  const int upright_height_px = swap ? width_px : height_px;
  const size_t image_bytes = Image::bytes_for(upright_width_px, upright_height_px, channels);
  const size_t needed_bytes = image_bytes + row_sink_bytes(width_px, channels) + working_bytes;
  if (Status refused = check_memory(needed_bytes, options.limits); !refused.ok()) return refused;
  if (target != nullptr) {
    const size_t pixels =
        static_cast<size_t>(upright_width_px) * static_cast<size_t>(upright_height_px);
    if (target->bytes < pixels * static_cast<size_t>(channels)) {
      return fail(Code::invalid_argument,
                  fmt::format("target of {} bytes for {} x {} pixels of {} channels", target->bytes,
                              upright_width_px, upright_height_px, channels));
    }
  }
  begun = true;
  if (target != nullptr && out.info.orientation == 1) {
    sink.begin(*target, width_px, height_px, channels);
    return {};
  }
  out.image = Image(pool, upright_width_px, upright_height_px, channels);
  sink.begin(out.image.mutable_view(), out.info.orientation, width_px, height_px);
  return {};
}

void Job::deliver() {
  if (target == nullptr || out.image.empty()) return;
  const ImageView view = out.image.view();
  sink.begin(*target, view.width_px, view.height_px, view.channels);
  for (int y = 0; y < view.height_px; ++y) {
    for (int c = 0; c < view.channels; ++c) {
      std::memcpy(sink.row(c, y), view.row(c, y), static_cast<size_t>(view.width_px));
    }
    sink.commit(y);
  }
  out.image = {};
}

Status Job::end_damaged(Code code, std::string message) {
  if (!accepts_damage() || !begun || sink.rows_done() == 0) {
    return fail(code, std::move(message));
  }
  sink.blacken_rest();
  out.damaged = true;
  warn(message);
  return {};
}

void Job::warn(std::string_view text) {
  if (!out.warning.empty()) out.warning += "; ";
  out.warning += text;
}

}  // namespace yoload::decode
