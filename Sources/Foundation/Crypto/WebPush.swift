import Basics

/// Message encryption of Web Push, in both encodings (mcs-device 7.3, 7.4).
public enum WebPush {
    /// The length of a web app's authentication secret (RFC 8291, 3.2).
    public static let authBytes = 16
    /// The length of a salt.
    public static let saltBytes = 16

    /// The content encryption key and nonce of a message.
    struct MessageKeys {
        var content: [UInt8]
        var nonce: [UInt8]
    }

    /// The result of a key agreement.
    struct Agreement {
        var secret: [UInt8]
        /// The web app's public key.
        var receiver: [UInt8]
        /// The public key of the message's key pair.
        var sender: [UInt8]

        /// Computes the agreement on the sender's side.
        init?(sender: KeyPair, receiver: [UInt8]) {
            guard let secret = sender.secret(with: receiver) else { return nil }
            self.secret = secret
            self.receiver = receiver
            self.sender = sender.publicKey
        }

        /// Computes the agreement on the web app's side.
        init?(receiver: KeyPair, sender: [UInt8]) {
            guard let secret = receiver.secret(with: sender) else { return nil }
            self.secret = secret
            self.receiver = receiver.publicKey
            self.sender = sender
        }
    }
}
