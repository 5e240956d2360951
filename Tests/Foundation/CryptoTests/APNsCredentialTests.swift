import Basics
import BasicsSupport
import Foundation
import Testing

@testable import Crypto

/// The files in Fixtures/apns, which `make` there creates.
enum APNsFixtures {
    static let password = Redacted("secret")
    static let bundle = "com.example.app"

    /// Returns the content of a file.
    static func file(_ name: String) throws -> Redacted<[UInt8]> {
        let path = "\(PackageRoot.path)/Fixtures/apns/\(name)"
        return Redacted([UInt8](try Data(contentsOf: URL(fileURLWithPath: path))))
    }

    /// 2027-01-15, in the life of all certificates.
    static let now: UnixMilliseconds = 1_800_000_000_000
}

/// Credentials for APNs in the formats of operators: archives, PEM and `.p8` keys.
struct APNsCredentialTests {
    private typealias Files = APNsFixtures

    private static func read(
        _ file: String, key: String? = nil, password: String? = "secret", now: UnixMilliseconds = Files.now
    ) throws -> APNsCredentialFile {
        try APNsCredentialFile.read(
            try Files.file(file), privateKey: try key.map { try Files.file($0) },
            password: password.map { Redacted($0) }, now: now)
    }

    private static func certificate(
        _ file: String, key: String? = nil, password: String? = "secret"
    ) throws -> APNsCertificate {
        guard case .certificate(let certificate) = try read(file, key: key, password: password) else {
            throw APNsFileProblem.unrecognized
        }
        return certificate
    }

