import Basics
import Catalogue
import Operator
import Testing

/// Printed and declared facts match their copies and uses elsewhere.
@Suite struct DriftTests {
    @Test("the sample configuration is what ccsctl prints")
    func sample() { #expect(SourceTree.read("systemd/ccsd.yaml") == ConfigPrinter.sample()) }

    /// Returns the identifiers in the code of some product files.
    private static func words(_ isWanted: (SourceFile) -> Bool) -> Set<String> {
        let lines = SourceTree.product.filter(isWanted).flatMap(\.code)
        return Set(lines.flatMap { $0.split { !$0.isLetter && !$0.isNumber }.map(String.init) })
    }

    @Test("a configuration key is read by the server")
    func keysAreRead() {
        let words = Self.words { $0.module == "Server" && !$0.path.contains("/Config/") }
        let fields = ConfigKey.allCases.filter { $0 != .format }.map { "\($0)" }
        expectNone(fields.filter { !words.contains($0) }.map { "\($0) has no effect: no code reads it" })
    }

    @Test("the commands of ccsctl that need the daemon are the operations")
    func commandsAreAnswered() {
        let offline: Set = [
            "cluster found", "cluster add", "config sample", "config docs", "operations", "metrics docs",
            "metrics alerts",
            "metrics dashboard",
            "schema", "explain", "man", "completion", "version",
        ]
        let asked = Program.ccsctl.commands.map(\.name).filter { !offline.contains($0) }
        #expect(asked == Operations.all.map { $0.summary.name })
    }

    /// Returns the names of operations that a file spells without defining them.
    private static func spellings(_ file: SourceFile) -> [String] {
        guard !file.path.hasPrefix("Sources/Operating/Operator/Commands/") else { return [] }
        // Words such as "send" and "check" have other uses.
        let names = Operations.all.map { $0.summary.name }.filter {
            $0.contains(" ") && file.mentions("\"\($0)\"")
        }
        let lines = file.lines.filter { !$0.drop { $0 == " " }.hasPrefix("//") }
        return names.filter { name in lines.contains { $0.contains("\"\(name)\"") } }
            .map { "\(file.path) spells \"\($0)\"" }
    }

    @Test("the name of an operation is spelled once in the product")
    func operationsAreSpelledOnce() { expectNone(SourceTree.product.flatMap(Self.spellings)) }

    @Test("canary: a second spelling of an operation is found")
    func spellingCanary() {
        let name = "senders " + "add"
        let file = SourceFile(path: "Sources/Daemon/Server/A.swift", text: "run(\"\(name)\")\n")
        #expect(Self.spellings(file).count == 1)
        #expect(
            Self.spellings(SourceFile(path: file.path, text: "// \"\(name)\"\nf(\"ccsctl \(name)\")\n"))
                .isEmpty)
    }

