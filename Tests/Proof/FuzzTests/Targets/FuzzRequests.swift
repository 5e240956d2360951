import Basics
import Delivery
import Sessions
import Wire

/// For any request to an endpoint: it has one answer, with an intended status and valid JSON if it is of that type, and the
/// split has no effect.
///
/// The first byte selects the endpoint, the second the size of pieces. Lines up to an empty one are headers, the remainder is
/// the body. `$T` is replaced by a token, and `$` with other letters by other values that cannot be guessed.
func fuzzRequests(_ input: [UInt8]) throws(Violation) {
    guard input.count > 2 else { return }
    let request = request(input)
    let whole = try serve(request, piece: .max)
    let cut = try serve(request, piece: 1 + Int(input[1]) * 4)
    try demand(whole.events == cut.events, "the split changed the events for the core")
    try demand(whole.output == cut.output, "the split changed the answers")
}

private func serve(
    _ request: [UInt8], piece: Int
) throws(Violation) -> (events: [String], output: [UInt8]) {
    var run = SessionRun(
        HTTPSession(
            connection: FuzzWorld.connection, settings: SharedSettings(FuzzWorld.settings), now: FuzzWorld.now
        ))
    run.receive(request, piece: piece)
    run.answerEvents()
    let settled = run.output
    var reader = ResponseReader()
    reader.append(settled.raw)
    var answers: [HTTPAnswer] = []
    do throws(RequestFault) {
        while let answer = try reader.next() { answers.append(answer) }
    } catch {
        throw Violation(
            description: "the output is not HTTP: \(String(decoding: settled, as: UTF8.self))")
    }
    try demand(
        answers.count == 1, "\(answers.count) answers to \(String(decoding: request, as: UTF8.self))")
    for answer in answers {
        FuzzReach.record("status \(answer.status)")
        try check(answer)
    }
    return (run.events, settled)
}

private func check(_ answer: HTTPAnswer) throws(Violation) {
    let meant = [
        200, 201, 204, 400, 401, 403, 404, 405, 408, 409, 410, 411, 413, 414, 415, 417, 429, 431, 501, 503,
        505,
    ]
    try demand(meant.contains(answer.status), "status \(answer.status): \(answer.text)")
    if let type = answer.header("content-type"), type.hasPrefix("application/json"), !answer.body.isEmpty {
        let value = try? JSONValue(parsing: answer.body.raw)
        // A refusal of the legacy interface is plain text with the type of JSON, as with the real service.
        try demand(value != nil || answer.status == 400, "the answer is not JSON: \(answer.text)")
    }
}

// MARK: Requests

private let endpoints: [(method: String, path: String)] = [
    ("POST", "/checkin"), ("POST", "/c2dm/register3"), ("POST", "/register"), ("POST", "/iid/register"),
    ("POST", "/v1/projects/lab-project/installations"),
    ("POST", "/v1/projects/lab-project/installations/cGFzc3dvcmQ_aGVsbG8tdw/authTokens:generate"),
    ("DELETE", "/v1/projects/lab-project/installations/cGFzc3dvcmQ_aGVsbG8tdw"),
    ("POST", "/v1/projects/lab-project/registrations"),
    ("PATCH", "/v1/projects/lab-project/registrations/$T"),
    ("DELETE", "/v1/projects/lab-project/registrations/$T"),
    ("POST", "/v1/projects/lab-project/registrations/$T/topicSubscriptions/news:subscribe"),
    ("POST", "/fcm/connect/subscribe"), ("POST", "/fcm/send"), ("POST", "/gcm/send"),
    ("POST", "/fcm/notification"), ("GET", "/fcm/notification?notification_key_name=family"),
    ("GET", "/iid/info/$T?details=true"), ("POST", "/iid/v1/$T/rel/topics/news"),
    ("DELETE", "/iid/v1/$T/rel/topics/news"), ("POST", "/iid/v1:batchAdd"), ("POST", "/iid/v1:batchRemove"),
    ("POST", "/v1/projects/lab-project/messages:send"), ("POST", "/batch"),
    ("POST", "/v1/projects/lab-project/registrations/$T/topicSubscriptions"),
    ("GET", "/v1/projects/lab-project/registrations/$T/topicSubscriptions"),
    ("POST", "/fcm/send/$T"), ("POST", "/wp/$T"), ("POST", "/token"),
    ("POST", "/iid/v1:batchImport"), ("GET", "/v1/apps/com.example.app/apns/feedback?since=1-2-3&limit=9"),
]

