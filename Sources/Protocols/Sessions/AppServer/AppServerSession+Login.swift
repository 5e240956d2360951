import Basics
import Delivery
import Wire

extension AppServerSession {
    /// Handles one step of SASL (ccs-xmpp 1.5).
    mutating func received(_ step: SASL.Step, _ io: inout SessionIO) {
        switch (step, state) {
        // Another `<auth>` replaces the previous exchange.
        case (.auth(let payload), _): check(payload, &io)
        case (.scram(let bindsChannel, let payload), _): beginSCRAM(bindsChannel, payload, &io)
        case (.response(let payload), .challenged(let exchange?)): received(payload, of: exchange, &io)
        case (.response(let payload), .challenged(nil)): check(payload, &io)
        case (.response, _): failLogin(.malformedRequest, .loginRefused, &io)
        case (.authWithoutPayload, _): challenge(nil, &io)
        case (.abort, _): failLogin(.aborted, .loginRefused, &io)
        case (.unknownMechanism, _): failLogin(.invalidMechanism, .loginRefused, &io)
        }
    }

    /// Requests the first message of a mechanism with an empty challenge.
    mutating func challenge(_ exchange: AppServerSCRAM?, _ io: inout SessionIO) {
        state = .challenged(exchange)
        SASL.appendChallenge(to: &io.out.bytes)
        io.out.endRecord()
    }

    private mutating func check(_ payload: String, _ io: inout SessionIO) {
        do throws(SASL.Condition) {
            let credentials = try SASL.credentials(
                payload, acceptedDomains: settings.acceptedDomains, defaultDomain: settings.defaultDomain)
            state = .checking(Account(sender: credentials.sender, domain: credentials.domain), nil)
            io.loginClaim = .sender(credentials.sender)
            io.events.append(
                .appServerLogin(connection, credentials.sender, key: settings.digest(credentials.password)))
        } catch {
            failLogin(error, .loginRefused, &io)
        }
    }

    /// Handles that the core has accepted the login: the client opens its second stream.
    mutating func loginAccepted(_ io: inout SessionIO) {
        guard case .checking(let account, let exchange) = state else { return }
        if let exchange {
            SASL.appendSuccess(SCRAM.serverFinal(signature: exchange.signature), to: &io.out.bytes)
        } else {
            SASL.appendSuccess(to: &io.out.bytes)
        }
        io.out.endRecord()
        reader.restart()
        state = .restarting(account)
        readEarlyBytes(&io)
    }

    /// Handles that the core has refused the login; the client may try again.
    mutating func loginRefused(_ refusal: LoginRefusal, _ io: inout SessionIO) {
        switch state {
        case .lookingUpKeys, .checking: break
        default: return
        }
        let condition: SASL.Condition =
            switch refusal {
            case .wrongCredentials: .notAuthorized
            case .expiredCredentials: .credentialsExpired
            case .suspended: .accountDisabled
            case .tooManyConnections, .tooManyFailures, .unavailable: .temporaryAuthFailure
            }
        failLogin(condition, refusal == .tooManyConnections ? .tooManyConnections : .loginRefused, &io)
        readEarlyBytes(&io)
    }

    /// Writes a login failure. After `Limits.Login.attemptsPerConnection` the connection ends, to prevent guessing.
    mutating func failLogin(
        _ condition: SASL.Condition, _ reason: CloseReason, _ io: inout SessionIO
    ) {
        state = .login
        condition.append(to: &io.out.bytes)
        io.out.endRecord()
        failedLogins += 1
        if failedLogins >= Limits.Login.attemptsPerConnection { fail(.policyViolation, .tooManyLogins, &io) }
    }
}
