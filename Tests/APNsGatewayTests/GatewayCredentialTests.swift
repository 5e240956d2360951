import APNsGateway
import Basics
import Delivery
import Testing

/// Which credential is used, and what its refusal leads to.
@Suite("the gateway and its credentials")
struct GatewayCredentialTests {
    private static let expired = "ExpiredProviderToken"

    @Test("a key is preferred to a certificate, and a certificate serves its topics only")
    func choice() {
        let desk = GatewayDesk()
        _ = desk.feed(.credentials([Samples.certificate(), Samples.key()]))
        #expect(desk.deliver(1).opens.map(\.endpoint.credential) == [Samples.keyID])
        let other = GatewayDesk()
        _ = other.feed(.credentials([Samples.certificate(topics: [Array("com.example.app.voip".utf8)])]))
        let effects = other.deliver(1)
        #expect(effects.opens.isEmpty && effects.outcomes == [.refused(APNsRefusal(.credential))])
    }

    @Test("each refusal of a probe doubles the wait for the next one")
    func backoff() {
        let (desk, _) = GatewayDesk.connected()
        var number: UInt64 = 1
        func attempt(_ desk: GatewayDesk) -> Bool {
            number += 1
            let send = desk.deliver(number).sends.first
            return !desk.answer(send, 403, "Forbidden").answers.isEmpty
        }
        #expect(attempt(desk))
        _ = desk.pass(milliseconds: 59_999)
        #expect(!attempt(desk))
        _ = desk.pass(milliseconds: 1)
        #expect(attempt(desk))
        _ = desk.pass(milliseconds: 119_999)
        #expect(!attempt(desk), "the wait has doubled")
        _ = desk.pass(milliseconds: 1)
        #expect(attempt(desk))
    }

    @Test("a refused topic is tried with one request after a minute")
    func topic() {
        let (desk, _) = GatewayDesk.connected()
        let send = desk.deliver(1).sends.first
        let refused = desk.answer(send, 400, "TopicDisallowed")
        #expect(refused.notices.count == 1 && refused.outcomes.count == 1)
        #expect(desk.deliver(2).sends.isEmpty)
        _ = desk.pass(milliseconds: 60_000)
        #expect(desk.deliver(3).sends.count == 1)
        #expect(desk.deliver(4).sends.isEmpty, "one only")
    }

    @Test("GOAWAY about the certificate refuses the credential")
    func goAway() {
        let (desk, id) = GatewayDesk.connected()
        _ = desk.feed(.leaving(id, reason: Samples.body("BadCertificate")))
        #expect(desk.health == .refused(APNsVerdict(status: 403, reason: "BadCertificate")))
        #expect(desk.deliver(1).outcomes.count == 1)
    }

    @Test("an alert about the certificate after the opening refuses what is in flight, and the credential")
    func alert() {
        let desk = GatewayDesk()
        _ = desk.feed(.credentials([Samples.certificate()]))
        let asked = desk.deliver(1)
        let id = asked.opens.first?.connection ?? APNsConnectionID(0)
        #expect(desk.open(asked).sends.count == 1)
        let refused = desk.feed(.openFailed(id, .credentialRefused))
        #expect(refused.outcomes == [.refused(APNsRefusal(.credential))])
        #expect(desk.health == .refused(nil))
        #expect(desk.deliver(2).outcomes == [.refused(APNsRefusal(.credential))])
        // A connection that has worked may have sent the request.
        let (second, open) = GatewayDesk.connected()
        _ = second.deliver(1)
        #expect(second.feed(.openFailed(open, .credentialRefused)).waits == [1_000])
        #expect(second.health == .refused(nil))
    }

    @Test("a verdict about a device token with a credential that was removed meanwhile ends nothing")
    func removed() {
        let (desk, _) = GatewayDesk.connected()
        let send = desk.deliver(1).sends.first
        _ = desk.feed(.credentials([]))
        let verdict = APNsVerdict(status: 400, reason: "BadDeviceToken")
        #expect(
            desk.answer(send, 400, "BadDeviceToken").outcomes == [.refused(APNsRefusal(.credential, verdict))]
        )
    }

    @Test(
        "an expired provider token costs one more attempt and one alarm; then deliveries wait for the clock")
    func clock() {
        let (desk, _) = GatewayDesk.connected(Samples.key())
        let sends = [desk.deliver(1), desk.deliver(2)].compactMap(\.sends.first)
        let first = desk.answer(sends[0], 403, Self.expired)
        #expect(first.answers.isEmpty && first.notices.count == 1)
        let second = desk.answer(sends[1], 403, Self.expired)
        #expect(second.answers.isEmpty && second.notices.isEmpty, "one alarm for a connection")
        let again = desk.open(first).sends.first
        #expect(again != nil)
        let third = desk.answer(again, 403, Self.expired)
        #expect(!third.waits.isEmpty && desk.health == .clockDoubted)
        let later = desk.deliver(3)
        #expect(later.sends.isEmpty && later.opens.isEmpty && later.waits.allSatisfy { $0 >= 50_000 })
        #expect(later.waits.count == 1)
    }

    @Test("while too many device tokens of an app are bad, none of them ends")
    func massDeath() {
        let (desk, _) = GatewayDesk.connected()
        var outcomes: [GatewayOutcome] = []
        for number in 1...60 as ClosedRange<UInt64> {
            let send = desk.deliver(number).sends.first
            outcomes += desk.answer(send, 400, "DeviceTokenNotForTopic").outcomes
        }
        let verdict = APNsVerdict(status: 400, reason: "DeviceTokenNotForTopic")
        #expect(outcomes.first == .tokenMismatched(verdict))
        #expect(outcomes.last == .refused(APNsRefusal(.credential, verdict)) && outcomes.count == 60)
    }
}
