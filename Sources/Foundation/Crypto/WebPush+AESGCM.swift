public import Basics

/// `aesgcm` (draft-ietf-webpush-encryption-04; mcs-device 7.3), which every library supports.
extension WebPush {
    /// A message in `aesgcm`.
    public struct Sealed: Sendable {
        /// The concatenated records.
        public var records: [UInt8]
        /// The public key of the message's key pair, sent as `dh`.
        public var publicKey: [UInt8]
        /// The salt, sent as `salt`.
        public var salt: [UInt8]

        /// Creates a message.
        public init(records: [UInt8], publicKey: [UInt8], salt: [UInt8]) {
            self.records = records
            self.publicKey = publicKey
            self.salt = salt
        }
    }

    private static let padLengthBytes = 2

    /// Encrypts a text for a web app. Returns `nil` if its keys are invalid.
    ///
    /// `random` returns secure random bytes: first for the message's key pair, then for the salt.
    public static func seal(
        _ text: [UInt8], publicKey: [UInt8], auth: [UInt8], random: (_ count: Int) -> [UInt8]
    ) -> Sealed? {
        guard auth.count == authBytes, let own = KeyPair(random: random),
            let agreement = Agreement(sender: own, receiver: publicKey)
        else { return nil }
        let salt = random(saltBytes)
        let keys = keys(agreement, auth: auth, salt: salt)
        guard var cipher = RecordCipher(key: keys.content, nonce: keys.nonce) else { return nil }
        let room = Limits.Registration.webPushRecordBytes - padLengthBytes
        var records: [UInt8] = []
        var at = 0
        // The last record must be shorter than a full one, which marks the end.
        repeat {
            let end = min(at + room, text.count)
            guard let record = cipher.seal([0, 0] + text[at..<end]) else { return nil }
            records += record
            guard end - at == room else { break }
            at = end
        } while true
        return Sealed(records: records, publicKey: own.publicKey, salt: salt)
    }

    /// Decrypts a message. Returns `nil` if it is not for these keys, or is incomplete.
    public static func open(
        _ sealed: Sealed, keys pair: KeyPair, auth: [UInt8],
        recordSize: Int = Limits.Registration.webPushRecordBytes
    ) -> [UInt8]? {
        guard auth.count == authBytes, sealed.salt.count == saltBytes, recordSize > padLengthBytes,
            sealed.records.count <= Limits.MCS.frameBytes,
            let agreement = Agreement(receiver: pair, sender: sealed.publicKey)
        else { return nil }
        let keys = keys(agreement, auth: auth, salt: sealed.salt)
        guard var cipher = RecordCipher(key: keys.content, nonce: keys.nonce) else { return nil }
        let whole = recordSize + RecordCipher.tagBytes
        var text: [UInt8] = []
        var at = 0
        while at <= sealed.records.count {
            let end = min(at + whole, sealed.records.count)
            guard let record = cipher.open(Array(sealed.records[at..<end])), record.count >= padLengthBytes
            else { return nil }
            let padding = Int(record[0]) << 8 | Int(record[1])
            let start = padLengthBytes + padding
            guard start <= record.count, record[padLengthBytes..<start].allSatisfy({ $0 == 0 }) else {
                return nil
            }
            text += record[start...]
            if end - at < whole { return text }
            at = end
        }
        return nil
    }

    static func keys(_ agreement: Agreement, auth: [UInt8], salt: [UInt8]) -> MessageKeys {
        let secret = HKDF.derive(
            salt: auth, secret: agreement.secret, info: Array("Content-Encoding: auth\0".utf8), count: 32)
        // Each key is preceded by its length in two bytes.
        let context =
            Array("P-256\0".utf8) + [0, UInt8(P256.publicKeyBytes)] + agreement.receiver
            + [0, UInt8(P256.publicKeyBytes)] + agreement.sender
        return MessageKeys(
            content: HKDF.derive(
                salt: salt, secret: secret, info: Array("Content-Encoding: aesgcm\0".utf8) + context,
                count: 16),
            nonce: HKDF.derive(
                salt: salt, secret: secret, info: Array("Content-Encoding: nonce\0".utf8) + context,
                count: 12))
    }
}
