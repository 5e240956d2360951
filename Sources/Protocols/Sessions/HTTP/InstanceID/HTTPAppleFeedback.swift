public import Basics
public import Delivery
import Wire

/// A page of the feedback list as JSON, and the text of its positions (apns 2.3).
///
/// Reading does not empty the list: an app server that fails while it handles a page reads it again.
public enum FeedbackPage {
    /// The pattern of a position: a time, or a time with the entry that is already known.
    public static let cursorPattern = "^[0-9]{1,18}(-[0-9]{1,20}-[0-9]{1,20})?$"

    /// Parses a position. Returns `nil` if the text is not one.
    public static func position(_ text: [UInt8]) -> FeedbackPosition? {
        let parts = String(decoding: text, as: UTF8.self).split(
            separator: "-", omittingEmptySubsequences: false)
        guard parts[0].utf8.count <= 18, parts.allSatisfy({ $0.utf8.allSatisfy { 0x30...0x39 ~= $0 } }),
            let time = Int64(parts[0])
        else { return nil }
        guard parts.count > 1 else { return FeedbackPosition(seenAt: time) }
        guard parts.count == 3, let device = UInt64(parts[1]), let number = UInt64(parts[2]) else {
            return nil
        }
        return FeedbackPosition(
            seenAt: time,
            registration: RegistrationName(device: DeviceID(device), number: RegistrationNumber(number)))
    }

    /// Returns where to read from: the position `since`, but not before the oldest entries that are kept.
    public static func start(
        since: FeedbackPosition? = nil, now: UnixMilliseconds
    ) -> FeedbackPosition {
        let oldest = FeedbackPosition(seenAt: now - Limits.APNs.feedbackMilliseconds)
        return since.map { max(oldest, $0) } ?? oldest
    }

    /// Returns the text of a position.
    public static func text(_ position: FeedbackPosition) -> String {
        guard let name = position.registration else { return "\(position.seenAt)" }
        return "\(position.seenAt)-\(name.device.number)-\(name.number.number)"
    }

    /// The body of the answer if the list cannot be read.
    public static let unavailable = HTTPResponse.errorObject(
        "The server is unavailable, try again.", .unavailable
    ).body

    /// Encodes the entries that were read for a query. `next` is the position to ask for next, also if nothing was found.
    public static func json(_ entries: [APNsFeedback], of query: FeedbackQuery, seal: TokenSeal) -> [UInt8] {
        let items = entries.lazy.filter { $0.bundle == query.bundle }.map { entry -> JSONValue in
            [
                "registration_id": .string(
                    String(decoding: seal.token(for: entry.token), as: UTF8.self)),
                "apns_token": .string(String(decoding: entry.deviceToken, as: UTF8.self)),
                "environment": .string(entry.environment.rawValue),
                "topic": .string(String(decoding: entry.bundle, as: UTF8.self)),
                "invalid_since": entry.verdict.invalidSince.map { .integer(Int($0)) } ?? .null,
                "seen_at": .integer(Int(entry.seenAt)), "status": .integer(entry.verdict.status),
                "reason": .string(entry.verdict.reason),
            ]
        }
        let last = entries.last.map { FeedbackPosition($0) } ?? query.after
        let page: JSONValue = ["items": .array(Array(items)), "next": .string(text(last))]
        var body = ByteBuffer()
        page.append(to: &body)
        return body.copied()
    }
}

extension HTTPSession {
    /// `GET /v1/apps/BUNDLE/apns/feedback` (apns 2.3).
    func appleFeedback(
        _ request: HTTPRequest, bundle: [UInt8], _ requester: Requester, _ now: Now, _ io: inout SessionIO
    ) -> Outcome {
        do throws(HTTPRefusal) {
            let sender = try sender(of: request, now)
            let query = try Self.query(of: request)
            var after = FeedbackPage.start(now: now.wall)
            if let since = query["since"] {
                guard let position = FeedbackPage.position(since) else {
                    throw HTTPRefusal(
                        .errorObject(
                            "invalid since: expected the next of an earlier page, or milliseconds since 1970",
                            .badRequest))
                }
                after = FeedbackPage.start(since: position, now: now.wall)
            }
            var limit = Limits.APNs.feedbackPerPage
            if let text = query["limit"] {
                guard let number = Int(String(decoding: text, as: UTF8.self)),
                    (1...Limits.APNs.feedbackPerPage).contains(number)
                else {
                    throw HTTPRefusal(
                        .errorObject(
                            "invalid limit: expected 1 to \(Limits.APNs.feedbackPerPage)", .badRequest))
                }
                limit = number
            }
            let question = FeedbackQuery(sender: sender, bundle: bundle, after: after, limit: limit)
            io.hostRequests.append(
                HostRequest(requestID: requester.requestID, question: .feedback(question)))
            return .wait(.page)
        } catch { return .answer(error.response) }
    }
}
