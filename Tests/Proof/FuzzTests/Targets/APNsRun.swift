import APNsGateway
import Basics
import Delivery
import Wire

/// The gateway and its HTTP/2 connections without sockets, in the order of events of `Server/APNs/APNsHost`.
struct APNsRun: ~Copyable {
    /// What becomes of the next connection.
    enum Opening {
        case opened
        case failed(APNsOpenFailure)
        /// Nothing, until the gateway gives it up.
        case none
    }

    var nextOpening = Opening.opened
    var links: [APNsFuzzLink] = []
    var checks = APNsChecks()
    private var gateway: APNsGateway
    private var effects = APNsEffects()
    private var now = FuzzWorld.now
    private let usesKey: Bool
    /// Whether each server sends SETTINGS when it is connected.
    private let greets: Bool
    private let piece: Int
    private var messages: UInt64 = 0

    init(usesKey: Bool, greets: Bool, piece: Int) {
        self.usesKey = usesKey
        self.greets = greets
        self.piece = piece
        gateway = APNsGateway(settings: APNsSettings(connections: 2, mapping: Self.mapping), seed: 1)
        gateway.handle(.credentials([credential(revision: 0)]), now: now, effects: &effects)
    }

    // MARK: The core

    /// Offers the next message of a registration, unless it has one already. Two registrations share each device token.
    mutating func offer(_ registration: Int) throws(Violation) {
        let name = FuzzWorld.name(UInt64(registration))
        guard checks.isIdle(name) else { return }
        messages += 1
        var parts = RegisteredApp.Parts(category: Array("com.example.\(registration % 3)".utf8))
        parts.apnsToken = Array("\(registration % 2 == 0 ? "p_" : "s_")\(1_000 + registration / 2)".utf8)
        let message = StoredMessage(
            device: name.device, sequence: SequenceNumber(messages), salt: 0, registration: name.number,
            sender: nil,
            fields: MessageFields(messageID: [], body: [], apns: registration % 5 == 0 ? [1] : []),
            acceptedAt: FuzzWorld.now.wall, expiresAt: .max)
        checks.offered(name, message.sequence)
        let delivery = GatewayDelivery(
            message: message, registration: name, app: RegisteredApp(parts),
            registeredAt: FuzzWorld.now.wall, isStored: true, attempt: registration)
        gateway.handle(.deliver(delivery), now: now, effects: &effects)
        try settle()
    }

    /// Requests have little content, since Apple's answers do not depend on it here.
    private static let mapping: APNsMapping = { (delivery, _) throws(APNsRefusal) in
        guard let token = delivery.deviceToken else { throw APNsRefusal(.invalid) }
        return APNsRequest(
            deviceToken: token, environment: delivery.environment,
            topic: delivery.app.parts.category, pushType: .alert, priority: 10, expiration: 0,
            collapseID: nil, id: "\(delivery.message.sequence.number)", payload: Array("{}".utf8))
    }

    // MARK: Apple

    /// Bytes from a server.
    mutating func receive(_ bytes: [UInt8], on choice: Int) throws(Violation) {
        guard let link = link(choice) else { return }
        for start in stride(from: 0, to: bytes.count, by: piece) {
            let part = bytes[start..<min(start + piece, bytes.count)]
            link.http2?.receive(part.span.bytes, now: now.monotonic)
        }
        _ = try handleEvents(of: link)
        try settle()
    }

    /// A complete answer to the oldest request of a connection, with its `apns-id`.
    mutating func answer(on choice: Int, status: Int, _ body: [UInt8]) throws(Violation) {
        guard let link = link(choice), let stream = link.oldest else { return }
        let id = Array((link.sent[stream].flatMap { checks.identifier(of: $0) } ?? "").utf8)
        // A literal value of ":status", and a literal header, which change no compression table.
        let head: [UInt8] =
            [0x08, 3] + Array("\(status)".utf8) + [0, 7] + Array("apns-id".utf8) + [UInt8(id.count)] + id
        var bytes = APNsFuzzLink.frame(type: 1, flags: body.isEmpty ? 5 : 4, stream, head)
        if !body.isEmpty { bytes += APNsFuzzLink.frame(type: 0, flags: 1, stream, body) }
        try receive(bytes, on: choice)
    }

