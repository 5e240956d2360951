import Testing

@Suite struct WordRuleTests {
    @Test("comments, strings, test names, scripts and documents contain no banned word")
    func words() { expectNone(WordRules.violations(SourceTree.files + SourceTree.documents)) }

    private func found(_ text: String, _ path: String = "Sources/Wire/Planted.swift") -> [String] {
        WordRules.violations([SourceFile(path: path, text: text)])
    }

    @Test("canary: a banned word is found in comments, strings, test names, scripts and documents")
    func planted() {
        for text in [
            "// one octet\n", "/// Octets.\n", "let a = 1  // told\n", "f(\"who hears it\")\n",
            "/* says\n*/\n",
            "@Test(\"nobody reads it\")\n", "let a = \"\"\"\n    whoever asks\n    \"\"\"\n",
            "let a = #\"it says\"#\n",
            "let a = \"\\(b) lacks it\"\n", "f(\"the begin\", 1)\n", "// so many bytes\n",
            "// what came of it\n",
            "// as many\n    // as there are\n", "/// of\n/// whom\n", "// whatever it is\n",
        ] {
            #expect(found(text).count == 1, "\(text)")
        }
        #expect(
            found("let a = 1\n\n// nobody, as\n// many as told\n") == [
                "Sources/Wire/Planted.swift:3: \"nobody\" -> \(WordRules.advice["nobody"] ?? "")",
                "Sources/Wire/Planted.swift:3: \"as many as\" -> \(WordRules.advice["as many as"] ?? "")",
                "Sources/Wire/Planted.swift:4: \"told\" -> \(WordRules.advice["told"] ?? "")",
            ])
        for path in ["README.md", "Scripts/planted", "systemd/ccsd.yaml", "Tests/A/client.py"] {
            #expect(found("# as many\n# as it knows\n", path).count == 2, "\(path)")
        }
    }

    @Test("canary: code, code spans, longer words and listed terms are not reported")
    func clean() {
        for text in [
            "let told = octets(a) // count\n", "f(\"\\(told) bytes\")\n", "// `tell(_:)` and `octets`\n",
            "// foretold\n", "// octet_count\n", "\"application/octet-stream\"\n", "// so, many\n",
            "f(\"so\", many)\n", "f(\"as many\") // as\n", "// whatever the size\n",
        ] {
            #expect(found(text).isEmpty, "\(text): \(found(text))")
        }
        #expect(found("`ccsd` told `ccsctl`\n", "README.md").count == 1)
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
        let text = "# told\nC: <a>told</a>\n\n    equivalent: octets\ntold ==> said\n"
        #expect(SourceTree.comments(text) == "# told\n\n\n    equivalent: octets\n\n")
    }

    @Test("canary: a folder of the product with 26 Swift files is found")
    func folders() {
        let files = (1...25).map { "Sources/Wire/XML/\($0).swift" }
        let others = ["Sources/Wire/XML/A/1.swift", "Sources/Wire/1.swift", "Sources/Wire/XML/Overview.md"]
        #expect(FolderRules.violations(files + others).isEmpty)
        #expect(FolderRules.violations(files + ["Sources/Wire/XML/26.swift"]).count == 1)
        #expect(FolderRules.violations((1...26).map { "Tests/WireTests/\($0).swift" }).isEmpty)
    }

    @Test("a folder of the product has up to 25 Swift files")
    func folderSizes() { expectNone(FolderRules.violations(SourceTree.files.map(\.path))) }
}
