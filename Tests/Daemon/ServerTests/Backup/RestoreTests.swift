import Basics
import Catalogue
import Foundation
import Operator
import RocksStore
import Store
import Testing
import Transport
import Wire

@testable import Server

/// Restores: complete or refused, and a refused one changes nothing.
@Suite("Restores") struct RestoreTests {
    /// Changes a file of a backup, and expects that it is refused.
    private func expectRefused(
        _ text: String, code: ExitCode = .badData, _ change: (String) throws -> Void
    ) throws {
        let bench = try BackupBench()
        try bench.make()
        try change(bench.target)
        let target = "\(bench.root)/new"
        for verifies in [true, false] {
            var restore = bench.restore(target)
            restore.verifies = verifies
            let error = #expect(throws: BackupFailure.self) { try restore.run { _, _ in } }
            #expect(error?.text.contains(text) == true, "\(error?.text ?? "none")")
            #expect(error?.exitCode == code && error?.hint.isEmpty == false)
        }
        #expect(!FileManager.default.fileExists(atPath: target))
    }

    private func edit(_ path: String, _ change: (inout String) -> Void) throws {
        var text = try String(contentsOfFile: path, encoding: .utf8)
        change(&text)
        try text.write(toFile: path, atomically: false, encoding: .utf8)
    }

    /// Replaces the manifest, with its digest.
    private func edit(manifest folder: String, _ change: (inout BackupManifest) -> Void) throws {
        let content = try Data(contentsOf: URL(fileURLWithPath: "\(folder)/backup.json"))
        var manifest = try BackupManifest(json: JSONValue(parsing: Array(content).raw))
        change(&manifest)
        let text = manifest.json.pretty
        try text.write(toFile: "\(folder)/backup.json", atomically: false, encoding: .utf8)
        let sums = BackupLayout.sums(
            manifest.files, manifest: Array(text.utf8), digest: Digest.sha256(Array(text.utf8)))
        try Data(sums).write(to: URL(fileURLWithPath: "\(folder)/SHA256SUMS"))
    }

    @Test(
        "A data directory that is the backup, is inside it or contains it is refused by name, also through links"
    )
    func apart() throws {
        let bench = try BackupBench()
        try bench.make()
        let before = try bench.files(bench.target)
        let files = FileManager.default
        let (link, root) = ("\(bench.root)/link", "\(bench.root)/root")
        try files.createSymbolicLink(atPath: link, withDestinationPath: bench.target)
        try files.createSymbolicLink(atPath: root, withDestinationPath: bench.root)
        let cases = [
            (bench.target, "is the backup itself"), (bench.target + "/", "is the backup itself"),
            (link, "is the backup itself"), (bench.target + "/store/..", "is the backup itself"),
            (bench.target + "/store", "is inside the backup"), (link + "/store", "is inside the backup"),
            (bench.target + "/new", "is inside the backup"), (link + "/new/", "is inside the backup"),
            (bench.root, "contains the backup"), (root, "contains the backup"), ("/", "contains the backup"),
        ]
        for (directory, place) in cases {
            for replaces in [true, false] {
                var restore = bench.restore(directory)
                restore.replaces = replaces
                let error = #expect(throws: BackupFailure.self) { try restore.run { _, _ in } }
                #expect(error?.exitCode == .usage, "\(directory): \(error?.text ?? "")")
                #expect(error?.text.hasPrefix("the data directory \(directory) \(place)") == true)
            }
        }
        #expect(try bench.files(bench.target) == before)
        // A name that only begins like that of the backup is another folder.
        #expect(try bench.restore(bench.target + "-new").run { _, _ in }.audit?.holds == true)
    }

    @Test("A restored backup has the messages of its moment and the secrets, and the backup stays usable")
    func restored() throws {
        let bench = try BackupBench()
        try bench.make()
        for sequence in 21...60 as ClosedRange<UInt64> { try bench.put(sequence) }
        let before = try bench.files(bench.target)
        for round in 1...2 {
            let restored = try bench.restore("\(bench.root)/new-\(round)").run { _, _ in }
            #expect(restored.audit?.holds == true && restored.audit?.downstreamPending == 20)
            #expect(restored.replaced == nil)
            #expect(
                try String(contentsOfFile: "\(bench.root)/new-\(round)/ca.key", encoding: .utf8) == "CA KEY")
            func mode(_ name: String) throws -> Int? {
                let path = "\(bench.root)/new-\(round)/\(name)"
                return try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
            }
            for name in ["ca.pem", "server.pem"] { #expect(try mode(name) == 0o644, "as ccsd creates it") }
            for name in ["ca.key", "server.key", "apns/team.json"] { #expect(try mode(name) == 0o600) }
            let store = try RocksStore(path: "\(bench.root)/new-\(round)/store")
            #expect(try store.setting("token_secret") == [1, 2, 3])
            try store.close()
            #expect(try !bench.files("\(bench.root)/new-\(round)").contains { $0.contains("partial") })
        }
        #expect(try bench.files(bench.target) == before)
    }

    @Test("A restore onto a store in use is refused, also with --replace")
    func inUse() throws {
        let bench = try BackupBench()
        try bench.make()
        let before = try bench.files(bench.data)
        for replaces in [false, true] {
            let error = #expect(throws: BackupFailure.self) {
                try bench.restore(bench.data, replaces: replaces).run { _, _ in }
            }
            #expect(error?.text.contains("the data directory is in use") == true)
            #expect(error?.exitCode == .inputOutput)
        }
        #expect(try bench.files(bench.data) == before)
        try bench.put(100)
    }

