import Basics
import Testing

@testable import Delivery

/// Messages that Apple refuses while the disk fails.
@Suite struct GatewayRefusalTests {
    private let bench = Harness.withApple()

    /// Has the gateway answer its only delivery, without the store's part.
    private func answer(_ outcome: GatewayOutcome) {
        let delivery = bench.deliveries.removeFirst()
        bench.post(
            .gatewayAnswered(
                GatewayAnswer(
                    registration: delivery.registration, sequence: delivery.message.sequence, outcome: outcome
                )))
        bench.runTurns()
    }

    private static let outcomes: [(GatewayOutcome, String)] = [
        (.refused(APNsRefusal(.credential)), "nack 1 apns_credential"),
        (.refused(APNsRefusal(.tooLarge)), "nack 1 apns_too_large"),
        (.tokenUnknown(GatewayTests.unknown), "nack 1 apns_bad_token"),
        (.tokenEnded(APNsVerdict(status: 410, reason: "Unregistered")), "nack 1 apns_unregistered"),
    ]

    @Test("A refusal is answered once the message is off the disk", arguments: outcomes)
    func refused(outcome: GatewayOutcome, words: String) {
        bench.submitApple(1)
        bench.settle()
        answer(outcome)
        #expect(bench.take(appServer).words.isEmpty, "the removal may still fail")
        bench.settle()
        #expect(bench.take(appServer).words == [words])
        #expect(bench.store.downPending == 0 && bench.store.holds)
    }

    @Test("A message whose removal fails is not called refused, since it is sent again", arguments: outcomes)
    func failed(outcome: GatewayOutcome, words: String) {
        bench.submitApple(1)
        bench.settle()
        answer(outcome)
        bench.apply(bench.partitions[0], failing: true)
        bench.reportOutcome(bench.partitions[0])
        bench.settle()
        #expect(bench.take(appServer).words == ["nack 1 unavailable"])
        bench.pass(milliseconds: 2 * Int64(Limits.Store.sweepMilliseconds))
        #expect(bench.deliveries.map(\.message.messageID) == [bytes("m1")])
        bench.answer(.accepted(.production))
        #expect(bench.take(appServer).words.isEmpty, "one answer only")
        #expect(bench.store.downPending == 0 && bench.store.holds)
    }
}
