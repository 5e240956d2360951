#include <memory>

#include <rocksdb/listener.h>
#include <rocksdb/options.h>

#include "include/shim.h"

namespace {
class DisableAutoResume final : public rocksdb::EventListener {
   public:
    void OnErrorRecoveryBegin(rocksdb::BackgroundErrorReason, rocksdb::Status, bool *resumes) override {
        *resumes = false;
    }
};
}  // namespace

void ccs_rocksdb_disable_auto_resume(rocksdb_options_t *options) {
    // The C type contains nothing but the C++ options.
    reinterpret_cast<rocksdb::Options *>(options)->listeners.push_back(std::make_shared<DisableAutoResume>());
}
