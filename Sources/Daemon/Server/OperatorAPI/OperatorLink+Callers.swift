import Basics
import Delivery
import Operator
import Transport
import Wire

/// Who a request comes from, and the sessions of browsers.
extension OperatorLink {
    /// Returns the operator of a request. Throws the problem if it has no valid credential, or a page of another origin may have
    /// caused it.
    func authenticate(_ request: HTTPRequest, _ now: Now) throws(APIProblem) -> APICaller {
        let now = host.clock.judgedMachine(now)
        let caller: APICaller
        switch APICredential(request, cookie: daemon.operators.cookie) {
        case .none: throw .unauthenticated("missing credentials", isExpected: true)
        case .session(let secret):
            guard let found = daemon.operators.caller(session: secret, now: now) else {
                throw .unauthenticated("the session has ended", isExpected: false)
            }
            caller = found
        case .token(let token): caller = try self.caller(token: token, now)
        }
        try APICredential.requireOwnOrigin(
            request, isTLS: !connection.isPlain, hasCookie: caller.session != nil)
        return caller
    }

    private func caller(token: Redacted<String>, _ now: Now) throws(APIProblem) -> APICaller {
        // First of all: who holds a valid token is not refused because of others behind the same address.
        if let caller = daemon.operators.caller(token: token, now: now) { return caller }
        let logins = host.admission.failedLogins
        logins.record(connection.peer, kind, claim: 0, now: now.monotonic)
        guard !logins.isExceeded(connection.peer, kind, claim: 0, now: now.monotonic) else {
            host.logRefusal(
                of: connection.peer, listener: kind.rawValue, reason: LoginRefusal.tooManyFailures.rawValue)
            var problem = APIProblem(
                .tooManyRequests, "too many failed logins from this address in this minute",
                hint: "check the token, and try again in a minute")
            problem.header = ("Retry-After", "60")
            throw problem
        }
        host.log.repeating(
            .notice, "login_refused", by: "\(kind) \(connection.peer.host)",
            [
                "listener": LogValue(kind), "peer": .text("\(connection.peer)"),
                "reason": LogValue(LoginRefusal.wrongCredentials),
            ])
        throw .unauthenticated("the token is unknown, was removed, or has expired", isExpected: false)
    }

    /// Answers a request about the session of a browser.
    func browserSession(_ method: HTTPMethod, _ caller: APICaller, _ now: Now) throws(APIProblem)
        -> HTTPResponse
    {
        var response = HTTPResponse(.ok, HTTPResponse.json, [])
        var caller = caller
        switch method {
        case .post:
            guard caller.session == nil else {
                throw APIProblem(
                    .badRequest, "a session cannot open another one",
                    hint: "send the token in the header Authorization")
            }
            let secret = daemon.operators.openSession(caller, now: now.monotonic)
            response.extra = ("Set-Cookie", APICredential.setCookie(daemon.operators.cookie, secret))
            caller.session = (
                [], now.monotonic.advanced(seconds: Limits.OperatorAPI.sessionIdleSeconds)
            )
            log("operator_session_opened", caller)
        case .delete:
            guard caller.session != nil else {
                throw APIProblem(.badRequest, "the request has no session", hint: "send its cookie")
            }
            daemon.operators.endSession(caller)
            response.extra = ("Set-Cookie", APICredential.removeCookie(daemon.operators.cookie))
            log("operator_session_closed", caller)
            caller.session = nil
        default: break
        }
        let session = OperatorSessionAnswer(
            name: caller.name, role: caller.role,
            idleSeconds: caller.session.map {
                Int(max(0, $0.deadline.milliseconds(since: now.monotonic)) / 1_000)
            }, hasTestBench: daemon.bench != nil)
        response.body = Array(session.json.compact.utf8)
        return response
    }

    private func log(_ event: StaticString, _ caller: APICaller) {
        host.log.record(
            .notice, event, ["operator": .text(caller.name), "peer": .text("\(connection.peer)")])
    }
}

extension APIProblem {
    /// The request has no valid credential.
    static func unauthenticated(_ text: String, isExpected: Bool) -> APIProblem {
        var problem = APIProblem(
            .unauthorized, text,
            hint: isExpected
                ? "send Authorization: Bearer TOKEN; ccsctl operators add creates a token"
                : "ccsctl operators list shows the operators; ccsctl operators add creates a token")
        problem.header = ("WWW-Authenticate", "Bearer realm=\"ccsd\"")
        return problem
    }
}
