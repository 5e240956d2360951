import Basics
import Delivery
import Sessions
import Testing
import Wire

/// Edge cases of a device session: permanently unacknowledged frames, deadlines, dead clients.
@Suite struct DeviceEdgeTests {
    @Test("none of several messages that could not be stored is acknowledged, in whatever order they fail")
    func severalNotStored() {
        for order in [[1, 2], [2, 1]] as [[UInt32]] {
            var harness = DeviceHarness.loggedIn()
            harness.receive(
                .dataMessage(DeviceSamples.upstream(id: "a")), .dataMessage(DeviceSamples.upstream(id: "b")))
            for requestID in order {
                harness.perform(.device(.upstreamRefused(requestID: requestID, .unavailable)))
            }
            for _ in 0..<20 { harness.receive(.heartbeatPing(MCS.Heartbeat())) }
            let sent = harness.takeSent()
            #expect(sent.count == 20 && sent.allSatisfy { $0 == .heartbeatAck(MCS.Heartbeat()) }, "\(order)")
        }
    }

    @Test("a device whose messages are not stored is disconnected even when it keeps sending")
    func notPutOff() {
        var harness = DeviceHarness.loggedIn()
        harness.receive(.dataMessage(DeviceSamples.upstream(id: "a")))
        harness.perform(.device(.upstreamRefused(requestID: 1, .unavailable)))
        harness.pass(seconds: Limits.Device.upstreamRetrySeconds - 1)
        harness.receive(.dataMessage(DeviceSamples.upstream(id: "b")))
        harness.perform(.device(.upstreamRefused(requestID: 2, .unavailable)))
        let before = harness.io.close
        #expect(before == nil)
        harness.pass(seconds: 1)
        let after = harness.io.close
        #expect(after == .storeFailed)
    }

    @Test("a message ID is refused when it is too long to return, and the longest is accepted")
    func longMessageID() throws {
        for (length, isTaken) in [
            (Limits.AppServer.messageIDBytes, true), (Limits.AppServer.messageIDBytes + 1, false),
        ] {
            var harness = DeviceHarness.loggedIn()
            let id = String(repeating: "i", count: length)
            harness.receive(.dataMessage(DeviceSamples.upstream(id: id)))
            #expect(harness.takeEvents().map(deviceEventWord) == (isTaken ? ["device.upstreamReceived"] : []))
            guard !isTaken else { continue }
            guard case .dataMessage(let answer)? = harness.takeSent().first else {
                throw DeviceUnexpected("no answer")
            }
            #expect(
                answer.body
                    == DeviceSamples.pairs(
                        ("message_type", "send_error"), ("message_id", id), ("error", "invalid_parameters")))
        }
    }

    @Test("a client that answers pings by pings is closed as dead when it falls silent")
    func pingsForPings() {
        var harness = DeviceHarness.loggedIn()
        harness.pass(seconds: Limits.Device.pingSeconds)
        harness.receive(.heartbeatPing(MCS.Heartbeat()))
        harness.pass(seconds: Limits.Device.silenceSeconds - 1)
        let before = harness.io.close
        #expect(before == nil)
        harness.pass(seconds: 1)
        let after = harness.io.close
        #expect(after == .deadPeer)
    }

    @Test("canary: a ping without a preceding ping of the server is not an answer")
    func canary() {
        var harness = DeviceHarness.loggedIn()
        harness.receive(.heartbeatPing(MCS.Heartbeat()))
        harness.pass(seconds: 2 * Limits.Device.silenceSeconds)
        let close = harness.io.close
        #expect(close == nil)
    }
}
