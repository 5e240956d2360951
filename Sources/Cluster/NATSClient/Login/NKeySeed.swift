import Basics
import Crypto

/// The secret half of a user's NKey: `SU…`, an Ed25519 seed in Base32 with a prefix and a checksum.
public struct NKeySeed: Sendable {
    private let key: Ed25519Key
    /// The public half, `U…`, which identifies the user to the server.
    public let publicKey: String

    /// The first five bits of a seed, and the kind of a user's key.
    private static let seedPrefix: UInt8 = 18 << 3
    private static let userPrefix: UInt8 = 20 << 3

    /// Reads a seed.
    public init(_ text: [UInt8]) throws(NKeyError) {
        guard let bytes = Base32.bytes(text) else { throw .notBase32 }
        guard bytes.count == 2 + Ed25519Key.seedBytes + 2 else { throw .wrongLength(text.count) }
        let checksum = UInt16(bytes[bytes.count - 2]) | UInt16(bytes[bytes.count - 1]) << 8
        guard checksum == CRC16.checksum(bytes.dropLast(2)) else { throw .wrongChecksum }
        guard bytes[0] & 0xF8 == Self.seedPrefix else { throw .notASeed }
        let kind = bytes[0] << 5 | bytes[1] >> 3
        guard kind == Self.userPrefix else { throw .notAUser }
        guard let key = Ed25519Key(seed: Array(bytes[2..<2 + Ed25519Key.seedBytes])) else {
            throw .wrongLength(text.count)
        }
        self.key = key
        var named = [Self.userPrefix] + key.publicKey
        let own = CRC16.checksum(named[...])
        named += [UInt8(truncatingIfNeeded: own), UInt8(own >> 8)]
        publicKey = Base32.text(named)
    }

    /// Signs the nonce of a server. Returns the signature in Base64 for URLs.
    func signature(of nonce: [UInt8]) -> String {
        Base64.text(key.signature(of: nonce), urlSafe: true, padded: false)
    }
}

/// Why a text is not the seed of a user's NKey. The text itself is a secret and never shown.
public enum NKeyError: Error, Hashable, Sendable, CustomStringConvertible {
    case notBase32
    case wrongLength(Int)
    case wrongChecksum
    case notASeed
    case notAUser

    /// The problem in words, after the name of its place.
    public var description: String {
        switch self {
        case .notBase32: "invalid NKey seed: expected the letters A to Z and the digits 2 to 7 only"
        case .wrongLength(let count): "invalid NKey seed of \(count) characters: expected 58"
        case .wrongChecksum: "invalid NKey seed: its checksum is wrong, a character is missing or mistyped"
        case .notASeed: "this is the public half of an NKey: expected the seed, which begins with SU"
        case .notAUser:
            "this is the NKey seed of an account, operator or server: expected that of a user, which begins with SU"
        }
    }
}

/// The checksum of NKeys: CRC-16 of XMODEM.
enum CRC16 {
    static func checksum(_ bytes: ArraySlice<UInt8>) -> UInt16 {
        var sum: UInt16 = 0
        for byte in bytes {
            sum ^= UInt16(byte) << 8
            for _ in 0..<8 { sum = sum & 0x8000 == 0 ? sum << 1 : sum << 1 ^ 0x1021 }
        }
        return sum
    }
}
