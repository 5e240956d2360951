import Testing

/// Fails with each violation on a line of its own.
func expectNone(_ violations: [String], _ location: SourceLocation = #_sourceLocation) {
    #expect(violations.count == 0, "\n\(violations.joined(separator: "\n"))\n", sourceLocation: location)
}

@Suite struct TidyTests {
    @Test("the tree was found: there are modules, tests and scripts of systemd")
    func tree() {
        #expect(SourceTree.product.count > 100)
        #expect(SourceTree.tests.count > 50)
        #expect(SourceTree.files.contains { $0.path == "systemd/ccsd.service" })
        #expect(SourceTree.files.contains { $0.path == "Package.swift" })
    }

    @Test("imports follow the table, and nothing of ours uses Foundation")
    func imports() { expectNone(SourceTree.product.flatMap(ImportRules.violations)) }

    @Test("no file is longer than 400 lines, no function longer than 70")
    func lengths() {
        expectNone(
            SourceTree.swift.flatMap(TextRules.length) + SourceTree.swift.flatMap(CodeRules.longFunctions))
    }

    @Test("no word promises to come back later, no path names somebody's machine")
    func words() { expectNone(SourceTree.files.flatMap(TextRules.bannedWords)) }

    @Test("no tabs, blanks at line ends or control characters")
    func blanks() { expectNone(SourceTree.files.flatMap(TextRules.blanks)) }

    @Test("nothing is forced, in product and tests")
    func forcing() { expectNone(SourceTree.swift.flatMap(CodeRules.forcing)) }

    @Test("thread safety is checked by the compiler, outside the doors to C")
    func unchecked() { expectNone(SourceTree.product.flatMap(CodeRules.unchecked)) }

    @Test("unsafe code stands where C begins, and on the hot paths in the list")
    func unsafe() {
        let files = SourceTree.product
        expectNone(files.flatMap(UnsafeRules.violations))
        expectNone(UnsafeRules.stale(in: files).map { "\($0) needs no place in the list any more" })
    }

    @Test("what modules offer each other is public")
    func access() { expectNone(SourceTree.swift.flatMap(CodeRules.access)) }

    @Test("every public declaration has a comment")
    func comments() {
        let witnesses = CommentRules.witnesses(SourceTree.product)
        expectNone(SourceTree.product.flatMap { CommentRules.violations($0, witnesses: witnesses) })
    }

    @Test("every limit has a reason and is used")
    func limits() {
        let files = SourceTree.product
        let limits = files.filter { $0.path.hasPrefix("Sources/Basics/Limits/") }
        #expect(limits.contains { $0.path == "Sources/Basics/Limits/Limits.swift" })
        expectNone(limits.flatMap { LimitRules.withoutReason($0) + LimitRules.unused($0, in: files) })
    }

    @Test("a Markdown file has one heading of the first level")
    func markdown() {
        expectNone(SourceTree.files.filter { $0.path.hasSuffix(".md") }.flatMap(TextRules.headings))
    }

    @Test("scripts can be run")
    func scripts() {
        let scripts = SourceTree.files.filter { file in
            file.path == ".ci/run" || (file.path.hasPrefix("Scripts/") && file.text.hasPrefix("#!"))
        }
        expectNone(
            scripts.filter { SourceTree.mode($0.path) & 0o111 != 0o111 }.map { "\($0.path): not executable" })
        let others = SourceTree.files.filter { file in
            file.path.hasPrefix("Scripts/") && !file.text.hasPrefix("#!")
                && !file.path.split(separator: "/").dropFirst().joined().contains(".")
        }
        expectNone(others.map { "\($0.path): a script without #!" })
    }

    @Test("every folder of tests has a canary")
    func canaries() {
        let folders = Dictionary(grouping: SourceTree.tests, by: \.module)
        #expect(folders.count >= 12)
        let without = folders.filter { !$0.value.contains { $0.text.lowercased().contains("canary") } }
        expectNone(without.keys.sorted().map { "Tests/\($0) has no canary" })
    }

    @Test("no place is held for what was to come")
    func placeholders() {
        expectNone(SourceTree.files.filter { $0.path.hasSuffix("Placeholder.swift") }.map(\.path))
    }
}
