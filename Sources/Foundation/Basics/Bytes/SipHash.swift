/// SipHash-2-4 (Aumasson and Bernstein, 2012): a keyed hash that is also a sound MAC for short input.
///
/// It protects hash tables with keys chosen by peers, maps keys to partitions and authenticates registration tokens. A test
/// compares it with the SIPHASH of OpenSSL.
public struct SipHash: Sendable {
    private let k0: UInt64
    private let k1: UInt64

    /// Creates a hash with a key of 128 bits.
    public init(key: (UInt64, UInt64)) { (k0, k1) = key }

    /// The key.
    var key: (UInt64, UInt64) { (k0, k1) }

    /// Returns the 64-bit hash of bytes.
    public func hash(_ bytes: borrowing RawSpan) -> UInt64 {
        var state = State(k0, k1, wide: false)
        state.absorb(bytes)
        return state.finish64()
    }

    /// Returns the 128-bit hash of bytes, low half first.
    public func hash128(_ bytes: borrowing RawSpan) -> (UInt64, UInt64) {
        var state = State(k0, k1, wide: true)
        state.absorb(bytes)
        return state.finish128()
    }

    /// Returns the 64-bit hash of one number.
    @inline(__always)
    public func hash(_ number: UInt64) -> UInt64 {
        var state = State(k0, k1, wide: false)
        state.compress(number)
        state.compress(8 << 56)
        return state.finish64()
    }

    private struct State {
        var v0: UInt64
        var v1: UInt64
        var v2: UInt64
        var v3: UInt64

        init(_ k0: UInt64, _ k1: UInt64, wide: Bool) {
            v0 = k0 ^ 0x736f_6d65_7073_6575
            v1 = k1 ^ 0x646f_7261_6e64_6f6d ^ (wide ? 0xee : 0)
            v2 = k0 ^ 0x6c79_6765_6e65_7261
            v3 = k1 ^ 0x7465_6462_7974_6573
        }

        @inline(__always)
        mutating func round() {
            v0 &+= v1
            v1 = (v1 << 13 | v1 >> 51) ^ v0
            v0 = v0 << 32 | v0 >> 32
            v2 &+= v3
            v3 = (v3 << 16 | v3 >> 48) ^ v2
            v0 &+= v3
            v3 = (v3 << 21 | v3 >> 43) ^ v0
            v2 &+= v1
            v1 = (v1 << 17 | v1 >> 47) ^ v2
            v2 = v2 << 32 | v2 >> 32
        }

        @inline(__always)
        mutating func compress(_ word: UInt64) {
            v3 ^= word
            round()
            round()
            v0 ^= word
        }

        mutating func absorb(_ bytes: borrowing RawSpan) {
            let count = bytes.byteCount
            var at = 0
            while count &- at >= 8 {
                compress(bytes.word(at: at))
                at &+= 8
            }
            var last = UInt64(truncatingIfNeeded: count) << 56
            var shift: UInt64 = 0
            while at < count {
                last |= UInt64(bytes.byte(at: at)) << shift
                shift &+= 8
                at &+= 1
            }
            compress(last)
        }

        mutating func finish64() -> UInt64 {
            v2 ^= 0xff
            for _ in 0..<4 { round() }
            return v0 ^ v1 ^ v2 ^ v3
        }

        mutating func finish128() -> (UInt64, UInt64) {
            v2 ^= 0xee
            for _ in 0..<4 { round() }
            let low = v0 ^ v1 ^ v2 ^ v3
            v1 ^= 0xdd
            for _ in 0..<4 { round() }
            return (low, v0 ^ v1 ^ v2 ^ v3)
        }
    }
}