    @Test(
        "an archive is opened with RC2 as macOS writes it, with AES, with its chain and without a password or a code",
        arguments: [
            ("legacy", 1), ("aes", 1), ("chain", 2), ("no_password", 1), ("iterations", 1), ("rc2_128", 1),
            ("rc4_128", 1),
        ])
    func archives(name: String, certificates: Int) throws {
        let password = name == "no_password" ? nil : "secret"
        let found = try Self.certificate("\(name).p12", password: password)
        #expect(found.bundle == Files.bundle)
        #expect(found.name == "Apple Push Services: com.example.app")
        #expect(found.issuer == "Apple Test Push CA")
        #expect(found.topics == [Files.bundle, "com.example.app.voip", "com.example.app.complication"])
        #expect(found.allowsSandbox && found.allowsProduction)
        #expect(found.warnings(now: Files.now) == [])
        let chain = String(decoding: found.chain, as: UTF8.self)
        #expect(chain.components(separatedBy: "-----BEGIN CERTIFICATE-----").count == certificates + 1)
        #expect(found.key.revealed.starts(with: Array("-----BEGIN PRIVATE KEY-----\n".utf8)))
        #expect(!"\(found)".contains("PRIVATE"), "the private key is redacted")
        #expect(
            found.fingerprint == (try Self.certificate("universal.pem", key: "universal.key")).fingerprint)
        let again = try APNsCertificate(chain: found.chain, key: found.key)
        #expect(again.chain == found.chain && again.key.revealed == found.key.revealed)
        #expect(again.notAfter == found.notAfter && again.notAfter - again.notBefore == 36_500 * 86_400_000)
    }

    @Test("a password for an archive without one, and none for an archive with one, are reported")
    func passwords() throws {
        #expect(throws: APNsFileProblem.passwordWrong) { try Self.read("legacy.p12", password: "other") }
        #expect(throws: APNsFileProblem.passwordWrong) { try Self.read("aes.p12", password: "Secret") }
        #expect(throws: APNsFileProblem.passwordMissing) { try Self.read("legacy.p12", password: nil) }
        #expect(throws: APNsFileProblem.passwordMissing) { try Self.read("aes.p12", password: nil) }
        #expect(throws: APNsFileProblem.passwordWrong) { try Self.read("no_password.p12") }
        #expect(throws: APNsFileProblem.passwordMissing) {
            try Self.read("universal.pem", key: "encrypted.key", password: nil)
        }
        #expect(throws: APNsFileProblem.passwordWrong) {
            try Self.read("universal.pem", key: "encrypted.key", password: "other")
        }
        #expect(try Self.certificate("universal.pem", key: "encrypted.key").allowsSandbox)
    }

    @Test("a certificate in PEM or DER is accepted with its key, in one file or two")
    func pairs() throws {
        let plain = try Self.certificate("universal.pem", key: "universal.key", password: nil)
        #expect(try Self.certificate("universal.cer", key: "universal.key").chain == plain.chain)
        let whole = try Files.file("universal.pem").revealed + Files.file("universal.key").revealed
        guard case .certificate(let one) = try APNsCredentialFile.read(Redacted(whole), now: Files.now) else {
            Issue.record("not a certificate")
            return
        }
        #expect(one.chain == plain.chain && one.key.revealed == plain.key.revealed)
    }

    @Test("the environments are those of Apple's extensions")
    func environments() throws {
        let development = try Self.certificate("development.p12")
        #expect(development.allowsSandbox && !development.allowsProduction)
        #expect(development.topics == [Files.bundle])
        let production = try Self.certificate("production.pem", key: "production.key")
        #expect(!production.allowsSandbox && production.allowsProduction)
        let voice = try Self.certificate("voip.pem", key: "voip.key")
        #expect(voice.bundle == "com.example.app.voip", "its topics do not include the app itself")
        #expect(!voice.allowsSandbox && voice.allowsProduction)
    }

    @Test(
        "each other file is refused with what it is and what to do",
        arguments: [
            ("universal.pem", nil, .certificateAlone), ("universal.cer", nil, .certificateAlone),
            ("without_key.p12", nil, .certificateAlone), ("universal.key", nil, .otherKey("RSA")),
            ("universal.pem", "development.key", .keyMismatch),
            ("universal.pem", "development.pem", .noPrivateKey),
            ("universal.key", "universal.pem", .filesSwapped), ("aes.p12", "universal.key", .archiveAndKey),
            ("app.mobileprovision", nil, .provisioningProfile),
            ("request.certSigningRequest", nil, .certificateRequest), ("public.pem", nil, .publicKey),
            ("p384.p8", nil, .otherKey("EC secp384r1")), ("sec1.key", nil, .keyNotPKCS8),
            ("notpush.pem", "notpush.key", .otherCertificate("Apple Distribution: Example")),
            ("make", nil, .unrecognized),
        ] as [(String, String?, APNsFileProblem)])
    func refused(file: String, key: String?, problem: APNsFileProblem) throws {
        #expect(throws: problem) { try Self.read(file, key: key) }
        #expect(!problem.text.isEmpty && !problem.text.hasSuffix(".") && !problem.hint.isEmpty)
    }

    @Test("empty, truncated and oversized files and random bytes are refused and never trap")
    func hostile() throws {
        #expect(throws: APNsFileProblem.empty) { try APNsCredentialFile.read(Redacted([]), now: 0) }
        #expect(throws: APNsFileProblem.empty) {
            try APNsCredentialFile.read(try Files.file("universal.pem"), privateKey: Redacted([]), now: 0)
        }
        let large = [UInt8](repeating: 0x30, count: Limits.APNsCredentials.fileBytes + 1)
        #expect(throws: APNsFileProblem.tooLarge) { try APNsCredentialFile.read(Redacted(large), now: 0) }
        for name in [
            "legacy.p12", "chain.p12", "universal.cer", "AuthKey_ABC123DEFG.p8", "app.mobileprovision",
        ] {
            let whole = try Files.file(name).revealed
            for count in stride(from: 1, to: whole.count - 1, by: 7) {
                #expect(throws: APNsFileProblem.self, "\(name), \(count) bytes") {
                    try APNsCredentialFile.read(
                        Redacted(Array(whole[..<count])), password: Files.password, now: Files.now)
                }
            }
        }
        let archive = try Files.file("aes.p12").revealed
        for at in stride(from: 0, to: archive.count, by: 11) {
            var changed = archive
            changed[at] ^= 0x41
            _ = try? APNsCredentialFile.read(Redacted(changed), password: Files.password, now: Files.now)
        }
    }

    @Test("an archive whose code needs too many iterations is refused at once")
    func iterations() throws {
        var archive = try Files.file("aes.p12").revealed
        // The count, 2048, is the last part of the last element, which the archive encloses.
        #expect(archive.suffix(4) == [0x02, 0x02, 0x08, 0x00])
        let place = try #require(
            archive.indices.dropLast(2).first { at in
                at > 0 && archive[at] == 0x30 && at + 2 + Int(archive[at + 1]) == archive.count
            })
        let length = (Int(archive[2]) << 8 | Int(archive[3])) + 2
        archive.replaceSubrange(2..<4, with: [UInt8(length >> 8), UInt8(length & 0xFF)])
        archive[place + 1] += 2
        archive.replaceSubrange(
            archive.count - 4..<archive.count, with: [0x02, 0x04, 0x7F, 0xFF, 0xFF, 0xFF])
        #expect(throws: APNsFileProblem.tooManyIterations) {
            try APNsCredentialFile.read(Redacted(archive), password: Files.password, now: Files.now)
        }
    }

    @Test("an expired certificate is refused, and warnings name what is unusual")
    func dates() throws {
        let found = try Self.certificate("production.pem", key: "production.key")
        #expect(throws: APNsFileProblem.expired(found.notAfter)) {
            try Self.read("production.pem", key: "production.key", now: found.notAfter)
        }
        let day: Int64 = 86_400_000
        #expect(found.daysLeft(now: found.notAfter - day) == 1)
        #expect(found.daysLeft(now: found.notAfter - 1) == 0)
        #expect(found.daysLeft(now: found.notAfter + 1) == -1)
        #expect(found.warnings(now: found.notAfter - 29 * day).count == 1)
        #expect(throws: APNsFileProblem.notYetValid(found.notBefore)) {
            try Self.read("production.pem", key: "production.key", now: found.notBefore - 1)
        }
    }

    @Test("a .p8 key is read, and signs provider tokens that its public key verifies")
    func providerToken() throws {
        guard case .key(let key) = try Self.read("AuthKey_ABC123DEFG.p8", password: nil) else {
            Issue.record("not a key")
            return
        }
        #expect(key.fingerprint.count == 32 && !"\(key)".contains("PRIVATE"))
        #expect(try APNsSigningKey(pem: key.key).fingerprint == key.fingerprint)
        let token = try #require(
            ProviderToken.make(
                keyPEM: key.key, keyID: "ABC123DEFG", teamID: "TEAM123456", issuedAt: Files.now + 999))
        let parts = token.split(separator: UInt8(ascii: ".")).map { Array($0) }
        try #require(parts.count == 3)
        let texts = parts.map { part -> String in
            let decoded = Base64.bytes(part.raw)
            return String(decoding: decoded ?? [], as: UTF8.self)
        }
        #expect(texts[0] == #"{"alg":"ES256","kid":"ABC123DEFG"}"#)
        #expect(texts[1] == #"{"iss":"TEAM123456","iat":1800000000}"#)
        let last = parts[2]
        let decoded = Base64.bytes(last.raw)
        let signature = try #require(decoded)
        #expect(signature.count == P256.signatureBytes)
        let text = parts[0] + [UInt8(ascii: ".")] + parts[1]
        let publicKey = Array(try Self.point("public.pem"))
        #expect(P256.verifies(signature, of: text, by: publicKey))
        #expect(!P256.verifies(signature, of: text + [0], by: publicKey))
        let other = try Files.file("universal.key")
        #expect(ProviderToken.make(keyPEM: other, keyID: "A", teamID: "B", issuedAt: 0) == nil)
    }

    /// Returns the point of a public key on P-256 in PEM, whose last bytes it is.
    private static func point(_ name: String) throws -> ArraySlice<UInt8> {
        let lines = String(decoding: try Files.file(name).revealed, as: UTF8.self).split(separator: "\n")
        let text = lines.filter { !$0.hasPrefix("-") }.joined()
        let bytes = Base64.bytes(Array(text.utf8).raw)
        return try #require(bytes).suffix(P256.publicKeyBytes)
    }
}

