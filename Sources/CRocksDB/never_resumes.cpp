#include <memory>

#include <rocksdb/listener.h>
#include <rocksdb/options.h>

#include "include/shim.h"

namespace {
class NeverResumes final : public rocksdb::EventListener {
   public:
    void OnErrorRecoveryBegin(rocksdb::BackgroundErrorReason, rocksdb::Status, bool *resumes) override {
        *resumes = false;
    }
};
}  // namespace

void ccs_rocksdb_never_resumes(rocksdb_options_t *options) {
    // The C type contains nothing but the C++ options.
    reinterpret_cast<rocksdb::Options *>(options)->listeners.push_back(std::make_shared<NeverResumes>());
}
