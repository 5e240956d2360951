import Basics
import Testing
import Transport

@testable import Server

/// The counters of refused connections.
@Suite("Tally of a reactor")
struct ReactorTallyTests {
    private func counted(_ reports: [TransportReport]) -> [String: Int] {
        let metrics = Metrics(shards: 1)
        let tally = ReactorTally(shard: metrics.shards[0])
        for report in reports { tally.count(report) }
        var found: [String: Int] = [:]
        for kind in Link.Kind.allCases {
            for reason in ConnectionRefusal.allCases {
                let count = metrics.value(.connectionsRefused, kind.position, reason.position)
                if count > 0 { found["\(kind.rawValue) \(reason.rawValue)"] = count }
            }
        }
        return found
    }

    @Test(
        "every refused connection is counted by listener and reason, and dropped ones together"
    )
    func refusals() {
        let peer = SocketAddress.loopback(port: 9)
        #expect(
            counted([
                .refused(listener: "device", peer: peer, reason: .addressFull),
                .refused(listener: "device", peer: peer, reason: .addressFull),
                .refused(listener: "https", peer: peer, reason: .reactorFull),
                .acceptFailed(listener: "app_server", reason: .noDescriptor, code: 24, dropped: 5),
                .acceptFailed(listener: "control", reason: .noMemory, code: 12, dropped: 0),
                .acceptResumed(listener: "app_server"),
            ]) == ["device address_full": 2, "https reactor_full": 1, "app_server no_descriptor": 5])
    }

    @Test("every listener and every reason has its own cell")
    func cells() {
        let peer = SocketAddress.loopback(port: 9)
        let all = Link.Kind.allCases.flatMap { kind in
            ConnectionRefusal.allCases.map {
                TransportReport.refused(
                    listener: ListenerName(rawValue: kind.rawValue), peer: peer, reason: $0)
            }
        }
        #expect(counted(all).count == all.count)
        #expect(Metric.listeners == Link.Kind.allCases.map(\.rawValue))
    }
}
