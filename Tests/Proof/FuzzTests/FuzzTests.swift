import Basics
import BasicsSupport
import FuzzTargets
import Glibc
import Testing

/// The corpus and other files of fuzzers.
enum FuzzFiles {
    static let root = PackageRoot.path

    /// Returns the bytes of the files of a folder, sorted by name; empty if there is no such folder.
    static func contents(of folder: String) -> [(name: String, bytes: [UInt8])] {
        guard let directory = opendir("\(root)/\(folder)") else { return [] }
        defer { closedir(directory) }
        var files: [(name: String, bytes: [UInt8])] = []
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { start in
                start.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            guard !name.hasPrefix("."), let bytes = bytes(of: "\(root)/\(folder)/\(name)") else { continue }
            files.append((name, bytes))
        }
        return files.sorted { $0.name < $1.name }
    }

    private static func bytes(of path: String) -> [UInt8]? {
        guard let file = fopen(path, "r") else { return nil }
        defer { fclose(file) }
        var content: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 65_536)
        while case let count = fread(&part, 1, part.count, file), count > 0 { content += part[..<count] }
        return content
    }

    /// Returns the committed inputs of a target, and those of former failures.
    static func inputs(_ target: FuzzTarget) -> [(name: String, bytes: [UInt8])] {
        contents(of: "Fixtures/corpus/\(target.rawValue)")
            + contents(of: "Fixtures/hostile/\(target.rawValue)")
    }
}

@Suite struct FuzzTests {
    @Test(
        "every property holds for the corpus of fuzzers, and for prefixes of it",
        arguments: FuzzTarget.real)
    func replay(target: FuzzTarget) {
        let inputs = FuzzFiles.inputs(target)
        #expect(inputs.count >= 10)
        for (name, bytes) in inputs {
            // Hand-written hostile files may be far longer than the inputs of fuzzers.
            guard bytes.count <= 8_192 else { continue }
            var random = SeededRandom(seed: UInt64(bytes.count))
            for length in [bytes.count, Int.random(in: 0...bytes.count, using: &random)] {
                do throws(Violation) {
                    try target.run(Array(bytes.prefix(length)))
                } catch {
                    Issue.record("\(target.rawValue)/\(name), the first \(length) bytes: \(error)")
                }
            }
        }
    }

    @Test("committed inputs are small")
    func size() {
        for target in FuzzTarget.real {
            let files = FuzzFiles.contents(of: "Fixtures/corpus/\(target.rawValue)")
            #expect(files.count <= 100, "\(target)")
            for (name, bytes) in files { #expect(bytes.count <= 4_096, "\(target) \(name)") }
        }
    }

    @Test("Scripts/fuzz lists all targets")
    func script() throws {
        let script = try #require(FuzzFiles.contents(of: "Scripts").first { $0.name == "fuzz" })
        let line = String(decoding: script.bytes, as: UTF8.self).split(separator: "\n").first {
            $0.hasPrefix("all=(")
        }
        let names = try #require(line).dropFirst(5).dropLast().split(separator: " ").map(String.init)
        #expect(Set(names) == Set(FuzzTarget.real.map(\.rawValue)) && names.count == FuzzTarget.real.count)
    }

    @Test("canary: a violated property is reported")
    func canary() throws {
        #expect(throws: Violation.self) { try FuzzTarget.canary.run(Array("ccsd".utf8)) }
        #expect(throws: Never.self) { try FuzzTarget.canary.run(Array("ccse".utf8)) }
    }
}
