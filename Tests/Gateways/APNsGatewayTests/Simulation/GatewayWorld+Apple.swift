import APNsGateway
import Basics
import Delivery
import Wire

/// The shell and Apple.
extension GatewayWorld {
    func apply(_ effects: APNsEffects) {
        for id in effects.mints { mint(id) }
        for (id, _) in effects.closes { close(id) }
        for (id, endpoint) in effects.opens { open(id, endpoint) }
        for send in effects.sends { receive(send) }
        for answer in effects.answers { answered(answer) }
        for case .clockAlarm in effects.notices { alarms += 1 }
    }

    private func mint(_ id: APNsCredentialID) {
        if isStrange(20) {
            // Never, or for others.
            feed(.minted(APNsCredentialID("stranger"), token: Array("stranger".utf8), at: now.wall))
            return
        }
        mints += 1
        let token = Array("token\(mints)".utf8)
        let wait = isStrange(30) ? Int64(Limits.APNsGateway.mintSeconds) * 1_000 / 2 : 0
        let issuedAt = now.wall
        let keys = checkers.keys
        /// Answers later, unless the process that has asked is over, or its key: then no gateway gets the answer.
        func answer(after wait: Int64, _ act: @escaping (GatewayWorld) -> Void) {
            after(wait) { if $0.checkers.keys == keys { act($0) } }
        }
        func minted(_ world: GatewayWorld) {
            world.checkers.minted(token, at: world.time)
            world.tokenTimes[token] = issuedAt
            world.feed(.minted(id, token: token, at: issuedAt))
        }
        if wait == 0 { minted(self) } else { answer(after: wait, minted) }
        // Again, which must not replace it.
        if isStrange(30) {
            answer(after: wait + 1) { $0.feed(.minted(id, token: Array("again".utf8), at: issuedAt)) }
        }
    }

    /// Whether the shell does something strange now, in percent of the chances.
    private func isStrange(_ percent: Int) -> Bool {
        settings.hasStrangeReports && isFaulty && chance(percent)
    }

    /// Reports again how a request has ended, or to the wrong connection.
    private func reportAgain(_ number: UInt64, _ connection: AppleConnection) {
        guard isStrange(10) else { return }
        let other = connections.keys.sorted { $0.number < $1.number }.randomElement(using: &random)
        let id = chance(50) ? connection.id : other ?? connection.id
        let wrong: [APNsEvent] = [
            .answered(id, requestNumber: number, APNsAnswer(status: 200, id: requestIDs[number])),
            .answered(
                id, requestNumber: number,
                APNsAnswer(status: 410, body: Samples.body("Unregistered"), id: requestIDs[number])),
            .answered(id, requestNumber: number | 1 << 62, APNsAnswer(status: 200, id: requestIDs[number])),
            .failed(id, requestNumber: number, .unprocessed),
            .failed(id, requestNumber: number, .noAnswer),
            .opened(connection.id),
            .closed(APNsConnectionID(1 << 50)),
            .openFailed(APNsConnectionID(1 << 50), .credentialRefused),
            .leaving(APNsConnectionID(1 << 50), reason: Samples.body("BadCertificate")),
            .streams(APNsConnectionID(1 << 50), available: 100),
        ]
        let event = wrong[Int.random(in: wrong.indices, using: &random)]
        after(chance(50) ? 0 : Int64.random(in: 1...20_000, using: &random)) { world in
            // What was free for the request may be in use again: only what is over is reported once more.
            guard connection.inFlight[number] == nil else { return }
            world.feed(event)
        }
    }

