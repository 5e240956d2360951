import Basics
import Testing

@testable import Delivery

/// Dead, unknown and mismatched device tokens (apns 4.2).
@Suite struct GatewayTokenTests {
    private let bench = Harness.withApple()

    private func send(_ number: UInt32, _ outcome: GatewayOutcome) {
        bench.submitApple(number)
        bench.settle()
        bench.answer(outcome)
    }

    private var registration: Registration? { bench.store.registrations[Harness.target] }

    @Test(
        "A dead token ends the registration: waiting messages go, later ones are refused, the feedback list has it"
    )
    func ended() {
        bench.submitApple(1)
        bench.submitApple(2)
        bench.settle()
        bench.answer(.tokenEnded(GatewayTests.dead))
        #expect(bench.take(appServer).words == ["nack 1 apns_unregistered", "nack 2 apns_unregistered"])
        #expect(bench.store.downPending == 0 && bench.store.down.removed == 2 && bench.store.holds)
        #expect(bench.store.feedback.map(\.verdict) == [GatewayTests.dead])
        #expect(registration?.apnsState.end?.verdict == GatewayTests.dead)
        bench.submitApple(3)
        bench.settle()
        #expect(bench.take(appServer).refusals == [.apns(APNsRefusal(.unregistered, GatewayTests.dead))])
        #expect(bench.deliveries.isEmpty)
    }

    @Test("A 410 from before the app reported its token is tried once more, then only the message is lost")
    func stale() {
        let stale = APNsVerdict(status: 410, reason: "Unregistered", invalidSince: 1_600_000_000_000)
        bench.renewApple(at: 1_650_000_000_000)
        send(1, .tokenEnded(stale))
        #expect(bench.take(appServer).words == ["ack 1"])
        bench.pass(milliseconds: Limits.APNs.renewedRetryMilliseconds)
        #expect(bench.deliveries.first?.attempt == 1)
        bench.answer(.tokenEnded(stale))
        #expect(registration?.apnsState.end == nil && bench.store.down.discarded == 1)
        #expect(bench.store.feedback.isEmpty)
    }

    @Test("A 410 from before the app reported its token refuses a now-or-never message as unavailable")
    func staleNow() {
        let stale = APNsVerdict(status: 410, reason: "Unregistered", invalidSince: 1_600_000_000_000)
        bench.renewApple(at: 1_650_000_000_000)
        bench.submitApple(1, lifetime: 0)
        bench.settle()
        bench.answer(.tokenEnded(stale))
        #expect(bench.take(appServer).refusals == [.apns(APNsRefusal(.unavailable, stale))])
        #expect(registration?.apnsState.end == nil && bench.store.feedback.isEmpty)
    }

    @Test("An unknown token ends the registration when that repeats within a day")
    func unknown() {
        send(1, .tokenUnknown(GatewayTests.unknown))
        #expect(bench.take(appServer).words == ["nack 1 apns_bad_token"])
        #expect(registration?.apnsState.end == nil && registration?.apnsState.unknownSince != nil)
        send(2, .accepted(.production))
        #expect(registration?.apnsState == APNsTokenState(), "Apple accepts it again")
        send(3, .tokenUnknown(GatewayTests.unknown))
        send(4, .tokenUnknown(GatewayTests.unknown))
        #expect(registration?.apnsState.end?.verdict == GatewayTests.unknown)
    }

    @Test("A second unknown token after more than a day starts the count again")
    func unknownLater() {
        send(1, .tokenUnknown(GatewayTests.unknown))
        bench.advance(milliseconds: Limits.APNs.unknownWithinMilliseconds + 1)
        send(2, .tokenUnknown(GatewayTests.unknown))
        #expect(registration?.apnsState.end == nil)
    }

    @Test("A token of another app ends the registration after a week")
    func mismatched() {
        let verdict = APNsVerdict(status: 400, reason: "DeviceTokenNotForTopic")
        send(1, .tokenMismatched(verdict))
        #expect(bench.take(appServer).words == ["nack 1 apns_mismatch"])
        bench.advance(milliseconds: Limits.APNs.mismatchedMilliseconds)
        send(2, .tokenMismatched(verdict))
        #expect(registration?.apnsState.end == nil)
        bench.advance(milliseconds: 1)
        send(3, .tokenMismatched(verdict))
        #expect(registration?.apnsState.end != nil)
    }

    @Test("An app that registers again revives its registration and leaves the feedback list")
    func revived() {
        send(1, .tokenEnded(GatewayTests.dead))
        var request = RegistrationRequest(
            requester: Requester(connection: web, requestID: 1), device: device, token: token,
            category: bytes("app"), subtype: [], senderText: bytes("100"))
        request.apnsToken = bytes("p_a2")
        bench.post(.register(request))
        bench.settle()
        #expect(bench.take(web).words == ["registered 1 1"])
        #expect(registration?.apnsState.end == nil && registration?.apnsToken == bytes("p_a2"))
        #expect(bench.store.feedback.isEmpty)
        send(2, .accepted(.production))
        #expect(bench.take(appServer).words.last == "ack 2")
    }
}
