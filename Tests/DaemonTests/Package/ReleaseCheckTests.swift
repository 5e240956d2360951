import Catalogue
import Foundation
import Testing

/// The steps of `Scripts/release-check` that take no build.
@Suite struct ReleaseCheckTests {
    /// Runs a step in a repository with the script, the file of the version, and this changelog.
    private func run(_ step: String, changelog: String, then command: String = "true") throws -> Tool {
        let scratch = try Scratch()
        let files = FileManager.default
        for path in ["Scripts/release-check", "Sources/Catalogue/Commands/ProgramVersion.swift"] {
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

    @Test("the version of the programs is that of the changelog, with a date and without a tag")
    func version() throws {
        let version = Program.version
        #expect(try run("version", changelog: "# C\n\n## \(version) (2026-12-01)\n").code == 0)
        #expect(
            try run("version", changelog: "# C\n\n## [Unreleased]\n\n## [\(version)] - 2026-12-01\n").code
                == 0)
        let other = try run("version", changelog: "# C\n\n## 99.0 (2026-12-01)\n")
        #expect(other.code == 1 && other.errors.contains("begins with 99.0"), "\(other)")
        let undated = try run("version", changelog: "# C\n\n## \(version) (unreleased)\n")
        #expect(undated.code == 1 && undated.errors.contains("has no date"), "\(undated)")
        let tagged = try run(
            "version", changelog: "# C\n\n## \(version) (2026-12-01)\n", then: "git tag v\(version)")
        #expect(tagged.code == 1 && tagged.errors.contains("the tag v\(version) exists"), "\(tagged)")
    }

    @Test("a tree with changes is refused, and so is an unknown step")
    func tree() throws {
        let changelog = "# C\n\n## \(Program.version) (2026-12-01)\n"
        #expect(try run("tree", changelog: changelog).code == 0)
        let changed = try run("tree", changelog: changelog, then: "echo x >new")
        #expect(changed.code == 1 && changed.errors.contains("?? new"), "\(changed)")
        #expect(try run("trees", changelog: changelog).code == 64)
    }

    @Test("canary: the changelog of this package names the version")
    func canary() throws {
        let text = try String(
            contentsOf: TestPaths.root.appendingPathComponent("CHANGELOG.md"), encoding: .utf8)
        let first = text.split(separator: "\n").first {
            $0.hasPrefix("## ") && $0.lowercased() != "## [unreleased]"
        }
        #expect(first.map { $0.contains(Program.version) } ?? true)
    }
}
