#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <vector>

#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/options.h>
#include <rocksdb/slice_transform.h>
#include <rocksdb/sst_file_reader.h>
#include <rocksdb/table.h>

#include "include/shim.h"

namespace {
class FirstWarning final : public rocksdb::Logger {
    std::mutex lock;
    char words[1024] = "";

   public:
    FirstWarning() : Logger(rocksdb::InfoLogLevel::WARN_LEVEL) {}

    char *copy() {
        std::lock_guard<std::mutex> guard(lock);
        return strdup(words);
    }

    using Logger::Logv;
    void Logv(const char *format, va_list values) override {
        std::lock_guard<std::mutex> guard(lock);
        if (!*words) vsnprintf(words, sizeof words, format, values);
    }
    void Logv(const rocksdb::InfoLogLevel level, const char *format, va_list values) override {
        if (level >= rocksdb::InfoLogLevel::WARN_LEVEL) Logv(format, values);
    }
};

// The C type contains nothing but the C++ options.
rocksdb::Options *inside(rocksdb_options_t *options) { return reinterpret_cast<rocksdb::Options *>(options); }
}  // namespace

void ccs_rocksdb_disable_flush_at_close(rocksdb_options_t *options) { inside(options)->avoid_flush_during_shutdown = true; }

void ccs_rocksdb_flush(
    rocksdb_t *database, rocksdb_column_family_handle_t *const *families, size_t count, int waits, char **error) {
    // The C types contain nothing but a pointer to the C++ object.
    std::vector<rocksdb::ColumnFamilyHandle *> handles;
    rocksdb::DB *engine = *reinterpret_cast<rocksdb::DB **>(database);
    for (size_t at = 0; at < count; at++) {
        auto *handle = *reinterpret_cast<rocksdb::ColumnFamilyHandle *const *>(families[at]);
        // If a flush fails, the engine treats an empty column family as an internal error, and ends the process (7.8).
        uint64_t entries = 0;
        if (engine->GetIntProperty(handle, rocksdb::DB::Properties::kNumEntriesActiveMemTable, &entries) && entries)
            handles.push_back(handle);
    }
    if (handles.empty()) return;
    rocksdb::FlushOptions how;
    how.wait = waits;
    // Otherwise it would wait before the flush if much is being flushed already.
    how.allow_write_stall = true;
    rocksdb::Status status = engine->Flush(how, handles);
    if (!status.ok()) *error = strdup(status.ToString().c_str());
}

void ccs_rocksdb_enable_insert_hints(rocksdb_options_t *options, size_t length) {
    inside(options)->memtable_insert_with_hint_prefix_extractor.reset(rocksdb::NewFixedPrefixTransform(length));
}

void ccs_rocksdb_keep_first_warning(rocksdb_options_t *options) {
    inside(options)->info_log = std::make_shared<FirstWarning>();
}

char *ccs_rocksdb_first_warning(rocksdb_options_t *options) {
    return static_cast<FirstWarning *>(inside(options)->info_log.get())->copy();
}

void *ccs_rocksdb_lock(const char *path, char **error) {
    rocksdb::FileLock *lock = nullptr;
    rocksdb::Status status = rocksdb::Env::Default()->LockFile(path, &lock);
    if (!status.ok()) *error = strdup(status.ToString().c_str());
    return lock;
}

void ccs_rocksdb_unlock(void *lock) {
    rocksdb::Env::Default()->UnlockFile(static_cast<rocksdb::FileLock *>(lock)).PermitUncheckedError();
}

void ccs_rocksdb_verify_table(const char *path, char **error) {
    // Without a policy the filter is not read, and without the cache its partitions are not.
    rocksdb::BlockBasedTableOptions table;
    table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
    table.cache_index_and_filter_blocks = true;
    rocksdb::Options options;
    options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
    rocksdb::SstFileReader reader(options);
    rocksdb::Status status = reader.Open(path);
    if (status.ok()) status = reader.VerifyChecksum();
    if (!status.ok()) *error = strdup(status.ToString().c_str());
}
