import Basics
import Testing
import Transport

@testable import Server

/// What a reactor counts of connections that came to nothing.
@Suite("Tally of a reactor")
struct ReactorTallyTests {
    private func told(_ reports: [TransportReport]) -> [String: Int] {
        let metrics = Metrics(shards: 1)
        let tally = ReactorTally(shard: metrics.shards[0])
        for report in reports { tally.note(report) }
        var found: [String: Int] = [:]
        for kind in Link.Kind.allCases {
            for reason in DoorRefusal.allCases {
                let count = metrics.value(.connectionsRefused, kind.position, reason.position)
                if count > 0 { found["\(kind.rawValue) \(reason.rawValue)"] = count }
            }
        }
        return found
    }

    @Test(
        "every refusal at the door is counted once, by listener and reason; what was dropped together, together"
    )
    func refusals() {
        let peer = SocketAddress.loopback(port: 9)
        #expect(
            told([
                .refused(listener: "device", peer: peer, reason: .addressFull),
                .refused(listener: "device", peer: peer, reason: .addressFull),
                .refused(listener: "https", peer: peer, reason: .reactorFull),
                .acceptFailed(listener: "app_server", reason: .noDescriptor, code: 24, dropped: 5),
                .acceptFailed(listener: "control", reason: .noMemory, code: 12, dropped: 0),
                .acceptResumed(listener: "app_server"),
            ]) == ["device address_full": 2, "https reactor_full": 1, "app_server no_descriptor": 5])
    }

    @Test("every listener and every reason has a cell of its own")
    func cells() {
        let peer = SocketAddress.loopback(port: 9)
        let all = Link.Kind.allCases.flatMap { kind in
            DoorRefusal.allCases.map {
                TransportReport.refused(
                    listener: ListenerName(rawValue: kind.rawValue), peer: peer, reason: $0)
            }
        }
        #expect(told(all).count == all.count)
        #expect(Metric.listeners == Link.Kind.allCases.map(\.rawValue))
    }
}