/// The values for `$` and a letter.
private let values: [UInt8: [UInt8]] = {
    let seal = FuzzWorld.seal
    let expiry = FuzzWorld.now.wall + 3_600_000
    func installation(_ purpose: InstallationToken.Purpose) -> [UInt8] {
        seal.text(
            of: InstallationToken(
                purpose: purpose, installation: FuzzWorld.installation, sender: FuzzWorld.sender,
                expiresAt: purpose == .access ? expiry : .max, mark: 0))
    }
    func jwt(_ header: String, _ claims: String) -> [UInt8] {
        Array(
            [header, claims, "signature"].map { Base64.text(Array($0.utf8), urlSafe: true, padded: false) }
                .joined(separator: ".").utf8)
    }
    let second = FuzzWorld.now.wall / 1_000
    let key = Base64.text([4] + [UInt8](repeating: 7, count: 64), urlSafe: true, padded: false)
    let secret = Base64.text([UInt8](repeating: 9, count: 16), urlSafe: true, padded: false)
    let pairs: [(Character, [UInt8])] = [
        ("T", seal.token(for: FuzzWorld.name(1))), ("U", seal.token(for: FuzzWorld.name(2))),
        ("G", seal.groupKey(of: GroupName(sender: FuzzWorld.sender, number: 77))),
        (
            "B",
            seal.text(
                of: AccessToken(
                    sender: FuzzWorld.sender, account: seal.mark(ofKeyID: FuzzWorld.account.keyID),
                    expiresAt: expiry))
        ),
        ("I", installation(.access)), ("R", installation(.refresh)), ("K", Array(key.utf8)),
        ("S", Array(secret.utf8)), ("D", Array("600000000000000001".utf8)),
        (
            "J",
            jwt(
                #"{"typ":"JWT","alg":"RS256","kid":"0a1b2c"}"#,
                #"{"iss":"\#(FuzzWorld.account.email)","aud":"https://oauth2.googleapis.com/token","iat":\#(second),"exp":\#(second + 3_600),"scope":"https://www.googleapis.com/auth/cloud-platform"}"#
            )
        ),
        (
            "V",
            jwt(
                #"{"typ":"JWT","alg":"ES256"}"#,
                #"{"aud":"https://fcm.googleapis.com","exp":\#(second + 3_600),"sub":"mailto:a@b"}"#)
        ),
    ]
    return Dictionary(uniqueKeysWithValues: pairs.map { ($0.0.asciiValue ?? 0, $0.1) })
}()

/// Returns the text with `$` and a letter replaced by their values.
private func filled(_ text: some Collection<UInt8>) -> [UInt8] {
    var filled: [UInt8] = []
    var isMark = false
    for byte in text {
        if isMark {
            filled += values[byte] ?? [UInt8(ascii: "$"), byte]
            isMark = false
        } else if byte == UInt8(ascii: "$") {
            isMark = true
        } else {
            filled.append(byte)
        }
    }
    return isMark ? filled + [UInt8(ascii: "$")] : filled
}

private func request(_ input: [UInt8]) -> [UInt8] {
    let endpoint = endpoints[Int(input[0]) % endpoints.count]
    var bytes = Array("\(endpoint.method) ".utf8) + filled(endpoint.path.utf8)
    bytes += Array(" HTTP/1.1\r\nHost: fcm.googleapis.com\r\n".utf8)
    var rest = input[2...]
    while let end = rest.firstIndex(of: 0x0A) {
        let line = rest[..<end]
        rest = rest[(end + 1)...]
        guard !line.isEmpty else { break }
        // Framing headers are left to the target for HTTP/1.1, since here there is exactly one request.
        let name = line.prefix { $0 != UInt8(ascii: ":") }.map(ASCII.lowered)
        let framing = ["content-length", "transfer-encoding", "connection", "expect"]
        guard !framing.contains(where: { name.starts(with: $0.utf8) }), !line.contains(0x0D) else { continue }
        bytes += filled(line) + [0x0D, 0x0A]
    }
    let body = filled(rest)
    return bytes + Array("Content-Length: \(body.count)\r\n\r\n".utf8) + body
}
