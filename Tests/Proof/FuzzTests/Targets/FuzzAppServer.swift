import Basics
import Delivery
import Sessions
import Wire

private let opening =
    "<stream:stream to=\"gcm.googleapis.com\" version=\"1.0\" xmlns=\"jabber:client\" xmlns:stream=\"http://etherx.jabber.org/streams\">"

private typealias Run = SessionRun<AppServerSession>

private func makeRun(_ flags: UInt8) -> Run {
    var settings = FuzzWorld.settings
    settings.strictAcks = flags & 1 != 0
    settings.controlMessageID = flags & 2 != 0
    settings.rules.lenientLifetime = flags & 4 != 0
    settings.rules.reservesGCMPrefix = flags & 8 != 0
    return SessionRun(
        AppServerSession(
            connection: FuzzWorld.connection, settings: SharedSettings(settings), now: FuzzWorld.now,
            channelBinding: { [UInt8](repeating: 0xCB, count: 32) }))
}

private func append(_ text: String, to bytes: inout [UInt8]) { bytes.append(contentsOf: text.utf8) }

// MARK: Messages

/// For any messages of an app server: each is submitted or answered immediately, answers are XML with JSON in it, submitted
/// messages are within their limits, and the split has no effect.
///
/// The first byte is the size of pieces and sets the config switches; 0xFF ends a payload.
func fuzzCCS(_ input: [UInt8]) throws(Violation) {
    guard let first = input.first else { return }
    let payloads = input.dropFirst().split(separator: 0xFF, maxSplits: 40).map(Array.init)
    let whole = try messages(payloads, first, piece: .max)
    let cut = try messages(payloads, first, piece: Int(first) + 1)
    try demand(whole.events == cut.events, "the split changed the events for the core")
    try demand(whole.output == cut.output, "the split changed the answers")
}

private func messages(
    _ payloads: [[UInt8]], _ flags: UInt8, piece: Int
) throws(Violation) -> (events: [String], output: [UInt8]) {
    var run = makeRun(flags)
    logIn(&run)
    try demand(run.events.contains { $0.contains("sender.bound") }, "the fuzzer could not log in")
    run.clear()
    var stream = ByteBuffer()
    for payload in payloads {
        stream.append("<message id=\"\"><gcm xmlns=\"google:mobile:data\">")
        stream.appendText(payload.raw)
        stream.append("</gcm></message>")
    }
    run.receive(stream.copied(), piece: piece)
    let submitted = run.events.count { !$0.contains("upstreamFinished") }
    run.answerEvents { event in
        if case .device(_, .submitted(let message)) = event,
            message.content.body.count > 2 * Limits.Message.payloadBytes + 4_096
        {
            return nil
        }
        return FuzzWorld.answer(to: event)
    }
    if run.close == nil {
        let answers = try answers(in: run.output)
        try demand(answers <= payloads.count, "more answers than messages")
        try demand(answers >= submitted, "a submission has no answer")
    }
    if let payload = payloads.first { deliver(payload, to: &run) }
    _ = try answers(in: run.output)
    return (run.events, run.output)
}

private func logIn(_ run: inout Run) {
    let credentials = Base64.text(Array("\0001234567890@gcm.googleapis.com\0key".utf8))
    run.receive(Array(opening.utf8))
    run.receive(
        Array(
            "<auth mechanism=\"PLAIN\" xmlns=\"urn:ietf:params:xml:ns:xmpp-sasl\">\(credentials)</auth>".utf8)
    )
    run.answerEvents { event in
        if case .sender(_, .login) = event { .appServer(.loginAccepted) } else { nil }
    }
    run.receive(Array(opening.utf8))
    run.receive(
        Array("<iq type=\"set\" id=\"b\"><bind xmlns=\"urn:ietf:params:xml:ns:xmpp-bind\"/></iq>".utf8))
    run.answerEvents()
}

/// Delivers arbitrary content of a device, which must be written as XML with JSON in it.
private func deliver(_ bytes: [UInt8], to run: inout Run) {
    var body = ByteBuffer()
    AppData.append(key: bytes.raw, value: bytes.raw, to: &body)
    let half = Array(bytes.prefix(bytes.count / 2))
    for kind in [StoredUpstream.Kind.message, .receipt(sentAt: 1)] {
        run.perform(
            .appServer(
                .deliver(
                    StoredUpstream(
                        sender: FuzzWorld.sender, sequence: SequenceNumber(kind == .message ? 1 : 2),
                        kind: kind,
                        from: FuzzWorld.name(1), isFCMDomain: bytes.count % 2 == 0, category: half,
                        messageID: bytes, persistentID: [], expiresAt: .max, lifetimeSeconds: 60,
                        body: kind == .message ? body.copied() : []))))
    }
}

