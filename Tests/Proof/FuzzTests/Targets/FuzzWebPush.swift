import Basics
import Crypto
import CryptoSupport

private let pair = KeyPair(privateKey: [UInt8](repeating: 1, count: 32))
private let auth = [UInt8](repeating: 9, count: WebPush.authBytes)

private func counted(_ count: Int) -> [UInt8] { (0..<count).map { UInt8($0) + 1 } }

/// For any input to a web app: a message for other keys is refused, an encrypted text is decrypted, and refused if a byte of it
/// is changed.
///
/// The first byte selects the size of records and the change.
func fuzzWebPush(_ input: [UInt8]) throws(Violation) {
    guard let first = input.first, let pair else { return }
    let text = Array(input.dropFirst())
    if let opened = FuzzReach.read("body", WebPush.openBody(text, keys: pair, auth: auth)) {
        try demand(opened.count < text.count, "more came out of a body than was in it")
    }
    let apart = WebPush.Sealed(
        records: Array(text.dropFirst(P256.publicKeyBytes + WebPush.saltBytes)),
        publicKey: Array(text.prefix(P256.publicKeyBytes)),
        salt: Array(text.dropFirst(P256.publicKeyBytes).prefix(WebPush.saltBytes)))
    if let opened = FuzzReach.read("records", WebPush.open(apart, keys: pair, auth: auth)) {
        try demand(opened.count < text.count, "more came out of records than was in them")
    }
    _ = P256.isPublicKey(apart.publicKey)
    _ = P256.verifies(Array(text.prefix(P256.signatureBytes)), of: text, by: pair.publicKey)

    let size = 18 + Int(first)
    guard
        var body = WebPush.sealBody(
            text, publicKey: pair.publicKey, auth: auth, random: counted, recordSize: size)
    else { throw Violation(description: "records of \(size) bytes cannot be encrypted") }
    // A body may be as long as a frame; messages to web apps are far shorter.
    guard body.count <= Limits.MCS.frameBytes else { return }
    try demand(WebPush.openBody(body, keys: pair, auth: auth) == text, "encryption changed a body")
    // The record size after the salt is not authenticated: one record is the same for many sizes.
    let drawn = Int(seed(of: input) % UInt64(body.count))
    let at = 16..<20 ~= drawn ? 0 : drawn
    body[at] ^= first | 1
    try demand(WebPush.openBody(body, keys: pair, auth: auth) == nil, "a body changed at \(at) was accepted")
    guard var sealed = WebPush.seal(text, publicKey: pair.publicKey, auth: auth, random: counted) else {
        throw Violation(description: "records cannot be encrypted")
    }
    try demand(WebPush.open(sealed, keys: pair, auth: auth) == text, "encryption changed records")
    sealed.records[at % sealed.records.count] ^= first | 1
    try demand(WebPush.open(sealed, keys: pair, auth: auth) == nil, "changed records were accepted")
}
