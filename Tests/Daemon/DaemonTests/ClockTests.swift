import Client
import ClientProtocol
import Foundation
import Testing
import Transport

/// The real daemon and store on a machine whose clock is wrong (Debian's libfaketime).
@Suite(
    "A wrong clock", .serialized, .enabled(if: TestPaths.hasFakeTime, "run Scripts/bootstrap --tests first"))
struct ClockTests {
    /// Returns the environment for an offset (`+400d`) or a fixed time.
    static func clock(_ setting: String) -> [String: String] {
        ["LD_PRELOAD": TestPaths.fakeTime, "FAKETIME": setting, "FAKETIME_DONT_FAKE_MONOTONIC": "1"]
    }

    private func stop(_ daemon: RunningDaemon) throws {
        daemon.signal(SIGTERM)
        #expect(try daemon.wait() == 0)
    }

    private func figure(_ audit: [String: Any], _ name: String) -> Int {
        (audit["downstream"] as? [String: Any])?[name] as? Int ?? -1
    }

    private func isInDoubt(_ daemon: RunningDaemon) throws -> Bool? {
        try daemon.ctl("clock", "show")["in_doubt"] as? Bool
    }

    /// Waits for several sweeps of messages and devices.
    private func letItSweep() { Foundation.Thread.sleep(forTimeInterval: 4) }

    @Test(
        "nothing expires when the clock is 400 days ahead, the doubt is reported, and delivery resumes later"
    )
    func ahead() throws {
        let first = try RunningDaemon()
        let sender = try first.firstSender.id
        let device = try TestDevice(first, sender: sender)
        device.stop()
        for number in 1...5 {
            _ = try first.ctl("send", sender, device.token, "n=\(number)", "--time-to-live", "600")
        }
        #expect(try isInDoubt(first) == false)
        try stop(first)

        let port = UInt16(try RunningDaemon.freePort())
        let wrong = try RunningDaemon(
            continuing: first.scratch, flags: ["--admin-port", "\(port)"], environment: Self.clock("+400d"))
        letItSweep()
        let audit = try wrong.ctl("audit")
        #expect(audit["devices"] as? Int == 1 && audit["registrations"] as? Int == 1)
        #expect(
            figure(audit, "pending") == 5 && figure(audit, "expired") == 0 && figure(audit, "removed") == 0)
        #expect(wrong.words.contains("event=clock_in_doubt") && wrong.words.contains("days ahead"))
        let readiness = try PlainHTTP.get("/readyz", port: port)
        #expect(readiness.contains("the clock is in doubt"), "\(readiness)")
        #expect(try PlainHTTP.get("/metrics", port: port).contains("ccs_clock_in_doubt 1"))
        #expect((try wrong.ctl("status")["clock_problem"] as? String)?.contains("days ahead") == true)
        // A message accepted during the doubt has its full lifetime.
        _ = try wrong.ctl("send", sender, device.token, "n=6", "--time-to-live", "600")
        try stop(wrong)

        let right = try RunningDaemon(continuing: first.scratch)
        #expect(try isInDoubt(right) == false)
        try device.start(right)
        for number in 1...6 { try device.expectMessage { $0["n"] == "\(number)" } }
        device.stop()
        try eventually("all messages are delivered", seconds: Patience.seconds) {
            figure(try right.ctl("audit"), "delivered") == 6
        }
        #expect(try right.ctl("audit")["holds"] as? Bool == true)
    }

    @Test("a clock that is wrong by a day for seconds, forward and back, changes no expiry while ccsd runs")
    func jumped() throws {
        let scratch = try Scratch()
        let file = scratch.url.appendingPathComponent("time")
        func set(_ offset: String) throws {
            try Data("\(offset)\n".utf8).write(to: file, options: .atomic)
        }
        try set("+0")
        var environment = Self.clock("+0")
        environment["FAKETIME"] = nil
        environment["FAKETIME_TIMESTAMP_FILE"] = file.path
        environment["FAKETIME_NO_CACHE"] = "1"
        let daemon = try RunningDaemon(environment: environment)
        let sender = try daemon.firstSender.id
        let device = try TestDevice(daemon, sender: sender)
        device.stop()
        func send(_ number: Int, lifetime: Int) throws {
            _ = try daemon.ctl(
                "send", sender, device.token, "n=\(number)", "--time-to-live", "\(lifetime)")
        }
        try send(1, lifetime: 600)
        #expect(try isInDoubt(daemon) == false)
        for (number, offset) in ["+1d", "-1d"].enumerated() {
            try set(offset)
            try eventually("it is reported") { try isInDoubt(daemon) == true }
            try send(2 + number, lifetime: 600)
            try send(9, lifetime: 2)
            try eventually("the message with a lifetime of 2 s expires", seconds: Patience.seconds) {
                figure(try daemon.ctl("audit"), "expired") == number + 1
            }
        }
        #expect(daemon.words.contains("it jumped"), "the log names the problem")
        try set("+0")
        try eventually("the right clock is believed at once") { try isInDoubt(daemon) == false }
        let audit = try daemon.ctl("audit")
        #expect(
            figure(audit, "pending") == 3 && figure(audit, "expired") == 2 && figure(audit, "removed") == 0)
        try device.start(daemon)
        for number in 1...3 { try device.expectMessage { $0["n"] == "\(number)" } }
        device.stop()
    }

    @Test("a device that registered in 1970 does not expire when the clock is corrected")
    func nineteenSeventy() throws {
        let first = try RunningDaemon(environment: Self.clock("@1970-01-01 00:10:00"))
        #expect(try isInDoubt(first) == true)
        let refused = try Tool.run("ccsctl", ["--socket", first.controlSocket, "clock", "accept", "--yes"])
        #expect(refused.code == 1 && refused.errors.contains("1970"), "\(refused)")
        let sender = try first.firstSender.id
        // The certificate dates from 1970, which this client would reject by its own clock.
        let endpoint = try Endpoint(
            host: "127.0.0.1", port: UInt16(first.port("https")), tls: TLSClientSettings(trust: .anyone))
        let made = try DeviceEnrolment.run(
            nil, DeviceCalls.App(category: "com.example.app", sender: sender),
            reactor: Reactor(index: 0), endpoint: endpoint)
        _ = try first.ctl("send", sender, made.token, "n=1", "--time-to-live", "60")
        try stop(first)
        let right = try RunningDaemon(continuing: first.scratch)
        letItSweep()
        #expect(try isInDoubt(right) == false)
        let audit = try right.ctl("audit")
        #expect(audit["devices"] as? Int == 1 && figure(audit, "pending") == 1)
    }

    @Test("ccsctl clock accept ends the doubt; canary: devices and messages then expire by that clock")
    func accepted() throws {
        let first = try RunningDaemon()
        let sender = try first.firstSender.id
        let device = try TestDevice(first, sender: sender)
        device.stop()
        _ = try first.ctl("send", sender, device.token, "n=1", "--time-to-live", "600")
        try stop(first)
        let wrong = try RunningDaemon(continuing: first.scratch, environment: Self.clock("+400d"))
        #expect(try isInDoubt(wrong) == true)
        #expect(try wrong.ctl("clock", "accept", "--yes")["accepted"] as? Bool == true)
        #expect(try isInDoubt(wrong) == false)
        #expect(wrong.words.contains("command=\"clock accept\""))
        try eventually("the device and its message have expired", seconds: Patience.seconds) {
            let audit = try wrong.ctl("audit")
            return audit["devices"] as? Int == 0 && figure(audit, "pending") == 0
        }
        #expect(try wrong.ctl("clock", "accept", "--yes")["accepted"] as? Bool == false)
    }
}
