public import Basics

/// A service account: app servers authenticate by signing with its key, as client libraries of HTTP v1 do (http 9).
public struct ServiceAccount: Sendable, Equatable {
    /// `client_email`, which assertions name as their issuer.
    public var email: String
    /// `private_key_id`, which assertions name as `kid`.
    public var keyID: String
    /// Its public key, as DER of SubjectPublicKeyInfo; the server does not store the private key.
    public var publicKey: [UInt8]
    /// When it was made, milliseconds since 1970.
    public var createdAt: UnixMilliseconds

    /// Creates an account.
    public init(email: String, keyID: String, publicKey: [UInt8], createdAt: UnixMilliseconds) {
        self.email = email
        self.keyID = keyID
        self.publicKey = publicKey
        self.createdAt = createdAt
    }
}

extension SenderRecord {
    /// The default project id of a sender.
    public static func presetProject(_ sender: SenderID) -> String { "ccs-\(sender.number)" }

    /// The project id of the sender in the paths of HTTP v1 (http 8.1).
    public var projectID: String { project.isEmpty ? Self.presetProject(sender) : project }

    /// Whether a project in a path names this sender: its project id, or its number without leading zeros.
    public func isProject(_ name: [UInt8]) -> Bool {
        name.elementsEqual(projectID.utf8) || name.elementsEqual(String(sender.number).utf8)
    }

    /// Whether a text is a valid project id, accepted by all client libraries and in paths.
    public static func isProjectID(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        guard Limits.Operator.projectBytes.contains(bytes.count), (0x61...0x7A).contains(bytes[0]),
            bytes.last != UInt8(ascii: "-")
        else { return false }
        return bytes.allSatisfy {
            switch $0 {
            case 0x30...0x39, 0x61...0x7A, UInt8(ascii: "-"): true
            default: false
            }
        }
    }
}