    private func open(_ id: APNsConnectionID, _ endpoint: APNsEndpoint) {
        opens += 1
        checkers.opens(id, endpoint)
        let connection = AppleConnection(
            id: id, endpoint: endpoint, usesKey: true,
            streams: Int.random(in: 2...40, using: &random))
        connections[id] = connection
        if isFaulty, chance(5) { return }
        after(Int64.random(in: 5...400, using: &random)) { world in
            guard !connection.isGone else { return }
            world.checkers.doneOpening(id, endpoint)
            guard !world.isOutage else {
                connection.isGone = true
                return world.feed(.openFailed(id, .unreachable))
            }
            connection.isOpen = true
            world.feed(.opened(id))
            world.reportStreams(connection)
        }
    }

    func reportStreams(_ connection: AppleConnection) {
        guard !connection.isGone else { return }
        let free = max(0, connection.streams - connection.inFlight.count) + extraStreams
        feed(.streams(connection.id, available: free))
    }

    private func close(_ id: APNsConnectionID) {
        guard let connection = connections.removeValue(forKey: id) else { return }
        checkers.doneOpening(id, connection.endpoint)
        end(connection)
    }

    /// Forgets what is in flight.
    func end(_ connection: AppleConnection) {
        connection.isGone = true
        for (number, token) in connection.inFlight { checkers.ended(number, to: token) }
        connection.inFlight = [:]
    }

    private func receive(_ send: APNsSend) {
        guard let connection = connections[send.connection] else {
            return checkers.mustHold(false, "connections: a request on a closed one")
        }
        checkers.mustHold(
            connection.isOpen && !connection.isLeaving && !connection.isGone,
            "connections: a request on one that takes none")
        connection.inFlight[send.requestNumber] = send.request.deviceToken.bytes
        connection.order.append(send.requestNumber)
        checkers.streams(connection.inFlight.count, of: connection.streams)
        checkers.sent(send.requestNumber, to: send.request.deviceToken.bytes)
        requestIDs[send.requestNumber] = send.request.id
        core?.sent(send)
        if let token = send.providerToken { checkers.used(token, at: time) }
        checkers.mustHold((send.providerToken != nil) == connection.usesKey, "tokens: one is missing")
        let fault = isFaulty ? AppleFault.draw(&random) : nil
        let wait = Int64.random(in: 5...(chance(2) ? 6_000 : 150), using: &random)
        after(fault == .stall ? 15_000 : wait) { $0.finish(send, connection, fault) }
    }

    private func finish(_ send: APNsSend, _ connection: AppleConnection, _ fault: AppleFault?) {
        let number = send.requestNumber
        guard connection.inFlight[number] != nil else { return }
        switch fault {
        case .refusedStream: fail(number, connection, .unprocessed)
        case .reset: fail(number, connection, .reset(code: 2))
        case .stall: fail(number, connection, .noAnswer)
        case .busy: reply(number, connection, 503, "ServiceUnavailable")
        case .brokenBody: answer(number, connection, APNsAnswer(status: 502, body: Array("<html>".utf8)))
        case .foreign: feedForeign(number, connection)
        case .shutdown: reply(number, connection, 503, "Shutdown")
        case .tooManyRequests: reply(number, connection, 429, "TooManyRequests")
        case .tooManyTokens:
            connection.spoiled = (429, "TooManyProviderTokenUpdates")
            reply(number, connection, 429, "TooManyProviderTokenUpdates")
        case .idleTimeout: reply(number, connection, 400, "IdleTimeout")
        case .goAway: goAway(connection)
        case .lost: lose(connection)
        case nil: answerTruly(send, connection)
        }
    }

    private func answerTruly(_ send: APNsSend, _ connection: AppleConnection) {
        let number = send.requestNumber
        if let (status, reason) = connection.spoiled { return reply(number, connection, status, reason) }
        let issued = tokenTimes[send.providerToken ?? []] ?? 0
        if (Samples.epoch + time - issued).magnitude > 3_600_000 {
            connection.spoiled = (403, "ExpiredProviderToken")
            return reply(number, connection, 403, "ExpiredProviderToken")
        }
        if refusesAll { return reply(number, connection, 403, "InvalidProviderToken") }
        if isFatal(send) {
            return settings.fatalAborts ? lose(connection) : goAway(connection, unprocessed: number)
        }
        let environment = connection.endpoint.environment
        guard let truth = core?.appleAnswer(to: send, in: environment) ?? fate(of: send, in: environment)
        else {
            return checkers.mustHold(false, "requests: an unknown device token")
        }
        answer(number, connection, truth)
        if connection.streams < connection.fullStreams {
            connection.streams = connection.fullStreams
            reportStreams(connection)
        }
    }

