import Catalogue
import Foundation
import Testing

/// The Debian package as `Scripts/package` makes it.
@Suite(
    "The Debian package",
    .enabled(if: TestPackages.obstacle == nil, Comment(rawValue: TestPackages.obstacle ?? "")))
struct PackageTests {
    private func contents(_ package: URL) throws -> [String] {
        let tool = try Tool.run(URL(fileURLWithPath: "/usr/bin/dpkg-deb"), ["-c", package.path])
        #expect(tool.code == 0, "\(tool)")
        return tool.output.split(separator: "\n").compactMap { line in
            line.split(separator: " ", omittingEmptySubsequences: true).dropFirst(5).first.map {
                String($0.dropFirst())
            }
        }
    }

    @Test("it contains the programs, units, pages, completions and texts")
    func files() throws {
        let files = Set(try contents(TestPackages.made.get().package))
        for program in Program.packaged {
            #expect(files.contains("/usr/bin/\(program.name)"))
            #expect(
                files.contains("/usr/share/man/man\(program.section)/\(program.name).\(program.section).gz"))
            #expect(
                files.contains(
                    "/usr/share/bash-completion/completions/\(program.name)")
                    && files.contains("/usr/share/fish/vendor_completions.d/\(program.name).fish"))
        }
        for file in [
            "/lib/systemd/system/ccsd.service", "/lib/systemd/system/ccsd.socket", "/etc/ccsd/ccsd.yaml",
            "/usr/share/zsh/vendor-completions/_ccsd", "/usr/share/doc/ccsd/copyright",
            "/usr/share/doc/ccsd/changelog.gz", "/usr/share/doc/ccsd/changelog.Debian.gz",
            "/usr/share/doc/ccsd/install.md", "/usr/share/doc/ccsd/SECURITY.md",
            "/usr/share/doc/ccsd/examples/kubernetes.yaml",
            "/usr/share/doc/ccsd/monitoring/ccsd-alerts.yaml",
        ] { #expect(files.contains(file), "\(file)") }
    }

    @Test("the archive contains the files of the package in one folder")
    func archive() throws {
        let made = try TestPackages.made.get()
        let name = made.archive.lastPathComponent.dropLast(".tar.gz".count)
        let tool = try Tool.run(URL(fileURLWithPath: "/usr/bin/tar"), ["-tzf", made.archive.path])
        let files = tool.output.split(separator: "\n").map(String.init)
        #expect(files.allSatisfy { $0.hasPrefix(name + "/") })
        #expect(Set(files.map { String($0.dropFirst(name.count)) }) == Set(try contents(made.package)))
        #expect(files.contains("\(name)/usr/bin/ccsd"), "canary")
    }

    @Test("it depends on the libraries of Debian, and no program on a library of Swift")
    func dependencies() throws {
        let package = try TestPackages.made.get().package
        let field = try Tool.run(
            URL(fileURLWithPath: "/usr/bin/dpkg-deb"), ["-f", package.path, "Depends"])
        for library in [
            "libssl3", "libexpat1", "libnghttp2-14", "zlib1g", "librocksdb7.8", "libyaml-0-2", "libcurl4",
        ] {
            #expect(field.output.contains(library), "\(field.output)")
        }
        func libraries(_ program: URL) throws -> String {
            try Tool.run(URL(fileURLWithPath: "/usr/bin/readelf"), ["-d", program.path]).output
        }
        for program in Program.packaged {
            let own = try libraries(TestPackages.programs().appendingPathComponent(program.name))
            #expect(
                own.contains("libssl.so.3") && !own.contains("libswift") && !own.contains("libFoundation"))
        }
        let dynamic = try libraries(TestPaths.built.appendingPathComponent("ccsd"))
        #expect(dynamic.contains("libswift"), "canary: a dynamic library of Swift is found")
    }

    @Test("packaging the same programs twice makes identical files")
    func reproducible() throws {
        let programs = try TestPackages.programs().path
        func make(time: Int = TestPackages.time) throws -> [Data] {
            let folder = try Scratch()
            return try TestPackages.runOlder(programs, out: folder.url, time: time).map {
                try Data(contentsOf: $0)
            }
        }
        let made = try TestPackages.made.get()
        let first = try [made.older, made.olderArchive].map { try Data(contentsOf: $0) }
        #expect(first.allSatisfy { $0.count > 1_000_000 })
        #expect(try make() == first)
        #expect(try make(time: TestPackages.time + 1) != first, "canary: another time makes other files")
    }

    @Test(
        "lintian has no error and no warning",
        .enabled(if: access("/usr/bin/lintian", X_OK) == 0, "run Scripts/bootstrap --package-check"))
    func lintian() throws {
        let package = try TestPackages.made.get().package
        let tool = try Tool.run(
            URL(fileURLWithPath: "/usr/bin/lintian"),
            ["--allow-root", "--fail-on", "error,warning", package.path])
        #expect(tool.code == 0, "\(tool)")
    }

    @Test("wrong options are refused with what is expected")
    func mistakes() throws {
        let script = TestPaths.root.appendingPathComponent("Scripts/package")
        func problem(_ arguments: [String], _ environment: [String: String] = [:]) throws -> String {
            let tool = try Tool.run(script, arguments, environment: environment)
            #expect(tool.code != 0)
            return tool.errors
        }
        #expect(try problem(["--output", "x"]).contains("unknown option '--output'"))
        #expect(try problem(["--programs"]).contains("missing value"))
        #expect(try problem([], ["CCS_COMMIT": "main"]).contains("invalid CCS_COMMIT \"main\""))
        #expect(
            try problem([], ["CCS_COMMIT": TestPackages.commit, "SOURCE_DATE_EPOCH": "today"])
                .contains("invalid SOURCE_DATE_EPOCH \"today\""))
        #expect(
            try problem(["--programs", "/nonexistent"], ["CCS_COMMIT": TestPackages.commit]).contains(
                "no program /nonexistent/ccsd"))
    }
}
