import CLinux
import Glibc

/// Unpredictable random numbers, from the kernel.
public enum SecureRandom {
    /// Returns `count` random bytes.
    public static func bytes(_ count: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var filled = 0
        while filled < count {
            let got = unsafe bytes.withUnsafeMutableBytes { room in
                unsafe getrandom(room.baseAddress.map { unsafe $0 + filled }, count - filled, 0)
            }
            // Without randomness no key can be made, so there is no way to continue.
            precondition(got > 0 || errno == EINTR, "the kernel returned no random bytes")
            filled += max(0, got)
        }
        return bytes
    }

    /// Returns a random number of 64 bits.
    public static func number() -> UInt64 {
        bytes(8).reduce(0) { $0 << 8 | UInt64($1) }
    }
}
