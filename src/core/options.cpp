// SPDX-License-Identifier: Apache-2.0
#include "yoload/options.h"

namespace yoload {

AugmentOptions AugmentOptions::none() {
  AugmentOptions off;
  off.mosaic = off.translate = off.scale = 0;
  off.hsv_h = off.hsv_s = off.hsv_v = 0;
  off.fliplr = off.blur = off.median_blur = off.to_gray = off.clahe = 0;
  off.auto_augment.clear();
  off.erasing = 0;
  return off;
}

}  // namespace yoload
