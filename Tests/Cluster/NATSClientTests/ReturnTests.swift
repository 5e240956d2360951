import Basics
import Testing

@testable import NATSClient

@Suite("when a client returns to a preferred NATS server") struct ReturnTests {
    private let servers = (1...5).map { NATSServerAddress(host: "n\($0)") }
    private var preferred: Set<NATSServerAddress> { Set(servers[..<2]) }

    private func at(_ milliseconds: Int64) -> Instant { Instant(nanoseconds: milliseconds * 1_000_000) }

    private func rotation() -> ServerRotation {
        ServerRotation(servers: servers, preferred: preferred, seed: 1)
    }

    private func order(_ rotation: inout ServerRotation) -> [NATSServerAddress] {
        var order: [NATSServerAddress] = []
        while case .connect(let server) = rotation.next() { order.append(server) }
        return order
    }

    @Test("preferred servers are tried first, each group in random order, and the one that was lost last")
    func orders() {
        var rotation = rotation()
        var orders: Set<[NATSServerAddress]> = []
        for _ in 1...20 {
            let order = order(&rotation)
            #expect(Set(order[..<2]) == preferred && Set(order) == Set(servers) && order.count == 5)
            orders.insert(order)
        }
        #expect(Set(orders.map { $0[0] }).count == 2 && Set(orders.map { $0[2] }).count == 3)
        rotation.connected(to: servers[0], now: at(0))
        rotation.lost(now: at(5_000))
        let lost = order(&rotation)
        #expect(lost[0] == servers[1] && lost[4] == servers[0])
        rotation.connected(to: servers[2], now: at(6_000))
        rotation.left(now: at(6_001))
        let left = order(&rotation)
        #expect(Set(left[..<2]) == preferred && left[4] == servers[2])
    }

    @Test("a return is due after two seconds on another server, and later each time that it fails")
    func failures() {
        var rotation = rotation()
        rotation.connected(to: servers[1], now: at(0))
        #expect(rotation.returnTarget(now: at(1_000_000)) == nil)
        rotation.left(now: at(1_000_000))
        var now: Int64 = 2_000_000
        rotation.connected(to: servers[3], now: at(now))
        for pause in [2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 128_000, 256_000, 300_000, 300_000]
            as [Int64]
        {
            #expect(rotation.returnAt == at(now + pause))
            #expect(rotation.returnTarget(now: at(now + pause - 1)) == nil)
            #expect(rotation.returnTarget(now: at(now + pause)).map { preferred.contains($0) } == true)
            // One at a time.
            #expect(rotation.returnTarget(now: at(now + 1_000_000)) == nil)
            now += pause + 1_000
            rotation.returnFailed(now: at(now))
        }
        rotation.lost(now: at(now))
        #expect(rotation.returnAt == .distantFuture, "there is no connection")
    }

    /// The pause before the next return, after one has lasted this long and the client uses another server.
    private func pause(
        afterFailures failures: Int, isReturn: Bool = true, lasted: Int64, server: Int = 0
    ) -> Int64 {
        var rotation = rotation()
        rotation.connected(to: servers[3], now: at(0))
        for _ in 0..<failures { rotation.returnFailed(now: at(0)) }
        rotation.connected(to: servers[server], isReturn: isReturn, now: at(0))
        rotation.lost(now: at(lasted))
        rotation.connected(to: servers[4], now: at(lasted))
        return rotation.returnAt.milliseconds(since: at(lasted))
    }

    @Test("the pause doubles after a return that did not last, and begins anew after one that did")
    func lasting() {
        #expect(pause(afterFailures: 0, lasted: 9_999) == 4_000)
        #expect(pause(afterFailures: 1, lasted: 9_999) == 8_000)
        #expect(pause(afterFailures: 9, lasted: 9_999) == 300_000)
        #expect(pause(afterFailures: 9, lasted: 10_000) == 2_000)
        // A preferred server that was the last resort is no return.
        #expect(pause(afterFailures: 1, isReturn: false, lasted: 1) == 4_000)
        #expect(pause(afterFailures: 1, isReturn: false, lasted: 10_000) == 2_000)
        #expect(pause(afterFailures: 1, isReturn: false, lasted: 100_000, server: 2) == 4_000)
    }

    @Test("nothing is preferred if all or none of the servers are, and there is no return")
    func withoutPreference() {
        for preferred in [[], Set(servers), [NATSServerAddress(host: "other")]] {
            var rotation = ServerRotation(servers: servers, preferred: preferred, seed: 4)
            let firsts = (1...50).map { _ in order(&rotation).first }
            #expect(Set(firsts).count == 5)
            rotation.connected(to: servers[4], now: at(0))
            #expect(rotation.returnAt == .distantFuture && rotation.returnTarget(now: at(9_000_000)) == nil)
        }
    }
}
