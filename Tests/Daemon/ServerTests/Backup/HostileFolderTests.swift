import Catalogue
import Foundation
import Glibc
import Store
import Testing

@testable import Server

/// Backups and restores in folders that others can write: nothing of theirs is followed, and nothing outside is touched.
@Suite("Backups among strangers") struct HostileFolderTests {
    /// Creates a folder with a file that must stay.
    private func victim(_ bench: BackupBench) throws -> String {
        let folder = "\(bench.root)/victim"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try Data("keep".utf8).write(to: URL(fileURLWithPath: "\(folder)/keep"))
        return folder
    }

    @Test("a link in place of an interrupted backup, or in it, is removed and not followed")
    func links() throws {
        let bench = try BackupBench()
        let folder = try victim(bench)
        try FileManager.default.createSymbolicLink(
            atPath: "\(bench.target).partial", withDestinationPath: folder)
        try bench.make()
        #expect(try bench.files(folder) == ["keep"])
        let next = "\(bench.root)/next"
        try FileManager.default.createDirectory(atPath: "\(next).partial", withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(
            atPath: "\(next).partial/store", withDestinationPath: folder)
        try bench.make(next)
        #expect(try bench.files(folder) == ["keep"])
    }

    @Test(
        "a folder that is exchanged for a link after it was opened is emptied itself, and not what the link leads to"
    )
    func exchanged() throws {
        let bench = try BackupBench()
        let folder = try victim(bench)
        let parent = try HeldFolder(bench.root)
        let draft = try parent.makeFolder("draft")
        try draft.create("own", [1])
        #expect(rename("\(bench.root)/draft", "\(bench.root)/moved") == 0)
        try FileManager.default.createSymbolicLink(atPath: "\(bench.root)/draft", withDestinationPath: folder)
        try draft.create("later", [2])
        for name in try draft.names() { try draft.remove(name) }
        #expect(try bench.files("\(bench.root)/moved").isEmpty)
        #expect(try bench.files(folder) == ["keep"])
        #expect(throws: BackupFailure.self) { try parent.folder("draft") }
        let error = #expect(throws: BackupFailure.self) {
            try parent.rename(draft, from: "draft", to: "done", hint: nil)
        }
        #expect(error?.text.contains("was exchanged by another user") == true, "\(error?.text ?? "none")")
    }

    @Test(
        "an interrupted backup of another user is refused and stays",
        .enabled(if: geteuid() == 0, "needs root"))
    func foreign() throws {
        let bench = try BackupBench()
        let partial = "\(bench.target).partial"
        try FileManager.default.createDirectory(atPath: partial, withIntermediateDirectories: true)
        try Data("theirs".utf8).write(to: URL(fileURLWithPath: "\(partial)/file"))
        #expect(chown(partial, 65_534, 65_534) == 0)
        let error = #expect(throws: BackupFailure.self) { try bench.make() }
        #expect(error?.text.contains("belongs to user 65534") == true, "\(error?.text ?? "none")")
        #expect(error?.exitCode == .noPermission)
        #expect(try bench.files(partial) == ["file"])
    }

    @Test(
        "a backup is not written into a folder of another user, nor through a link of one",
        .enabled(if: geteuid() == 0, "needs root"))
    func foreignFolders() throws {
        let bench = try BackupBench()
        let theirs = "\(bench.root)/theirs"
        try FileManager.default.createDirectory(atPath: theirs, withIntermediateDirectories: true)
        #expect(symlink(bench.root, "\(bench.root)/link") == 0)
        try bench.make("\(bench.root)/link/own")
        for path in [theirs, "\(bench.root)/link"] { #expect(lchown(path, 65_534, 65_534) == 0) }
        for path in ["\(theirs)/monday", "\(bench.root)/link/monday"] {
            let error = #expect(throws: BackupFailure.self) { try bench.make(path) }
            #expect(error?.text.contains("belongs to user 65534") == true, "\(error?.text ?? "none")")
        }
        #expect(
            try bench.files(theirs) == [] && !FileManager.default.fileExists(atPath: "\(bench.root)/monday"))
    }

    @Test(
        "a restore refuses pipes and links in a backup by name, and does not wait for a writer",
        arguments: ["backup.json", "SHA256SUMS", "store/CURRENT", "ca.key", "store"], [true, false])
    func inBackup(_ name: String, _ isPipe: Bool) throws {
        let bench = try BackupBench()
        try bench.make()
        let path = "\(bench.target)/\(name)"
        #expect(rename(path, "\(bench.root)/original") == 0)
        if isPipe {
            #expect(mkfifo(path, 0o600) == 0)
        } else {
            #expect(symlink("\(bench.root)/original", path) == 0)
        }
        for verifies in [true, false] {
            var restore = bench.restore("\(bench.root)/new")
            restore.verifies = verifies
            let error = #expect(throws: BackupFailure.self) { try restore.run { _, _ in } }
            #expect(error?.text.contains(name) == true, "\(error?.text ?? "none")")
            #expect(error?.exitCode == .badData)
        }
        #expect(!FileManager.default.fileExists(atPath: "\(bench.root)/new"))
    }

    @Test(
        "a restore follows no link in the data directory, and touches nothing behind one",
        arguments: ["store", "store/LOCK"])
    func inDataDirectory(_ name: String) throws {
        let bench = try BackupBench()
        try bench.make()
        let (data, victim) = ("\(bench.root)/new", "\(bench.root)/victim")
        try FileManager.default.createDirectory(
            atPath: name == "store" ? data : "\(data)/store", withIntermediateDirectories: true)
        if name == "store" {
            try FileManager.default.createDirectory(atPath: victim, withIntermediateDirectories: true)
        }
        #expect(symlink(victim, "\(data)/\(name)") == 0)
        let error = #expect(throws: BackupFailure.self) { try bench.restore(data).run { _, _ in } }
        #expect(error?.text.contains("\(data)/\(name) is no") == true, "\(error?.text ?? "none")")
        #expect((try? bench.files(victim)) ?? [] == [])
        #expect(FileManager.default.fileExists(atPath: victim) == (name == "store"))
    }

    @Test("a flipped bit anywhere in SHA256SUMS is refused by its name")
    func sums() throws {
        let bench = try BackupBench()
        try bench.make()
        let url = URL(fileURLWithPath: "\(bench.target)/SHA256SUMS")
        let whole = try Data(contentsOf: url)
        for at in stride(from: 0, to: whole.count, by: 37) {
            var flipped = whole
            flipped[at] ^= 1
            try flipped.write(to: url)
            var restore = bench.restore("\(bench.root)/new")
            restore.verifies = true
            let error = #expect(throws: BackupFailure.self) { try restore.run { _, _ in } }
            #expect(error?.text.contains("SHA256SUMS") == true, "byte \(at): \(error?.text ?? "none")")
        }
    }
}
