import Glibc

/// An open file descriptor with one owner; closed when the owner ends.
package struct Descriptor: ~Copyable, Sendable {
    /// The number, for system calls; borrowed, never closed by others.
    package let number: Int32

    /// Takes over an open descriptor.
    package init(owning number: Int32) { self.number = number }

    deinit { _ = close(number) }

    /// Gives the descriptor away: the caller closes it.
    package consuming func release() -> Int32 {
        let number = number
        discard self
        return number
    }
}
