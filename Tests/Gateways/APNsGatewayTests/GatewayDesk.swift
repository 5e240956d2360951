import APNsGateway
import Basics
import Delivery
import Wire

/// A gateway whose events a test feeds one by one, at a time that it sets.
final class GatewayDesk {
    private var gateway = APNsGateway(settings: APNsSettings(mapping: Samples.mapping), seed: 1)
    private(set) var milliseconds: Int64 = 0

    var now: Now {
        Now(
            monotonic: Instant(nanoseconds: 0).advanced(milliseconds: milliseconds + 1_000_000),
            wall: Samples.epoch + milliseconds)
    }

    var isDrained: Bool { gateway.isDrained }
    var health: APNsCredentialStatus.Health? { gateway.status(now: now).first?.health }
    var failingSeconds: Int? { gateway.status(now: now).first?.failingSeconds }

    /// Feeds events. Returns all effects; provider tokens are signed at once.
    func feed(_ events: APNsEvent...) -> APNsEffects {
        var effects = APNsEffects()
        for event in events { gateway.handle(event, now: now, effects: &effects) }
        while let id = effects.mints.popLast() {
            gateway.handle(
                .minted(id, token: Array("t\(milliseconds)".utf8), at: now.wall), now: now, effects: &effects)
        }
        return effects
    }

    /// Lets time pass, then ticks.
    func pass(milliseconds: Int64) -> APNsEffects {
        self.milliseconds += milliseconds
        return feed(.tick)
    }

    /// Delivers to a device token of its own.
    func deliver(_ number: UInt64) -> APNsEffects {
        feed(.deliver(Samples.delivery(number, registration: number, token: "p_\(number)\(number)")))
    }

    /// Opens the connection that was asked for.
    func open(_ effects: APNsEffects, streams: Int = 100) -> APNsEffects {
        guard let id = effects.opens.last?.connection else { return APNsEffects() }
        var opened = feed(.opened(id))
        opened.sends += feed(.streams(id, available: streams - opened.sends.count)).sends
        return opened
    }

    /// Answers a request.
    func answer(_ send: APNsSend?, _ status: Int, _ reason: String = "") -> APNsEffects {
        guard let send else { return APNsEffects() }
        let answer = APNsAnswer(
            status: status, body: reason.isEmpty ? [] : Samples.body(reason), id: send.request.id)
        return feed(.answered(send.connection, requestNumber: send.requestNumber, answer))
    }

    /// Something other than Apple answers a request.
    func answerForeign(_ send: APNsSend?) -> APNsEffects {
        guard let send else { return APNsEffects() }
        return feed(
            .answered(send.connection, requestNumber: send.requestNumber, APNsAnswer(status: 200)))
    }

    /// Fails a request.
    func fail(_ send: APNsSend?, _ failure: HTTP2RequestFailure) -> APNsEffects {
        guard let send else { return APNsEffects() }
        return feed(.failed(send.connection, requestNumber: send.requestNumber, failure))
    }

    /// A desk with one connection, on which Apple has accepted a request.
    static func connected(
        _ credential: APNsCredential = Samples.certificate(), streams: Int = 100
    ) -> (desk: GatewayDesk, connection: APNsConnectionID) {
        let desk = GatewayDesk()
        _ = desk.feed(.credentials([credential]))
        let asked = desk.deliver(900)
        let id = asked.opens.first?.connection ?? APNsConnectionID(0)
        let send = desk.open(asked, streams: streams).sends.first
        _ = desk.answer(send, 200)
        return (desk, id)
    }
}

extension APNsEffects {
    var outcomes: [GatewayOutcome] { answers.map(\.outcome) }

    /// Milliseconds of the answers with `later`.
    var waits: [Int64] {
        outcomes.compactMap { if case .later(let milliseconds, _, _) = $0 { milliseconds } else { nil } }
    }
}
