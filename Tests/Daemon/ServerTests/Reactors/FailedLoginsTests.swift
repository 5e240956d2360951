import Basics
import Testing
import Transport

@testable import Server

/// Failed logins beyond their limits.
@Suite("Failed logins")
struct FailedLoginsTests {
    private static let bounds = FailedLogins.Bounds(perIdentity: 29, perAddress: 199)

    private func address(_ text: String, port: UInt16 = 4_000) throws -> SocketAddress {
        try #require(SocketAddress(literal: text, port: port))
    }

    private func time(_ seconds: Int) -> Instant { Instant(nanoseconds: 0).advanced(seconds: seconds) }

    private func fail(
        _ logins: FailedLogins, _ peer: SocketAddress, _ listener: Link.Kind = .device, claim: UInt64 = 1,
        times: Int = 30
    ) {
        for _ in 0..<times { logins.record(peer, listener, claim: claim, now: time(61)) }
    }

    @Test(
        "an identity that fails too often exceeds the limit from all ports of its address until the minute ends"
    )
    func minute() throws {
        let logins = FailedLogins(Self.bounds)
        fail(logins, try address("192.0.2.1"))
        let again = try address("192.0.2.1", port: 5)
        #expect(logins.isExceeded(again, .device, claim: 1, now: time(62)))
        #expect(!logins.isExceeded(try address("192.0.2.2"), .device, claim: 1, now: time(62)))
        #expect(!logins.isExceeded(again, .device, claim: 1, now: time(121)))
    }

    @Test("a failing identity counts for no other behind its address or at another listener")
    func others() throws {
        let logins = FailedLogins(Self.bounds)
        let shared = try address("192.0.2.1")
        fail(logins, shared)
        #expect(!logins.isExceeded(shared, .device, claim: 2, now: time(62)))
        #expect(!logins.isExceeded(shared, .appServer, claim: 1, now: time(62)))
        #expect(!logins.isExceeded(shared, .device, claim: 999, now: time(62)))
    }

    @Test("an address that tries many identities exceeds the limit with any identity, at that listener only")
    func manyIdentities() throws {
        let logins = FailedLogins(Self.bounds)
        let guesser = try address("192.0.2.1")
        for claim in 1...199 { fail(logins, guesser, claim: UInt64(claim), times: 1) }
        #expect(!logins.isExceeded(guesser, .device, claim: 999, now: time(62)))
        fail(logins, guesser, claim: 200, times: 1)
        #expect(logins.isExceeded(guesser, .device, claim: 999, now: time(62)))
        #expect(!logins.isExceeded(guesser, .appServer, claim: 999, now: time(62)))
        #expect(!logins.isExceeded(try address("192.0.2.2"), .device, claim: 999, now: time(62)))
        #expect(!logins.isExceeded(guesser, .device, claim: 999, now: time(121)))
    }

    @Test("changed limits apply at once, and 0 disables them")
    func change() throws {
        let logins = FailedLogins(Self.bounds)
        let peer = try address("192.0.2.1")
        fail(logins, peer, times: 200)
        logins.change(to: FailedLogins.Bounds(perIdentity: 0, perAddress: 0))
        #expect(!logins.isExceeded(peer, .device, claim: 1, now: time(62)))
        #expect(!logins.isExceeded(peer, .device, claim: 999, now: time(62)))
        logins.change(to: FailedLogins.Bounds(perIdentity: 199, perAddress: 200))
        #expect(logins.isExceeded(peer, .device, claim: 1, now: time(62)))
        #expect(!logins.isExceeded(peer, .device, claim: 999, now: time(62)))
    }

    @Test("a full table still counts its entries and no others")
    func full() throws {
        let logins = FailedLogins(Self.bounds, capacity: 2)
        let guesser = try address("192.0.2.1")
        fail(logins, guesser, times: 1)
        fail(logins, try address("192.0.2.2"), times: 1)
        fail(logins, try address("192.0.2.3"), times: 300)
        fail(logins, guesser)
        #expect(logins.isExceeded(guesser, .device, claim: 1, now: time(62)))
        #expect(!logins.isExceeded(try address("192.0.2.3"), .device, claim: 1, now: time(62)))
        #expect(!logins.isExceeded(try address("192.0.2.4"), .device, claim: 999, now: time(62)))
    }

    @Test("the minute of an identity begins with its first failure, at whatever second of the clock that is")
    func ownMinute() throws {
        let logins = FailedLogins(Self.bounds)
        let guesser = try address("192.0.2.1")
        for number in 0..<30 { logins.record(guesser, .device, claim: 1, now: time(105 + number)) }
        #expect(
            logins.isExceeded(guesser, .device, claim: 1, now: time(164)),
            "29 of them within the clock's minute")
        logins.record(guesser, .device, claim: 1, now: time(165))
        #expect(
            !logins.isExceeded(guesser, .device, claim: 1, now: time(166)), "the first of its next minute")
    }

    @Test("a full table has room again when the minutes in it have ended")
    func roomAgain() throws {
        let logins = FailedLogins(Self.bounds, capacity: 2)
        fail(logins, try address("192.0.2.1"), times: 1)
        fail(logins, try address("192.0.2.2"), times: 1)
        let late = try address("192.0.2.3")
        for _ in 0..<30 { logins.record(late, .device, claim: 1, now: time(120)) }
        #expect(!logins.isExceeded(late, .device, claim: 1, now: time(120)))
        for _ in 0..<30 { logins.record(late, .device, claim: 1, now: time(121)) }
        #expect(logins.isExceeded(late, .device, claim: 1, now: time(121)))
    }

    @Test("all addresses of an IPv6 network count as one")
    func network() throws {
        let logins = FailedLogins(Self.bounds)
        for number in 1...30 {
            fail(logins, try address("2001:db8::\(String(number, radix: 16))"), times: 1)
        }
        #expect(logins.isExceeded(try address("2001:db8::ffff"), .device, claim: 1, now: time(62)))
        #expect(!logins.isExceeded(try address("2001:db8:0:1::1"), .device, claim: 1, now: time(62)))
    }

    @Test("canary: the limit itself is not exceeded")
    func canary() throws {
        let logins = FailedLogins(Self.bounds)
        fail(logins, try address("192.0.2.1"), times: 29)
        #expect(!logins.isExceeded(try address("192.0.2.1"), .device, claim: 1, now: time(62)))
    }
}