    /// GOAWAY, of a server that has seen all requests or none.
    mutating func leave(on choice: Int, seesAll: Bool, _ reason: [UInt8]) throws(Violation) {
        let last: [UInt8] = seesAll ? [0x7F, 0xFF, 0xFF, 0xFF] : [0, 0, 0, 0]
        try receive(APNsFuzzLink.frame(type: 7, flags: 0, 0, last + [0, 0, 0, 0] + reason), on: choice)
    }

    /// RST_STREAM for the oldest request of a connection.
    mutating func reset(on choice: Int, code: UInt8) throws(Violation) {
        guard let stream = link(choice)?.oldest else { return }
        try receive(APNsFuzzLink.frame(type: 3, flags: 0, stream, [0, 0, 0, code]), on: choice)
    }

    /// SETTINGS with a number of streams.
    mutating func allow(streams: UInt8, on choice: Int) throws(Violation) {
        try receive(APNsFuzzLink.frame(type: 4, flags: 0, 0, [0, 3, 0, 0, 0, streams]), on: choice)
    }

    /// The transport of a connection ends.
    mutating func lose(_ choice: Int) throws(Violation) {
        guard let link = link(choice) else { return }
        link.http2?.connectionLost()
        _ = try handleEvents(of: link)
        try settle()
    }

    private func link(_ choice: Int) -> APNsFuzzLink? {
        let open = links.filter { $0.http2 != nil && !$0.isEnded }
        return open.isEmpty ? nil : open[choice % open.count]
    }

    // MARK: Time and the operator

    mutating func pass(milliseconds: Int64) throws(Violation) {
        now = Now(
            monotonic: now.monotonic.advanced(milliseconds: milliseconds), wall: now.wall + milliseconds)
        for link in links {
            link.http2?.wake(now: now.monotonic)
            _ = try handleEvents(of: link)
        }
        gateway.handle(.tick, now: now, effects: &effects)
        try settle()
    }

    /// Sets the wall clock.
    mutating func renumber(milliseconds: Int64) throws(Violation) { now.wall += milliseconds }

    /// Removes the credential, or adds it again.
    mutating func replaceCredentials(_ revision: Int) throws(Violation) {
        let credentials = revision == 0 ? [] : [credential(revision: UInt64(revision))]
        gateway.handle(.credentials(credentials), now: now, effects: &effects)
        try settle()
    }

    private func credential(revision: UInt64) -> APNsCredential {
        let kind: APNsCredential.Kind =
            usesKey
            ? .key(keyID: "KEY4567890", teamID: "TEAM567890", bundles: [])
            : .certificate(bundle: Array("com.example.0".utf8), topics: [], expiresAt: .max)
        return APNsCredential(
            id: APNsCredentialID("a"), kind: kind, environments: [.production, .sandbox], revision: revision)
    }

    mutating func drain() throws(Violation) {
        gateway.handle(.drain, now: now, effects: &effects)
        try settle()
    }

    /// Drains the gateway, and checks that nothing is left.
    mutating func finish() throws(Violation) {
        try drain()
        for _ in 0..<2 * Limits.APNsGateway.leavingSeconds { try pass(milliseconds: 1_000) }
        try demand(gateway.isDrained && gateway.unanswered == 0, "the gateway does not drain")
        for link in links {
            link.http2?.connectionLost()
            _ = try handleEvents(of: link)
        }
        try settle()
        for link in links { try demand(link.sent.isEmpty, "\(link.sent.count) requests have no outcome") }
        try checks.finish()
    }

    // MARK: The shell

    /// Applies effects and reports what connections have to say, until nothing is left to do.
    private mutating func settle() throws(Violation) {
        checks.startStep()
        var rounds = 0
        var hasWork = true
        while hasWork {
            rounds += 1
            try demand(rounds < 1_000, "the gateway does not come to rest")
            hasWork = try applyEffects()
            for link in links where link.http2 != nil { if try pump(link) { hasWork = true } }
        }
        links.removeAll { $0.isEnded && $0.sent.isEmpty }
        try checks.bounds(unanswered: gateway.unanswered, links)
    }

    private mutating func applyEffects() throws(Violation) -> Bool {
        var batch = APNsEffects()
        swap(&batch, &effects)
        for id in batch.mints {
            gateway.handle(
                .minted(id, token: Array("t\(now.wall)".utf8), at: now.wall), now: now, effects: &effects)
        }
        for (id, reason) in batch.closes {
            FuzzReach.record("close \(reason)")
            guard let link = links.first(where: { $0.id == id }) else { continue }
            checks.closed(link)
            link.isForgotten = true
            if let http2 = link.http2 { http2.shutDown() } else { link.isEnded = true }
        }
        for (id, endpoint) in batch.opens { open(APNsFuzzLink(id: id, endpoint: endpoint)) }
        for send in batch.sends { try self.send(send) }
        for notice in batch.notices { FuzzReach.record("notice \("\(notice)".caseName)") }
        for answer in batch.answers { try checks.answered(answer) }
        return !batch.mints.isEmpty || !batch.closes.isEmpty || !batch.opens.isEmpty || !batch.sends.isEmpty
            || !batch.answers.isEmpty
    }