/// Parses the output by libxml2, and the JSON of each message. Returns the number of messages.
private func answers(in output: [UInt8]) throws(Violation) -> Int {
    var document = Array(opening.utf8) + output
    if LibXML2Oracle.root(of: document) == nil { append("</stream:stream>", to: &document) }
    guard let root = LibXML2Oracle.root(of: document) else {
        throw Violation(description: "the output is not XML: \(String(decoding: output, as: UTF8.self))")
    }
    var count = 0
    for child in root.children where child.name == "message" {
        count += 1
        // An error repeats the client's payload, which need not be JSON.
        guard child["type"] != "error" else { continue }
        for payload in child.children where payload.name == "gcm" {
            let value = try? JSONValue(parsing: Array(payload.text.utf8).raw)
            try demand(value?.members != nil, "the output is not JSON: \(payload.text)")
        }
    }
    return count
}

// MARK: Login

/// For any login messages: they are parsed as they were written, none of them logs in, and the split has no effect.
///
/// The first byte selects the mechanism and the size of pieces; 0xFF separates the first message from the second, in which 1
/// is replaced by the server's nonce.
func fuzzSASL(_ input: [UInt8]) throws(Violation) {
    guard let flags = input.first else { return }
    let parts = input.dropFirst().split(separator: 0xFF, maxSplits: 1, omittingEmptySubsequences: false)
    let first = Array(parts[0])
    let second = parts.count > 1 ? Array(parts[1]) : []
    try checkPlain(first)
    try checkFirst(first)
    if let final = try? SCRAM.ClientFinal(Base64.text(second)) {
        try demand(second.starts(with: final.withoutProof + Array(",p=".utf8)), "the signed part is wrong")
    }
    let whole = try login(flags, first, second, piece: .max)
    let cut = try login(flags, first, second, piece: Int(flags >> 2) + 1)
    try demand(whole.events == cut.events && whole.output == cut.output, "the split changed a login")
}

private func checkPlain(_ message: [UInt8]) throws(Violation) {
    func read(_ message: [UInt8]) -> SASL.Credentials? {
        try? SASL.credentials(
            Base64.text(message), acceptedDomains: FuzzWorld.settings.acceptedDomains,
            defaultDomain: FuzzWorld.settings.defaultDomain)
    }
    guard let found = read(message) else { return }
    let user = Array("\(found.sender.number)@\(found.domain)".utf8)
    try demand(
        read([0] + user + [0] + found.password) == found, "re-encoding changed the credentials: \(found)")
    try demand(message.count { $0 == 0 } == 2, "a part of the message is missing")
}

private func checkFirst(_ bytes: [UInt8]) throws(Violation) {
    guard let message = try? SCRAM.ClientFirst(Base64.text(bytes)) else { return }
    try demand(message.header + message.bare == bytes, "header and bare message are not the whole message")
    let name = message.user.replacing("=", with: "=3D").replacing(",", with: "=2C")
    let again = message.header + Array("n=\(name),r=".utf8) + message.nonce
    let read = try? SCRAM.ClientFirst(Base64.text(again))
    try demand(
        read?.user == message.user && read?.nonce == message.nonce && read?.authzid == message.authzid,
        "re-encoding changed the first message: \(message)")
}

private func login(
    _ flags: UInt8, _ first: [UInt8], _ second: [UInt8], piece: Int
) throws(Violation) -> (events: [String], output: [UInt8]) {
    let mechanism = ["PLAIN", "X-OAUTH2", "SCRAM-SHA-256", "SCRAM-SHA-256-PLUS"][Int(flags & 3)]
    var run = makeRun(0)
    run.receive(Array(opening.utf8))
    run.clear()
    let space = "xmlns=\"urn:ietf:params:xml:ns:xmpp-sasl\""
    run.receive(
        Array("<auth mechanism=\"\(mechanism)\" \(space)>\(Base64.text(first))</auth>".utf8), piece: piece)
    run.answerEvents()
    let answer = Base64.text(second.flatMap { $0 == 1 ? nonce(in: run.output) : [$0] })
    run.receive(Array("<response \(space)>\(answer)</response>".utf8), piece: piece)
    run.answerEvents()
    try demand(
        !String(decoding: run.output, as: UTF8.self).contains("<success"),
        "a client without a key is logged in")
    try demand(!run.events.contains { $0.contains("sender.bound") }, "a client without a key is logged in")
    return (run.events, run.output)
}

/// Returns the nonce in the server's last challenge, or an empty array if there is none.
private func nonce(in output: [UInt8]) -> [UInt8] {
    let text = String(decoding: output, as: UTF8.self)
    guard let challenge = text.split(separator: "</challenge>").first?.split(separator: ">").last,
        let message = Base64.bytes(Array(challenge.utf8).raw), message.starts(with: "r=".utf8)
    else { return [] }
    return message.dropFirst(2).prefix { $0 != UInt8(ascii: ",") }
}
