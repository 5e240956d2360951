import Basics
import Crypto
import Delivery
import Operator
import Wire

/// A credential for APNs as it is stored.
struct StoredAPNsCredential: Sendable {
    /// What authenticates to Apple.
    enum Material: Sendable {
        /// A client certificate of the TLS connection.
        case certificate(APNsCertificate)
        /// A key that signs provider tokens.
        case key(APNsSigningKey, keyID: String, team: String)
    }

    /// What a credential is for; each slot has at most one.
    struct Slot: Hashable {
        /// The app of a certificate, or the team and the only app of a key.
        var scope: String
        var sender: SenderID?
        var environment: APNsEnvironment
    }

    var material: Material
    /// The app; `nil` if it is for all apps of the team.
    var bundle: String?
    /// The only sender whose messages it is used for; `nil` if it is for all senders.
    var sender: SenderID?
    /// The environments that it is used for, production first.
    var environments: [APNsEnvironment]
    /// The order in which credentials were added; the latest one has its slots.
    var serial: Int
    var addedAt: UnixMilliseconds

    /// The ID: the start of a certificate's fingerprint, or the key ID, with the app and the sender if it is for one only. It is part
    /// of a file name.
    var id: String {
        let id =
            switch material {
            case .certificate(let certificate):
                Hex.text(Array(certificate.fingerprint.prefix(Self.idBytes)))
            case .key(_, let keyID, _): bundle.map { "\(keyID)-\($0)" } ?? keyID
            }
        return sender.map { "\(id)-\($0.number)" } ?? id
    }

    /// The slots that it was added for.
    var slots: [Slot] {
        let scope =
            switch material {
            case .certificate: "certificate \(bundle ?? "")"
            case .key(_, _, let team): "key \(team) \(bundle ?? "")"
            }
        return environments.map { Slot(scope: scope, sender: sender, environment: $0) }
    }

    /// When it expires. `nil` for a key.
    var expiresAt: UnixMilliseconds? {
        guard case .certificate(let certificate) = material else { return nil }
        return certificate.notAfter
    }

    /// Returns whole days until it expires, less than 0 afterwards. Returns `nil` for a key.
    func daysLeft(now: UnixMilliseconds) -> Int? {
        guard case .certificate(let certificate) = material else { return nil }
        return certificate.daysLeft(now: now)
    }

    /// Bytes of the fingerprint in an ID, so that two certificates of one server never share it.
    private static let idBytes = 8
}

// MARK: Files

extension StoredAPNsCredential {
    /// The version of the format of files.
    private static let format = 1

    /// Returns the content of its file, with the private key sealed. Returns `nil` if OpenSSL fails.
    func content(seal: SecretSeal, nonce: [UInt8]) -> [UInt8]? {
        let open: JSONValue = .object(openMembers)
        guard let sealed = seal.seal(privateKey, context: Array(open.compact.utf8), nonce: nonce) else {
            return nil
        }
        let whole: JSONValue = .object(
            openMembers + [.init("sealed_key", .string(Base64.text(sealed)))])
        return Array((whole.pretty + "\n").utf8)
    }

    private var privateKey: Redacted<[UInt8]> {
        switch material {
        case .certificate(let certificate): certificate.key
        case .key(let key, _, _): key.key
        }
    }

    /// The members of the file that are not secret; the seal protects them against changes.
    private var openMembers: [JSONValue.Member] {
        var members: [JSONValue.Member] = [
            .init("format", .integer(Self.format)), .init("serial", .integer(serial)),
            .init("added_at", .integer(Int(addedAt))),
            .init("environments", .array(environments.map { .string($0.rawValue) })),
        ]
        if let bundle { members.append(.init("bundle_id", .string(bundle))) }
        if let sender { members.append(.init("sender_id", .string(String(sender.number)))) }
        switch material {
        case .certificate(let certificate):
            members.append(
                .init("certificate", .string(String(decoding: certificate.chain, as: UTF8.self))))
        case .key(_, let keyID, let team):
            members.append(.init("key_id", .string(keyID)))
            members.append(.init("team_id", .string(team)))
        }
        return members
    }

    /// Reads the content of a file. Throws a text that describes what is wrong with it.
    init(content: [UInt8], seal: SecretSeal) throws(OperatorProblem) {
        guard let json = try? JSONValue(parsing: content.raw), let members = json.members else {
            throw OperatorProblem("it is not valid JSON", hint: Self.restore)
        }
        guard json["format"]?.integer == Self.format else {
            throw OperatorProblem(
                "its format is unknown: expected \(Self.format)",
                hint: "use the version of ccsd that wrote it")
        }
        let open: JSONValue = .object(members.filter { $0.key != "sealed_key" })
        var sealed: [UInt8]?
        if let text = json["sealed_key"]?.text { sealed = Base64.bytes(Array(text.utf8).raw) }
        guard let key = sealed.flatMap({ seal.open($0, context: Array(open.compact.utf8)) }) else {
            throw OperatorProblem(
                "its private key was sealed by another server, or the file was changed", hint: Self.restore)
        }
        let environments = (json["environments"]?.elements ?? []).compactMap {
            $0.text.flatMap(APNsEnvironment.init(rawValue:))
        }
        guard let serial = json["serial"]?.integer, let addedAt = json["added_at"]?.integer,
            !environments.isEmpty
        else { throw OperatorProblem("it is incomplete", hint: Self.restore) }
        do throws(APNsFileProblem) {
            if let chain = json["certificate"]?.text {
                material = .certificate(try APNsCertificate(chain: Array(chain.utf8), key: key))
            } else if let keyID = json["key_id"]?.text, let team = json["team_id"]?.text {
                material = .key(try APNsSigningKey(pem: key), keyID: keyID, team: team)
            } else {
                throw .unrecognized
            }
        } catch { throw OperatorProblem(error.text, hint: Self.restore) }
        bundle = json["bundle_id"]?.text
        if let text = json["sender_id"]?.text {
            guard let number = UInt64(text), number > 0 else {
                throw OperatorProblem("its sender ID is invalid", hint: Self.restore)
            }
            sender = SenderID(number)
        }
        self.environments = environments
        self.serial = serial
        self.addedAt = UnixMilliseconds(addedAt)
    }

    private static let restore = "add the credential again with ccsctl apns add, or restore a backup"
}

// MARK: Answers

extension StoredAPNsCredential {
    /// The credential in answers to operators.
    func row(now: UnixMilliseconds) -> APNsCredentialRow {
        let environments = environments.map { APNsCredentialEnvironment($0) }
        switch material {
        case .certificate(let certificate):
            return APNsCredentialRow(
                credential: id, kind: .certificate, bundle: bundle, sender: sender,
                environments: environments, topics: certificate.topics, addedAt: addedAt,
                expiresAt: certificate.notAfter,
                daysLeft: certificate.daysLeft(now: now))
        case .key(_, let keyID, let team):
            return APNsCredentialRow(
                credential: id, kind: .key, bundle: bundle, sender: sender, team: team, keyID: keyID,
                environments: environments, addedAt: addedAt)
        }
    }
}

extension APNsCredentialEnvironment {
    init(_ environment: APNsEnvironment) {
        switch environment {
        case .production: self = .production
        case .sandbox: self = .sandbox
        }
    }
}

extension APNsEnvironment {
    init(_ environment: APNsCredentialEnvironment) {
        switch environment {
        case .production: self = .production
        case .sandbox: self = .sandbox
        }
    }
}
