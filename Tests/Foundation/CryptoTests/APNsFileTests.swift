import Basics
import Testing

@testable import Crypto

/// Files that are hostile, or were changed on their way to the operator.
struct APNsFileTests {
    private typealias Files = APNsFixtures

    private static func read(_ file: [UInt8], password: String? = "secret") throws -> APNsCredentialFile {
        try APNsCredentialFile.read(
            Redacted(file), password: password.map { Redacted($0) }, now: Files.now)
    }

    private static func part(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        [
            tag, 0x83, UInt8(content.count >> 16), UInt8(content.count >> 8 & 0xFF),
            UInt8(content.count & 0xFF),
        ]
            + content
    }

    private static func pem(_ content: [UInt8]) -> [UInt8] {
        let label = "ENCRYPTED PRIVATE KEY"
        return Array("-----BEGIN \(label)-----\n\(Base64.text(content))\n-----END \(label)-----\n".utf8)
    }

    /// 70,000 as an integer, and a number over the limit in as many bytes.
    private static let iterations: [UInt8] = [0x02, 0x03, 0x01, 0x11, 0x70]
    private static let many: [UInt8] = [0x02, 0x03, 0x7F, 0xFF, 0xFF]

    @Test("a part of an archive whose password needs too many iterations is refused before it is derived")
    func parts() throws {
        let archive = try Files.file("iterations.p12").revealed
        let places = archive.ranges(of: Self.iterations)
        #expect(places.count == 2, "the key and the code")
        // A changed part has another code, so that the code is left out where it is not the part itself: it is last, with 68 bytes.
        var withoutCode = Array(archive.dropLast(68))
        let length = withoutCode.count - 4
        (withoutCode[2], withoutCode[3]) = (UInt8(length >> 8), UInt8(length & 0xFF))
        _ = try Self.read(withoutCode)
        for (place, file) in zip(places, [withoutCode, archive]) {
            var changed = file
            changed.replaceSubrange(place, with: Self.many)
            #expect(throws: APNsFileProblem.tooManyIterations) { try Self.read(changed) }
        }
    }

    @Test(
        "an encrypted key in PEM whose password needs too many iterations is refused before it is derived")
    func keys() throws {
        let plain = try #require(PEMText.parts(Files.file("iterations.key").revealed).first)
        #expect(plain.label == "ENCRYPTED PRIVATE KEY")
        let place = try #require(plain.content.firstRange(of: Self.iterations))
        for file in [Self.pem(plain.content), try Files.file("scrypt.key").revealed] {
            guard case .key = try Self.read(file) else { throw APNsFileProblem.unrecognized }
        }
        var changed = plain.content
        changed.replaceSubrange(place, with: Self.many)
        #expect(throws: APNsFileProblem.tooManyIterations) { try Self.read(Self.pem(changed)) }
        let damaged = Array("-----BEGIN PRIVATE KEY-----\n?\n-----END PRIVATE KEY-----\n".utf8)
        #expect(throws: APNsFileProblem.tooManyIterations) { try Self.read(damaged + Self.pem(changed)) }
        // The last of the three numbers of scrypt, 1.
        var scrypt = try #require(PEMText.parts(Files.file("scrypt.key").revealed).first).content
        let last = try #require(scrypt.firstRange(of: [0x02, 0x01, 0x08, 0x02, 0x01, 0x01]))
        scrypt[last.upperBound - 1] = 0x7F
        #expect(throws: APNsFileProblem.tooManyIterations) { try Self.read(Self.pem(scrypt)) }
    }