    private mutating func open(_ link: APNsFuzzLink) {
        switch nextOpening {
        case .none: links.append(link)
        case .failed(let failure):
            gateway.handle(.openFailed(link.id, failure), now: now, effects: &effects)
        case .opened:
            links.append(link)
            let http2 = HTTP2ClientConnection(authority: "h", firstStreams: 1, now: now.monotonic)
            link.http2 = http2
            gateway.handle(.opened(link.id), now: now, effects: &effects)
            if greets {
                http2.receive(APNsFuzzLink.frame(type: 4, flags: 0, 0, []).span.bytes, now: now.monotonic)
            }
        }
        nextOpening = .opened
    }

    private mutating func send(_ send: APNsSend) throws(Violation) {
        try checks.sent(send)
        guard let link = links.first(where: { $0.id == send.connection }), let http2 = link.http2,
            !link.isEnded
        else { return try failed(send.connection, send.requestNumber, .unprocessed) }
        do throws(HTTP2SendFailure) {
            let call = send.request.call(providerToken: send.providerToken)
            link.sent[try http2.send(call, now: now.monotonic)] = send.requestNumber
        } catch {
            FuzzReach.record("send \(error)")
            try demand(error != .malformed, "a request is malformed")
            if error == .busy { try checks.refusedAsBusy(send) }
            try failed(send.connection, send.requestNumber, .unprocessed)
        }
    }

    private mutating func failed(
        _ id: APNsConnectionID, _ number: UInt64, _ failure: HTTP2RequestFailure
    ) throws(Violation) {
        FuzzReach.record("failed \("\(failure)".caseName)")
        checks.ended(number, nil)
        gateway.handle(.failed(id, requestNumber: number, failure), now: now, effects: &effects)
    }

    /// Writes, and reports events. Returns whether there were any.
    private mutating func pump(_ link: APNsFuzzLink) throws(Violation) -> Bool {
        guard let http2 = link.http2, !link.isEnded else { return false }
        var out = ByteBuffer()
        if http2.canWrite { http2.write(upTo: Limits.APNs.writeBytes, to: &out) }
        let hasEvents = try handleEvents(of: link)
        guard !link.isEnded else { return hasEvents }
        let available = http2.availableStreams
        guard link.streamReport.isDue(available: available, inFlight: link.sent.count) else {
            return hasEvents
        }
        let unsent = effects.sends.count { $0.connection == link.id }
        gateway.handle(.streams(link.id, available: available - unsent), now: now, effects: &effects)
        return true
    }

    /// Reports events. Returns whether there were any.
    private mutating func handleEvents(of link: APNsFuzzLink) throws(Violation) -> Bool {
        var hasEvents = false
        while !link.isEnded, let event = link.http2?.next() {
            hasEvents = true
            try report(event, link)
        }
        return hasEvents
    }

    private mutating func report(_ event: HTTP2ClientEvent, _ link: APNsFuzzLink) throws(Violation) {
        switch event {
        case .answered(let stream, let answer):
            guard let number = link.sent.removeValue(forKey: stream) else {
                throw Violation(description: "an answer without a request")
            }
            let answer = APNsAnswer(answer)
            try checks.verdict(answer)
            if !link.isForgotten { checks.ended(number, answer) }
            gateway.handle(
                .answered(link.id, requestNumber: number, answer), now: now, effects: &effects)
        case .failed(let stream, let failure):
            guard let number = link.sent.removeValue(forKey: stream) else {
                throw Violation(description: "a failure without a request")
            }
            try failed(link.id, number, failure)
        case .leaving(_, let reason):
            gateway.handle(.leaving(link.id, reason: reason), now: now, effects: &effects)
        case .ended(let failure):
            FuzzReach.record("ended \("\(failure)".caseName)")
            try demand(link.sent.isEmpty, "\(link.sent.count) requests have no outcome at the end")
            link.isEnded = true
            gateway.handle(.closed(link.id), now: now, effects: &effects)
        }
    }
}
