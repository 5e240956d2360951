import Basics
import Testing

@testable import Delivery

/// What a sender learns by using another sender's token: that it belongs to another, and nothing else.
@Suite struct SenderSecrecyTests {
    private let requestIDs: ClosedRange<UInt32> = 1_000...1_004

    /// Submits all kinds of messages as another sender and returns the answers.
    private func tries(_ bench: Harness) -> [String] {
        for requestID in requestIDs {
            var submission = Harness.submission(requestID)
            submission.entitlement = .account(Harness.otherSender)
            switch requestID {
            case requestIDs.lowerBound + 1: submission.content.isDryRun = true
            case requestIDs.lowerBound + 2: submission.content.lifetimeSeconds = 0
            case requestIDs.lowerBound + 3: submission.content.restrictedPackage = bytes("other.app")
            default: break
            }
            bench.post(.submitted(submission))
        }
        bench.settle()
        return bench.take(appServer).words
    }

    private func bench(_ change: (inout Rates) -> Void = { _ in }) -> Harness {
        var settings = DeliverySettings()
        change(&settings.rates)
        return Harness.withDevice(settings: settings)
    }

    @Test("A foreign sender gets the same refusal whatever the state of the device")
    func alike() {
        let expected = requestIDs.map { "nack \($0) sender_mismatch" }
        let absent = bench()
        #expect(tries(absent) == expected)
        let waiting = bench()
        for requestID in UInt32(1)...5 { waiting.submit(requestID) }
        waiting.settle()
        _ = waiting.take(appServer)
        #expect(tries(waiting) == expected)
        let online = bench()
        online.login()
        online.settle()
        #expect(tries(online) == expected)
        let busy = bench { $0.deviceShort = Rate(1, perSeconds: 60) }
        for requestID in UInt32(1)...2 { busy.submit(requestID) }
        busy.settle()
        #expect(
            busy.take(appServer).words == ["nack 2 device_rate_exceeded", "ack 1"],
            "canary: it is over its rate")
        #expect(tries(busy) == expected)
    }
}
