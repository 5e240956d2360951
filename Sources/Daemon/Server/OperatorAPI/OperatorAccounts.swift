import Basics
import Operator
import Store
import Synchronization
import Transport
import Wire

/// The operators of the API and the sessions of their browsers.
///
/// Operators are a setting of the store, with the digests of their tokens; sessions are in memory.
final class OperatorAccounts: Sendable {
    /// The name of the setting.
    static let setting = "operators"

    private struct State {
        var accounts: [OperatorAccount] = []
        var sessions = OperatorSessions()
    }

    /// The name of the cookie with the secret of a session.
    let cookie: String

    private let store: any Store
    private let state: Mutex<State>
    /// Serialises changes: each is based on the result of the previous one.
    private let changes = Mutex(())

    /// Reads the operators. `isTLS` is whether browsers reach the console over TLS.
    init(store: any Store, isTLS: Bool = false) throws(StoreError) {
        self.store = store
        cookie = APICredential.cookieName(
            Hex.text(SecureRandom.bytes(Limits.OperatorAPI.cookieBytes)), isTLS: isTLS)
        var state = State()
        if let bytes = try store.setting(Self.setting), !bytes.isEmpty {
            guard let json = try? JSONValue(parsing: bytes.raw),
                let list = try? OperatorAccountList(json: json)
            else {
                throw StoreError(.damaged, "the setting operators cannot be read")
            }
            state.accounts = list.operators
        }
        self.state = Mutex(state)
    }

    /// All operators, by name, with the numbers of their sessions.
    func all(now: Instant) -> [(account: OperatorAccount, sessions: Int)] {
        state.withLock { state in
            state.accounts.map { ($0, state.sessions.count(of: $0.name, now: now)) }
        }
    }

    /// Adds an operator. Returns the token, which is not stored.
    func add(_ command: AddOperator, now: UnixMilliseconds) throws(OperatorProblem) -> (
        account: OperatorAccount, token: Redacted<String>
    ) {
        try changes.withLock { _ throws(OperatorProblem) in
            var accounts = state.withLock { $0.accounts }
            guard !accounts.contains(where: { $0.name == command.name }) else {
                throw OperatorProblem(
                    "operator \(command.name) already exists",
                    hint: "remove it first, or choose another name; ccsctl operators list shows all")
            }
            guard accounts.count < Limits.OperatorAPI.operators else {
                throw OperatorProblem(
                    "there are \(Limits.OperatorAPI.operators) operators already",
                    hint: "remove one that is not needed: ccsctl operators list shows all")
            }
            let token = Self.freshSecret(prefix: "ccso_")
            let account = OperatorAccount(
                name: command.name, role: command.role, digest: Self.digest(token), createdAt: now,
                expiresAt: command.seconds.map { now + Int64($0) * 1_000 })
            accounts.append(account)
            try put(accounts.sorted { $0.name < $1.name })
            return (account, token)
        }
    }

    /// Removes an operator, whose sessions end.
    func remove(_ name: String) throws(OperatorProblem) {
        try changes.withLock { _ throws(OperatorProblem) in
            var accounts = state.withLock { $0.accounts }
            guard let place = accounts.firstIndex(where: { $0.name == name }) else {
                throw OperatorProblem("unknown operator \(name)", hint: "ccsctl operators list shows all")
            }
            accounts.remove(at: place)
            try put(accounts)
            state.withLock { $0.sessions.endAll(of: name) }
        }
    }

    private func put(_ accounts: [OperatorAccount]) throws(OperatorProblem) {
        let bytes = Array(OperatorAccountList(operators: accounts).json.compact.utf8)
        do throws(StoreError) { try store.setSetting(Self.setting, bytes) } catch {
            throw OperatorProblem(
                "the store did not accept the change: \(error.description)",
                hint: "see the log of ccsd for the reason")
        }
        state.withLock { $0.accounts = accounts }
    }

    // MARK: Callers

    /// Returns the operator of a token. Every digest is compared, each in constant time.
    func caller(token: Redacted<String>, now: Now) -> APICaller? {
        let digest = Self.digest(token)
        return state.withLock { state in
            var found: OperatorAccount?
            for account in state.accounts where ConstantTime.equal(account.digest, digest) { found = account }
            guard let found, !found.isExpired(now.machineWall) else { return nil }
            return APICaller(name: found.name, role: found.role, token: digest)
        }
    }

    /// Returns the operator of a session, and notes its use.
    func caller(session secret: Redacted<String>, now: Now) -> APICaller? {
        caller(session: Self.digest(secret), now: now)
    }

    private func caller(session digest: [UInt8], now: Now) -> APICaller? {
        state.withLock { state in
            guard let session = state.sessions.use(digest, now: now.monotonic),
                let account = state.accounts.first(where: { $0.name == session.name }),
                ConstantTime.equal(account.digest, session.token), !account.isExpired(now.machineWall)
            else { return nil }
            var caller = APICaller(name: account.name, role: account.role, token: session.token)
            caller.session = (digest, session.deadline)
            return caller
        }
    }

    /// Whether a caller is still one: the operator was not removed, the token has not expired, the session has not ended.
    func isValid(_ caller: APICaller, now: Now) -> Bool {
        if let session = caller.session { return self.caller(session: session.digest, now: now) != nil }
        return state.withLock { state in
            state.accounts.contains { account in
                account.name == caller.name && !account.isExpired(now.machineWall)
                    && ConstantTime.equal(account.digest, caller.token)
            }
        }
    }

    /// Opens a session for the operator of a token. Returns the secret of its cookie.
    func openSession(_ caller: APICaller, now: Instant) -> Redacted<String> {
        let secret = Self.freshSecret(prefix: "")
        state.withLock { state in
            state.sessions.open(Self.digest(secret), name: caller.name, token: caller.token, now: now)
        }
        return secret
    }

    /// Ends the session of a caller.
    func endSession(_ caller: APICaller) {
        guard let session = caller.session else { return }
        state.withLock { $0.sessions.end(session.digest) }
    }

    private static func digest(_ secret: Redacted<String>) -> [UInt8] {
        Digest.sha256(Array(secret.revealed.utf8))
    }

    private static func freshSecret(prefix: String) -> Redacted<String> {
        Redacted(
            prefix
                + Base64.text(
                    SecureRandom.bytes(Limits.OperatorAPI.secretBytes), urlSafe: true, padded: false))
    }
}

/// An authenticated caller of the API.
struct APICaller: Sendable {
    var name: String
    var role: Role
    /// The digest of the operator's token.
    var token: [UInt8]
    /// The session of a browser, with the time at which it ends without a further request; `nil` for a request with the token.
    var session: (digest: [UInt8], deadline: Instant)?
}
