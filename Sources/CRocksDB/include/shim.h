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

// What else RocksDB's C interface has no call for.

/// Keeps the engine from writing out what it has in memory when it is closed: who closes it has done so, or has lost faith in the disk.
void ccs_rocksdb_closes_at_once(rocksdb_options_t *options);
/// Writes out what all families have in memory, as one; with `waits` it is on the disk when this returns. For the thread that writes.
void ccs_rocksdb_flush(
    rocksdb_t *database, rocksdb_column_family_handle_t *const *families, size_t count, int waits, char **error);
/// Lets a family remember, for each begin of a key of so many octets, where the last key with it was put in
/// memory: the next key of the same owner then needs no search through all of them. For one thread that writes, as we have it.
void ccs_rocksdb_remembers_places(rocksdb_options_t *options, size_t octets);
/// In place of the engine's diary, its first warning alone is kept: the log that it could not read on, and why.
void ccs_rocksdb_keeps_first_warning(rocksdb_options_t *options);
/// That warning (for rocksdb_free), empty: none. The options must have been told to keep it.
char *ccs_rocksdb_first_warning(rocksdb_options_t *options);
/// Takes the lock that an open store holds, by the path of its file; NULL with a text (for rocksdb_free) where another one has it.
void *ccs_rocksdb_lock(const char *path, char **error);
/// Gives it back.
void ccs_rocksdb_unlock(void *lock);
#ifdef __cplusplus
}
#endif
