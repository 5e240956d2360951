import CRocksDB
import Glibc
import Store

/// Calls the engine and turns the text it leaves on failure into a `StoreError`.
@inline(__always)
func check<Result>(
    _ what: @autoclosure () -> String,
    _ call: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Result
) throws(StoreError) -> Result {
    var text: UnsafeMutablePointer<CChar>? = nil
    let result = unsafe withUnsafeMutablePointer(to: &text) { unsafe call($0) }
    if let message = unsafe text {
        let said = unsafe String(cString: message)
        unsafe rocksdb_free(message)
        throw StoreError(kind(of: said), "\(what()): \(said)")
    }
    return result
}

/// What a text of the engine means. It has no codes in its C interface; these words have been stable for ten years.
func kind(of said: String) -> StoreError.Kind {
    if said.contains(anyOf: ["No space left", "NoSpace", "Disk quota", "File too large"]) { return .full }
    if said.contains(anyOf: ["lock file", "lock hold by current process"]) { return .locked }
    if said.contains(anyOf: ["Corruption", "checksum mismatch"]) { return .corrupt }
    return .inputOutput
}

extension StoreError {
    /// The same where it is not one record that cannot be read, but the store that cannot go on.
    var ofWholeStore: StoreError { kind == .corrupt ? StoreError(.damaged, description) : self }

    /// What the system said of a file of ours, by `errno`.
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
