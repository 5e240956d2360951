import Foundation
import Testing

/// Backups of the real daemon under load, and the servers that are restored from them.
@Suite("Backup and restore", .serialized)
struct BackupTests {
    private func restore(_ backup: String, to scratch: Scratch, _ more: String...) throws -> Tool {
        let data = scratch.url.appendingPathComponent("data").path
        return try Tool.run("ccsd", ["restore", backup, "--data-directory", data] + more)
    }

    @Test("a restored server accepts the same keys, tokens and devices, and has the messages of the backup")
    func restored() throws {
        let daemon = try RunningDaemon()
        let sender = try daemon.firstSender
        let device = try TestDevice(daemon, sender: sender.id)
        try device.subscribe(daemon, to: "news")
        device.stop()
        let server = try TestAppServer(daemon, sender: sender)
        for number in 1...30 { #expect(try server.send("m\(number)", to: device.token) == "ACK") }
        let backup = daemon.directory.appendingPathComponent("backup").path
        let made = try daemon.ctl("backup", backup)
        #expect(made["path"] as? String == backup && made["not_included"] as? [String] == [])
        for number in 31...40 { #expect(try server.send("m\(number)", to: device.token) == "ACK") }

        let refused = try restore(backup, to: daemon.scratch, "--replace")
        #expect(refused.code == 74 && refused.errors.contains("the data directory is in use"), "\(refused)")
        #expect(try server.send("m41", to: device.token) == "ACK")
        let again = try Tool.run("ccsctl", ["--socket", daemon.controlSocket, "backup", backup])
        #expect(again.code == 1 && again.errors.contains("is not empty"), "\(again)")

        let scratch = try Scratch()
        let verified = try restore(backup, to: scratch, "--verify")
        #expect(verified.code == 0 && verified.output.contains("complete and undamaged"), "\(verified)")
        let restored = try restore(backup, to: scratch)
        #expect(restored.code == 0 && restored.output.contains("30 downstream"), "\(restored)")
        #expect(restored.output.contains("is accounted for"), "\(restored)")
        let other = try restore(backup, to: scratch)
        #expect(other.code == 74 && other.errors.contains("is not empty"), "\(other)")

        let next = try RunningDaemon(continuing: scratch)
        #expect(try next.ctl("audit")["holds"] as? Bool == true)
        // The certificate is of the same authority, the device has its token, and the app server its key.
        try device.start(next)
        for number in 1...30 { try device.expectMessage { $0["id"] == "m\(number)" } }
        let nextServer = try TestAppServer(next, sender: sender)
        #expect(try nextServer.send("after", to: device.token) == "ACK")
        try device.expectMessage { $0["id"] == "after" }
        #expect(try nextServer.send("topic", to: "/topics/news") == "ACK")
        try device.expectMessage { $0["id"] == "topic" }
    }

    @Test("a damaged backup exits with 65, and what is no backup with 65 or 74")
    func damaged() throws {
        let daemon = try RunningDaemon()
        let backup = daemon.directory.appendingPathComponent("backup")
        _ = try daemon.ctl("backup", backup.path)
        let manifest = backup.appendingPathComponent("backup.json")
        let file = backup.appendingPathComponent("ca.key")
        let content = try Data(contentsOf: file)
        try content.dropLast().write(to: file)
        let scratch = try Scratch()
        let truncated = try restore(backup.path, to: scratch)
        #expect(truncated.code == 65 && truncated.errors.contains("damaged backup: ca.key"), "\(truncated)")
        try FileManager.default.removeItem(at: manifest)
        let none = try restore(backup.path, to: scratch)
        #expect(none.code == 65 && none.errors.contains("is not a backup"), "\(none)")
        let missing = try restore("/none", to: scratch)
        #expect(missing.code == 74 && missing.errors.contains("No such file"), "\(missing)")
        #expect(!FileManager.default.fileExists(atPath: scratch.url.appendingPathComponent("data").path))
    }

    @Test("a backup is completed although its caller has left")
    func callerLeft() throws {
        let daemon = try RunningDaemon()
        let backup = daemon.directory.appendingPathComponent("backup").path
        let request = "{\"command\":\"backup\",\"arguments\":{\"path\":\"\(backup)\"}}\n"
        let socket = try ControlSocket(daemon.controlSocket)
        try socket.send(request)
        socket.close()
        try eventually("the backup is complete") {
            FileManager.default.fileExists(atPath: backup + "/backup.json")
        }
        #expect(try restore(backup, to: try Scratch(), "--verify").code == 0)
        try eventually("the log names it") { daemon.words.contains("event=backup_made") }
    }

    @Test(
        "a full disk in the middle of a backup removes it, and the server goes on",
        .enabled(if: DiskLibrary.canBeBuilt, "gcc is not installed"))
    func fullDisk() throws {
        let scratch = try Scratch()
        let folder = scratch.url.appendingPathComponent("backups")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let control = scratch.url.appendingPathComponent("disk")
        let daemon = try RunningDaemon(
            continuing: scratch,
            environment: [
                "LD_PRELOAD": try DiskLibrary.preload, "FAULTY_DISK_CONTROL": control.path,
                "FAULTY_DISK_ROOT": folder.path,
            ])
        let sender = try daemon.firstSender
        let device = try TestDevice(daemon, sender: sender.id)
        let server = try TestAppServer(daemon, sender: sender)
        for (calls, after) in [("write", 0), ("write", 2), ("sync", 3)] {
            let words = "error=ENOSPC calls=\(calls) after=\(after)"
            try words.write(to: control, atomically: true, encoding: .utf8)
            let full = try Tool.run(
                "ccsctl",
                ["--socket", daemon.controlSocket, "backup", folder.appendingPathComponent("full").path])
            #expect(full.code == 1 && full.errors.contains("No space left on device"), "\(words): \(full)")
            #expect(full.errors.contains("free space"), "\(words): \(full)")
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [], "\(words)")
        }
        try FileManager.default.removeItem(at: control)
        #expect(try server.send("m1", to: device.token) == "ACK")
        _ = try daemon.ctl("backup", folder.appendingPathComponent("full").path)
    }

    @Test("backups at random moments under load are complete, and canaries are found")
    func moments() throws {
        func run(_ more: String...) throws -> Tool {
            let scratch = try Scratch()
            return try Tool.run(
                "ccs-bench",
                ["backup", "--json", "--directory", scratch.url.path, "--moments", "3", "--pause", "600"]
                    + ["--rate", "300", "--devices", "20", "--connections", "2"] + more)
        }
        let bench = try run()
        #expect(bench.code == 0, "\(bench)")
        let backups = try #require(bench.object?["backups"] as? [[String: Any]])
        #expect(backups.count == 3 && backups.allSatisfy { $0["audit_holds"] as? Bool == true }, "\(bench)")
        #expect((backups.last?["acknowledged_before"] as? Int ?? 0) > 100, "too little load: \(bench)")
        for plant in ["loss", "surplus"] {
            let canary = try run("--plant", plant)
            #expect(canary.code == 1 && canary.errors.contains("a backup is not complete"), "\(canary)")
        }
    }
}

/// A raw connection to the control socket.
private final class ControlSocket {
    private let descriptor: Int32

    init(_ path: String) throws {
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let code = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard code == 0 else { throw HarnessFailure("cannot connect to \(path)") }
    }

    func send(_ text: String) throws {
        let bytes = Array(text.utf8)
        guard write(descriptor, bytes, bytes.count) == bytes.count else {
            throw HarnessFailure("cannot send")
        }
    }

    func close() { Glibc.close(descriptor) }
}
