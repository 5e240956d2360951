import Basics
import Catalogue
import Testing

/// What is printed or declared in one place must be what stands, or is used, in another.
@Suite struct DriftTests {
    @Test("the sample configuration is what ccsctl prints")
    func sample() { #expect(SourceTree.read("systemd/ccsd.yaml") == ConfigPrinter.sample()) }

    /// The words of the code of some product files.
    private static func words(_ isWanted: (SourceFile) -> Bool) -> Set<String> {
        let lines = SourceTree.product.filter(isWanted).flatMap(\.code)
        return Set(lines.flatMap { $0.split { !$0.isLetter && !$0.isNumber }.map(String.init) })
    }

    @Test("every configuration key is read by the server")
    func keysAreRead() {
        let words = Self.words { $0.module == "Server" && !$0.path.contains("/Config/") }
        let fields = ConfigKey.allCases.filter { $0 != .format }.map {
            $0 == .tlsMinimum ? "requiresTLS13" : "\($0)"
        }
        expectNone(fields.filter { !words.contains($0) }.map { "\($0) changes nothing: nobody reads it" })
    }

    @Test("every command of ccsctl that needs the daemon is one of the daemon's")
    func commandsAreAnswered() {
        let offline: Set = ["config sample", "config docs", "explain", "man", "completion", "version"]
        let server = SourceTree.product.filter { $0.module == "Server" }.map(\.text).joined()
        let asked = Program.ccsctl.commands.map(\.name).filter { !offline.contains($0) }
        expectNone(asked.filter { !server.contains("\"\($0)\"") }.map { "\($0) is answered by nobody" })
    }

    @Test("every metric is counted somewhere")
    func metricsAreCounted() {
        let words = Self.words { $0.module == "Server" || $0.module == "Transport" }
        expectNone(Metric.allCases.filter { !words.contains("\($0)") }.map { "\($0.name) is always 0" })
    }

    @Test("canary: a sample with another default would be seen")
    func canary() { #expect(ConfigPrinter.sample() != ConfigPrinter.sampleWithAllKeys()) }
}
