import Basics
import BasicsSupport
import Catalogue
import Glibc
import Testing
import Transport

@testable import Server

@Suite struct ConfigFileTests {
    /// The folder of the fixtures.
    static let folder = PackageRoot.path + "/Fixtures/config"

    /// The names of the files in a folder with a suffix, without it.
    static func names(_ folder: String, ending suffix: String) -> [String] {
        guard let directory = opendir("\(Self.folder)/\(folder)") else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name.hasSuffix(suffix) { names.append(String(name.dropLast(suffix.count))) }
        }
        return names.sorted()
    }

    static func lines(of path: String) -> [String] {
        (try? ConfigFile.read(path)).map {
            String(decoding: $0, as: UTF8.self).split(separator: "\n").map(String.init)
        } ?? []
    }

    static func problems(_ path: String) -> [String] {
        do throws(ConfigProblems) {
            _ = try ConfigLoader.load(file: path)
            return []
        } catch {
            return error.lines.map { $0.hasPrefix(path) ? String($0.dropFirst(path.count)) : $0 }
        }
    }

    @Test(
        "a bad file is refused with line, column, key, problem and hint",
        arguments: names("bad", ending: ".yaml"))
    func bad(name: String) {
        let expected = Self.lines(of: "\(Self.folder)/bad/\(name).expected")
        let found = Self.problems("\(Self.folder)/bad/\(name).yaml")
        #expect(found == expected)
        #expect(!found.isEmpty)
        for line in found { #expect(line.utf8.count < 300 && !line.contains("\u{1B}")) }
    }

    @Test("a good file is accepted", arguments: names("good", ending: ".yaml"))
    func good(name: String) { #expect(Self.problems("\(Self.folder)/good/\(name).yaml") == []) }

    @Test("the fixtures are complete")
    func count() {
        #expect(Self.names("bad", ending: ".yaml").count >= 50)
        #expect(Self.names("bad", ending: ".yaml") == Self.names("bad", ending: ".expected"))
        #expect(Self.names("good", ending: ".yaml").count >= 10)
    }

    @Test("values of a good file are loaded")
    func values() throws {
        let configuration = try ConfigLoader.load(file: "\(Self.folder)/good/every-kind.yaml")
        #expect(configuration.dataDirectory == "/var/lib/ccsd")
        #expect(configuration.listenAddress == "::")
        #expect(configuration.devicePort == 15_228)
        #expect(
            configuration.strictAcks && configuration.tlsMinimum == .tls13 && configuration.logLevel == .debug
        )
        #expect(configuration.hostNames == ["push.example.com", "*.push.example.com"])
        let alias = try ConfigLoader.load(file: "\(Self.folder)/good/alias.yaml")
        #expect(alias.drainGraceSeconds == 5 && alias.drainSpreadSeconds == 5)
    }

    @Test("an unreadable file is refused with a reason")
    func unreadable() throws {
        #expect(
            Self.problems("/nonexistent/ccsd.yaml") == [
                ": cannot be read: No such file or directory (create it with: ccsctl config sample)"
            ])
        #expect(
            Self.problems("/tmp") == [": cannot be read: not a regular file (give the path of a YAML file)"])
        #expect(
            Self.problems("/dev/zero") == [
                ": cannot be read: not a regular file (give the path of a YAML file)"
            ])
        let large = try TemporaryFile("format: 1\n" + String(repeating: "#", count: Limits.Config.bytes))
        #expect(
            Self.problems(large.path) == [
                ": is longer than \(Limits.Config.bytes) bytes (give the path of a configuration file)"
            ])
    }

    /// Loads a text as a file with this name.
    private static func load(_ text: String, name: String) throws(ConfigProblems) -> Configuration {
        try ConfigLoader.load(bytes: Array(text.utf8), name: name)
    }

    /// The sample with all keys uncommented.
    private static func sampleWithAllKeys() -> String {
        let keys = ConfigKey.allCases.map { "#\($0.rawValue):" }
        return ConfigPrinter.sample().split(separator: "\n", omittingEmptySubsequences: false)
            .map { line in keys.contains { line.hasPrefix($0) } ? line.dropFirst() : line }
            .joined(separator: "\n")
    }

    @Test("the sample has the defaults, as printed and with all keys uncommented")
    func sample() throws {
        #expect(try Self.load(ConfigPrinter.sample(), name: "sample") == Configuration())
        let all = Self.sampleWithAllKeys()
        #expect(try Self.load(all, name: "sample") == Configuration())
        for key in ConfigKey.allCases { #expect(all.contains("\n\(key.rawValue): ")) }
    }

    @Test("mistakes beyond the limit are counted but not listed")
    func bounded() {
        let text = "format: 1\n" + (0..<1_000).map { "unknown_\($0): 1\n" }.joined()
        let problems = #expect(throws: ConfigProblems.self) { try Self.load(text, name: "x") }
        #expect(problems?.lines.count == Limits.Config.problems + 1)
        #expect(problems?.leftOut == 1_000 - Limits.Config.problems)
    }

    @Test("expanding aliases and deep nesting are refused")
    func bombs() {
        var text = "format: 1\na: &a [x, x, x, x, x, x, x, x, x, x]\n"
        for (name, before) in zip("bcdefg", "abcdef") {
            text +=
                "\(name): &\(name) [" + [String](repeating: "*\(before)", count: 10).joined(separator: ", ")
                + "]\n"
        }
        let deep =
            "format: 1\nhost_names: " + String(repeating: "[", count: 900)
            + String(repeating: "]", count: 900) + "\n"
        for bomb in [text, deep] {
            let problems = #expect(throws: ConfigProblems.self) {
                try Self.load(bomb, name: "x")
            }
            #expect(problems?.lines.first?.contains("too many or too deeply nested values") == true)
        }
    }

    @Test("origins are as browsers send them, and anything else is refused by name")
    func origins() throws {
        func load(_ list: String) throws -> [String] {
            try Self.load("format: 1\ncors_origins: \(list)\n", name: "x").corsOrigins
        }
        #expect(try Self.load("format: 1\n", name: "x").corsOrigins == ["*"])
        #expect(try load("[]") == [])
        let good = [
            "https://app.example.com", "http://localhost:8080", "http://127.0.0.1", "https://a.example:8443",
            "chrome-extension://abcdefghijklmnopabcdefghijklmnop", "*",
        ]
        #expect(try load("[\(good.map { "\"\($0)\"" }.joined(separator: ", "))]") == good)
        for bad in [
            "app.example.com", "https://app.example.com/", "https://App.example.com", "https://", "null", "",
            "https://app.example.com:443", "http://a.example:80", "https://*.example.com",
            "https://a.example:0",
            "https://a.example:x", "https://a.example:08443", "ftp://a.example",
            "https://a.example\\r\\nX: y",
        ] {
            let problems = #expect(throws: ConfigProblems.self, "\(bad)") { try load("[\"\(bad)\"]") }
            #expect(problems?.lines.first?.contains("is not an origin") == true, "\(bad)")
        }
    }

    @Test("every key refuses a table and a missing value")
    func everyKey() {
        for key in ConfigKey.allCases where key != .format {
            for value in ["{a: 1}", "", "[{a: 1}]"] {
                let text = "format: 1\n\n\(key.rawValue): \(value)\n"
                let problems = #expect(throws: ConfigProblems.self) {
                    try Self.load(text, name: "x")
                }
                #expect(problems?.lines.first?.hasPrefix("x:3:") == true, "\(key) \(value)")
            }
        }
    }

    @Test("a damaged file is accepted or refused in printable lines, and never traps")
    func damaged() throws {
        var random = SeededRandom(seed: 7)
        let sample = Array(Self.sampleWithAllKeys().utf8)
        var refused = 0
        for _ in 0..<1_500 {
            var bytes = sample
            for _ in 0..<Int.random(in: 1...8, using: &random) {
                let at = Int.random(in: bytes.indices, using: &random)
                switch UInt8.random(in: 0..<4, using: &random) {
                case 0: bytes[at] = UInt8.random(in: 0...255, using: &random)
                case 1: bytes.remove(at: at)
                case 2:
                    bytes.insert(
                        contentsOf: Array("[]{}&*!|>:#-\"'\n ".utf8).shuffled(using: &random).prefix(2),
                        at: at)
                default: bytes.removeSubrange(at..<min(bytes.count, at + 40))
                }
            }
            do throws(ConfigProblems) {
                _ = try ConfigLoader.load(bytes: bytes, name: "x")
            } catch {
                refused += 1
                #expect(!error.lines.isEmpty)
                for line in error.lines {
                    #expect(line.hasPrefix("x:") || line.hasPrefix("… and"))
                    #expect(
                        line.utf8.count < 400
                            && line.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F })
                }
            }
        }
        #expect(refused > 500)
    }

    @Test("canary: an expectation with another column fails")
    func canary() {
        let found = Self.problems("\(Self.folder)/bad/unknown-key.yaml")
        #expect(found != [":2:2: device_prot: is not a known key (did you mean device_port?)"])
        #expect(found == [":2:1: device_prot: is not a known key (did you mean device_port?)"])
    }
}
