import Basics
import Foundation
import Glibc
import Operator
import RocksStore
import Store
import Testing
import Wire

@testable import Server

/// Backups of an open store: what they contain, where they may be written, and that a failed one leaves nothing.
@Suite("Backups") struct BackupTests {
    private func mode(_ path: String) -> UInt32 {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_mode & 0o7777 : 0
    }

    @Test("A backup has the files that a restore needs, private, with a manifest and digests")
    func content() throws {
        let bench = try BackupBench()
        var reports: [(Int, Int)] = []
        let answer = try bench.make { reports.append(($0, $1)) }
        #expect(answer.path.hasSuffix("/backup") && answer.commit == 21)
        #expect(answer.notIncluded == ["/etc/ccsd.yaml"])
        #expect(answer.bytes > 40_000 && answer.linkedBytes > 0 && answer.linkedBytes < answer.bytes)
        #expect(reports.last?.0 == answer.bytes && reports.last?.1 == answer.bytes)
        let files = try bench.files(bench.target)
        for name in ["backup.json", "SHA256SUMS", "ca.key", "server.pem", "apns/team.json", "store/SYNCED"] {
            #expect(files.contains(name), "\(name)")
        }
        #expect(!files.contains { $0.contains("first-sender") || $0.contains(".new") || $0.contains("LOCK") })
        for name in files + [""] {
            let isFolder = ["", "store", "apns"].contains(name)
            #expect(mode("\(bench.target)/\(name)") == (isFolder ? 0o700 : 0o600), "\(name)")
        }
        // The running server keeps its files as they were: the CA is for clients.
        #expect(mode("\(bench.data)/ca.pem") == 0o644)
        #expect(try !bench.files("\(bench.data)/store").contains { $0.hasPrefix("checkpoint") })
        let check = Process()
        check.executableURL = URL(fileURLWithPath: "/usr/bin/sha256sum")
        check.arguments = ["--check", "--strict", "--quiet", "SHA256SUMS"]
        check.currentDirectoryURL = URL(fileURLWithPath: bench.target)
        try check.run()
        check.waitUntilExit()
        #expect(check.terminationStatus == 0)
    }

    @Test("A backup to another file system is copied, and has the same content")
    func otherDevice() throws {
        let bench = try BackupBench()
        let folder = "/dev/shm/ccsd-backup-\(UUID().uuidString)"
        var (here, there) = (stat(), stat())
        guard stat("/dev/shm", &there) == 0, stat(bench.root, &here) == 0, here.st_dev != there.st_dev else {
            return
        }
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let answer = try bench.make(folder)
        #expect(answer.linkedBytes == 0)
        let restored = try bench.restore("\(bench.root)/new", from: folder).run { _, _ in }
        #expect(restored.audit?.downstreamPending == 20)
    }

    @Test("A folder that cannot take a backup is refused by name, and nothing is left")
    func refusals() throws {
        let bench = try BackupBench()
        try FileManager.default.createDirectory(
            atPath: "\(bench.root)/full", withIntermediateDirectories: true)
        try Data([1]).write(to: URL(fileURLWithPath: "\(bench.root)/full/file"))
        symlink("\(bench.root)/data", "\(bench.root)/link")
        let cases: [(path: String, text: String, hint: String)] = [
            ("monday", "invalid folder \"monday\": expected an absolute path", "another working folder"),
            ("/", "expected the path of a new folder", "/var/lib/ccsd-backup"),
            ("\(bench.root)/a/../b", "without ..", "/var/lib/ccsd-backup"),
            ("\(bench.root)/monday.partial", "an interrupted backup's name", "another name"),
            ("\(bench.root)/none/monday", "No such file or directory", "create this folder first"),
            ("\(bench.root)/full", "is not empty", "a new folder for each backup"),
            ("\(bench.root)/full/file", "is not a folder", "a new folder"),
            ("\(bench.data)", "is inside the data directory", "outside of it"),
            ("\(bench.data)/store/x", "is inside the data directory", "outside of it"),
            ("\(bench.root)/link/x", "is inside the data directory", "outside of it"),
            ("/proc/ccsd-backup", "cannot create /proc/ccsd-backup.partial", "create the folder above it"),
        ]
        for (path, text, hint) in cases {
            let error = #expect(throws: BackupFailure.self, "\(path)") { try bench.make(path) }
            #expect(error?.text.contains(text) == true, "\(path): \(error?.text ?? "")")
            #expect(error?.hint.contains(hint) == true, "\(path): \(error?.hint ?? "")")
        }
        #expect(try bench.files(bench.root).filter { $0.contains("partial") } == [])
        // An empty folder may be given, and what an interrupted backup has left is replaced.
        try FileManager.default.createDirectory(atPath: bench.target, withIntermediateDirectories: true)
        try FileManager.default.createDirectory(
            atPath: bench.target + ".partial/store", withIntermediateDirectories: true)
        try bench.make()
        #expect(try !bench.files(bench.root).contains { $0.contains("partial") })
    }

    @Test(
        "A name is a folder of the service for backups, or else of the caller; any path stays as it is",
        arguments: [
            ("monday", "/s", "/c", "/s/monday"), ("monday", nil, "/c", "/c/monday"),
            ("monday", nil, nil, "monday"),
            ("/a/monday", "/s", "/c", "/a/monday"), ("a/monday", "/s", "/c", "a/monday"),
            ("..", "/s", "/c", ".."),
        ] as [(String, String?, String?, String)])
    func names(_ given: String, _ service: String?, _ caller: String?, _ path: String) {
        #expect(BackupTarget.path(given, service: service, caller: caller) == path)
    }

    @Test(
        "The folder of the service is found in systemd's list of state folders",
        arguments: [
            ("/var/lib/ccsd:/var/lib/ccsd-backup", "/var/lib/ccsd-backup"), ("/var/lib/ccsd", nil), ("", nil),
            ("ccsd-backup", nil),
        ] as [(String, String?)])
    func stateFolders(_ list: String, _ folder: String?) {
        #expect(BackupTarget.folder(inStateDirectories: list) == folder)
    }

    @Test("A second backup at the same time is refused with what the first one does")
    func onlyOne() throws {
        let bench = try BackupBench()
        var refusal: BackupFailure?
        try bench.make { _, _ in
            guard refusal == nil else { return }
            do { try bench.make("\(bench.root)/second") } catch { refusal = error as? BackupFailure }
        }
        #expect(refusal?.text.contains("another backup is running: to \(bench.target)") == true)
        #expect(try !bench.files(bench.root).contains("second"))
        try bench.make("\(bench.root)/second")
    }

    @Test("A shutdown cancels a backup, which leaves nothing, and no other one begins")
    func cancelled() throws {
        let bench = try BackupBench()
        let backups = bench.backups
        let stopper = Thread { backups.stop() }
        var isStarted = false
        let error = #expect(throws: BackupFailure.self) {
            try bench.make { _, _ in
                if !isStarted { stopper.start() }
                isStarted = true
                usleep(50_000)
            }
        }
        #expect(error?.text.contains("ccsd is stopping") == true)
        #expect(try !bench.files(bench.root).contains { $0.hasPrefix("backup") || $0.contains("checkpoint") })
        #expect(throws: BackupFailure.self) { try bench.make() }
    }
}
