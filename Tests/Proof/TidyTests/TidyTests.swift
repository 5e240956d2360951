import Testing

/// Fails with each violation on a separate line.
func expectNone(_ violations: [String], _ location: SourceLocation = #_sourceLocation) {
    #expect(violations.count == 0, "\n\(violations.joined(separator: "\n"))\n", sourceLocation: location)
}

@Suite struct TidyTests {
    @Test("the tree has modules, tests, scripts and units")
    func tree() {
        #expect(SourceTree.product.count > 100)
        #expect(SourceTree.tests.count > 50)
        #expect(SourceTree.files.contains { $0.path == "systemd/ccsd.service" })
        #expect(SourceTree.files.contains { $0.path == "Package.swift" })
    }

    @Test("a product file is on the floor of its module, and imports only what Package.swift names")
    func imports() {
        expectNone(SourceTree.product.flatMap { ImportRules.violations($0, in: SourceTree.house) })
    }

    @Test("no module needs one of a floor above, and docs/architecture.md shows the floors as they are")
    func floors() throws {
        let house = SourceTree.house
        #expect(house.floors.count == 9 && house.modules.count > 40)
        expectNone(house.climbing)
        let page = try #require(SourceTree.read("docs/architecture.md"))
        #expect(page.contains("```\n\(house.picture)\n```\n"), "the picture is now:\n\(house.picture)")
    }

    @Test("what a release build compiles has no testable imports")
    func testable() {
        let folders = SourceTree.house.released
        #expect(folders.contains("Tests/Proof/FuzzTests/Targets/"))
        #expect(
            SourceTree.tests.contains { $0.path == "Tests/Proof/FuzzTests/Targets/XMLDifferential.swift" })
        expectNone(SourceTree.tests.flatMap { ImportRules.testable($0, in: folders) })
    }

    @Test("a file has up to 400 lines and a function up to 70")
    func lengths() {
        expectNone(
            SourceTree.swift.flatMap(TextRules.length) + SourceTree.swift.flatMap(CodeRules.longFunctions))
    }

    @Test("no file has a mark of unfinished work or a path of a machine")
    func words() { expectNone(SourceTree.files.flatMap(TextRules.bannedWords)) }

    @Test("no file has tabs, trailing blanks or control characters")
    func blanks() { expectNone(SourceTree.files.flatMap(TextRules.blanks)) }

    @Test("product and tests have no forced unwrap, try! or as!")
    func forcing() { expectNone(SourceTree.swift.flatMap(CodeRules.forcing)) }

    @Test("the compiler checks thread safety except in listed wrappers of C")
    func unchecked() { expectNone(SourceTree.product.flatMap(CodeRules.unchecked)) }

    @Test("unsafe code is only in listed wrappers of C and hot paths")
    func unsafe() {
        let files = SourceTree.product
        expectNone(files.flatMap(UnsafeRules.violations))
        expectNone(
            UnsafeRules.stale(in: files).map { "\($0) has no unsafe code: remove it from UnsafeRules.swift" })
    }

    @Test("no declaration has the access level package")
    func access() { expectNone(SourceTree.swift.flatMap(CodeRules.access)) }

    @Test("timing decides no test")
    func timeLimits() { expectNone(SourceTree.swift.flatMap(CodeRules.timeLimits)) }

    @Test("a public declaration has a comment")
    func comments() {
        let witnesses = CommentRules.witnesses(SourceTree.product)
        expectNone(SourceTree.product.flatMap { CommentRules.violations($0, witnesses: witnesses) })
    }

    @Test("a limit has a reason and a use")
    func limits() {
        let files = SourceTree.product
        let limits = files.filter { $0.path.hasPrefix("Sources/Foundation/Basics/Limits/") }
        #expect(limits.contains { $0.path == "Sources/Foundation/Basics/Limits/Limits.swift" })
        let used = LimitRules.used(in: files)
        expectNone(limits.flatMap { LimitRules.withoutReason($0) + LimitRules.unused($0, used: used) })
    }

    @Test("a Markdown file has one top-level heading")
    func markdown() {
        expectNone(SourceTree.files.filter { $0.path.hasSuffix(".md") }.flatMap(TextRules.headings))
    }

    @Test("a script is executable and starts with #!")
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

    @Test("a folder of tests has a canary")
    func canaries() {
        let folders = Dictionary(grouping: SourceTree.tests, by: \.module)
        #expect(folders.count >= 12)
        let without = folders.filter { !$0.value.contains { $0.text.lowercased().contains("canary") } }
        expectNone(without.keys.sorted().map { "Tests/\($0) has no canary" })
    }

    @Test("no file is a placeholder")
    func placeholders() {
        expectNone(SourceTree.files.filter { $0.path.hasSuffix("Placeholder.swift") }.map(\.path))
    }
}