    @Test("the iterations of all parts of a file share one limit, and what cannot be read counts as too many")
    func budget() throws {
        var budget = DerivationBudget()
        try budget.charge(Limits.APNsCredentials.passwordIterations - 1)
        try budget.charge(1)
        #expect(throws: APNsFileProblem.tooManyIterations) { try budget.charge(1) }
        #expect(DerivationBudget.cost(of: [0x30, 0x03, 0x02, 0x01, 0x07]) == 7)
        #expect(DerivationBudget.cost(of: [0x30, 0x06, 0x02, 0x84, 0, 0, 0, 1]) == .max)
        #expect(DerivationBudget.cost(of: [0x30, 0x07, 0x02, 0x05, 1, 0, 0, 0, 0]) == .max)
        #expect(
            DerivationBudget.cost(
                of: (0..<20).reduce(into: []) {
                    $0 = Self.part(0x30, $0); _ = $1
                }) == .max)
    }

    /// Returns the contents of an archive without a code.
    private static func contents(_ archive: [UInt8]) throws -> [UInt8] {
        var outer = DERReader(archive)
        var fields = DERReader(try next(&outer, DERReader.Tag.sequence))
        _ = try next(&fields, DERReader.Tag.integer)
        var info = DERReader(try next(&fields, DERReader.Tag.sequence))
        _ = try next(&info, DERReader.Tag.objectIdentifier)
        var explicit = DERReader(try next(&info, 0xA0))
        var text = DERReader(try next(&explicit, 0x04))
        return Array(try next(&text, DERReader.Tag.sequence))
    }

    private static func next(_ reader: inout DERReader, _ tag: UInt8) throws -> ArraySlice<UInt8> {
        guard let content = reader.next(tag) else { throw APNsFileProblem.unrecognized }
        return content
    }

    @Test("of several identities in an archive, the push certificate is taken, in any order")
    func identities() throws {
        let parts = try ["notpush.p12", "iterations.p12"].map { try Self.contents(Files.file($0).revealed) }
        for order in [parts, parts.reversed()] {
            // 1.2.840.113549.1.7.1, data.
            let name: [UInt8] = [0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07, 0x01]
            let text = Self.part(0x04, Self.part(0x30, Array(order.joined())))
            let archive = Self.part(
                0x30, [0x02, 0x01, 0x03] + Self.part(0x30, name + Self.part(0xA0, text)))
            guard case .certificate(let found) = try Self.read(archive) else {
                throw APNsFileProblem.unrecognized
            }
            #expect(found.bundle == Files.bundle)
            #expect(found.chain.ranges(of: Array("-----BEGIN".utf8)).count == 1, "the other is no issuer")
        }
        #expect(throws: APNsFileProblem.otherCertificate("Apple Distribution: Example")) {
            try Self.read(Files.file("notpush.p12").revealed)
        }
    }

    @Test("without a code, a wrong or missing password is reported as such")
    func noCode() throws {
        let archive = try Files.file("iterations.p12").revealed
        #expect(throws: APNsFileProblem.passwordWrong) { try Self.read(archive, password: "other") }
        #expect(throws: APNsFileProblem.passwordMissing) { try Self.read(archive, password: nil) }
    }

    @Test("a text is accepted with a byte order mark, on one line, and with line ends written as \\n")
    func changedTexts() throws {
        let text = String(decoding: try Files.file("AuthKey_ABC123DEFG.p8").revealed, as: UTF8.self)
        let chain = String(decoding: try Files.file("universal.pem").revealed, as: UTF8.self)
        let key = String(decoding: try Files.file("universal.key").revealed, as: UTF8.self)
        for change in [
            { "\u{FEFF}\($0)" }, { $0.replacing("\n", with: "\\n") }, { $0.replacing("\n", with: "") },
            { $0.replacing("\n", with: " ") }, { "\"\($0.replacing("\n", with: "\\n"))\"" },
            { $0.replacing("\n", with: "\r\n") },
        ] as [(String) -> String] {
            guard case .key = try Self.read(Array(change(text).utf8), password: nil) else {
                throw APNsFileProblem.unrecognized
            }
            guard case .certificate = try Self.read(Array(change(chain + key).utf8), password: nil) else {
                throw APNsFileProblem.unrecognized
            }
        }
    }

    @Test("a marker gets a line of its own, whatever follows it, and proper texts stay as they are")
    func markers() {
        func mended(_ text: String) -> String {
            String(decoding: PEMText.mended(Array(text.utf8)), as: UTF8.self)
        }
        let proper = "-----BEGIN A-----\nAAAA\n-----END A-----\n"
        for text in [proper, proper.replacing("\n", with: "\r\n"), "no marker", "-----BEGIN A-----"] {
            #expect(mended(text) == text)
        }
        for text in ["-----BEGIN A-----AAAA\n-----END A-----\n", "-----BEGIN A----- AAAA\r-----END A-----"] {
            #expect(mended(text).hasPrefix("-----BEGIN A-----\nAAAA\n-----END A-----\n"), "\(text)")
        }
    }
}
