import Basics
import Delivery
import Wire

/// An app server's side of SCRAM-SHA-256 (RFC 5802), with a substitute for SHA-256.
struct SCRAMLogin {
    private let password: [UInt8]
    private let header: String
    private let binding: [UInt8]
    private let bare: String
    private let nonce: String
    /// The signature that the server must prove itself with.
    private var signature: [UInt8] = []

    /// Creates a login; `binding` is the channel binding data of -PLUS, `nil` without it.
    init(user: String, password: [UInt8], nonce: UInt64, binding: [UInt8]?) {
        self.password = password
        self.binding = binding ?? []
        self.nonce = "c\(nonce)"
        header = binding == nil ? "n,," : "p=\(SCRAM.bindingType),,"
        bare = "n=\(user),r=\(self.nonce)"
    }

    /// The mechanism name.
    var mechanism: String { header == "n,," ? "SCRAM-SHA-256" : "SCRAM-SHA-256-PLUS" }

    /// The first message, in Base64.
    var first: String { Base64.text(Array((header + bare).utf8)) }

    /// Returns the answer to a challenge, in Base64, or `nil` if the challenge is invalid.
    mutating func answer(to challenge: String) -> String? {
        guard let bytes = Base64.bytes(Array(challenge.utf8).raw) else { return nil }
        let message = String(decoding: bytes, as: UTF8.self)
        let fields = message.split(separator: ",")
        guard fields.count == 3, fields[0].hasPrefix("r=\(nonce)"),
            let salt = Base64.bytes(Array(fields[1].dropFirst(2).utf8).raw)
        else { return nil }
        let bound = Base64.text(Array(header.utf8) + binding)
        let withoutProof = "c=\(bound),\(fields[0])"
        let text = Array("\(bare),\(message),\(withoutProof)".utf8)
        let functions = SimulatedHost.scram
        let salted = SimulatedHost.salted(password, salt)
        let keys = functions.keys(saltedPassword: salted)
        signature = functions.authenticate(keys.server, text)
        let clientKey = functions.authenticate(salted, Array("Client Key".utf8))
        let proof = zip(clientKey, functions.authenticate(keys.stored, text)).map { $0 ^ $1 }
        return Base64.text(Array("\(withoutProof),p=\(Base64.text(proof))".utf8))
    }

    /// Returns whether the server's last message proves that it has the key.
    func accepts(_ last: String) -> Bool {
        Base64.bytes(Array(last.utf8).raw) == Array("v=\(Base64.text(signature))".utf8)
    }
}

extension SimulatedHost {
    /// Substitute for SHA-256 and HMAC.
    static let scram = SCRAM.Functions(
        hash: { digest($0).bytes }, authenticate: { key, text in digest(key + [0] + text).bytes })

    /// Substitute for PBKDF2.
    static func salted(_ password: [UInt8], _ salt: [UInt8]) -> [UInt8] {
        digest(salt + [1] + password).bytes
    }

    /// The channel binding data of every connection.
    static let binding: [UInt8] = Array("exported".utf8)

    /// The verifier that the server stores for a password.
    static func verifier(_ password: [UInt8]) -> SCRAMVerifier {
        let salt = Array(digest(password).bytes.prefix(16))
        let keys = scram.keys(saltedPassword: salted(password, salt))
        return SCRAMVerifier(storedKey: keys.stored, serverKey: keys.server, salt: salt, iterations: 4_096)
    }
}
