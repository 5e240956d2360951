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

    @Test("a credential and a topic that Apple accepts again are reported as such, once")
    func onAgain() {
        let (desk, _) = GatewayDesk.connected()
        let endpoint = APNsEndpoint(credential: Samples.certificateID, environment: .production)
        let refused = desk.answer(desk.deliver(1).sends.first, 403, "Forbidden")
        #expect(
            refused.notices == [.credentialOff(endpoint, APNsVerdict(status: 403, reason: "Forbidden"))])
        _ = desk.pass(milliseconds: 60_000)
        let works = desk.answer(desk.deliver(2).sends.first, 200)
        #expect(works.notices == [.credentialOn(endpoint)] && desk.health == .accepted)
        _ = desk.answer(desk.deliver(3).sends.first, 400, "TopicDisallowed")
        _ = desk.pass(milliseconds: 60_000)
        let served = desk.answer(desk.deliver(4).sends.first, 200)
        #expect(served.notices == [.topicOn(endpoint, topic: Samples.bundle)])
        #expect(desk.answer(desk.deliver(5).sends.first, 200).notices.isEmpty)
    }

    @Test("a probe of one environment is none of the other, whose credential is refused as well")
    func probeOfOther() {
        let environments: Set<APNsEnvironment> = [.production, .sandbox]
        let (desk, _) = GatewayDesk.connected(Samples.certificate(environments: environments))
        // Apple refuses the sandbox first, then production.
        let asked = desk.feed(.deliver(Samples.delivery(1, registration: 1, token: "s_11")))
        #expect(desk.answer(desk.open(asked).sends.first, 403, "Forbidden").outcomes.count == 1)
        _ = desk.pass(milliseconds: 30_000)
        _ = desk.answer(desk.deliver(2).sends.first, 403, "Forbidden")
        _ = desk.pass(milliseconds: 29_999)
        #expect(desk.deliver(3).sends.isEmpty, "canary: no probe is due")
        _ = desk.pass(milliseconds: 1)
        // The probe of the sandbox, so that its next one is due later than that of production.
        let sandbox = desk.feed(.deliver(Samples.delivery(4, registration: 4, token: "s_44")))
        let probe = (desk.open(sandbox).sends + sandbox.sends).first
        #expect(desk.answer(probe, 403, "Forbidden").outcomes.count == 1)
        _ = desk.pass(milliseconds: 30_000)
        let production = desk.deliver(5).sends.first
        #expect(production?.request.environment == .production)
        let end = desk.answer(production, 400, "BadDeviceToken")
        #expect(end.sends.isEmpty && end.opens.isEmpty, "the sandbox is not asked meanwhile")
        let verdict = APNsVerdict(status: 403, reason: "Forbidden")
        #expect(end.outcomes == [.refused(APNsRefusal(.credential, verdict))])
    }

    @Test(
        "after an hour in which the other environment was closed to us, the verdict of this one stands",
        arguments: [false, true])
    func hopeless(byRefusal: Bool) {
        let environments: Set<APNsEnvironment> = [.production, .sandbox]
        let (desk, _) = GatewayDesk.connected(Samples.certificate(environments: environments))
        let verdict = APNsVerdict(status: 400, reason: "BadDeviceToken")
        /// Asks about a device token that production does not know, and closes the sandbox to it.
        func outcome(_ number: UInt64) -> GatewayOutcome? {
            var effects = desk.answer(desk.deliver(number).sends.first, 400, "BadDeviceToken")
            if let id = effects.opens.first?.connection {
                effects =
                    byRefusal
                    ? desk.answer(desk.open(effects).sends.first, 403, "Forbidden")
                    : desk.feed(.openFailed(id, .unreachable))
            } else if let send = effects.sends.first {
                effects = desk.answer(send, 403, "Forbidden")
            }
            return effects.outcomes.first
        }
        #expect(outcome(1) != .tokenUnknown(verdict))
        _ = desk.pass(milliseconds: Int64(Limits.APNsGateway.hopelessSeconds) * 1_000 - 1)
        #expect(outcome(2) != .tokenUnknown(verdict))
        _ = desk.pass(milliseconds: 1)
        #expect(outcome(3) == .tokenUnknown(verdict))
    }

    @Test("an environment that has worked since is asked again for an hour")
    func hopeAgain() {
        let environments: Set<APNsEnvironment> = [.production, .sandbox]
        let (desk, _) = GatewayDesk.connected(Samples.certificate(environments: environments))
        func sandbox(_ number: UInt64) -> APNsEffects {
            desk.feed(
                .deliver(Samples.delivery(number, registration: number, token: "s_\(number)\(number)")))
        }
        if let id = sandbox(1).opens.first?.connection { _ = desk.feed(.openFailed(id, .unreachable)) }
        let hour = Int64(Limits.APNsGateway.hopelessSeconds) * 1_000
        _ = desk.pass(milliseconds: hour / 2)
        let asked = sandbox(2)
        #expect(desk.answer(desk.open(asked).sends.first, 200).outcomes == [.accepted(.sandbox)])
        if let id = asked.opens.first?.connection { _ = desk.feed(.closed(id)) }
        _ = desk.pass(milliseconds: hour / 2)
        // It fails anew, and the hour begins here.
        let probe = desk.answer(desk.deliver(3).sends.first, 400, "BadDeviceToken")
        guard let id = probe.opens.first?.connection else {
            Issue.record("the sandbox is not asked")
            return
        }
        let outcomes = desk.feed(.openFailed(id, .unreachable)).outcomes
        #expect(outcomes.count == 1)
        #expect(outcomes != [.tokenUnknown(APNsVerdict(status: 400, reason: "BadDeviceToken"))])
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
        // A day without a bad one ends the distrust, which is reported.
        let over = Int64(Limits.APNsGateway.distrustSeconds) * 1_000
        _ = desk.pass(milliseconds: over)
        let opened = desk.deliver(61)
        let good = desk.answer((desk.open(opened).sends + opened.sends).first, 200)
        #expect(good.notices == [.massDeathOver(bundle: Samples.bundle, .production)])
    }
}
