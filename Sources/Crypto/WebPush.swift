import Basics

/// Messages that only a web app can read, in both encodings (mcs-device 7.3, 7.4).
public enum WebPush {
    /// Bytes of what a web app's keys are mixed with (RFC 8291, 3.2).
    public static let authBytes = 16
    /// Bytes of a salt.
    public static let saltBytes = 16

    /// Whether bytes can serve as the keys of a web registration: a point of the curve, and enough bytes besides.
    public static func isUsable(publicKey: [UInt8], auth: [UInt8]) -> Bool {
        auth.count == authBytes && P256.isPublicKey(publicKey)
    }

    /// The keys that a message is read and written with.
    struct MessageKeys {
        var content: [UInt8]
        var nonce: [UInt8]
    }

    /// What one side of an agreement knows.
    struct Agreement {
        var secret: [UInt8]
        /// The web app's public key.
        var receiver: [UInt8]
        /// The public key made for the message.
        var sender: [UInt8]

        /// The side that made the key of the message.
        init?(sender: KeyPair, receiver: [UInt8]) {
            guard let secret = sender.secret(with: receiver) else { return nil }
            self.secret = secret
            self.receiver = receiver
            self.sender = sender.publicKey
        }

        /// The web app's side.
        init?(receiver: KeyPair, sender: [UInt8]) {
            guard let secret = receiver.secret(with: sender) else { return nil }
            self.secret = secret
            self.receiver = receiver.publicKey
            self.sender = sender
        }
    }
}
