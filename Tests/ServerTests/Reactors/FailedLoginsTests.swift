import Basics
import Testing
import Transport

@testable import Server

/// Refusals after failed logins.
@Suite("Failed logins")
struct FailedLoginsTests {
    private static let bounds = FailedLogins.Bounds(perIdentity: 30, perAddress: 200)

    private func address(_ text: String, port: UInt16 = 4_000) throws -> SocketAddress {
        try #require(SocketAddress(literal: text, port: port))
    }

    private func time(_ seconds: Int64) -> Instant { Instant(nanoseconds: seconds * 1_000_000_000) }

    private func fail(
        _ logins: FailedLogins, _ peer: SocketAddress, _ listener: Link.Kind = .device, claim: UInt64 = 1,
        times: Int = 30
    ) {
        for _ in 0..<times { logins.record(peer, listener, claim: claim, now: time(61)) }
    }

    @Test(
        "an identity that fails too often is refused from all ports of its address until the minute ends")
    func minute() throws {
        let logins = FailedLogins(Self.bounds)
        fail(logins, try address("192.0.2.1"))
        let again = try address("192.0.2.1", port: 5)
        #expect(logins.refuses(again, .device, claim: 1, now: time(62)))
        #expect(!logins.refuses(try address("192.0.2.2"), .device, claim: 1, now: time(62)))
        #expect(!logins.refuses(again, .device, claim: 1, now: time(121)))
    }

    @Test("a failing identity does not lock out others behind its address or at another listener")
    func others() throws {
        let logins = FailedLogins(Self.bounds)
        let shared = try address("192.0.2.1")
        fail(logins, shared)
        #expect(!logins.refuses(shared, .device, claim: 2, now: time(62)))
        #expect(!logins.refuses(shared, .appServer, claim: 1, now: time(62)))
        #expect(!logins.refuses(shared, .device, now: time(62)))
    }

    @Test("an address that tries many identities is refused with any identity, at that listener only")
    func manyIdentities() throws {
        let logins = FailedLogins(Self.bounds)
        let guesser = try address("192.0.2.1")
        for claim in 1...199 { fail(logins, guesser, claim: UInt64(claim), times: 1) }
        #expect(!logins.refuses(guesser, .device, now: time(62)))
        fail(logins, guesser, claim: 200, times: 1)
        #expect(logins.refuses(guesser, .device, now: time(62)))
        #expect(!logins.refuses(guesser, .appServer, now: time(62)))
        #expect(!logins.refuses(try address("192.0.2.2"), .device, now: time(62)))
        #expect(!logins.refuses(guesser, .device, now: time(120)))
    }

    @Test("changed limits apply at once, and 0 disables them")
    func change() throws {
        let logins = FailedLogins(Self.bounds)
        let peer = try address("192.0.2.1")
        fail(logins, peer, times: 200)
        logins.change(to: FailedLogins.Bounds(perIdentity: 0, perAddress: 0))
        #expect(!logins.refuses(peer, .device, claim: 1, now: time(62)))
        #expect(!logins.refuses(peer, .device, now: time(62)))
        logins.change(to: FailedLogins.Bounds(perIdentity: 200, perAddress: 201))
        #expect(logins.refuses(peer, .device, claim: 1, now: time(62)))
        #expect(!logins.refuses(peer, .device, now: time(62)))
    }

    @Test("a full table still counts its entries and refuses no others")
    func full() throws {
        let logins = FailedLogins(Self.bounds, capacity: 2)
        let guesser = try address("192.0.2.1")
        fail(logins, guesser, times: 1)
        fail(logins, try address("192.0.2.2"), times: 1)
        fail(logins, try address("192.0.2.3"), times: 300)
        fail(logins, guesser)
        #expect(logins.refuses(guesser, .device, claim: 1, now: time(62)))
        #expect(!logins.refuses(try address("192.0.2.3"), .device, claim: 1, now: time(62)))
        #expect(!logins.refuses(try address("192.0.2.4"), .device, now: time(62)))
    }

    @Test("all addresses of an IPv6 network count as one")
    func network() throws {
        let logins = FailedLogins(Self.bounds)
        for number in 1...30 {
            fail(logins, try address("2001:db8::\(String(number, radix: 16))"), times: 1)
        }
        #expect(logins.refuses(try address("2001:db8::ffff"), .device, claim: 1, now: time(62)))
        #expect(!logins.refuses(try address("2001:db8:0:1::1"), .device, claim: 1, now: time(62)))
    }

    @Test("canary: one failure below the limit is accepted")
    func canary() throws {
        let logins = FailedLogins(Self.bounds)
        fail(logins, try address("192.0.2.1"), times: 29)
        #expect(!logins.refuses(try address("192.0.2.1"), .device, claim: 1, now: time(62)))
    }
}
