import Testing

/// Comments cite the protocol descriptions in docs/protocols by document and section.
@Suite struct CitationTests {
    @Test("a citation names a section that its document has")
    func citations() throws {
        var sections: [String: Set<String>] = [:]
        for name in CitationRules.documents {
            let text = try #require(SourceTree.read("docs/protocols/\(name).md"))
            sections[name] = CitationRules.sections(of: text)
        }
        #expect(sections.values.allSatisfy { $0.count > 20 })
        let rules = try #require(CitationRules(sections: sections))
        let files = SourceTree.files + SourceTree.documents
        #expect(files.flatMap { rules.citations(in: $0.text) }.count > 500)
        expectNone(files.flatMap(rules.violations))
    }

    /// Returns the sections that a text cites and that are missing; the document `http` has the sections 2, 2.1 and 8.7.
    private func missing(_ text: String) -> [String] {
        let http = CitationRules.sections(of: "# A\n## 2. B\n```\n# 9\n```\n### 2.1 C 4\n#### 8.7 D\n")
        let file = SourceFile(path: "Sources/Protocols/Wire/Planted.swift", text: text)
        guard let rules = CitationRules(sections: ["http": http, "apns": []]) else { return ["no rules"] }
        return rules.violations(file).map { String($0.split(separator: " ").last ?? "") }
    }

    // The names are interpolated, so that these texts are no citations themselves.
    private let http = "http"
    private let apns = "apns"

    @Test("canary: a wrong citation is found, also within a list and across lines")
    func planted() throws {
        #expect(missing("/// Reads it (\(http) 2.2).\n") == ["2.2"])
        #expect(missing("// \(http) 2.1, 2.4\n") == ["2.4"])
        #expect(missing("// \(http) 2 to 4, 9 and 2.1:\n") == ["4", "9"])
        #expect(missing("// see \(http)\n    // 3.1,\n    /// 8\n") == ["3.1", "8"])
        #expect(missing("# (\(http) 2.1; \(apns) 1)\n") == ["1"])
        #expect(missing("(\(apns) 2.1)") == ["2.1"])
        let rules = try #require(CitationRules(sections: [:]))
        let found = rules.violations(SourceFile(path: "a", text: "\n// \(http) 9\n"))
        #expect(found == ["a:2: docs/protocols/http.md has no section 9"])
    }

    @Test("canary: right citations, and texts that are none, are not reported")
    func clean() {
        for text in [
            "(\(http) 2.1, 8.7, row 9)", "\(http) 2.", "\(http) 2.1, RFC 8030, 5.4", "aio\(apns) 4.0",
            "my-\(apns) 4", "\(http)/1.0", "\(http)://[::1]", "\(http) 404s", "\(apns)2 0.7",
        ] { #expect(missing(text).isEmpty, "\(text)") }
    }
}
