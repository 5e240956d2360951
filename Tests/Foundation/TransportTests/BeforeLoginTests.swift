import Basics
import Glibc
import Testing

@testable import Transport

/// Connections that have not logged in make room for newer ones.
@Suite struct BeforeLoginTests {
    /// Opens connections, each of which is admitted. Returns the reasons for which earlier ones were closed.
    private func crowd(_ loop: Loopback, _ count: Int) throws -> [ConnectionRefusal] {
        var reasons: [ConnectionRefusal] = []
        loop.reactor.report = { if case .refused(_, _, let reason) = $0 { reasons.append(reason) } }
        for _ in 0..<count { _ = try loop.connect(Recorder()) }
        return reasons
    }

    @Test("the oldest connection without a login is closed when its address has too many of them")
    func anonymous() throws {
        var pace = PaceSettings()
        pace.anonymousPerAddress = 3
        let loop = try Loopback(pace: pace)
        #expect(try crowd(loop, 3) == [])
        // The oldest one has logged in, so the second one is closed for the newest.
        loop.server.connections[0].isAnonymous = false
        #expect(try crowd(loop, 2) == [.addressFull])
        #expect(loop.reactor.turns { loop.server.closed == [.tooManyConnections] })
        #expect(loop.server.connections[0].isOpen && !loop.server.connections[1].isOpen)
        // One closes: another connection is possible again.
        loop.server.connections[2].abort(.operatorRequest)
        #expect(loop.reactor.turns { loop.server.closed.count == 2 })
        #expect(try crowd(loop, 1) == [] && loop.server.opened == 6)
        #expect(loop.reactor.acceptors.compactMap { $0?.anonymous.values.reduce(0) { $0 + $1.count } } == [3])
    }

    @Test(
        "half-open handshakes beyond the memory for them are closed oldest first, and a valid client gets in")
    func halfOpen() throws {
        let loop = try Loopback()
        loop.reactor.changeListeners(anonymousPerAddress: 0, beforeLogin: 4, proxies: [])
        var reasons: [ConnectionRefusal] = []
        loop.reactor.report = { if case .refused(_, _, let reason) = $0 { reasons.append(reason) } }
        // Peers that connect and never begin the handshake.
        let silent = (0..<10).map { _ in Recorder() }
        for owner in silent {
            _ = try loop.reactor.connect(to: loop.address, delegate: owner)
            for _ in 0..<3 { loop.reactor.turn(waitMilliseconds: 1) }
        }
        #expect(loop.reactor.turns { reasons.count == 6 && loop.reactor.beforeLoginCount == 4 })
        #expect(reasons.allSatisfy { $0 == .beforeLoginFull })
        #expect(loop.reactor.turns { silent.prefix(6).allSatisfy { !$0.closed.isEmpty } })
        #expect(silent.suffix(4).allSatisfy { $0.closed.isEmpty })
        let client = Recorder()
        _ = try loop.connect(client)
        #expect(client.opened == 1 && client.closed.isEmpty && loop.reactor.beforeLoginCount == 4)
        // Logged in, it costs nothing of this memory, and others cannot push it out.
        loop.server.connections.last?.isAnonymous = false
        #expect(loop.reactor.beforeLoginCount == 3)
        for _ in 0..<8 {
            _ = try loop.reactor.connect(to: loop.address, delegate: Recorder())
            for _ in 0..<3 { loop.reactor.turn(waitMilliseconds: 1) }
        }
        #expect(client.closed.isEmpty && loop.server.connections.last?.isOpen == true)
        #expect(loop.reactor.beforeLoginCount == 4)
    }

    @Test("a queue by age finds the oldest that is still in it, and keeps no more than twice as many")
    func ages() {
        var queue = AgeQueue()
        var inside: Set<UInt32> = []
        func id(_ number: UInt32) -> ConnectionID {
            ConnectionID(node: 0, reactor: 0, slot: number, generation: number)
        }
        func isIn(_ id: ConnectionID) -> Bool { inside.contains(id.slot) }
        #expect(queue.oldest(isIn: isIn) == nil)
        for number in 0..<1_000 as Range<UInt32> {
            queue.append(id(number), isIn: isIn)
            inside.insert(number)
            guard number % 10 != 0 else { continue }
            inside.remove(number)
            queue.leave()
        }
        #expect(queue.count == 100 && queue.oldest(isIn: isIn) == id(0))
        #expect(queue.held <= 2 * 100 + 32, "\(queue.held)")
        inside.remove(0)
        queue.leave()
        #expect(queue.oldest(isIn: isIn) == id(10))
        for number in inside {
            inside.remove(number)
            queue.leave()
        }
        #expect(queue.count == 0 && queue.held == 0 && queue.oldest(isIn: isIn) == nil)
    }
}
