import Catalogue
import Foundation
import Testing

/// The steps of `Scripts/release-check` that take no build.
@Suite struct ReleaseCheckTests {
    /// Runs a step in a repository with the script, the file of the version, and this changelog.
    private func run(_ step: String, changelog: String, then command: String = "true") throws -> Tool {
        let scratch = try Scratch()
        let files = FileManager.default
        for path in ["Scripts/release-check", "Sources/Operating/Catalogue/Commands/ProgramVersion.swift"] {
            let target = scratch.url.appendingPathComponent(path)
            try files.createDirectory(
                at: target.deletingLastPathComponent(), withIntermediateDirectories: true)
            try files.copyItem(at: TestPaths.root.appendingPathComponent(path), to: target)
        }
        try Data(changelog.utf8).write(to: scratch.url.appendingPathComponent("CHANGELOG.md"))
        let script = """
            set -e
            cd '\(scratch.url.path)'
            git init --quiet .
            git add .
            git -c user.name=a -c user.email=a@example.com commit --quiet --message a
            \(command)
            Scripts/release-check \(step)
            """
        return try Tool.run(URL(fileURLWithPath: "/bin/sh"), ["-c", script], seconds: 60)
    }

    private static let released = "## [\(Program.version)] - 2026-12-01"

    @Test("the version of the programs is that of the changelog, with a date and without a tag")
    func version() throws {
        let current = "# C\n\n## [Unreleased]\n\n\(Self.released)\n\n- a\n"
        #expect(try run("version", changelog: current).code == 0)
        #expect(try run("version", changelog: "# C\n\n\(Self.released)\n").code == 0)
        let tagged = try run("version", changelog: current, then: "git tag v\(Program.version)")
        #expect(tagged.code == 1 && tagged.errors.contains("the tag v\(Program.version) exists"), "\(tagged)")
    }

    @Test(
        "a changelog without a section for the version is refused with what is expected",
        arguments: [
            ("## [Unreleased]\n\n- a\n", "insert the heading \"## [\(Program.version)] - YYYY-MM-DD\" below"),
            ("## [99.0] - 2026-12-01\n", "begins with 99.0, but the version of the programs is"),
            ("## [\(Program.version)] (Unreleased)\n", "invalid heading"),
            ("## \(Program.version) - 2026-12-01\n", "expected \"## [\(Program.version)] - YYYY-MM-DD\""),
            ("## [Unreleased]\n\n- new\n\n\(released)\n", "\"- new\" is not in the section of"),
        ])
    func changelog(text: String, problem: String) throws {
        let tool = try run("version", changelog: "# C\n\n" + text)
        #expect(tool.code == 1 && tool.errors.contains(problem), "\(tool)")
    }

    @Test("a tree with changes is refused, and so is an unknown step")
    func tree() throws {
        let changelog = "# C\n"
        #expect(try run("tree", changelog: changelog).code == 0)
        let changed = try run("tree", changelog: changelog, then: "echo x >new")
        #expect(changed.code == 1 && changed.errors.contains("?? new"), "\(changed)")
        #expect(try run("trees", changelog: changelog).code == 64)
    }

    @Test("a second build that fails, and one that differs, fail the step")
    func reproducible() throws {
        // In place of Scripts/package, which takes minutes.
        func run(_ package: String) throws -> Tool {
            let prepare = """
                mkdir -p .build-package/out
                printf '%s\\n' '#!/bin/sh' '\(package)' >Scripts/package
                chmod +x Scripts/package
                git add .
                git -c user.name=a -c user.email=a@example.com commit --quiet --message b
                sh Scripts/package --out .build-package/out
                """
            return try self.run("reproducible", changelog: "# C\n", then: prepare)
        }
        let name = "ccsd_\(Program.version)-1_$(dpkg --print-architecture).deb"
        let make = "mkdir -p $2; f=$2/\(name); echo same >$f; echo $f"
        let same = try run(make)
        #expect(same.code == 0 && same.output.contains("identical: ccsd_"), "\(same)")
        let different = try run(make + "; echo $0 >>$f")
        #expect(
            different.code == 1 && different.errors.contains("differs between two folders"), "\(different)")
        let failing = try run(make + "; case $0 in /*) exit 3 ;; esac")
        #expect(failing.code == 3 && !failing.output.contains("reproducible ok"), "\(failing)")
    }
}
