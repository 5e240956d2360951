import Catalogue
import Foundation
import Testing

/// The Containerfile agrees with the programs; no container engine runs here.
@Suite struct ContainerTests {
    static func read(_ path: String) throws -> String {
        try String(contentsOf: TestPaths.root.appendingPathComponent(path), encoding: .utf8)
    }

    /// The defaults of the public ports.
    static let ports = [
        ConfigKey.appServerPort, .appServerPreproductionPort, .devicePort, .httpsPort,
    ].compactMap { Int($0.entry.preset.plain) }

    /// Returns the environment variables without meaning for a program.
    static func unknown(_ variables: [String]) -> [String] {
        let known =
            ConfigKey.allCases.map(\.variable) + Program.all.flatMap { $0.variables.map(\.name) }
        return variables.filter { !known.contains($0) }
    }

    /// Parses a command line of a program, which must be in `/usr/bin`.
    static func parse(_ words: [String]) throws {
        let path = try #require(words.first)
        let program = try #require(Program.packaged.first { path == "/usr/bin/\($0.name)" }, "\(words)")
        _ = try ArgumentParser.parse(Array(words.dropFirst()), for: program)
    }

    @Test("the Containerfile follows the rules of hadolint, and its ports, variables and commands exist")
    func containerfile() throws {
        let file = Containerfile(try Self.read("Containerfile"))
        #expect(file.violations() == [])
        #expect(file.stages.count == 2)
        #expect(
            file.final("EXPOSE").flatMap { $0.split(separator: " ").compactMap { Int($0) } } == Self.ports)
        let assignments = file.final("ENV").flatMap { $0.split(separator: " ") }
        let variables = assignments.map { String($0.prefix { $0 != "=" }) }
        #expect(variables.count >= 4 && Self.unknown(variables) == [])
        let volume = try #require(file.final("VOLUME").first)
        #expect(assignments.contains("CCSD_DATA_DIRECTORY=\(volume)"))
        for text in file.final("ENTRYPOINT") + file.final("HEALTHCHECK") {
            try Self.parse(#require(Containerfile.execForm(text)))
        }
        let build = file.stages[0].map(\.text).joined(separator: "\n")
        for script in ["Scripts/bootstrap", "Scripts/package"] {
            let text = try Self.read(script)
            #expect(build.contains(script) && text.hasPrefix("#!"))
        }
        #expect(try Self.read("Scripts/bootstrap").contains("--package) packages+="))
    }

    @Test("canary: every rule finds its violation")
    func canary() {
        let bad = """
            FROM debian
            ADD a b
            WORKDIR here
            RUN cd /x && sudo apt-get update | cat && apt-get install \\
                # a comment
                a
            ENTRYPOINT ccsd
            USER root
            """
        #expect(Containerfile(bad).violations().count == 13, "\(Containerfile(bad).violations())")
        #expect(Self.unknown(["CCSD_DATA_DIRECTORY", "CCSD_CONFIG", "CCSD_DATA"]) == ["CCSD_DATA"])
    }
}
