import Foundation
import Testing

/// A full or failing disk under the real daemon: only durable messages are acknowledged, app servers and orchestrators are
/// notified, and service resumes without a restart when the disk recovers.
@Suite("A bad disk", .serialized, .enabled(if: DiskLibrary.canBeBuilt, "gcc is missing"))
struct BadDiskTests {
    struct DiskFault: CustomTestStringConvertible, Sendable {
        var words: String
        /// The name of the fault in the log and on `/readyz`.
        var kind: String
        var testDescription: String { words }
    }

    static let faults = [
        DiskFault(words: "error=ENOSPC calls=open,write,allocate,room", kind: "full"),
        // statvfs reports free space but writes fail: a quota, or the blocks reserved for the superuser.
        DiskFault(words: "error=EDQUOT short=1 calls=write,allocate,mkdir", kind: "full"),
        DiskFault(words: "error=EIO calls=sync", kind: "input_output"),
        DiskFault(words: "error=EIO", kind: "input_output"),
    ]

    @Test(
        "app servers get SERVICE_UNAVAILABLE and /readyz returns 503 while the disk fails",
        arguments: faults)
    func fault(_ fault: DiskFault) throws {
        let disk = try FaultyDisk()
        let port = UInt16(try RunningDaemon.freePort())
        let daemon = try RunningDaemon(
            continuing: disk.scratch, flags: ["--admin-port", "\(port)"], environment: disk.environment)
        let sender = try daemon.firstSender
        let device = try TestDevice(daemon, sender: sender.id)
        device.stop()
        let server = try TestAppServer(daemon, sender: sender)
        #expect(try server.send("before", to: device.token) == "ACK")
        #expect(try PlainHTTP.get("/readyz", port: port).hasPrefix("HTTP/1.1 200 "))

        try disk.fail(fault.words)
        #expect(try server.send("during-1", to: device.token) == "SERVICE_UNAVAILABLE")
        #expect(try server.send("during-2", to: device.token) == "SERVICE_UNAVAILABLE")
        let page = try PlainHTTP.get("/readyz", port: port)
        #expect(page.hasPrefix("HTTP/1.1 503 ") && page.contains(fault.kind), "\(page)")
        #expect(
            try PlainHTTP.get("/healthz", port: port).hasPrefix("HTTP/1.1 200 "),
            "a liveness probe must not restart the daemon")
        #expect(daemon.words.contains("event=store_failed kind=\(fault.kind)"))

        try disk.heal()
        // An unready server gets no traffic, so it must detect the recovery itself.
        try eventually("the daemon is ready again") {
            try PlainHTTP.get("/readyz", port: port).hasPrefix("HTTP/1.1 200 ")
        }
        #expect(daemon.words.contains("event=store_recovered"))
        #expect(try server.send("after", to: device.token) == "ACK")
        daemon.signal(SIGKILL)
        #expect(try daemon.wait() == -SIGKILL)

        let next = try RunningDaemon(continuing: disk.scratch)
        try device.start(next)
        // The refused messages may arrive as well: a failed sync does not prove that the data is not on disk.
        for id in ["before", "after"] { try device.expectMessage { $0["id"] == id } }
        #expect(try next.ctl("audit")["holds"] as? Bool == true)
    }

    @Test(
        "a device gets no stream ack for a message when the disk fails, and its repetition arrives after recovery",
        arguments: [faults[0], faults[2]])
    func upstream(_ fault: DiskFault) throws {
        let disk = try FaultyDisk()
        let port = UInt16(try RunningDaemon.freePort())
        let daemon = try RunningDaemon(
            continuing: disk.scratch, flags: ["--admin-port", "\(port)"], environment: disk.environment)
        let sender = try daemon.firstSender
        let device = try TestDevice(daemon, sender: sender.id)
        let server = try TestAppServer(daemon, sender: sender)
        device.send(id: "before", pairs: [(key: "n", value: "1")])
        try device.expectStored("before")
        try server.expectUpstream("before")

        try disk.fail(fault.words)
        device.send(id: "during", pairs: [(key: "n", value: "2")])
        // The answer proves that the server has read the message sent before the ping.
        try device.heartbeat()
        try eventually("the store has refused it") {
            try PlainHTTP.get("/metrics", port: port).contains(
                #"ccs_messages_total{direction="upstream",milestone="refused"} 1"#)
        }
        try device.heartbeat()
        #expect(device.stored == ["persistent-before"])
        try disk.heal()
        try eventually("the daemon is ready again") {
            try PlainHTTP.get("/readyz", port: port).hasPrefix("HTTP/1.1 200 ")
        }
        // A device repeats unacknowledged messages at its next login.
        device.stop()
        try device.start(daemon)
        device.send(id: "during", pairs: [(key: "n", value: "2")])
        device.send(id: "after", pairs: [(key: "n", value: "3")])
        try device.expectStored("during")
        try device.expectStored("after")
        for id in ["during", "after"] { try server.expectUpstream(id) }
        #expect(try daemon.ctl("audit")["holds"] as? Bool == true)
    }

    @Test(
        "the log has one line when a disk is full, then one every 30 s with its count, at any rate of attempts"
    )
    func staysFull() throws {
        let disk = try FaultyDisk()
        let daemon = try RunningDaemon(continuing: disk.scratch, environment: disk.environment)
        let sender = try daemon.firstSender
        let device = try TestDevice(daemon, sender: sender.id)
        device.stop()
        let server = try TestAppServer(daemon, sender: sender)
        func lines() -> [Substring] { daemon.words.split(separator: "\n") }
        let before = lines().count
        try disk.fail(Self.faults[0].words)
        var number = 0
        // The store retries ten times a second, and so do the app servers.
        try eventually("the line is repeated with its count", seconds: 120) {
            number += 1
            let answer = try server.send("m-\(number)", to: device.token)
            #expect(answer == "SERVICE_UNAVAILABLE")
            return lines().contains { $0.contains("event=store_failed") && $0.contains(" repeated=") }
        }
        let failures = lines().filter { $0.contains("event=store_failed") }
        let repeated = failures.compactMap { $0.firstMatch(of: /repeated=(\d+)/).flatMap { Int($0.1) } }
        #expect(failures.count <= 3 && (repeated.first ?? 0) > 50, "\(failures)")
        #expect(lines().count - before < 10, "\(lines().suffix(20))")
        try disk.heal()
        try eventually("the store has recovered") { daemon.words.contains("event=store_recovered") }
    }

    @Test("canary: a daemon acknowledges and is ready when its disk works")
    func canary() throws {
        let disk = try FaultyDisk()
        let daemon = try RunningDaemon(continuing: disk.scratch, environment: disk.environment)
        let sender = try daemon.firstSender
        let device = try TestDevice(daemon, sender: sender.id)
        let server = try TestAppServer(daemon, sender: sender)
        #expect(try server.send("well", to: device.token) == "ACK")
        try disk.fail("error=EIO calls=read,rename after=1000000")
        #expect(try server.send("still well", to: device.token) == "ACK")
    }
}
