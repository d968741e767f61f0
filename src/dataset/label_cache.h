// Keeps the tables of a scan in one file, so that the next start maps them instead of scanning.
//
// The file is written beside its final name, synced and renamed: a reader sees a whole file or
// none. It is trusted only after its checksum and all offsets have been checked. The layout is that
// of this machine's memory; a foreign or old one fails the check and is rebuilt.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/status.h"
#include "dataset/scan_tables.h"

namespace yoload {

/// `wanted`, else $XDG_CACHE_HOME/yoload, else ~/.cache/yoload; empty if there is no home either.
std::string label_cache_folder(const std::string& wanted);

/// File name for a scan that is told apart by `key`.
std::string label_cache_name(const std::string& key);

/// The tables of the scan `identity`, mapped. Errors: not_found; corrupt (damaged, or of another
/// scan); io. `kpt_count` is what the data set has now.
Result<ScanTables> load_label_cache(const std::string& path, const std::string& identity,
                                    int kpt_count);

/// Creates the folder where needed, removes what dead writers left, writes atomically.
Status save_label_cache(const std::string& path, const std::string& identity,
                        const ScanTables& tables);

}  // namespace yoload
