#pragma once
#include <rocksdb/c.h>

#ifdef __cplusplus
extern "C" {
#endif
/// Keeps the engine from going on by itself after an error; RocksDB's C interface has no call for it.
///
/// After a failed sync it would write out, family by family, what it has in memory and take the log for done with. Who opens
/// the store meanwhile replays the failed batch for those families alone that are not written yet: half of it is there.
void ccs_rocksdb_never_resumes(rocksdb_options_t *options);
#ifdef __cplusplus
}
#endif
