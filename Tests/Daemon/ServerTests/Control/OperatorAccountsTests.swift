import Basics
import Operator
import Store
import StoreSupport
import Testing

@testable import Server

/// Operators of the API and their sessions: stored as digests, valid until they expire or are removed.
@Suite("Operators of the API") struct OperatorAccountsTests {
    private let store = MemoryStore(partitions: 1)

    private func now(_ seconds: Int) -> Now {
        Now(
            monotonic: Instant(nanoseconds: 1).advanced(seconds: seconds),
            wall: 1_800_000_000_000 + Int64(seconds) * 1_000)
    }

    @Test("a token names its operator, also after a restart, and is not in the store")
    func tokens() throws {
        let accounts = try OperatorAccounts(store: store)
        let added = try accounts.add(AddOperator(name: "alice", role: .operator), now: now(0).wall)
        #expect(added.token.revealed.hasPrefix("ccso_") && added.token.revealed.utf8.count == 48)
        let found = try #require(accounts.caller(token: added.token, now: now(1)))
        #expect(found.name == "alice" && found.role == .operator && found.session == nil)
        let stored = String(decoding: try #require(try store.setting("operators")), as: UTF8.self)
        #expect(stored.contains("alice") && !stored.contains(added.token.revealed))
        let again = try OperatorAccounts(store: store)
        #expect(again.caller(token: added.token, now: now(1))?.name == "alice")
        for wrong in ["", "ccso_", added.token.revealed + "A", String(added.token.revealed.dropLast())] {
            #expect(again.caller(token: Redacted(wrong), now: now(1)) == nil, "\(wrong)")
        }
    }

    @Test("a token ends with its time, and its sessions with it")
    func expiry() throws {
        let accounts = try OperatorAccounts(store: store)
        let added = try accounts.add(AddOperator(name: "brief", role: .viewer, seconds: 60), now: now(0).wall)
        let caller = try #require(accounts.caller(token: added.token, now: now(59)))
        let secret = accounts.openSession(caller, now: now(59).monotonic)
        #expect(accounts.caller(session: secret, now: now(59))?.name == "brief")
        #expect(accounts.isValid(caller, now: now(59)) && !accounts.isValid(caller, now: now(60)))
        #expect(accounts.caller(token: added.token, now: now(60)) == nil)
        #expect(accounts.caller(session: secret, now: now(60)) == nil)
        #expect(accounts.all(now: now(60).monotonic).map(\.account.name) == ["brief"], "it is still listed")
    }

    @Test("a removed operator is none at once, and a new one of that name has another token")
    func removal() throws {
        let accounts = try OperatorAccounts(store: store)
        let first = try accounts.add(AddOperator(name: "alice", role: .operator), now: now(0).wall)
        let caller = try #require(accounts.caller(token: first.token, now: now(0)))
        let secret = accounts.openSession(caller, now: now(0).monotonic)
        let session = try #require(accounts.caller(session: secret, now: now(0)))
        #expect(throws: OperatorProblem.self) {
            _ = try accounts.add(AddOperator(name: "alice"), now: now(0).wall)
        }
        try accounts.remove("alice")
        #expect(!accounts.isValid(caller, now: now(0)) && !accounts.isValid(session, now: now(0)))
        #expect(throws: OperatorProblem.self) { try accounts.remove("alice") }
        let second = try accounts.add(AddOperator(name: "alice", role: .viewer), now: now(0).wall)
        #expect(accounts.caller(token: first.token, now: now(0)) == nil)
        #expect(accounts.caller(session: secret, now: now(0)) == nil)
        #expect(accounts.caller(token: second.token, now: now(0))?.role == .viewer)
    }

    @Test("a logout ends one session, and the number of operators is limited")
    func limits() throws {
        let accounts = try OperatorAccounts(store: store)
        for number in 0..<Limits.OperatorAPI.operators {
            _ = try accounts.add(AddOperator(name: "o\(number)"), now: now(0).wall)
        }
        #expect(throws: OperatorProblem.self) {
            _ = try accounts.add(AddOperator(name: "more"), now: now(0).wall)
        }
        try accounts.remove("o7")
        let added = try accounts.add(AddOperator(name: "more"), now: now(0).wall)
        let caller = try #require(accounts.caller(token: added.token, now: now(0)))
        let secrets = (0..<2).map { _ in accounts.openSession(caller, now: now(0).monotonic) }
        accounts.endSession(try #require(accounts.caller(session: secrets[0], now: now(0))))
        #expect(accounts.caller(session: secrets[0], now: now(0)) == nil)
        #expect(accounts.caller(session: secrets[1], now: now(0)) != nil)
    }

    @Test("operators that cannot be read stop the start, instead of being forgotten")
    func damaged() throws {
        for text in ["{", "[]", "{\"operators\":[{\"name\":\"a\"}]}"] {
            try store.setSetting("operators", Array(text.utf8))
            #expect(throws: StoreError.self, "\(text)") { _ = try OperatorAccounts(store: store) }
        }
    }
}