    @Test("docs/configuration.md is what ccsctl config docs prints")
    func configuration() { #expect(SourceTree.read("docs/configuration.md") == ConfigPrinter.reference()) }

    @Test("docs/commands.md is what ccsctl operations prints")
    func operations() { #expect(SourceTree.read("docs/commands.md") == OperationPrinter.reference()) }

    @Test("docs/schema.json is what ccsctl schema prints")
    func schema() { #expect(SourceTree.read("docs/schema.json") == SchemaPrinter.document()) }

    @Test("a command line in documents, scripts and units is valid for its program")
    func shownCommands() {
        expectNone((SourceTree.files + SourceTree.documents).flatMap(ShownCommands.violations))
    }

    @Test("canary: a shown command with an unknown option is found, and other lines are ignored")
    func shownCanary() {
        func count(_ text: String, _ path: String) -> Int {
            ShownCommands.violations(SourceFile(path: path, text: text)).count
        }
        #expect(count("\"$programs/ccsctl\" --socket \"$data/x y\" statsu >&2\n", "Scripts/a") == 1)
        #expect(
            count("  $programs/ccsctl --socket $data/x send $sender TOKEN hello=world\n", "Scripts/a") == 0)
        #expect(count("ccsctl is a tool\n", "Scripts/a") == 0)
        #expect(count("```\n$ ccsctl statsu | less\n```\nccsctl statsu\n", "README.md") == 1)
        #expect(count("```\nsudo ccsctl statsu\n```\n", "docs/install.md") == 1)
        #expect(count("Run `ccsctl statsu` or `ccsctl senders add|nothing`.\n", "docs/a.md") == 2)
        #expect(
            count("`ccsctl senders add|list`, `ccsctl`, `ccsctl send …`, `ccsd stop now`\n", "docs/a.md") == 1
        )
        #expect(count("ExecStart=/usr/bin/ccsd --confg x\n", "systemd/a.service") == 1)
        #expect(
            count(
                "    \"  ccs-device listen --sendr \\(a(b))\\(c)\",\n",
                "Sources/Daemon/Server/StartupGreeting.swift"
            )
                == 1)
        #expect(
            count(
                "    \"  ccs-device listen --sender \\(a(b))\\(c)\",\n",
                "Sources/Daemon/Server/StartupGreeting.swift")
                == 0)
    }

    /// Returns the files and folders of the repository that a script names, and that there are not. `NAME` stands for any name.
    private static func absentPaths(_ file: SourceFile) -> [String] {
        let path = /\b(Sources|Tests|Scripts|Fixtures|docs|packaging)\/[A-Za-z][A-Za-z0-9_+.\/-]*/
        return file.text.matches(of: path).compactMap { match in
            // `.venv-docs/bin` is none.
            guard file.text[..<match.range.lowerBound].last != "-" else { return nil }
            let end = file.text[match.range.upperBound...].first
            let words = match.0.split(separator: "/")
            // What goes on with a variable or a wildcard is checked up to its last folder.
            let known =
                end == "$" || end == "{" || end == "*"
                ? words.dropLast(match.0.last == "/" ? 0 : 1) : words[...]
            let name = known.prefix { !$0.allSatisfy { $0.isUppercase || $0 == "." } }.joined(separator: "/")
            let place = name.hasSuffix(".") ? String(name.dropLast()) : name
            return SourceTree.mode(place) == 0 ? "\(file.path): \(place) does not exist" : nil
        }
    }

    @Test("a script names only files and folders that exist")
    func scriptPaths() {
        expectNone(
            SourceTree.files.filter { $0.path.hasPrefix("Scripts/") || $0.path.hasPrefix(".ci/") }
                .flatMap(Self.absentPaths))
    }

    @Test("canary: a folder that was moved is found in a script")
    func scriptPathCanary() {
        func count(_ text: String) -> Int {
            Self.absentPaths(SourceFile(path: "Scripts/a", text: text)).count
        }
        #expect(count("folder=$PWD/" + "Tests/Sanitizers\n") == 1)
        #expect(count("run " + "Scripts/nothing --list\n") == 1)
        #expect(count("cat Scripts/test. ls Tests/Proof/*.swift; ls Sources/MODULE/A Tests/$name\n") == 0)
    }

    /// Returns the names of the events that ccs-device prints.
    private static func events() -> Set<String> {
        let files = SourceTree.product.filter { $0.module == "ccs-device" }
        let found = files.flatMap { file in
            file.text.split(separator: "report(").dropFirst().compactMap { rest -> String? in
                let start = rest.drop { $0 == " " || $0 == "\n" }
                guard start.first == "\"" else { return nil }
                return String(start.dropFirst().prefix { $0 != "\"" })
            }
        }
        return Set(found)
    }

    @Test("docs/ci-example.md lists every event that ccs-device prints")
    func events() {
        let page = SourceTree.read("docs/ci-example.md") ?? ""
        let events = Self.events().union(["message", "deleted_messages"])
        #expect(events.count >= 12, "canary: events are found")
        expectNone(events.filter { !page.contains("| `\($0)` |") }.map { "\($0) is not in the table" })
    }

    @Test("a metric is counted by the server")
    func metricsAreCounted() {
        let words = Self.words { $0.module == "Server" || $0.module == "Transport" }
        expectNone(Metric.allCases.filter { !words.contains("\($0)") }.map { "\($0.name) is always 0" })
    }

    @Test("canary: a sample with a different default is found")
    func canary() throws {
        let sample = try #require(SourceTree.read("systemd/ccsd.yaml"))
        let key = ConfigKey.devicePingSeconds
        let line = "#\(key.rawValue): \(key.entry.preset.yaml)\n"
        let other = sample.replacing(line, with: "#\(key.rawValue): 1\n")
        #expect(other != sample && ConfigPrinter.sample() != other)
    }
}
