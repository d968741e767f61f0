// Coefficients to pixels: inverse DCT, chroma interpolation and colour, row of MCUs by row of MCUs,
// straight into the picture. Bit-identical to libjpeg-turbo with its defaults (accurate integer
// DCT, fancy upsampling).
//
// Samples live in one strip per component, as high as a row of MCUs and small enough for the L1 or
// L2 cache; the planes of the picture are written once. See also README.md of the stage and
// ycc_rows.h. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "decode/jpeg/frame.h"
#include "decode/jpeg/idct.h"
#include "decode/row_sink.h"

namespace yoload::decode::jpeg {

/// Reused from picture to picture. Not thread-safe.
class PixelRows {
 public:
  enum class Kernels : uint8_t { vector, scalar };  ///< scalar: the slow twins, for tests
  explicit PixelRows(Kernels kernels = Kernels::vector) : kernels_(kernels) {}

  /// Whether begin() may be called with this divisor (1, 2, 4, 8) of the picture's size.
  static bool supports(const Frame& frame, int shrink);
  /// Bytes that one object allocates for such a picture.
  static size_t memory_bytes(const Frame& frame, int shrink);

  /// `sink` has begun with ceil(size / shrink), 3 channels (red, green, blue) or 1 (luma) and
  /// outlives the picture; `frame` is copied from.
  void begin(const Frame& frame, RowSink* sink, int shrink = 1);
  /// To be called frame.mcus_y times, from the top. Commits every row that is complete by then; the
  /// last row of an MCU row may wait for the next, of which it needs a chroma row.
  void add_mcu_row(const McuRow& row);
  /// Commits what waits, as if the picture ended with the last MCU row that was added. Nothing to
  /// do after a whole picture.
  void finish();

 private:
  struct Component {
    const uint8_t* row(int y) const { return first_row + (y - first_y) * stride_bytes; }

    int blocks_x = 0;  // in McuRow
    int blocks_used = 0;
    int block_rows = 0;  // of a row of MCUs
    int width = 0;       // samples that count
    int height = 0;
    bool doubled_x = false;  // has half the picture's columns
    bool doubled_y = false;
    bool fancy = false;  // interpolated, not repeated
    ptrdiff_t stride_bytes = 0;
    uint8_t* first_row = nullptr;  // of the strip; the row before it is the last strip's last
    int first_y = 0;               // its number in the component
    Dequantisation factors{};
  };

  static size_t lay_out(const Frame& frame, std::array<Component, 3>* components);
  void transform(const McuRow& row);
  void emit_until(int end_y);
  void emit(int y);
  void emit_ycc(int y);
  void emit_rgb(int y);
  void near_and_far(const Component& component, int y, const uint8_t** near,
                    const uint8_t** far) const;
  const uint8_t* full_row(int index, int y);
  void sum(const Component& component, int y, int16_t* sums) const;

  Kernels kernels_;
  RowSink* sink_ = nullptr;
  ColourModel colour_ = ColourModel::gray;
  std::array<Component, 3> components_{};
  int used_components_ = 0;
  int strip_rows_ = 0;  // rows of the picture in a row of MCUs
  bool waits_ = false;  // the last row of a strip needs the next strip
  int strips_ = 0;      // in the picture
  int strips_done_ = 0;
  int next_y_ = 0;
  bool half_chroma_ = false;
  std::vector<uint8_t> memory_;
  std::array<uint8_t*, 3> scratch_rows_{};  // full width
  std::array<int16_t*, 2> sums_{};
};

}  // namespace yoload::decode::jpeg