    @Test("A data directory that is not empty is refused; --replace keeps its content in a folder")
    func replaced() throws {
        let bench = try BackupBench()
        try bench.make()
        try bench.store.close()
        let error = #expect(throws: BackupFailure.self) {
            try bench.restore(bench.data).run { _, _ in }
        }
        #expect(error?.text == "\(bench.data) is not empty" && error?.exitCode == .inputOutput)
        for _ in 1...2 {
            var restore = bench.restore(bench.data, replaces: true)
            restore.now += Int64(Date().timeIntervalSince1970 * 1_000)
            let restored = try restore.run { _, _ in }
            let old = try #require(restored.replaced)
            #expect(try bench.files(old).contains("store/CURRENT"))
            #expect(try bench.files(bench.data).contains("store/CURRENT"))
        }
    }

    @Test("A restore that cannot move a file moves everything back")
    func movedBack() throws {
        let bench = try BackupBench()
        try bench.make()
        try bench.store.close()
        try FileManager.default.removeItem(atPath: "\(bench.data)/server.pem")
        let before = try bench.files(bench.data)
        // What is created meanwhile is not moved aside, and a file cannot replace a folder.
        let error = #expect(throws: BackupFailure.self) {
            try bench.restore(bench.data, replaces: true).run { _, _ in
                try? FileManager.default.createDirectory(
                    atPath: "\(bench.data)/server.pem/file", withIntermediateDirectories: true)
            }
        }
        #expect(error?.text.hasPrefix("cannot move") == true, "\(error?.text ?? "none")")
        try FileManager.default.removeItem(atPath: "\(bench.data)/server.pem")
        #expect(try bench.files(bench.data) == before)
        #expect(try RocksStore(path: "\(bench.data)/store").audit().downstreamPending == 20)
    }

    @Test("A damaged, truncated or incomplete backup is refused by name")
    func damaged() throws {
        try expectRefused("the content of ca.pem does not match its digest") {
            try edit("\($0)/ca.pem") { $0 = "AC" }
        }
        try expectRefused("ca.key has 3 bytes, expected 6") { try edit("\($0)/ca.key") { $0 = "CA " } }
        try expectRefused("server.pem is missing") {
            try FileManager.default.removeItem(atPath: "\($0)/server.pem")
        }
        try expectRefused("backup.json does not match its digest") {
            try edit("\($0)/backup.json") {
                $0 = $0.replacingOccurrences(of: "\"commit\": 21", with: "\"commit\": 22")
            }
        }
        try expectRefused("invalid JSON at byte") {
            try edit("\($0)/backup.json") { $0 = String($0.prefix(200)) }
        }
        try expectRefused("SHA256SUMS is missing") {
            try FileManager.default.removeItem(atPath: "\($0)/SHA256SUMS")
        }
        try expectRefused("is not a backup: it has no backup.json") {
            try FileManager.default.removeItem(atPath: "\($0)/backup.json")
        }
        try expectRefused("cannot read", code: .inputOutput) {
            try FileManager.default.removeItem(atPath: $0)
        }
    }

    @Test("An interrupted backup is refused by its name, regardless of its content")
    func interrupted() throws {
        let bench = try BackupBench()
        try bench.make()
        let partial = bench.target + ".partial"
        try FileManager.default.moveItem(atPath: bench.target, toPath: partial)
        for name in [partial, partial + "/"] {
            let error = #expect(throws: BackupFailure.self) {
                try bench.restore("\(bench.root)/new", from: name).run { _, _ in }
            }
            #expect(error?.text == "\(name) is a backup that was interrupted" && error?.exitCode == .badData)
        }
        #expect(!FileManager.default.fileExists(atPath: "\(bench.root)/new"))
    }

    @Test("A hostile manifest reaches no file outside of the backup and the data directory")
    func hostile() throws {
        for path in ["../x", "/etc/passwd", "store/../../x", "store/a/b", "store/", "x", "store/.x", ""] {
            try expectRefused("invalid path") { folder in
                try edit(manifest: folder) { $0.files[0].path = path }
            }
        }
        try expectRefused("is twice in backup.json") { folder in
            try edit(manifest: folder) { $0.files.append($0.files[0]) }
        }
        try expectRefused("ca.pem is a symbolic link") { folder in
            try FileManager.default.removeItem(atPath: "\(folder)/ca.pem")
            symlink("/etc", "\(folder)/ca.pem")
            try edit(manifest: folder) { manifest in
                for at in manifest.files.indices where manifest.files[at].path == "ca.pem" {
                    manifest.files[at].bytes = 4
                }
            }
        }
    }

    @Test("Another backup format, and a store of another layout, are refused by name in both directions")
    func versions() throws {
        try expectRefused("has backup format 2 (made by ccsd 0.1.0), expected format 1") { folder in
            try edit(manifest: folder) { $0.format = 2 }
        }
        for (layout, age) in [(RocksStore.layout + 1, "a newer"), (RocksStore.layout - 1, "an older")] {
            let bench = try BackupBench()
            try bench.make()
            try edit(manifest: bench.target) { $0.storeLayout = layout }
            let error = #expect(throws: BackupFailure.self) {
                try bench.restore("\(bench.root)/new").run { _, _ in }
            }
            #expect(error?.text.contains("has layout \(layout)") == true)
            #expect(error?.hint.contains("\(age) version of ccsd made the backup") == true)
            #expect(error?.exitCode == .badData)
        }
    }
}
