import APNsGateway
import Basics
import Delivery
import Testing

@Suite("the gateway")
struct GatewayTests {
    private static func now(_ seconds: Int = 0) -> Now {
        Now(
            monotonic: Instant(nanoseconds: 0).advanced(seconds: seconds + 1_000),
            wall: Samples.epoch + Int64(seconds) * 1_000)
    }

    /// Feeds events at one time. Returns all effects.
    private static func feed(
        _ gateway: inout APNsGateway, at seconds: Int = 0, _ events: [APNsEvent]
    ) -> APNsEffects {
        var effects = APNsEffects()
        for event in events { gateway.handle(event, now: now(seconds), effects: &effects) }
        return effects
    }

    /// A gateway with a certificate and one open connection, on which a request is in flight.
    private static func sending(_ gateway: inout APNsGateway, _ delivery: GatewayDelivery) -> APNsSend? {
        let opens = feed(&gateway, [.credentials([Samples.certificate()]), .deliver(delivery)]).opens
        guard let id = opens.first?.connection else { return nil }
        return feed(&gateway, [.opened(id), .streams(id, available: 100)]).sends.first
    }

    private static func outcome(
        _ delivery: GatewayDelivery, _ status: Int, _ reason: String, timestamp: UnixMilliseconds? = nil
    ) -> GatewayOutcome? {
        var gateway = APNsGateway(settings: APNsSettings(mapping: Samples.mapping), seed: 1)
        guard let send = sending(&gateway, delivery) else { return nil }
        let answer = APNsAnswer(
            status: status, body: status == 200 ? [] : Samples.body(reason, timestamp: timestamp))
        let event = APNsEvent.answered(send.connection, requestNumber: send.requestNumber, answer)
        let effects = feed(&gateway, [event, event])
        #expect(effects.answers.count <= 1)
        return effects.answers.first?.outcome
    }

    @Test("Apple's answer decides the outcome")
    func outcomes() {
        let plain = Samples.delivery(1)
        let custom = Samples.delivery(1, apns: Array("{}".utf8))
        func verdict(_ status: Int, _ reason: String, _ since: UnixMilliseconds? = nil) -> APNsVerdict {
            APNsVerdict(status: status, reason: reason, invalidSince: since)
        }
        #expect(Self.outcome(plain, 200, "") == .accepted(.production))
        #expect(
            Self.outcome(plain, 400, "BadPriority")
                == .refused(APNsRefusal(.internalFault, verdict(400, "BadPriority"))))
        #expect(
            Self.outcome(custom, 400, "BadPriority")
                == .refused(APNsRefusal(.invalid, verdict(400, "BadPriority"))))
        #expect(
            Self.outcome(custom, 413, "PayloadTooLarge")
                == .refused(APNsRefusal(.tooLarge, verdict(413, "PayloadTooLarge"))))
        #expect(
            Self.outcome(plain, 403, "BadCertificate")
                == .refused(APNsRefusal(.credential, verdict(403, "BadCertificate"))))
        #expect(
            Self.outcome(plain, 400, "BadDeviceToken") == .tokenUnknown(verdict(400, "BadDeviceToken")))
        #expect(
            Self.outcome(plain, 410, "Unregistered", timestamp: Samples.epoch)
                == .tokenEnded(verdict(410, "Unregistered", Samples.epoch)))
        #expect(Self.outcome(plain, 410, "ExpiredToken") == .tokenEnded(verdict(410, "ExpiredToken")))
        #expect(
            Self.outcome(plain, 410, "") == .refused(APNsRefusal(.unregistered, verdict(410, ""))),
            "a proxy may have answered")
        #expect(
            Self.outcome(plain, 503, "ServiceUnavailable")
                == .later(
                    milliseconds: 1_000, APNsRefusal(.unavailable, verdict(503, "ServiceUnavailable"))))
        #expect(
            Self.outcome(plain, 429, "TooManyRequests")
                == .later(milliseconds: 10_000, APNsRefusal(.rateExceeded, verdict(429, "TooManyRequests"))))
    }

    @Test("a 410 from before the registration is tried once more, and ends nothing")
    func oldEnd() {
        #expect(Self.outcome(Samples.delivery(1), 410, "Unregistered", timestamp: Samples.epoch - 1) == nil)
    }

    @Test("without a credential, or with an expired certificate, a delivery is refused at once")
    func noCredential() {
        for credentials in [[], [Samples.certificate(expiresAt: Samples.epoch)]] {
            var gateway = APNsGateway(settings: APNsSettings(mapping: Samples.mapping), seed: 1)
            let effects = Self.feed(
                &gateway, [.credentials(credentials), .deliver(Samples.delivery(1))])
            #expect(effects.answers.map(\.outcome) == [.refused(APNsRefusal(.credential))])
            #expect(effects.opens.isEmpty)
        }
    }

    @Test("a refused credential is not asked again for a minute, then once")
    func refused() {
        var gateway = APNsGateway(settings: APNsSettings(mapping: Samples.mapping), seed: 1)
        guard let send = Self.sending(&gateway, Samples.delivery(1)) else { return }
        let answer = APNsAnswer(status: 403, body: Samples.body("Forbidden"))
        let off = Self.feed(
            &gateway, [.answered(send.connection, requestNumber: send.requestNumber, answer)])
        #expect(off.notices.count == 1)
        let others = (2...4).map {
            APNsEvent.deliver(Samples.delivery($0, registration: $0, token: "p_\($0)\($0)"))
        }
        let early = Self.feed(&gateway, at: 59, others)
        #expect(early.sends.isEmpty && early.answers.count == 3)
        let due = Self.feed(&gateway, at: 60, others)
        #expect(due.sends.count == 1 && due.answers.count == 2)
    }

    @Test("the queue is bounded: what is beyond it comes back later")
    func bound() {
        var gateway = APNsGateway(settings: APNsSettings(mapping: Samples.mapping), seed: 1)
        var effects = Self.feed(&gateway, [.credentials([Samples.certificate()])])
        for number in 0...UInt64(Limits.APNsGateway.queuedRequests) {
            let delivery = Samples.delivery(number, registration: number)
            gateway.handle(.deliver(delivery), now: Self.now(), effects: &effects)
        }
        #expect(gateway.unanswered == Limits.APNsGateway.queuedRequests && effects.answers.count == 1)
    }
}
