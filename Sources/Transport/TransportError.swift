/// Why a call of the transport failed: what was tried, on what, and the system's or OpenSSL's word for it.
public struct TransportError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What was tried, as a verb phrase: `listen on 127.0.0.1:5235`.
    public var action: String
    /// The system's or OpenSSL's words.
    public var detail: String
    /// The system's error number; 0 where it was not a system call.
    public var code: Int32

    /// Names a failure.
    public init(_ action: String, detail: String, code: Int32 = 0) {
        self.action = action
        self.detail = detail
        self.code = code
    }

    /// Returns the same failure with the file that it is about; the failure itself if the file is not known.
    func about(_ file: String?) -> TransportError {
        guard let file else { return self }
        return TransportError("\(action) in \(file)", detail: detail, code: code)
    }

    /// `cannot listen on 127.0.0.1:5235: Address already in use`.
    public var description: String { "cannot \(action): \(detail)" }
}
