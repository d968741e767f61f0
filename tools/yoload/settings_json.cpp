// SPDX-License-Identifier: Apache-2.0
#include "yoload/settings_json.h"

namespace yoload::cli {

std::string_view name(Fidelity fidelity) {
  return fidelity == Fidelity::exact ? "exact" : "fused";
}
std::string_view name(CacheMode mode) {
  return mode == CacheMode::none ? "none" : mode == CacheMode::bytes ? "bytes" : "pixels";
}

void write_settings(const LoaderOptions& o, JsonWriter* json) {
  json->field("data", o.data).field("split", o.split).field("task", o.task);
  json->field("imgsz", o.imgsz).field("batch_size", o.batch_size).field("seed", o.seed);
  json->field("workers", o.workers)
      .field("prefetch_factor", o.prefetch_factor)
      .field("window", o.window);
  json->field("memory_budget_bytes", o.memory_budget_bytes).field("cache", name(o.cache));
  json->field("fidelity", name(o.fidelity)).field("rect", o.rect).field("drop_last", o.drop_last);
  json->field("shuffle", o.shuffle).field("simd", o.simd);
  json->field("decode", o.decode == JpegDecode::automatic ? "auto" : "libjpeg-turbo");
  json->field("on_corrupt", o.on_corrupt == OnCorrupt::reject ? "reject" : "accept");
  json->field("augment_enabled", o.augment_enabled);
  json->key("augment").begin_object();
  const AugmentOptions& a = o.augment;
  json->field("mosaic", a.mosaic).field("mosaic_tiles", a.mosaic_tiles).field("mixup", a.mixup);
  json->field("cutmix", a.cutmix).field("copy_paste", a.copy_paste);
  json->field("degrees", a.degrees).field("translate", a.translate).field("scale", a.scale);
  json->field("shear", a.shear).field("perspective", a.perspective);
  json->field("hsv_h", a.hsv_h).field("hsv_s", a.hsv_s).field("hsv_v", a.hsv_v);
  json->field("flipud", a.flipud).field("fliplr", a.fliplr).field("bgr", a.bgr);
  json->field("blur", a.blur).field("median_blur", a.median_blur).field("to_gray", a.to_gray);
  json->field("clahe", a.clahe)
      .field("multi_scale", a.multi_scale)
      .field("close_mosaic", a.close_mosaic);
  json->end_object();
}

}  // namespace yoload::cli
