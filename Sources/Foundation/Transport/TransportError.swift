/// A failed operation of the transport: the action, its subject, and the error text of the system or OpenSSL.
public struct TransportError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The failed action, as a verb phrase: `listen on 127.0.0.1:5235`.
    public var action: String
    /// The error text of the system or OpenSSL.
    public var detail: String
    /// The system's error number; 0 if no system call failed.
    public var code: Int32

    public init(_ action: String, detail: String, code: Int32 = 0) {
        self.action = action
        self.detail = detail
        self.code = code
    }

    /// Returns the same failure with the name of its file, or the failure itself if `file` is `nil`.
    func about(_ file: String?) -> TransportError {
        guard let file else { return self }
        return TransportError("\(action) in \(file)", detail: detail, code: code)
    }

    /// `cannot listen on 127.0.0.1:5235: Address already in use`.
    public var description: String { "cannot \(action): \(detail)" }
}
