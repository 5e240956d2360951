import Basics
import Client
import Foundation
import Testing

/// A changed byte in a table file under the real daemon: it is found although no request reads it, and every signal of health shows it,
/// until the store can be read again.
@Suite("A damaged table", .serialized)
struct DamagedTableTests {
    private func flags(_ scratch: Scratch) -> [String] {
        ["--data-directory", scratch.url.appendingPathComponent("data").path]
    }

    /// Returns the names of the tables that have a row of a column family.
    private func tables(of family: String, _ scratch: Scratch) throws -> [String] {
        let folder = scratch.url.appendingPathComponent("data/store")
        // A table names its column family among its properties: rocksdb.column.family.name, whose prefix is shared with the key before.
        let mark = Data("name\(family)".utf8)
        return try FileManager.default.contentsOfDirectory(atPath: folder.path)
            .filter { $0.hasSuffix(".sst") }
            .filter {
                // A file may be removed meanwhile.
                (try? Data(contentsOf: folder.appendingPathComponent($0)))?.range(of: mark) != nil
            }
            .sorted()
    }

    /// Inverts a bit in the largest table, the one with the messages. Returns its name.
    @discardableResult private func flip(_ scratch: Scratch) throws -> String {
        let folder = scratch.url.appendingPathComponent("data/store")
        let tables = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            .filter { $0.hasSuffix(".sst") }
            .map { (name: $0, bytes: try Data(contentsOf: folder.appendingPathComponent($0))) }
        let table = try #require(tables.max { $0.bytes.count < $1.bytes.count })
        var bytes = table.bytes
        bytes[bytes.count / 5] ^= 0x10
        let file = try FileHandle(forWritingTo: folder.appendingPathComponent(table.name))
        defer { try? file.close() }
        try file.write(contentsOf: bytes)
        return table.name
    }

    @Test(
        "a device whose messages the disk cannot read is refused by that name, and the store stays damaged until a check",
        .enabled(if: DiskLibrary.canBeBuilt, "gcc is missing"))
    func unreadable() throws {
        // A fault may come when the rows are in memory already, or meet a compaction, as one of those that a start makes.
        for _ in 0..<5 where try isRefused() { return }
        Issue.record("no read of a device has met the fault")
    }

    /// Has the disk fail when a device is read. Returns `false` if only something else met the fault.
    private func isRefused() throws -> Bool {
        let disk = try FaultyDisk()
        let daemon = try RunningDaemon(continuing: disk.scratch)
        let sender = try daemon.firstSender
        let device = try TestDevice(daemon, sender: sender.id)
        device.stop()
        let server = try TestAppServer(daemon, sender: sender)
        #expect(try server.send("m1", to: device.token) == "ACK")
        daemon.signal(SIGTERM)
        #expect(try daemon.wait() == 0)

        let next = try RunningDaemon(continuing: disk.scratch, environment: disk.environment)
        let sending = try TestAppServer(next, sender: sender)
        let tables = try tables(of: "registry", disk.scratch)
        try disk.fail("error=EIO calls=read file=\(tables.joined(separator: ","))")
        let answer = try sending.send("m2", to: device.token)
        try disk.heal()
        guard answer != "ACK", !next.words.contains("event=store_failed") else { return false }
        #expect(answer == "SERVICE_UNAVAILABLE")
        let text = sending.descriptions["m2"] ?? ""
        #expect(text.contains("The store of this server is damaged"), "\(text)")
        #expect(next.words.contains("event=store_damaged table="), "\(next.words)")
        #expect(try Tool.run("ccsctl", ["--socket", next.controlSocket, "health"]).code == 20)
        next.signal(SIGTERM)
        // A table that was being written may have met the fault as well; then the store cannot be closed without a failure.
        let code = try next.wait()
        #expect(code == 0 || code == 74 && next.words.contains("event=store_close_failed"), "\(next.words)")

        let marked = try RunningDaemon(continuing: disk.scratch)
        #expect(try Tool.run("ccsctl", ["--socket", marked.controlSocket, "health"]).code == 20)
        marked.signal(SIGTERM)
        #expect(try marked.wait() == 0)
        let mended = try Tool.run("ccsd", ["check", "--store"] + flags(disk.scratch))
        #expect(mended.code == 0 && mended.output.contains("not marked as damaged any more"), "\(mended)")
        return true
    }

    @Test(
        "ccsd finds a damaged table by itself, reports it everywhere, also after a restart, and serves the rest"
    )
    func everywhere() throws {
        let daemon = try RunningDaemon()
        let sender = try daemon.firstSender
        let device = try TestDevice(daemon, sender: sender.id)
        device.stop()
        let server = try TestAppServer(daemon, sender: sender)
        // Long IDs, so that the messages fill the largest table.
        let ids = (1...80).map {
            "m\($0)-" + (0..<20).map { _ in String(UInt32.random(in: 0...9_999_999)) }.joined()
        }
        for id in ids { #expect(try server.send(id, to: device.token) == "ACK") }
        daemon.signal(SIGTERM)
        #expect(try daemon.wait() == 0)
        let sound = try Tool.run("ccsd", ["check", "--store"] + flags(daemon.scratch))
        #expect(sound.code == 0 && sound.output.contains("Everything can be read."), "\(sound)")

        let table = try flip(daemon.scratch)
        for round in 1...2 {
            let port = UInt16(try RunningDaemon.freePort())
            let next = try RunningDaemon(continuing: daemon.scratch, flags: ["--admin-port", "\(port)"])
            try eventually("the damage is found") {
                next.words.contains("event=store_damaged table=\(table)")
            }
            let health = try Tool.run("ccsctl", ["--socket", next.controlSocket, "health"])
            #expect(health.code == 20 && health.output.contains(table), "\(health)")
            #expect(health.output.contains("column family pending"), "\(health)")
            let ready = try PlainHTTP.get("/readyz", port: port)
            #expect(
                ready.hasPrefix("HTTP/1.1 200 ") && ready.contains("error: the store is damaged"), "\(ready)")
            #expect(try PlainHTTP.get("/metrics", port: port).contains("ccs_store_damaged_tables 1"))
            let audit = try Tool.run("ccsctl", ["--socket", next.controlSocket, "audit"])
            #expect(audit.code == 1 && audit.output.contains(table), "\(audit)")
            #expect(!audit.output.contains("report a bug"), "\(audit)")
            let backup = try Tool.run(
                "ccsctl",
                ["--socket", next.controlSocket, "backup", daemon.scratch.url.path + "/backup-\(round)"])
            #expect(backup.code == 1 && backup.errors.contains(table), "\(backup)")
            let other = try TestDevice(next, sender: sender.id)
            let sending = try TestAppServer(next, sender: sender)
            #expect(try sending.send("n\(round)", to: other.token) == "ACK")
            try other.expectMessage { $0["id"] == "n\(round)" }
            next.signal(SIGTERM)
            #expect(try next.wait() == 0)
        }
        let damaged = try Tool.run("ccsd", ["check", "--store"] + flags(daemon.scratch))
        #expect(damaged.code == 74 && damaged.output.contains(table), "\(damaged)")

        try flip(daemon.scratch)
        let mended = try Tool.run("ccsd", ["check", "--store"] + flags(daemon.scratch))
        #expect(mended.code == 0 && mended.output.contains("not marked as damaged any more"), "\(mended)")
        let last = try RunningDaemon(continuing: daemon.scratch)
        #expect(try Tool.run("ccsctl", ["--socket", last.controlSocket, "health"]).code == 0)
        try device.start(last)
        for id in ids { try device.expectMessage { $0["id"] == id } }
    }
}
