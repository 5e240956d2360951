import Basics
import Client
import Foundation
import Testing
import Wire

/// A damaged store under the real daemon: the damage is reported, no file is removed, and the data is complete again once
/// the byte is restored.
@Suite("A damaged store", .serialized)
struct DamagedStoreTests {
    /// The folder of a store, whose bytes can be changed.
    private struct Folder {
        let path: String

        init(_ scratch: Scratch) { path = scratch.url.appendingPathComponent("data/store").path }

        /// Returns the last file by name that has this prefix or suffix.
        func newest(_ mark: String) throws -> URL {
            let names = try FileManager.default.contentsOfDirectory(atPath: path)
            guard let name = names.filter({ $0.hasPrefix(mark) || $0.hasSuffix(mark) }).max() else {
                throw HarnessFailure("no \(mark) in \(path)")
            }
            return URL(fileURLWithPath: "\(path)/\(name)")
        }

        /// Inverts one bit of the byte in the middle of a file; a second call restores it.
        func flip(_ file: URL) throws {
            let handle = try FileHandle(forUpdating: file)
            defer { try? handle.close() }
            let middle = try handle.seekToEnd() / 2
            try handle.seek(toOffset: middle)
            guard let byte = try handle.read(upToCount: 1)?.first else {
                throw HarnessFailure("\(file) is empty")
            }
            try handle.seek(toOffset: middle)
            try handle.write(contentsOf: Data([byte ^ 0x10]))
        }

        /// Returns all files except the lock file.
        func contents() throws -> [String: Data] {
            var files: [String: Data] = [:]
            for name in try FileManager.default.contentsOfDirectory(atPath: path) where name != "LOCK" {
                files[name] = try Data(contentsOf: URL(fileURLWithPath: "\(path)/\(name)"))
            }
            return files
        }
    }

    private func flags(_ scratch: Scratch) -> [String] {
        ["--data-directory", scratch.url.appendingPathComponent("data").path]
            + ["app-server", "app-server-preproduction", "device", "https"].flatMap { ["--\($0)-port", "0"] }
    }

