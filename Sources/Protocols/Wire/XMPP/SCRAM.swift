import Basics

/// SCRAM-SHA-256: a login that does not transmit the key (RFC 5802, RFC 7677; ccs-xmpp 1.5.1).
public enum SCRAM {
    /// The cryptographic functions, injected since this module has no crypto library.
    public struct Functions: Sendable {
        /// SHA-256.
        public var hash: @Sendable ([UInt8]) -> [UInt8]
        /// HMAC-SHA-256 of a text with a key.
        public var authenticate: @Sendable (_ key: [UInt8], _ text: [UInt8]) -> [UInt8]

        /// Creates a set of functions.
        public init(
            hash: @escaping @Sendable ([UInt8]) -> [UInt8],
            authenticate: @escaping @Sendable (_ key: [UInt8], _ text: [UInt8]) -> [UInt8]
        ) {
            self.hash = hash
            self.authenticate = authenticate
        }

        /// Returns StoredKey and ServerKey of a salted password (`Hi` of RFC 5802, 2.2).
        public func keys(saltedPassword: [UInt8]) -> (stored: [UInt8], server: [UInt8]) {
            let clientKey = authenticate(saltedPassword, Array("Client Key".utf8))
            return (hash(clientKey), authenticate(saltedPassword, Array("Server Key".utf8)))
        }

        /// Whether a client's proof was computed with the key of a StoredKey; takes constant time.
        public func accepts(proof: [UInt8], storedKey: [UInt8], authMessage: [UInt8]) -> Bool {
            let signature = authenticate(storedKey, authMessage)
            guard proof.count == signature.count else { return false }
            return ConstantTime.equal(hash(zip(proof, signature).map { $0 ^ $1 }), storedKey)
        }
    }

    /// The type of channel binding offered, the only one that TLS 1.3 defines (RFC 9266).
    public static let bindingType = "tls-exporter"

    /// Returns the server's first message; `nonce` is the client's followed by the server's.
    public static func serverFirst(nonce: [UInt8], salt: [UInt8], iterations: Int) -> [UInt8] {
        Array("r=".utf8) + nonce + Array(",s=\(Base64.text(salt)),i=\(iterations)".utf8)
    }

    /// Returns the server's final message, which proves to the client that the server has its ServerKey.
    public static func serverFinal(signature: [UInt8]) -> [UInt8] {
        Array("v=\(Base64.text(signature))".utf8)
    }

    /// Returns the AuthMessage, which both sides sign.
    public static func authMessage(first: ClientFirst, serverFirst: [UInt8], final: ClientFinal) -> [UInt8] {
        first.bare + [comma] + serverFirst + [comma] + final.withoutProof
    }

    fileprivate static let comma = UInt8(ascii: ",")
}

extension SCRAM {
    /// The first message of a client.
    public struct ClientFirst: Sendable, Equatable {
        /// The client's channel binding flag.
        public enum Binding: Sendable, Equatable {
            /// `n`: the client does not support channel binding.
            case unsupported
            /// `y`: the client supports it, but the server did not offer it.
            case notOffered
            /// `p=`: the client uses channel binding of this type.
            case type(String)
        }

        /// The channel binding flag.
        public var binding: Binding
        /// The identity to act as; empty for none.
        public var authzid: String
        /// The user name, its escapes resolved.
        public var user: String
        /// The client's nonce.
        public var nonce: [UInt8]
        /// The GS2 header, up to and including the second comma; part of the channel binding.
        public var header: [UInt8]
        /// The message after the header; part of the AuthMessage.
        public var bare: [UInt8]

        /// Parses a Base64 message.
        public init(_ payload: String) throws(SASL.Condition) {
            let bytes = try SASL.decoded(payload)
            let parts = bytes.split(separator: comma, maxSplits: 2, omittingEmptySubsequences: false)
            guard parts.count == 3 else { throw .malformedRequest }
            switch parts[0] {
            case [UInt8(ascii: "n")]: binding = .unsupported
            case [UInt8(ascii: "y")]: binding = .notOffered
            default: binding = .type(try SCRAM.name(try SCRAM.value("p", of: parts[0])))
            }
            authzid = parts[1].isEmpty ? "" : try SCRAM.name(try SCRAM.value("a", of: parts[1]))
            header = Array(bytes[..<parts[2].startIndex])
            bare = Array(parts[2])
            // Extensions after the nonce may be ignored, but not the mandatory `m=` before the name (RFC 5802, 5.1).
            let fields = parts[2].split(separator: comma, omittingEmptySubsequences: false)
            guard fields.count >= 2 else { throw .malformedRequest }
            user = try SCRAM.name(try SCRAM.value("n", of: fields[0]))
            nonce = Array(try SCRAM.value("r", of: fields[1]))
            guard !user.isEmpty, (1...Limits.Login.credentialBytes).contains(nonce.count),
                nonce.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
            else { throw .malformedRequest }
        }
    }

    /// The last message of a client.
    public struct ClientFinal: Sendable, Equatable {
        /// The GS2 header and channel binding data of the client.
        public var bound: [UInt8]
        /// The whole nonce.
        public var nonce: [UInt8]
        /// The proof.
        public var proof: [UInt8]
        /// The message before the proof; part of the AuthMessage.
        public var withoutProof: [UInt8]

        /// Parses a Base64 message.
        public init(_ payload: String) throws(SASL.Condition) {
            let bytes = try SASL.decoded(payload)
            let fields = bytes.split(separator: comma, omittingEmptySubsequences: false)
            guard fields.count >= 3, let last = fields.last,
                let bound = Base64.bytes(Array(try SCRAM.value("c", of: fields[0])).raw),
                let proof = Base64.bytes(Array(try SCRAM.value("p", of: last)).raw)
            else { throw .malformedRequest }
            self.bound = bound
            self.proof = proof
            nonce = Array(try SCRAM.value("r", of: fields[1]))
            withoutProof = Array(bytes[..<(last.startIndex - 1)])
        }
    }

    /// Returns the value of a field. Throws if it has another letter.
    private static func value(_ letter: Character, of field: ArraySlice<UInt8>) throws(SASL.Condition)
        -> ArraySlice<UInt8>
    {
        guard field.starts(with: "\(letter)=".utf8) else { throw .malformedRequest }
        return field.dropFirst(2)
    }

    /// Decodes a name: `=2C` and `=3D` escape `,` and `=`, and no other `=` is allowed.
    private static func name(_ field: ArraySlice<UInt8>) throws(SASL.Condition) -> String {
        guard field.count <= Limits.Login.credentialBytes,
            let text = String(validating: field, as: UTF8.self),
            !text.utf8.contains(0)
        else { throw .malformedRequest }
        let plain = text.replacing("=2C", with: "").replacing("=3D", with: "")
        guard !plain.utf8.contains(UInt8(ascii: "=")) else { throw .malformedRequest }
        return text.replacing("=2C", with: ",").replacing("=3D", with: "=")
    }
}
