import Testing

@Suite struct WordRuleTests {
    @Test("comments, strings, test names, scripts and documents contain no banned word")
    func words() { expectNone(WordRules.violations(SourceTree.files + SourceTree.documents)) }

    /// Returns the violations of a text that is given with bars in its banned words.
    private func found(_ text: String, _ path: String = "Sources/Protocols/Wire/Planted.swift") -> [String] {
        WordRules.violations([SourceFile(path: path, text: WordRules.plain(text))])
    }

    @Test("canary: a banned word is found in comments, strings, test names, scripts and documents")
    func planted() {
        for text in [
            "// one o|ctet\n", "/// O|ctets.\n", "let a = 1  // t|old\n", "f(\"who h|ears it\")\n",
            "/* s|ays\n*/\n",
            "@Test(\"n|obody reads it\")\n", "let a = \"\"\"\n    w|hoever asks\n    \"\"\"\n",
            "let a = #\"it s|ays\"#\n", "let a = \"\\(b) l|acks it\"\n", "f(\"the b|egin\", 1)\n",
            "// so m|any bytes\n", "// what c|ame of it\n", "// as m|any\n    // as there are\n",
            "/// of\n/// w|hom\n", "// w|hatever it is\n",
        ] {
            #expect(found(text).count == 1, "\(text)")
        }
        let path = "Sources/Protocols/Wire/Planted.swift"
        let expected = [(3, "n|obody"), (3, "as m|any as"), (4, "t|old")].map { line, word in
            let word = WordRules.plain(word)
            return "\(path):\(line): \"\(word)\" -> \(WordRules.advice[word] ?? "none")"
        }
        #expect(found("let a = 1\n\n// n|obody, as\n// m|any as t|old\n", path) == expected)
        for path in ["README.md", "Scripts/planted", "systemd/ccsd.yaml", "Tests/A/client.py"] {
            #expect(found("# as m|any\n# as it k|nows\n", path).count == 2, "\(path)")
        }
    }

    @Test("canary: code, code spans, longer words and listed terms are not reported")
    func clean() {
        for text in [
            "let t|old = o|ctets(a) // count\n", "f(\"\\(t|old) bytes\")\n", "// `t|ell(_:)` and `o|ctets`\n",
            "// foret|old\n", "// o|ctet_count\n", "\"application/o|ctet-stream\"\n", "// so, m|any\n",
            "f(\"so\", m|any)\n", "f(\"as m|any\") // as\n", "// w|hatever the size\n",
        ] {
            #expect(found(text).isEmpty, "\(text)")
        }
        #expect(found("`ccsd` t|old `ccsctl`\n", "README.md").count == 1)
    }

    @Test("canary: fixtures have comments, transcripts and rows, whose other lines are not prose")
    func documents() {
        let paths = Set(SourceTree.documents.map(\.path))
        for path in [
            "docs/security.md", "Fixtures/faults/README.md", "Fixtures/transcripts/appserver/rows.txt",
            "Fixtures/transcripts/appserver/00-golden.play", "Fixtures/disk/faulty_disk.c",
        ] {
            #expect(paths.contains(path), "\(path)")
        }
        let text = "# first\nC: <a>text</a>\n\n    equivalent: reason\na ==> b\n"
        #expect(SourceTree.comments(text) == "# first\n\n\n    equivalent: reason\n\n")
    }

    @Test("canary: a folder of the product with 26 Swift files is found")
    func folders() {
        let files = (1...25).map { "Sources/Protocols/Wire/XML/\($0).swift" }
        let others = [
            "Sources/Protocols/Wire/XML/A/1.swift", "Sources/Protocols/Wire/1.swift",
            "Sources/Protocols/Wire/XML/Overview.md",
        ]
        #expect(FolderRules.violations(files + others).isEmpty)
        #expect(FolderRules.violations(files + ["Sources/Protocols/Wire/XML/26.swift"]).count == 1)
        #expect(FolderRules.violations((1...26).map { "Tests/Protocols/WireTests/\($0).swift" }).isEmpty)
    }

    @Test("a folder of the product has up to 25 Swift files")
    func folderSizes() { expectNone(FolderRules.violations(SourceTree.files.map(\.path))) }
}
