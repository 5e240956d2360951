import Basics
public import Wire

/// An app server's side of a login by SCRAM-SHA-256 (RFC 5802, RFC 7677; ccs-xmpp 1.5.1): the key is not transmitted.
public struct SCRAMClient: Sendable {
    /// The cryptographic functions, injected since this module has no crypto library.
    public struct Functions: Sendable {
        /// SHA-256 and HMAC.
        public var digests: SCRAM.Functions
        /// PBKDF2 with HMAC-SHA-256.
        public var stretch: @Sendable (_ password: [UInt8], _ salt: [UInt8], _ iterations: Int) -> [UInt8]

        /// Creates a set of functions.
        public init(
            digests: SCRAM.Functions,
            stretch: @escaping @Sendable (_ password: [UInt8], _ salt: [UInt8], _ iterations: Int) -> [UInt8]
        ) {
            self.digests = digests
            self.stretch = stretch
        }
    }

    private let functions: Functions
    private let header: String
    private let binding: [UInt8]
    private let nonce: String
    /// The server's signature that must follow; `nil` before the challenge.
    private var signature: [UInt8]?

    /// Creates a login. `nonce` must never be used twice; `binding` is the channel binding data for -PLUS, or `nil` without it.
    public init(functions: Functions, nonce: String, binding: [UInt8]? = nil) {
        self.functions = functions
        self.nonce = nonce
        self.binding = binding ?? []
        header = binding == nil ? "n,," : "p=\(SCRAM.bindingType),,"
    }

    /// The name of the mechanism.
    public var mechanism: String { header == "n,," ? "SCRAM-SHA-256" : "SCRAM-SHA-256-PLUS" }

    private func bare(_ login: AppServerLogin) -> String { "n=\(login.user),r=\(nonce)" }

    /// Returns the first message, in Base64.
    func first(_ login: AppServerLogin) -> String { Base64.text(Array((header + bare(login)).utf8)) }

    /// Returns the answer to a challenge, in Base64, or `nil` if the challenge is invalid.
    mutating func answer(to challenge: String, _ login: AppServerLogin) -> String? {
        guard signature == nil, let bytes = Base64.bytes(Array(challenge.utf8).raw) else { return nil }
        let message = String(decoding: bytes, as: UTF8.self)
        let fields = message.split(separator: ",")
        guard fields.count >= 3, fields[0].hasPrefix("r=\(nonce)"), fields[1].hasPrefix("s="),
            fields[2].hasPrefix("i="), let salt = Base64.bytes(Array(fields[1].dropFirst(2).utf8).raw),
            let iterations = Int(fields[2].dropFirst(2)),
            (1...Limits.Client.scramIterations).contains(iterations)
        else { return nil }
        let bound = Base64.text(Array(header.utf8) + binding)
        let withoutProof = "c=\(bound),\(fields[0])"
        let text = Array("\(bare(login)),\(message),\(withoutProof)".utf8)
        let salted = functions.stretch(login.key.revealed, salt, iterations)
        let digests = functions.digests
        let keys = digests.keys(saltedPassword: salted)
        signature = digests.authenticate(keys.server, text)
        let clientKey = digests.authenticate(salted, Array("Client Key".utf8))
        let proof = zip(clientKey, digests.authenticate(keys.stored, text)).map { $0 ^ $1 }
        return Base64.text(Array("\(withoutProof),p=\(Base64.text(proof))".utf8))
    }

    /// Returns whether the server's last message proves that it has the key.
    func accepts(_ last: String) -> Bool {
        guard let signature, let bytes = Base64.bytes(Array(last.utf8).raw) else { return false }
        return bytes == SCRAM.serverFinal(signature: signature)
    }
}
