import Basics
import Delivery
import Sessions
import Testing
import Wire

@Suite struct DeviceHeartbeatTests {
    @Test("a ping is answered at once with its status, and an ack is not answered")
    func answers() {
        var harness = DeviceHarness.loggedIn()
        harness.receive(.heartbeatPing(MCS.Heartbeat(streamID: 9, status: 1)))
        #expect(harness.takeSent() == [.heartbeatAck(MCS.Heartbeat(lastStreamIDReceived: 2, status: 1))])
        harness.receive(.heartbeatAck(MCS.Heartbeat()))
        #expect(harness.takeSent().isEmpty)
    }

    @Test("a client that answers pings by pings is answered once, without a loop")
    func noLoop() {
        var harness = DeviceHarness.loggedIn()
        harness.pass(seconds: Limits.Device.pingSeconds)
        #expect(harness.takeSent() == [.heartbeatPing(MCS.Heartbeat(streamID: 3))])
        harness.receive(.heartbeatPing(MCS.Heartbeat()))
        #expect(harness.takeSent() == [.heartbeatAck(MCS.Heartbeat(lastStreamIDReceived: 2))])
    }

    @Test(
        "a silent client is pinged repeatedly with the correct frame number, and stays connected if it never answers"
    )
    func pings() {
        var harness = DeviceHarness.loggedIn { $0.devicePingSeconds = 100 }
        harness.pass(seconds: 99)
        #expect(harness.takeSent().isEmpty)
        harness.pass(seconds: 1)
        #expect(harness.takeSent() == [.heartbeatPing(MCS.Heartbeat(streamID: 3))])
        harness.pass(seconds: 100_000)
        let close = harness.io.close
        #expect(close == nil)
        #expect(harness.takeSent().count == 1_000)
    }

    @Test("a frame from the client delays the ping")
    func putOff() {
        var harness = DeviceHarness.loggedIn { $0.devicePingSeconds = 100 }
        harness.pass(seconds: 60)
        harness.receive(.iq(MCS.IqStanza(.other)))
        harness.pass(seconds: 99)
        #expect(harness.takeSent().isEmpty)
        harness.pass(seconds: 1)
        #expect(harness.takeSent().count == 1)
    }

    @Test("a client that used to answer is closed as dead when it falls silent")
    func dead() {
        var harness = DeviceHarness.loggedIn()
        harness.pass(seconds: Limits.Device.pingSeconds)
        harness.receive(.heartbeatAck(MCS.Heartbeat(lastStreamIDReceived: 3)))
        harness.pass(seconds: Limits.Device.silenceSeconds - 1)
        let before = harness.io.close
        #expect(before == nil)
        harness.pass(seconds: 1)
        let after = harness.io.close
        #expect(after == .deadPeer)
    }

    @Test(
        "a client is not closed as dead before a ping had time to be answered, even when the host wakes the session late"
    )
    func lateWake() {
        var harness = DeviceHarness.loggedIn()
        harness.pass(seconds: Limits.Device.pingSeconds)
        harness.receive(.heartbeatAck(MCS.Heartbeat()))
        _ = harness.takeSent()
        harness.now.monotonic = harness.now.monotonic.advanced(seconds: 10_000)
        harness.pass(seconds: 0)
        let close = harness.io.close
        #expect(close == nil)
        #expect(harness.takeSent().count == 1)
    }

    @Test("a client may request a shorter ping interval within the limits")
    func wishes() {
        for (wish, expected) in [("90000", 90), ("10000", 60), ("9000000", 600), ("x", 600), ("0", 60)] {
            var login = DeviceHarness.login()
            login.settings = [MCS.Setting(name: Array("hbping".utf8), value: Array(wish.utf8))]
            #expect(firstPing(after: login) == expected)
        }
        var login = DeviceHarness.login()
        login.heartbeatStat = MCS.HeartbeatStat(hasTimedOut: true, intervalMilliseconds: 120_000)
        #expect(firstPing(after: login) == 120)
        login.heartbeatStat = MCS.HeartbeatStat(hasTimedOut: true, intervalMilliseconds: -1)
        #expect(firstPing(after: login) == 600)
    }

    private func firstPing(after login: MCS.LoginRequest) -> Int {
        var harness = DeviceHarness()
        harness.receive([41] + DeviceHarness.bytes(.loginRequest(login)))
        harness.perform(.device(.loginAccepted))
        _ = harness.takeSent()
        for second in 1...1_000 {
            harness.pass(seconds: 1)
            if !harness.takeSent().isEmpty { return second }
        }
        return 0
    }

    @Test("a session handles version bytes between frames, unknown tags and a Close from the client")
    func others() {
        var harness = DeviceHarness.loggedIn()
        harness.receive([41, 0, 0, 41, 13, 2, 1, 2, 10, 0, 3, 0, 41, 0, 0])
        #expect(
            harness.takeSent() == [
                .heartbeatAck(MCS.Heartbeat(lastStreamIDReceived: 2)),
                .heartbeatAck(MCS.Heartbeat(lastStreamIDReceived: 6)),
            ])
        harness.receive([4, 0, 0, 0])
        let close = harness.io.close
        #expect(close == .peerEndedStream)
        #expect(harness.takeSent().isEmpty)
    }

    @Test("an invalid frame ends the connection with Close and a reason")
    func violations() {
        for (bytes, reason) in [
            ([16], .protocolViolation), ([255], .protocolViolation), ([0, 1, 8], .protocolViolation),
            ([0, 2, 8, 0x80], .protocolViolation),
            ([8, 0xFF, 0xFF, 0x7F], .tooLarge), ([0, 0x80, 0x80, 0x80, 0x80, 0x80], .protocolViolation),
            ([0, 2, 0x0A, 0], .protocolViolation),
        ] as [([UInt8], CloseReason)] {
            var harness = DeviceHarness.loggedIn()
            harness.receive(bytes)
            let close = harness.io.close
            #expect(close == reason, "\(bytes)")
            #expect(harness.takeSent() == [.close(MCS.Close())], "\(bytes)")
        }
    }

    @Test("canary: a session that is not woken does not ping")
    func canary() {
        var harness = DeviceHarness.loggedIn()
        harness.pass(seconds: Limits.Device.pingSeconds - 1)
        #expect(harness.takeSent().isEmpty)
    }
}
