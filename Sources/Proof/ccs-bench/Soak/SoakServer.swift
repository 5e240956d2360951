import Basics
import Client
import ClientProtocol
import Transport

/// An app server of the soak: sends to all devices in turn, and acknowledges their messages.
final class SoakServer: Lane {
    private weak var run: SoakRun?
    private let client: AppServerClient
    private let most: Int

    init(_ run: SoakRun, window: Int) throws(BenchError) {
        self.run = run
        most = window
        client = AppServerClient(
            reactor: run.bench.reactor,
            endpoint: Endpoint(address: run.target.appServers, serverName: "localhost", tls: run.bench.tls),
            login: AppServerLogin(sender: run.target.sender, key: Redacted(run.target.key)))
        client.onEvent = { [weak self] _, event, now in self?.handle(event, now) }
        do throws(TransportError) { try client.connect() } catch { throw BenchError(error.description) }
    }

    var isReady: Bool { client.isReady }
    var outstanding: Int { client.outstanding }
    var window: Int { client.isReady ? most : 0 }

    func send(dueAt time: Int64) {
        guard let run else { return }
        let digits = Array(String(run.down.open(dueAt: time)).utf8)
        var message = Downstream(to: run.nextTarget(), messageID: digits)
        message.lifetimeSeconds = Bench.lifetime
        message.data = [(Array("n".utf8), digits), (Array("x".utf8), SoakRun.filler)]
        client.send(message)
    }

    func flush() {}

    private func handle(_ event: AppServerEvent, _ now: Now) {
        guard let run else { return }
        switch event {
        case .acknowledged(let id, _):
            if let time = run.down.accepted(SoakRun.number(id)) {
                run.downCounters.answerTimes.record(now.monotonic.nanoseconds - time)
            }
            run.downFeeder.answered(self, now: now)
        case .refused(let id, let error, let words):
            run.down.refused(SoakRun.number(id))
            run.failed("app server", "refused: \(error) \(words)")
            run.downFeeder.answered(self, now: now)
        case .upstream(let message): run.arrived(upstream: message.messageID, now)
        case .stanzaError(_, let what), .streamError(let what), .unexpected(let what):
            run.failed("app server", what)
        case .closed(let reason, let detail): run.downCounters.recordEnd("app server", reason, detail)
        default: break
        }
    }
}