/// The seal of secrets in files.
struct SecretSealTests {
    private let seal = SecretSeal(secret: [UInt8](repeating: 7, count: 32), purpose: "test")
    private let nonce = [UInt8](0..<12)

    @Test("a sealed secret is opened only unchanged, with the same key and context")
    func roundTrip() throws {
        for secret in [[], [1], [UInt8](repeating: 9, count: 5_000)] as [[UInt8]] {
            let sealed = try #require(seal.seal(Redacted(secret), context: [1, 2], nonce: nonce))
            #expect(sealed.count == secret.count + 28)
            #expect(seal.open(sealed, context: [1, 2])?.revealed == secret)
            #expect(seal.open(sealed, context: [1, 3]) == nil)
            #expect(seal.open(sealed, context: []) == nil)
            #expect(seal.open(Array(sealed.dropLast()), context: [1, 2]) == nil)
            for at in stride(from: 0, to: sealed.count, by: 97) {
                var changed = sealed
                changed[at] ^= 1
                #expect(seal.open(changed, context: [1, 2]) == nil, "byte \(at)")
            }
            for other in [
                SecretSeal(secret: [UInt8](repeating: 8, count: 32), purpose: "test"),
                SecretSeal(secret: [UInt8](repeating: 7, count: 32), purpose: "other"),
            ] { #expect(other.open(sealed, context: [1, 2]) == nil) }
        }
        #expect(seal.open([], context: []) == nil)
    }
}
