import Foundation
import Testing

/// A disk that is full or fails under the real daemon: nothing is acknowledged that is not on it, senders and orchestrators
/// are told, and all goes on when it is well again, without a restart (design 8).
@Suite("A bad disk", .serialized, .enabled(if: DiskLibrary.canBeBuilt, "gcc is missing"))
struct BadDiskTests {
    struct Trouble: CustomTestStringConvertible, Sendable {
        var words: String
        /// What the log and `/readyz` call it.
        var kind: String
        var testDescription: String { words }
    }

    static let troubles = [
        Trouble(words: "error=ENOSPC calls=open,write,allocate,room", kind: "full"),
        // The system says that there is room, and there is none: a quota, or the reserve of the superuser.
        Trouble(words: "error=EDQUOT short=1 calls=write,allocate,mkdir", kind: "full"),
        Trouble(words: "error=EIO calls=sync", kind: "input_output"),
        Trouble(words: "error=EIO", kind: "input_output"),
    ]

    @Test(
        "senders hear SERVICE_UNAVAILABLE, /readyz answers 503, and both end with the trouble",
        arguments: troubles)
    func trouble(_ trouble: Trouble) throws {
        let disk = try FaultyDisk()
        let port = UInt16.random(in: 19_500...19_900)
        let daemon = try RunningDaemon(
            continuing: disk.scratch, flags: ["--admin-port", "\(port)"], environment: disk.environment)
        let sender = try daemon.firstSender
        let device = try TestDevice(daemon, sender: sender.id)
        device.stop()
        let server = try TestAppServer(daemon, sender: sender)
        #expect(try server.send("before", to: device.token) == "ACK")
        #expect(try PlainHTTP.get("/readyz", port: port).hasPrefix("HTTP/1.1 200 "))

        try disk.fail(trouble.words)
        #expect(try server.send("during-1", to: device.token) == "SERVICE_UNAVAILABLE")
        #expect(try server.send("during-2", to: device.token) == "SERVICE_UNAVAILABLE")
        let page = try PlainHTTP.get("/readyz", port: port)
        #expect(page.hasPrefix("HTTP/1.1 503 ") && page.contains(trouble.kind), "\(page)")
        #expect(
            try PlainHTTP.get("/healthz", port: port).hasPrefix("HTTP/1.1 200 "),
            "it is no reason to be killed")
        #expect(daemon.words.contains("event=store_failed kind=\(trouble.kind)"))

        try disk.heal()
        // Nobody sends anything to what is not ready: it must find out by itself.
        try eventually("it is ready again") {
            try PlainHTTP.get("/readyz", port: port).hasPrefix("HTTP/1.1 200 ")
        }
        #expect(daemon.words.contains("event=store_recovered"))
        #expect(try server.send("after", to: device.token) == "ACK")
        daemon.signal(SIGKILL)
        #expect(try daemon.wait() == -SIGKILL)

        let next = try RunningDaemon(continuing: disk.scratch)
        try device.start(next)
        // What was refused may come all the same: that its sync failed does not say that it is not there.
        for id in ["before", "after"] { try device.expectMessage { $0["id"] == id } }
        #expect(try next.ctl("audit")["holds"] as? Bool == true)
    }

    @Test(
        "a device gets no stream ack for what is not on the disk; what it repeats afterwards arrives",
        arguments: [troubles[0], troubles[2]])
    func upstream(_ trouble: Trouble) throws {
        let disk = try FaultyDisk()
        let port = UInt16.random(in: 19_500...19_900)
        let daemon = try RunningDaemon(
            continuing: disk.scratch, flags: ["--admin-port", "\(port)"], environment: disk.environment)
        let sender = try daemon.firstSender
        let device = try TestDevice(daemon, sender: sender.id)
        let server = try TestAppServer(daemon, sender: sender)
        device.send(id: "before", pairs: [(key: "n", value: "1")])
        try device.expectStored("before")
        try server.expectUpstream("before")

        try disk.fail(trouble.words)
        device.send(id: "during", pairs: [(key: "n", value: "2")])
        // By the answer the server has the message as well, which came before.
        try device.heartbeat()
        try eventually("the store has refused it") {
            try PlainHTTP.get("/metrics", port: port).contains(
                #"ccs_messages_total{direction="upstream",milestone="refused"} 1"#)
        }
        try device.heartbeat()
        #expect(device.stored == ["persistent-before"])
        try disk.heal()
        try eventually("it is ready again") {
            try PlainHTTP.get("/readyz", port: port).hasPrefix("HTTP/1.1 200 ")
        }
        // A device repeats at its next login what was not acknowledged.
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
        "a disk that stays full is one line at once, then one every 30 s with its count, whatever is tried meanwhile"
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
        try disk.fail(Self.troubles[0].words)
        var number = 0
        // The store tries ten times a second, and so do senders.
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
        try eventually("it is well again") { daemon.words.contains("event=store_recovered") }
    }

    @Test("canary: a daemon whose disk is well acknowledges and is ready")
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
