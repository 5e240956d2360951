public import Basics
public import Delivery
import Transport
public import Wire

extension SCRAM.Functions {
    /// The functions of OpenSSL.
    public static let host = SCRAM.Functions(
        hash: { Digest.sha256($0) }, authenticate: { Digest.hmacSHA256(key: $0, $1) })
}

extension SCRAMVerifier {
    /// Derives the stored form of a server key for SCRAM. The key is printable ASCII, which SASLprep does not change.
    public init(_ key: String, salt: [UInt8], iterations: Int = Limits.Login.scramIterations) {
        let keys = SCRAM.Functions.host.keys(
            saltedPassword: Digest.stretched(Array(key.utf8), salt: salt, iterations: iterations))
        self.init(storedKey: keys.stored, serverKey: keys.server, salt: salt, iterations: iterations)
    }
}
