import Basics
import Delivery
import Testing
import Transport

@testable import Server

/// Requests of unauthenticated peers are counted by address and in total.
struct UnauthenticatedRequestsTests {
    private static let bounds = UnauthenticatedRequests.Bounds(perAddress: 3, total: 5)

    private func address(_ text: String) throws -> SocketAddress {
        try #require(SocketAddress(literal: text, port: 4_000))
    }

    private func time(_ seconds: Int) -> Instant { Instant(nanoseconds: 0).advanced(seconds: seconds) }

    private func growths(
        _ unauthenticatedRequests: UnauthenticatedRequests, _ peer: SocketAddress, _ times: Int,
        at second: Int = 61
    )
        -> [Requester.Growth]
    {
        (0..<times).map { _ in unauthenticatedRequests.admit(peer, now: time(second)) }
    }

    @Test("each address has its own limit per minute")
    func perAddress() throws {
        let unauthenticatedRequests = UnauthenticatedRequests(Self.bounds)
        let first = try address("192.0.2.1")
        #expect(growths(unauthenticatedRequests, first, 4) == [.counted, .counted, .counted, .knownOnly])
        #expect(growths(unauthenticatedRequests, try address("192.0.2.2"), 1) == [.counted])
        #expect(growths(unauthenticatedRequests, first, 1, at: 120) == [.knownOnly])
        #expect(growths(unauthenticatedRequests, first, 1, at: 121) == [.counted], "the minute is over")
    }

    @Test(
        "addresses of an IPv6 network share a limit, and all addresses together have another one")
    func total() throws {
        let unauthenticatedRequests = UnauthenticatedRequests(Self.bounds)
        for number in 1...3 { _ = growths(unauthenticatedRequests, try address("2001:db8::\(number)"), 1) }
        #expect(growths(unauthenticatedRequests, try address("2001:db8::4"), 1) == [.knownOnly])
        #expect(
            growths(unauthenticatedRequests, try address("192.0.2.1"), 3) == [.counted, .counted, .knownOnly])
        #expect(growths(unauthenticatedRequests, try address("192.0.2.9"), 1) == [.knownOnly])
    }

    @Test("a request is taken back only in the minute in which it was counted")
    func givesBack() throws {
        let unauthenticatedRequests = UnauthenticatedRequests(Self.bounds)
        let peer = try address("192.0.2.1")
        for _ in 0..<20 {
            #expect(growths(unauthenticatedRequests, peer, 1) == [.counted])
            unauthenticatedRequests.withdraw(peer, now: time(61))
        }
        _ = growths(unauthenticatedRequests, peer, 3)
        unauthenticatedRequests.withdraw(peer, now: time(121))
        #expect(growths(unauthenticatedRequests, peer, 1) == [.knownOnly])
    }

    @Test("0 disables a limit, and a change applies at once")
    func changes() throws {
        let unauthenticatedRequests = UnauthenticatedRequests(Self.bounds)
        let peer = try address("192.0.2.1")
        _ = growths(unauthenticatedRequests, peer, 3)
        unauthenticatedRequests.change(to: UnauthenticatedRequests.Bounds(perAddress: 0, total: 0))
        #expect(growths(unauthenticatedRequests, peer, 9) == Array(repeating: .counted, count: 9))
        unauthenticatedRequests.change(to: UnauthenticatedRequests.Bounds(perAddress: 100, total: 12))
        #expect(growths(unauthenticatedRequests, peer, 1) == [.knownOnly])
    }

    @Test("a full table refuses no new address until the total limit is reached")
    func full() throws {
        let unauthenticatedRequests = UnauthenticatedRequests(
            UnauthenticatedRequests.Bounds(perAddress: 1, total: 5), capacity: 2)
        _ = growths(unauthenticatedRequests, try address("192.0.2.1"), 1)
        #expect(growths(unauthenticatedRequests, try address("192.0.2.1"), 1) == [.knownOnly])
        let other = try address("192.0.2.2")
        #expect(
            growths(unauthenticatedRequests, other, 5) == [
                .counted, .counted, .counted, .counted, .knownOnly,
            ])
    }
}
