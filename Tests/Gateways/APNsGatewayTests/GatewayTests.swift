import APNsGateway
import Basics
import Delivery
import Testing
import Wire

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
            status: status, body: status == 200 ? [] : Samples.body(reason, timestamp: timestamp),
            id: send.request.id)
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
            Self.outcome(plain, 400, "BadDeviceToken")
                == .refused(APNsRefusal(.credential, verdict(400, "BadDeviceToken"))),
            "there is no credential for the other environment")
        #expect(
            Self.outcome(plain, 410, "Unregistered", timestamp: Samples.epoch)
                == .tokenEnded(verdict(410, "Unregistered", Samples.epoch)))
        #expect(Self.outcome(plain, 410, "ExpiredToken") == .tokenEnded(verdict(410, "ExpiredToken")))
        #expect(
            Self.outcome(plain, 503, "ServiceUnavailable")
                == .later(
                    milliseconds: 1_000, APNsRefusal(.unavailable, verdict(503, "ServiceUnavailable"))))
        #expect(
            Self.outcome(plain, 429, "TooManyRequests")
                == .later(milliseconds: 10_000, APNsRefusal(.rateExceeded, verdict(429, "TooManyRequests"))))
    }

    @Test("a 410 from before the registration is tried once more; then the message alone is unavailable")
    func oldEnd() {
        var gateway = APNsGateway(settings: APNsSettings(mapping: Samples.mapping), seed: 1)
        guard let first = Self.sending(&gateway, Samples.delivery(1)) else { return }
        let time = Samples.epoch - 1
        let answer = APNsAnswer(
            status: 410, body: Samples.body("Unregistered", timestamp: time), id: first.request.id)
        let again = Self.feed(
            &gateway, [.answered(first.connection, requestNumber: first.requestNumber, answer)])
        #expect(again.answers.isEmpty && again.sends.count == 1)
        guard let second = again.sends.first else { return }
        let last = Self.feed(
            &gateway, [.answered(second.connection, requestNumber: second.requestNumber, answer)])
        let verdict = APNsVerdict(status: 410, reason: "Unregistered", invalidSince: time)
        #expect(last.answers.map(\.outcome) == [.refused(APNsRefusal(.unavailable, verdict))])
        #expect(last.sends.isEmpty)
    }

    @Test("a 410 of any time ends a token that no app has reported")
    func unreportedEnd() {
        var gateway = APNsGateway(settings: APNsSettings(mapping: Samples.mapping), seed: 1)
        guard let send = Self.sending(&gateway, Samples.delivery(1, registeredAt: nil)) else { return }
        let answer = APNsAnswer(
            status: 410, body: Samples.body("Unregistered", timestamp: 1), id: send.request.id)
        let effects = Self.feed(
            &gateway, [.answered(send.connection, requestNumber: send.requestNumber, answer)])
        let verdict = APNsVerdict(status: 410, reason: "Unregistered", invalidSince: 1)
        #expect(effects.answers.map(\.outcome) == [.tokenEnded(verdict)] && effects.sends.isEmpty)
    }

    @Test(
        "an answer without the apns-id of the request or a reason ends neither the message nor the registration",
        arguments: [200, 204, 301, 400, 403, 404, 405, 410, 413, 429, 500, 503],
        [
            "", "<html>410 Gone</html>", "{\"reason\":\"Unregis", "{\"reason\":\"Not here\"}",
            "{\"timestamp\":1}", "{\"reason\":\"Unregistered\"}", "{\"reason\":\"BadDeviceToken\"}",
            "{\"reason\":\"Forbidden\"}", "{\"kind\":\"Status\",\"reason\":\"NotFound\"}",
        ])
    func foreign(status: Int, body: String) throws {
        for (apns, id) in [("", nil), ("{}", nil), ("", "2"), ("", ""), ("", "1")] as [(String, String?)] {
            if id == "1",
                status == 200 || !APNsAnswer(status: status, body: Array(body.utf8)).verdict.reason.isEmpty
            {
                continue
            }
            var gateway = APNsGateway(settings: APNsSettings(mapping: Samples.mapping), seed: 1)
            let send = try #require(Self.sending(&gateway, Samples.delivery(1, apns: Array(apns.utf8))))
            let answer = APNsAnswer(status: status, body: Array(body.utf8), id: id)
            let effects = Self.feed(
                &gateway, [.answered(send.connection, requestNumber: send.requestNumber, answer)])
            let refusal = APNsRefusal(.unavailable, answer.verdict)
            #expect(effects.answers.map(\.outcome) == [.later(milliseconds: 1_000, refusal)])
            let endpoint = APNsEndpoint(credential: Samples.certificateID, environment: .production)
            #expect(effects.notices == [.foreignAnswer(endpoint, answer.verdict)])
        }
    }

    @Test(
        "how long nothing was accepted counts from the first failure, until a success or long after the last one"
    )
    func failingSeconds() {
        let (desk, _) = GatewayDesk.connected()
        #expect(desk.failingSeconds == nil)
        _ = desk.answerForeign(desk.deliver(1).sends.first)
        _ = desk.pass(milliseconds: 40_000)
        _ = desk.answerForeign(desk.deliver(2).sends.first)
        #expect(desk.failingSeconds == 40)
        _ = desk.answer(desk.deliver(3).sends.first, 400, "BadDeviceToken")
        #expect(desk.failingSeconds == nil, "that was Apple")
        _ = desk.answerForeign(desk.deliver(4).sends.first)
        let most = Int64(Limits.APNsGateway.failureSeconds) * 1_000
        _ = desk.pass(milliseconds: most - 1)
        #expect(desk.failingSeconds == Int(most / 1_000) - 1)
        _ = desk.pass(milliseconds: 1)
        #expect(desk.failingSeconds == nil)
    }

    @Test("an answer whose body is too long is not Apple's, whatever its status")
    func longBody() throws {
        for status in [200, 400, 410] {
            var gateway = APNsGateway(settings: APNsSettings(mapping: Samples.mapping), seed: 1)
            let send = try #require(Self.sending(&gateway, Samples.delivery(1)))
            let effects = Self.feed(
                &gateway,
                [
                    .failed(
                        send.connection, requestNumber: send.requestNumber, .bodyTooLong(status: status))
                ])
            let refusal = APNsRefusal(.unavailable, APNsVerdict(status: status, reason: ""))
            #expect(effects.answers.map(\.outcome) == [.later(milliseconds: 1_000, refusal)])
        }
    }

    @Test(
        "a stored device token that is none ends its registration with a named reason, and nothing is sent",
        arguments: [
            "p_../../4/broadcasts/apps/other", "p_00ff?x=1", "p_%2e%2e", "p_\u{E9}", "p_", "p_a b", "p_abc",
            "x_00ff", "00ff", "S_00ff", "p_00ff\u{0}",
        ])
    func invalidToken(token: String) {
        var gateway = APNsGateway(settings: APNsSettings(mapping: Samples.mapping), seed: 1)
        let effects = Self.feed(
            &gateway, [.credentials([Samples.certificate()]), .deliver(Samples.delivery(1, token: token))])
        let verdict = APNsVerdict(status: 0, reason: "InvalidDeviceToken")
        #expect(effects.answers.map(\.outcome) == [.tokenEnded(verdict)])
        #expect(effects.opens.isEmpty && gateway.unanswered == 0)
    }

    @Test(
        "a device token that neither environment accepts is unknown, and one that the other accepts is right")
    func bothEnvironments() throws {
        for (reason, outcome) in [
            (
                "BadDeviceToken",
                GatewayOutcome.tokenUnknown(APNsVerdict(status: 400, reason: "BadDeviceToken"))
            ),
            ("", .accepted(.sandbox)),
        ] {
            let environments: Set<APNsEnvironment> = [.production, .sandbox]
            let (desk, _) = GatewayDesk.connected(Samples.certificate(environments: environments))
            let probe = desk.answer(desk.deliver(1).sends.first, 400, "BadDeviceToken")
            #expect(probe.answers.isEmpty)
            let send = try #require(desk.open(probe).sends.first)
            #expect(send.request.environment == .sandbox)
            #expect(desk.answer(send, reason.isEmpty ? 200 : 400, reason).outcomes == [outcome])
        }
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
        let answer = APNsAnswer(status: 403, body: Samples.body("Forbidden"), id: send.request.id)
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

    /// The outcome of a request that Apple refuses on a new connection, or that ends it if there is no reason.
    private static func firstOutcome(attempt: Int = 0, reason: String? = nil) -> GatewayOutcome? {
        var gateway = APNsGateway(settings: APNsSettings(mapping: Samples.mapping), seed: 1)
        let key = Samples.key()
        let opens = feed(
            &gateway, [.credentials([key]), .deliver(Samples.delivery(1, attempt: attempt))]
        ).opens
        guard let id = opens.first?.connection else { return nil }
        let minted = APNsEvent.minted(key.id, token: [1], at: Samples.epoch)
        let sends = feed(&gateway, [.opened(id), .streams(id, available: 1), minted]).sends
        guard sends.count == 1, let send = sends.first else { return nil }
        let number = send.requestNumber
        if let reason {
            let answer = APNsAnswer(status: 403, body: Samples.body(reason), id: send.request.id)
            return feed(&gateway, [.answered(id, requestNumber: number, answer)]).answers.first?.outcome
        }
        return feed(
            &gateway, [.leaving(id, reason: []), .failed(id, requestNumber: number, .unprocessed)]
        ).answers.first?.outcome
    }

    @Test("a request that ends a new connection comes back later and later, so that others have their turn")
    func suspect() {
        for (attempt, wait) in [(0, 1_000), (1, 5_000)] as [(Int, Int64)] {
            #expect(
                Self.firstOutcome(attempt: attempt)
                    == .later(milliseconds: wait, APNsRefusal(.unavailable)))
        }
    }

    @Test("a 403 on a new connection is not tried on another one")
    func refusedAtFirst() {
        let unrelated = APNsVerdict(status: 403, reason: "UnrelatedKeyIdInToken")
        #expect(
            Self.firstOutcome(reason: unrelated.reason) == .refused(APNsRefusal(.credential, unrelated)))
        guard case .later(_, let refusal, _) = Self.firstOutcome(reason: "ExpiredProviderToken") else {
            Issue.record("it must come back later")
            return
        }
        #expect(refusal.verdict == APNsVerdict(status: 403, reason: "ExpiredProviderToken"))
    }

    @Test("what Apple has not processed goes over another connection at once")
    func resent() throws {
        var gateway = APNsGateway(settings: APNsSettings(mapping: Samples.mapping), seed: 1)
        let send = try #require(Self.sending(&gateway, Samples.delivery(1)))
        let proof = APNsEvent.answered(
            send.connection, requestNumber: send.requestNumber,
            APNsAnswer(status: 200, id: send.request.id))
        let next = try #require(
            Self.feed(&gateway, [proof, .deliver(Samples.delivery(2))]).sends.first)
        let effects = Self.feed(
            &gateway,
            [
                .leaving(next.connection, reason: []),
                .failed(next.connection, requestNumber: next.requestNumber, .unprocessed),
            ])
        #expect(effects.answers.isEmpty && effects.opens.count == 1)
    }

    @Test("the first request that Apple has left with GOAWAY may be the cause, and goes after the others")
    func resentLast() throws {
        var gateway = APNsGateway(settings: APNsSettings(mapping: Samples.mapping), seed: 1)
        let send = try #require(Self.sending(&gateway, Samples.delivery(1)))
        let id = send.connection
        let proof = APNsEvent.answered(
            id, requestNumber: send.requestNumber, APNsAnswer(status: 200, id: send.request.id))
        let deliveries = (2...4 as ClosedRange<UInt64>).map {
            APNsEvent.deliver(Samples.delivery($0, registration: $0, token: "p_a\($0)"))
        }
        let sends = Self.feed(&gateway, [proof] + deliveries).sends
        #expect(sends.map(\.request.id) == ["2", "3", "4"])
        let failures = sends.map { APNsEvent.failed(id, requestNumber: $0.requestNumber, .unprocessed) }
        let waiting = APNsEvent.deliver(Samples.delivery(5, registration: 5, token: "p_a5"))
        let opens = Self.feed(&gateway, [.leaving(id, reason: []), waiting] + failures).opens
        let next = try #require(opens.first?.connection)
        let again = Self.feed(&gateway, [.opened(next), .streams(next, available: 100)]).sends
        #expect(Set(again.map(\.request.id)) == ["2", "3", "4", "5"] && again.last?.request.id == "2")
    }

    @Test("what Apple cannot have got does not count as an attempt; what it refused as busy does")
    func attempts() throws {
        var gateway = APNsGateway(settings: APNsSettings(mapping: Samples.mapping), seed: 1)
        let waiting = Self.feed(
            &gateway, [.credentials([Samples.certificate()]), .deliver(Samples.delivery(1))])
        let connection = try #require(waiting.opens.first).connection
        let failed = Self.feed(&gateway, [.openFailed(connection, .unreachable)])
        guard case .later(_, _, let isAttempt) = failed.answers.first?.outcome else {
            Issue.record("\(failed.answers)")
            return
        }
        #expect(!isAttempt)
        guard case .later(_, _, true) = Self.outcome(Samples.delivery(1), 503, "ServiceUnavailable") else {
            Issue.record("a busy answer is an attempt")
            return
        }
    }

    private final class Lease: DecisionLease, @unchecked Sendable {
        let until = GatewayTests.now(5).monotonic
        func wait() {}
    }

    @Test("without the lease of its partition a delivery is not sent, and comes back")
    func lease() throws {
        var delivery = Samples.delivery(1)
        let lease = Lease()
        delivery.lease = lease
        func isBack(_ effects: APNsEffects) -> Bool {
            guard effects.sends.isEmpty, effects.answers.count == 1,
                case .later(_, _, isAttempt: false)? = effects.answers.first?.outcome
            else { return false }
            return true
        }
        // The process stood still after the gateway had decided.
        var gateway = APNsGateway(settings: APNsSettings(mapping: Samples.mapping), seed: 1)
        let send = try #require(Self.sending(&gateway, delivery))
        #expect(send.lease === lease)
        let unsent = APNsEvent.unsent(send.connection, requestNumber: send.requestNumber)
        #expect(isBack(Self.feed(&gateway, [unsent, unsent])) && gateway.unanswered == 0)
        // The lease ends while the connection opens.
        for (seconds, isSent) in [(4, true), (5, false)] {
            var gateway = APNsGateway(settings: APNsSettings(mapping: Samples.mapping), seed: 1)
            let opens = Self.feed(&gateway, [.credentials([Samples.certificate()]), .deliver(delivery)]).opens
            let id = try #require(opens.first).connection
            let effects = Self.feed(&gateway, at: seconds, [.opened(id), .streams(id, available: 100)])
            #expect(isSent ? effects.sends.count == 1 : isBack(effects))
        }
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
