import CLinux
import Glibc

/// Random numbers that nobody can guess, from the kernel.
public enum SecureRandom {
    /// So many bytes.
    public static func bytes(_ count: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var filled = 0
        while filled < count {
            let got = unsafe bytes.withUnsafeMutableBytes { room in
                unsafe getrandom(room.baseAddress.map { unsafe $0 + filled }, count - filled, 0)
            }
            // Without randomness no key may be made: there is nothing sensible left to do.
            precondition(got > 0 || errno == EINTR, "the kernel gives no random numbers")
            filled += max(0, got)
        }
        return bytes
    }

    /// One number.
    public static func number() -> UInt64 {
        bytes(8).reduce(0) { $0 << 8 | UInt64($1) }
    }
}
