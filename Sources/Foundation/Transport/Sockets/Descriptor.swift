import Glibc

/// An open file descriptor with one owner; it is closed when the owner is destroyed.
public struct Descriptor: ~Copyable, Sendable {
    /// The number, for system calls; only borrowed, never closed by callers.
    public let number: Int32

    /// Takes ownership of an open descriptor.
    public init(owning number: Int32) { self.number = number }

    deinit { _ = close(number) }

    /// Transfers ownership to the caller, which must close the descriptor.
    public consuming func release() -> Int32 {
        let number = number
        discard self
        return number
    }
}
