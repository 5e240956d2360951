import Basics
import BasicsSupport
import Glibc
import Testing
import Wire
import WireSupport

/// One file of Fixtures/hostile/mcs: hexadecimal text, `#` for comments, `bytes*count` for repetition.
///
/// Its name starts with the outcome (`read-N`, or the error) and two dashes.
struct HostileMCS: Sendable, CustomTestStringConvertible {
    /// The file name without its extension.
    let name: String
    let stream: [UInt8]

    /// The expected outcome.
    var outcome: String {
        guard let end = name.indices.first(where: { name[$0...].hasPrefix("--") }) else { return name }
        return String(name[..<end])
    }

    var testDescription: String { name }

    /// All files, sorted. Read by Glibc, since the headers of Foundation and libxml2 conflict.
    static let all: [HostileMCS] = {
        let folder = PackageRoot.path + "/Fixtures/hostile/mcs"
        guard let directory = opendir(folder) else { return [] }
        defer { closedir(directory) }
        var files: [HostileMCS] = []
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { start in
                start.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            guard name.hasSuffix(".hex"), let text = text(of: folder + "/" + name) else { continue }
            files.append(HostileMCS(name: String(name.dropLast(4)), stream: bytes(text)))
        }
        return files.sorted { $0.name < $1.name }
    }()

    private static func text(of path: String) -> String? {
        guard let file = fopen(path, "r") else { return nil }
        defer { fclose(file) }
        var content: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = fread(&part, 1, part.count, file)
            guard count > 0 else { return String(decoding: content, as: UTF8.self) }
            content.append(contentsOf: part[..<count])
        }
    }

    private static func bytes(_ text: String) -> [UInt8] {
        text.split(separator: "\n").filter { !$0.hasPrefix("#") }.flatMap { line in
            let parts = line.split(separator: "*")
            let unit = Hex.bytes(String(parts.first ?? "")) ?? []
            let count = parts.count > 1 ? Int(parts[1]) ?? 0 : 1
            return (0..<count).flatMap { _ in unit }
        }
    }
}

extension MCSError {
    /// The name of the error in file names.
    var word: String {
        switch self {
        case .unsupportedVersion: "unsupported-version"
        case .invalidTag: "invalid-tag"
        case .tooLarge: "too-large"
        case .varintOverflow: "varint-overflow"
        case .truncated: "truncated"
        case .invalidFieldNumber: "invalid-field-number"
        case .wrongWireType: "wrong-wire-type"
        case .unsupportedWireType: "unsupported-wire-type"
        case .missingField: "missing-field"
        }
    }
}

@Suite struct MCSHostileTests {
    @Test("a hostile stream has the outcome in its file name, for any split", arguments: HostileMCS.all)
    func outcome(file: HostileMCS) {
        var outcomes: Set<String> = []
        for pieces in [1, 2, 3, 7, 64, 1_000, file.stream.count] {
            let result = MCS.exercise(file.stream.raw, pieces: max(1, pieces))
            outcomes.insert(result.error?.word ?? "read-\(result.messages.count)")
        }
        if file.outcome == "cut" {
            #expect(outcomes.count == 1 && outcomes.isSubset(of: ["read-1", "truncated", "missing-field"]))
        } else {
            #expect(outcomes == [file.outcome])
        }
    }

    @Test("there are enough files, and one for every error")
    func corpus() {
        #expect(HostileMCS.all.count >= 100)
        let outcomes = Set(HostileMCS.all.map(\.outcome))
        let errors: [MCSError] = [
            .unsupportedVersion(0), .invalidTag(0), .tooLarge(0), .varintOverflow, .truncated,
            .invalidFieldNumber,
            .wrongWireType(field: 0), .unsupportedWireType(0), .missingField(0),
        ]
        #expect(outcomes.isSuperset(of: errors.map(\.word)))
    }

    @Test("no message is buffered beyond its limit", arguments: HostileMCS.all)
    func memory(file: HostileMCS) {
        var reader = MCS.FrameReader(limit: 1_000)
        var most = 0
        for byte in file.stream {
            guard (try? reader.read([byte].raw, { _, _ in true })) != nil else { break }
            most = max(most, reader.heldBytes)
        }
        #expect(most <= 1_000 + 6)
    }

    @Test("no login is buffered beyond its reduced size", arguments: HostileMCS.all)
    func memoryOfLogins(file: HostileMCS) {
        var reader = MCS.FrameReader(loginLimit: Limits.MCS.loginFrameBytes)
        var most = 0
        for byte in file.stream {
            guard (try? reader.read([byte].raw, { _, _ in true })) != nil else { break }
            most = max(most, reader.heldBytes)
        }
        #expect(
            most
                <= max(
                    Limits.MCS.frameBytes + 6, Limits.MCS.otherLoginBytes + 2 * Limits.MCS.loginIDBytes + 20))
        #expect(most <= file.stream.count)
    }

    @Test(
        "a message truncated at any offset, with its size adapted, is read or refused",
        arguments: MCSSamples.all)
    func everyOffset(message: MCS.Message) throws {
        let frame = mcsWritten(message)
        let content = try mcsFrames(of: [MCS.version] + frame)[0].message
        for length in 0..<content.count {
            var stream = ByteBuffer()
            stream.append(byte: MCS.version)
            stream.append(byte: frame[0])
            Varint.append(UInt64(length), to: &stream)
            stream.append(content.raw.extracting(0..<length))
            let result = MCS.exercise(stream.bytes)
            #expect(result.messages.count == 1 || result.error != nil, "at \(length)")
        }
    }

    @Test(
        "damaged streams do not trap, and have the same outcome for any split",
        arguments: 0..<200 as Range<UInt64>)
    func damage(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        for _ in 0..<20 {
            var stream = MCSFrameReaderTests.stream
            for _ in 0..<Int.random(in: 1...8, using: &random) {
                let at = Int.random(in: 1..<stream.count, using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: stream[at] = UInt8.random(in: 0...255, using: &random)
                case 1: stream[at] ^= 1 << UInt8.random(in: 0..<8, using: &random)
                case 2: stream.remove(at: at)
                default: stream.insert(UInt8.random(in: 0...255, using: &random), at: at)
                }
            }
            _ = MCS.exercise(stream.raw, pieces: Int.random(in: 1...50, using: &random))
        }
    }

    @Test("canary: a file with another outcome would fail")
    func canary() {
        let stream: [UInt8] = [41, 16, 0]
        #expect(MCS.exercise(stream.raw).error?.word != "read-0")
        #expect(HostileMCS.all.contains { $0.name == "invalid-tag--10" && $0.stream == stream })
    }
}
