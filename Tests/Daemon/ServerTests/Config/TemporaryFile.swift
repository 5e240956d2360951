import Glibc

/// A temporary file that is deleted with its owner.
final class TemporaryFile: Sendable {
    let path: String

    init(_ text: String, mode: mode_t = 0o600) throws {
        var template = Array("/tmp/ccsd-config-XXXXXX".utf8CString)
        let descriptor = mkstemp(&template)
        struct CannotMake: Error {}
        guard descriptor >= 0 else { throw CannotMake() }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let bytes = Array(text.utf8)
        guard write(descriptor, bytes, bytes.count) == bytes.count, fchmod(descriptor, mode) == 0 else {
            throw CannotMake()
        }
        close(descriptor)
    }

    deinit { unlink(path) }
}
