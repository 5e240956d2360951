import Basics
import Catalogue
import Operator
import Testing

/// README and docs: their size, their links, and that their facts are those of the code.
@Suite struct DocumentTests {
    /// The pages that readers get: the top level and docs.
    static let pages = (SourceTree.files + SourceTree.documents).filter { file in
        file.path.hasSuffix(".md") && (!file.path.contains("/") || file.path.hasPrefix("docs/"))
    }

    /// Returns the number of words, as wc counts them.
    private static func words(_ text: String) -> Int { text.split(whereSeparator: \.isWhitespace).count }

    /// Returns a text with single spaces in place of any white space.
    private static func flat(_ text: some StringProtocol) -> String {
        text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    @Test("README has up to 1,800 words")
    func length() throws {
        #expect(Self.words(try #require(SourceTree.read("README.md"))) <= 1_800)
        #expect(Self.words("a b\n| c |") == 5, "canary")
    }

    /// The promise of ccsd, which changes only with the design.
    private static let promise = """
        *When ccsd sends an ACK for a downstream message with a lifetime, the message is on disk. It then ends in exactly one of:
        delivered to the device, forwarded to APNs for an iOS app, replaced by a newer message with the same collapse key, expired,
        discarded with the deleted-messages marker or because APNs refuses it, removed with its unregistered token, or removed by an
        operator. An upstream message is acknowledged to the device only when on disk, and is offered to app servers until one
        acknowledges it or its lifetime ends. A message may be delivered more than once, always with the same id. Order is kept per
        device and connection; nothing else about order is promised.*
        """

    @Test("README contains the promise word for word")
    func promise() throws {
        let text = Self.flat(try #require(SourceTree.read("README.md")))
        #expect(text.contains(Self.flat(Self.promise)))
        #expect(!text.contains(Self.flat(Self.promise + " more")), "canary")
    }

    private static func exists(_ path: String) -> Bool { SourceTree.mode(path) != 0 }

    @Test("a link of a document leads to a file and a heading that exist")
    func links() {
        let documents = (SourceTree.files + SourceTree.documents).filter { $0.path.hasSuffix(".md") }
        #expect(documents.flatMap(LinkRules.links).count > 80)
        expectNone(documents.flatMap { LinkRules.violations($0, read: SourceTree.read, exists: Self.exists) })
    }

    @Test("canary: a link to a missing file and one to a missing heading are found")
    func linkCanary() {
        func found(_ text: String, _ path: String = "docs/a.md") -> Int {
            LinkRules.violations(
                SourceFile(path: path, text: text),
                read: { $0 == "docs/b.md" ? "# B c\n## `d_e`, f\n" : nil },
                exists: { ["docs/a.md", "docs/b.md", "README.md"].contains($0) }
            ).count
        }
        #expect(found("[x](b.md#b-c) [y](b.md#d_e-f) [z](../README.md) [w](https://example.com)") == 0)
        #expect(found("[x](c.md)") == 1 && found("[x](b.md#c)\n![y](d.png)") == 2)
        #expect(found("`[x](c.md)`\n```\n[x](c.md)\n```\n") == 0)
        #expect(found("[x](b.md)", "README.md") == 1)
    }

    /// Returns the first cells of the rows of all tables in a text, without backticks.
    static func firstCells(_ text: String) -> [String] {
        text.split(separator: "\n").filter { $0.hasPrefix("| ") }.compactMap { row in
            row.split(separator: "|").first.map {
                $0.filter { $0 != "`" }.split(separator: " ").joined(separator: " ")
            }
        }
    }

    @Test("docs/operations.md has a row for every exit code and the ports of the configuration")
    func operations() throws {
        let cells = Self.firstCells(try #require(SourceTree.read("docs/operations.md")))
        expectNone(
            ExitCode.allCases.map { "\($0.rawValue)" }.filter { !cells.contains($0) }.map {
                "no row for exit code \($0)"
            })
        let ports: [ConfigKey] = [
            .appServerPort, .appServerPreproductionPort, .devicePort, .httpsPort, .adminPort,
        ]
        for port in ports {
            let preset = port.entry.preset.plain
            #expect(
                cells.contains { $0.split { " ,".contains($0) }.first == Substring(preset) },
                "\(port.rawValue)")
        }
        #expect(!cells.contains("63"), "canary")
    }

    @Test("docs/operations.md explains only events that the server logs")
    func events() throws {
        let page = try #require(SourceTree.read("docs/operations.md"))
        let start = try #require(page.firstRange(of: "## Runbook: events"))
        let section = page[start.upperBound...].split(separator: "\n## ").first ?? ""
        let named = Self.firstCells(String(section)).flatMap { $0.split(separator: ", ") }.filter {
            $0.contains("_")
        }
        #expect(named.count > 12)
        let product = SourceTree.product
        func isLogged(_ event: some StringProtocol) -> Bool {
            product.contains { $0.text.contains("\"\(event)\"") }
        }
        expectNone(named.filter { !isLogged($0) }.map { "\($0) is never logged" })
        #expect(!isLogged("no_such_event" + "_at_all"), "canary")
    }

    /// Returns the events that a source logs.
    private static func events(in text: String) -> [String] {
        let call =
            /[^A-Za-z](?:[lL]og\??\.(?:debug|info|notice|warning|error|write|record|repeating)|logFailure|log|line(?=\(\.))\([^"\[{}]{0,120}?"([a-z][a-z0-9_]*)"/
        return text.matches(of: call).map { String($0.1) }
    }

    @Test("ccsctl explain has every event that the server logs, and no other")
    func explainedEvents() {
        let logged = Set(
            SourceTree.product.filter { !$0.path.hasPrefix("Sources/Proof/ccs-bench") }
                .flatMap { Self.events(in: $0.text) })
        let explained = Set(LogEventMeaning.all.map(\.word))
        #expect(logged.count > 100)
        expectNone(logged.subtracting(explained).map { "\($0) has no meaning in LogEventMeaning" })
        expectNone(explained.subtracting(logged).map { "\($0) is never logged" })
        #expect(
            Self.events(in: " log.repeating(\n    isNew ? .error : .warning, \"an_event\", by: \"x\")") == [
                "an_event"
            ],
            "canary")
    }

    @Test("docs/concepts.md has a row for every milestone")
    func milestones() throws {
        let cells = Self.firstCells(try #require(SourceTree.read("docs/concepts.md")))
        let milestones = Glossary.entries.filter { $0.kind == "milestone" }.map(\.word)
        #expect(milestones.count >= 10 && !cells.contains("nothing"), "canary")
        expectNone(milestones.filter { !cells.contains($0) }.map { "\($0) has no row" })
    }

    /// Returns the metrics that a text names in code, without the endings of a histogram.
    private static func metrics(in text: String) -> [String] {
        text.matches(of: /`(ccs_[a-z_]+)/).map { String($0.1) }.map { name in
            ["_bucket", "_sum", "_count"].first(where: name.hasSuffix).map { String(name.dropLast($0.count)) }
                ?? name
        }
    }

    @Test("a metric that a page names exists")
    func metrics() {
        let known = Set(Metric.allCases.map(\.name))
        // The changelog also names metrics of earlier builds, and a name that ends in an underscore is a family.
        let pages = Self.pages.filter { $0.path != "CHANGELOG.md" }
        for page in pages {
            let unknown = Self.metrics(in: page.text).filter { !$0.hasSuffix("_") && !known.contains($0) }
            expectNone(unknown.map { "\(page.path) names \($0), which does not exist" })
        }
        #expect(
            Self.metrics(in: "`ccs_a_total` ccs_b `ccs_c_bucket{le`") == ["ccs_a_total", "ccs_c"], "canary")
    }

    /// Returns the blocks of Python in a page that are not a file of docs/examples.
    private static func strangeExamples(_ text: String, _ files: [String]) -> Int {
        text.split(separator: "```python\n").dropFirst().count { block in
            let code = block.prefix(upTo: block.firstRange(of: "```")?.lowerBound ?? block.endIndex)
            return !files.contains(String(code))
        }
    }

    @Test("an example in Python on a page is a file of docs/examples")
    func examples() throws {
        let files = SourceTree.entries("docs/examples").filter { $0.hasSuffix(".py") }.compactMap {
            SourceTree.read("docs/examples/\($0)")
        }
        let page = try #require(SourceTree.read("docs/first-app.md"))
        #expect(files.count == 5 && page.split(separator: "```python\n").count == 3)
        #expect(Self.pages.allSatisfy { Self.strangeExamples($0.text, files) == 0 })
        #expect(Self.strangeExamples("x\n```python\nprint(1)\n```\n", files) == 1, "canary")
    }

    /// Returns the headings of a changelog that are none of Keep a Changelog: versions, and kinds of changes.
    private static func strangeHeadings(_ text: String) -> [Substring] {
        let kinds = ["Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"].map { "### \($0)" }
        return text.split(separator: "\n").filter { line in
            line.hasPrefix("## ") && !line.hasPrefix("## [")
                || line.hasPrefix("### ") && !kinds.contains(String(line))
        }
    }

    @Test("the changelog has the form of Keep a Changelog")
    func changelog() throws {
        let text = try #require(SourceTree.read("CHANGELOG.md"))
        #expect(Self.strangeHeadings(text) == [] && text.contains("\n## [Unreleased]\n\n"))
        #expect(Self.strangeHeadings("## 1\n### New\n### Added\n").count == 2, "canary")
    }
}