    @Test("ccsd names the file and exits with 74 when a journal byte is changed, until the loss is accepted")
    func lostLog() throws {
        let daemon = try RunningDaemon()
        let sender = try daemon.firstSender
        let device = try TestDevice(daemon, sender: sender.id)
        device.stop()
        let server = try TestAppServer(daemon, sender: sender)
        for number in 1...40 { #expect(try server.send("m\(number)", to: device.token) == "ACK") }
        daemon.signal(SIGKILL)
        #expect(try daemon.wait() == -SIGKILL)

        let folder = Folder(daemon.scratch)
        let log = try folder.newest("journal-")
        let whole = try folder.contents()
        try folder.flip(log)
        let damaged = try folder.contents()
        #expect(damaged != whole)
        for _ in 1...2 {
            let refused = try Tool.run("ccsd", flags(daemon.scratch))
            #expect(refused.code == 74, "\(refused)")
            #expect(refused.errors.contains(log.lastPathComponent), "\(refused)")
            #expect(refused.errors.contains("ccsd accept-loss"), "\(refused)")
        }
        #expect(try folder.contents() == damaged, "a file was removed or written")

        try folder.flip(log)
        let next = try RunningDaemon(continuing: daemon.scratch)
        #expect(try next.ctl("audit")["holds"] as? Bool == true)
        #expect(try pending(next) == 40)
        #expect(try Tool.run("ccsd", ["accept-loss"] + flags(daemon.scratch)).code == 74, "the store is open")
        let other = try TestAppServer(next, sender: sender)
        #expect(try other.send("m41", to: device.token) == "ACK")
        next.signal(SIGKILL)
        #expect(try next.wait() == -SIGKILL)

        // The way out for an operator without a backup.
        try folder.flip(try folder.newest("journal-"))
        let accepted = try Tool.run("ccsd", ["accept-loss"] + flags(daemon.scratch))
        #expect(accepted.code == 0 && accepted.output.contains("is accepted"), "\(accepted)")
        let again = try Tool.run("ccsd", ["accept-loss"] + flags(daemon.scratch))
        #expect(again.code == 0 && again.output.contains("No loss was found"), "\(again)")
        let last = try RunningDaemon(continuing: daemon.scratch)
        #expect(try last.ctl("audit")["holds"] as? Bool == true)
        let left = try pending(last)
        #expect(left >= 40 && left <= 41)
        try device.start(last)
        for number in 1...40 { try device.expectMessage { $0["id"] == "m\(number)" } }
    }

    private func pending(_ daemon: RunningDaemon) throws -> Int {
        (try daemon.ctl("audit")["downstream"] as? [String: Any])?["pending"] as? Int ?? -1
    }

    /// Returns a legacy HTTP request of an app server.
    private func call(_ path: String, _ sender: (id: String, key: String), _ body: String) -> HTTPCall {
        var call = HTTPCall("POST", path)
        call.headers.append((name: "Authorization", value: Redacted("key=\(sender.key)")))
        call.add("project_id", sender.id)
        call.add("Content-Type", "application/json")
        call.body = Array(body.utf8)
        return call
    }

    struct Damage: CustomTestStringConvertible, Sendable {
        var file: String
        var kind: String
        var testDescription: String { "\(file): \(kind)" }
    }

    @Test(
        "the daemon refuses XMPP and HTTP requests when it finds damage at run time, and resumes after repair",
        .enabled(if: DiskLibrary.canBeBuilt, "gcc is missing"),
        arguments: [Damage(file: "MANIFEST-", kind: "damaged"), Damage(file: "journal-", kind: "lost")])
    func running(_ damage: Damage) throws {
        let disk = try FaultyDisk()
        let port = UInt16(try RunningDaemon.freePort())
        let daemon = try RunningDaemon(
            continuing: disk.scratch, flags: ["--admin-port", "\(port)"], environment: disk.environment)
        let sender = try daemon.firstSender
        let device = try TestDevice(daemon, sender: sender.id)
        device.stop()
        let server = try TestAppServer(daemon, sender: sender)
        for number in 1...10 { #expect(try server.send("m\(number)", to: device.token) == "ACK") }
        let call = self.call("/fcm/send", sender, #"{"to":"\#(device.token)","data":{"id":"http"}}"#)
        let group = self.call(
            "/fcm/notification", sender,
            #"{"operation":"create","notification_key_name":"n","registration_ids":["\#(device.token)"]}"#)
        #expect(try device.call(daemon, call).status == 200)

        // The store reopens after a failed write and finds the damage done in between.
        try disk.fail("error=EIO calls=sync")
        #expect(try server.send("during-1", to: device.token) == "SERVICE_UNAVAILABLE")
        let folder = Folder(disk.scratch)
        let file = try folder.newest(damage.file)
        try folder.flip(file)
        try disk.heal()
        try eventually("/readyz names the damage") {
            try PlainHTTP.get("/readyz", port: port).contains(damage.kind)
        }
        #expect(try PlainHTTP.get("/readyz", port: port).hasPrefix("HTTP/1.1 503 "))
        #expect(daemon.words.contains("event=store_failed kind=\(damage.kind)"))
        #expect(daemon.words.contains(file.lastPathComponent))
        let before = try folder.contents()
        #expect(try server.send("during-2", to: device.token) == "SERVICE_UNAVAILABLE")
        // The legacy interface reports the failure for each token, in a response with status 200.
        let response = try device.call(daemon, call)
        #expect(response.text.contains(#"[{"error":"Unavailable"}]"#), "\(response.status) \(response.text)")
        let answer = try device.call(daemon, group)
        #expect(answer.status == 503, "\(answer.status) \(answer.text)")
        #expect(try PlainHTTP.get("/healthz", port: port).hasPrefix("HTTP/1.1 200 "))
        #expect(try folder.contents() == before, "a file was removed or written")

        try folder.flip(file)
        try eventually("the daemon is ready again") {
            try PlainHTTP.get("/readyz", port: port).hasPrefix("HTTP/1.1 200 ")
        }
        #expect(try server.send("after", to: device.token) == "ACK")
        for call in [call, group] { #expect(try device.call(daemon, call).status == 200) }
        try device.start(daemon)
        for id in (1...10).map({ "m\($0)" }) + ["http", "after"] {
            try device.expectMessage { $0["id"] == id }
        }
        #expect(try daemon.ctl("audit")["holds"] as? Bool == true)
    }
}
