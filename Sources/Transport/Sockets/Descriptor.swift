import Glibc

/// An open file descriptor with one owner; closed when the owner ends.
public struct Descriptor: ~Copyable, Sendable {
    /// The number, for system calls; borrowed, never closed by others.
    public let number: Int32

    /// Takes over an open descriptor.
    public init(owning number: Int32) { self.number = number }

    deinit { _ = close(number) }

    /// Gives the descriptor away: the caller closes it.
    public consuming func release() -> Int32 {
        let number = number
        discard self
        return number
    }
}
