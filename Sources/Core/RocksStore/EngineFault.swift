import CRocksDB
import Glibc
import Store

/// Calls the engine and throws its error message as a `StoreError`.
@inline(__always)
func check<Result>(
    _ what: @autoclosure () -> String,
    _ call: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Result
) throws(StoreError) -> Result {
    var text: UnsafeMutablePointer<CChar>? = nil
    let result = unsafe withUnsafeMutablePointer(to: &text) { unsafe call($0) }
    if let message = unsafe text {
        let report = unsafe String(cString: message)
        unsafe rocksdb_free(message)
        var error = StoreError(kind(of: report), "\(what()): \(report)")
        if error.kind == .corrupt || isFailedRead(report) { error.table = Tables.name(in: report) ?? "" }
        throw error
    }
    return result
}

/// Returns the kind of an error message. The C interface has no error codes. These words have been stable for ten years.
func kind(of report: String) -> StoreError.Kind {
    if report.contains(anyOf: ["No space left", "NoSpace", "Disk quota", "File too large"]) { return .full }
    if report.contains(anyOf: ["lock file", "lock hold by current process"]) { return .locked }
    if report.contains(anyOf: ["Corruption", "checksum mismatch"]) { return .corrupt }
    return .inputOutput
}

/// Whether an error message is that of a file that the disk cannot read: it is as lost as one with a wrong checksum.
func isFailedRead(_ report: String) -> Bool {
    report.contains(anyOf: ["Input/output error"])
        && report.contains(anyOf: ["While pread", "While mmap read"])
}

extension StoreError {
    /// The failure of a whole store: `damaged` in place of `corrupt`, which concerns a single record.
    var ofWholeStore: StoreError {
        guard kind == .corrupt else { return self }
        var error = self
        error.kind = .damaged
        return error
    }

    /// Creates the failure of a system call from `errno`.
    static func system(_ what: String) -> StoreError {
        let code = errno
        let kind: Kind = code == ENOSPC || code == EDQUOT ? .full : .inputOutput
        return StoreError(kind, "\(what): \(unsafe String(cString: strerror(code)))")
    }
}

extension String {
    fileprivate func contains(anyOf words: [String]) -> Bool {
        words.contains { word in
            utf8.indices.contains { utf8[$0...].starts(with: word.utf8) }
        }
    }
}