    private func fate(of send: APNsSend, in environment: APNsEnvironment) -> APNsAnswer? {
        guard let receiver = receiver(of: send) else { return nil }
        let own: APNsEnvironment = receiver.token.hasPrefix("s_") ? .sandbox : .production
        return receiver.fate.answer(isOwnEnvironment: own == environment)
    }

    private func isFatal(_ send: APNsSend) -> Bool { receiver(of: send)?.fate == .fatal }

    private func receiver(of send: APNsSend) -> Receiver? {
        receivers.first { $0.token.dropFirst(2).utf8.elementsEqual(send.request.deviceToken.bytes) }
    }

    private func reply(_ number: UInt64, _ connection: AppleConnection, _ status: Int, _ reason: String) {
        answer(number, connection, APNsAnswer(status: status, body: Samples.body(reason)))
    }

    private func answer(_ number: UInt64, _ connection: AppleConnection, _ answer: APNsAnswer) {
        done(number, connection)
        var answer = answer
        answer.id = requestIDs[number]
        feed(.answered(connection.id, requestNumber: number, answer))
    }

    /// Something in Apple's place answers with what would end the message, the registration or the credential, but not with its `apns-id`.
    private func feedForeign(_ number: UInt64, _ connection: AppleConnection) {
        done(number, connection)
        let rows = [
            (200, ""), (200, "BadDeviceToken"), (400, "BadPriority"), (403, "Forbidden"), (404, "NotFound"),
            (410, "Unregistered"), (413, "PayloadTooLarge"),
        ]
        let row = rows[Int.random(in: rows.indices, using: &random)]
        let answer = APNsAnswer(
            status: row.0, body: row.1.isEmpty ? [] : Samples.body(row.1), id: chance(50) ? nil : "another")
        feed(.answered(connection.id, requestNumber: number, answer))
    }

    private func fail(_ number: UInt64, _ connection: AppleConnection, _ failure: HTTP2RequestFailure) {
        done(number, connection)
        feed(.failed(connection.id, requestNumber: number, failure))
    }

    private func done(_ number: UInt64, _ connection: AppleConnection) {
        guard let token = connection.inFlight.removeValue(forKey: number) else { return }
        checkers.ended(number, to: token)
        reportAgain(number, connection)
    }

    /// Some requests were not processed; the others are answered, or are lost with the connection.
    private func goAway(_ connection: AppleConnection, unprocessed first: UInt64? = nil) {
        connection.isLeaving = true
        let all = connection.order.filter { connection.inFlight[$0] != nil }
        let start = first.flatMap { all.firstIndex(of: $0) } ?? Int.random(in: 0...all.count, using: &random)
        let unprocessed = all[start...]
        feed(.leaving(connection.id, reason: chance(50) ? Samples.body("Shutdown") : []))
        for number in unprocessed where connection.inFlight[number] != nil {
            fail(number, connection, .unprocessed)
        }
        after(Int64.random(in: 1...20_000, using: &random)) { $0.lose(connection) }
    }

    func lose(_ connection: AppleConnection) {
        guard !connection.isGone else { return }
        // A shell that forgets to report each request is survived as well.
        if chance(80) {
            for number in connection.inFlight.keys.sorted() { fail(number, connection, .connectionEnded) }
        }
        guard !connection.isGone else { return }
        end(connection)
        feed(.closed(connection.id))
    }
}
