/// Which endpoints a server may send to, besides those of public addresses over HTTPS.
public struct WebhookReach: Sendable, Equatable {
    /// Whether private, loopback and link-local addresses are allowed.
    public var allowsPrivate: Bool
    /// Whether `http://` is allowed on loopback, for test suites.
    public var allowsPlainLoopback: Bool

    /// Creates a reach; public addresses over HTTPS only by default.
    public init(allowsPrivate: Bool = false, allowsPlainLoopback: Bool = false) {
        self.allowsPrivate = allowsPrivate
        self.allowsPlainLoopback = allowsPlainLoopback
    }

    /// Returns whether a request may connect to an address of a class; `nil` is a public one. One without TLS never leaves the machine.
    public func allows(_ address: AddressClass?, isPlain: Bool) -> Bool {
        if isPlain { return allowsPlainLoopback && address == .loopback }
        return address == nil || allowsPrivate
    }
}
