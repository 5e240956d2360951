import Basics
import Testing
import Transport

@testable import Server

/// Who is refused after failed logins, and for how long.
@Suite("Failed logins")
struct FailedLoginsTests {
    private func address(_ text: String, port: UInt16 = 4_000) throws -> SocketAddress {
        try #require(SocketAddress(literal: text, port: port))
    }

    private func time(_ seconds: Int64) -> Instant { Instant(nanoseconds: seconds * 1_000_000_000) }

    private func fail(
        _ logins: FailedLogins, _ peer: SocketAddress,
        times: Int = Limits.failedLoginsPerAddressAndMinute
    ) {
        for _ in 0..<times { logins.note(peer, now: time(61)) }
    }

    @Test("an address that fails too often is refused from any port, until the minute is over")
    func minute() throws {
        let logins = FailedLogins()
        fail(logins, try address("192.0.2.1"))
        #expect(logins.refuses(try address("192.0.2.1", port: 5), now: time(62)))
        #expect(!logins.refuses(try address("192.0.2.2"), now: time(62)))
        #expect(!logins.refuses(try address("192.0.2.1"), now: time(121)))
    }

    @Test("a full table still counts the addresses in it")
    func full() throws {
        let logins = FailedLogins(capacity: 2)
        let guesser = try address("192.0.2.1")
        fail(logins, guesser, times: 1)
        fail(logins, try address("192.0.2.2"), times: 1)
        fail(logins, guesser)
        #expect(logins.refuses(guesser, now: time(62)))
    }

    @Test("all addresses of one IPv6 network count as one")
    func network() throws {
        let logins = FailedLogins()
        for number in 1...Limits.failedLoginsPerAddressAndMinute {
            fail(logins, try address("2001:db8::\(String(number, radix: 16))"), times: 1)
        }
        #expect(logins.refuses(try address("2001:db8::ffff"), now: time(62)))
        #expect(!logins.refuses(try address("2001:db8:0:1::1"), now: time(62)))
    }

    @Test("canary: one failure less is let in")
    func canary() throws {
        let logins = FailedLogins()
        fail(logins, try address("192.0.2.1"), times: Limits.failedLoginsPerAddressAndMinute - 1)
        #expect(!logins.refuses(try address("192.0.2.1"), now: time(62)))
    }
}
