#pragma once
#include <rocksdb/c.h>

#ifdef __cplusplus
extern "C" {
#endif
/// Disables the engine's automatic recovery after an error; RocksDB's C interface has no call for it.
///
/// After a failed sync the engine would flush its memtables, one column family at a time, and then consider the log obsolete.
/// If the store is opened during that, the failed batch is replayed only for the families that are not flushed yet: half of it.
void ccs_rocksdb_disable_auto_resume(rocksdb_options_t *options);

// Further functions that RocksDB's C interface does not have.

/// Disables the flush at close: the caller has flushed before, or no longer trusts the disk.
void ccs_rocksdb_disable_flush_at_close(rocksdb_options_t *options);
/// Flushes the memtables of all column families atomically; with `waits` they are on disk on return. Call it on the writing thread.
void ccs_rocksdb_flush(
    rocksdb_t *database, rocksdb_column_family_handle_t *const *families, size_t count, int waits, char **error);
/// Enables insert hints in the memtable for key prefixes of a length: the next key of the same owner is inserted without a search
/// through the whole memtable. Requires a single writing thread, as in this store.
void ccs_rocksdb_enable_insert_hints(rocksdb_options_t *options, size_t length);
/// Replaces the engine's information log by its first warning, which names a log that could not be read, and the reason.
void ccs_rocksdb_keep_first_warning(rocksdb_options_t *options);
/// Returns that warning (for rocksdb_free), or an empty text. Requires `ccs_rocksdb_keep_first_warning` on the options.
char *ccs_rocksdb_first_warning(rocksdb_options_t *options);
/// Locks a store by the path of its lock file. Returns NULL and an error (for rocksdb_free) if another process has the lock.
void *ccs_rocksdb_lock(const char *path, char **error);
/// Releases the lock.
void ccs_rocksdb_unlock(void *lock);
/// Reads all blocks of a table file and compares their checksums, also those of its filter and its index.
void ccs_rocksdb_verify_table(const char *path, char **error);
#ifdef __cplusplus
}
#endif
