import Basics
import Delivery
import Testing
import Wire

@testable import Sessions

/// The times of acknowledgements that sessions report for the metrics.
@Suite struct AckTimeTests {
    /// Returns the milliseconds from each start to now, with their counts, and empties the list.
    private func spans(_ times: inout StartTimes, _ now: Now) -> [[Int]] {
        var spans: [[Int]] = []
        times.end(at: now.monotonic) { spans.append([$0 / 1_000, $1]) }
        return spans
    }

    private func accept(_ event: Event, _ bench: inout AppServerHarness) {
        guard case .device(_, .submitted(let submission)) = event,
            case .session(let requester) = submission.replyTo
        else { return }
        bench.perform(
            .submission(requestID: requester.requestID, .accepted(id: nil, canonical: nil)))
    }

    @Test("an ACK is measured from the arrival of its message, also of one that waited for the window")
    func appServer() {
        var bench = AppServerHarness.ready { $0.pendingWindow = 1 }
        bench.feed(AppServerHarness.downstream("1") + AppServerHarness.downstream("2"))
        bench.pass(milliseconds: 20)
        for event in bench.takeEvents() { accept(event, &bench) }
        let first = spans(&bench.io.acknowledged, bench.now)
        #expect(first == [[20, 1]])
        bench.pass(milliseconds: 5)
        for event in bench.takeEvents() { accept(event, &bench) }
        let second = spans(&bench.io.acknowledged, bench.now)
        #expect(second == [[25, 1]])
    }

    @Test("a NACK is not measured")
    func refused() {
        var bench = AppServerHarness.ready()
        bench.feed(AppServerHarness.message(#"{"to":"x","message_id":"1"}"#))
        let isEmpty = bench.io.acknowledged.isEmpty
        #expect(isEmpty)
        #expect(bench.takeSent().contains("nack"))
    }

    @Test("a stored message of a device is measured from the arrival of its frame")
    func device() {
        var harness = DeviceHarness.loggedIn()
        harness.receive(
            .dataMessage(DeviceSamples.upstream(id: "a")), .dataMessage(DeviceSamples.upstream(id: "b")))
        harness.pass(seconds: 1)
        harness.perform(.device(.upstreamStored(requestID: 1)))
        harness.perform(.device(.upstreamStored(requestID: 2)))
        let found = spans(&harness.io.acknowledged, harness.now)
        #expect(found == [[1_000, 2]])
    }
}
