public import Basics
import Delivery
import Wire

/// What an app server asks of the message history. FCM has nothing like it: these endpoints are extensions.
public struct HistoryQuery: Sendable, Equatable {
    /// Whose messages it is about.
    public var sender: SenderID
    /// The project as the path names it.
    public var project: [UInt8]
    public var subject: Subject

    /// What it is about.
    public enum Subject: Sendable, Equatable {
        /// The messages with an ID.
        case message([UInt8])
        /// Counts of the messages of the last days.
        case totals(days: Int)
    }

    /// Creates a query.
    public init(sender: SenderID, project: [UInt8], _ subject: Subject) {
        self.sender = sender
        self.project = project
        self.subject = subject
    }
}

extension HTTPSession {
    /// `GET /v1/projects/P/messages/ID` and `GET /v1/projects/P/deliveryData`
    func messageHistory(
        _ request: HTTPRequest, _ captured: [[UInt8]], _ requester: Requester, _ now: Now,
        _ io: inout SessionIO
    ) -> Outcome {
        answerOwner(of: captured[0], request, now, &io) { (sender, io) throws(V1Error) in
            let subject = try subject(of: request, captured)
            let query = HistoryQuery(sender: sender, project: captured[0], subject)
            io.hostRequests.append(
                HostRequest(requestID: requester.requestID, question: .history(query)))
            return .wait(.history)
        }
    }

    /// Answers a request that the owner of a project makes about it. An error is recorded and answered.
    func answerOwner(
        of project: [UInt8], _ request: HTTPRequest, _ now: Now, _ io: inout SessionIO,
        _ answer: (SenderID, inout SessionIO) throws(V1Error) -> Outcome
    ) -> Outcome {
        do throws(V1Error) {
            return try answer(owner(of: project, request.header("authorization"), now), &io)
        } catch {
            recordRefusal(error, request, now, &io)
            return .answer(error.response)
        }
    }

    private func subject(
        of request: HTTPRequest, _ captured: [[UInt8]]
    ) throws(V1Error) -> HistoryQuery.Subject {
        guard captured.count == 1 else { return .message(messageID(captured[1], in: request)) }
        guard let query = try? FormBody(request.query.raw) else {
            throw V1Error(invalid: "query", "expected two hexadecimal digits after %")
        }
        guard let text = query["days"] else { return .totals(days: Limits.History.days) }
        guard let days = Int(String(decoding: text, as: UTF8.self)), (1...Limits.History.days).contains(days)
        else {
            throw V1Error(
                invalid: "days", "invalid days: expected a whole number from 1 to \(Limits.History.days)")
        }
        return .totals(days: days)
    }

    /// Returns the message ID at the end of a path, decoded unless it is a persistent ID, whose percent sign is not always escaped.
    func messageID(_ decoded: [UInt8], in request: HTTPRequest) -> [UInt8] {
        let written = request.path.split(separator: UInt8(ascii: "/")).last.map { Array($0) } ?? []
        return PersistentID(text: written.raw) == nil ? decoded : written
    }

    /// Returns the sender that a server key or an access token belongs to; the project in the path must be its own.
    private func owner(
        of project: [UInt8], _ authorization: [UInt8]?, _ now: Now
    ) throws(V1Error) -> SenderID {
        guard let key = HTTPAuthorization.serverKey(authorization) else {
            return try granted(project, authorization, now).sender
        }
        let digest = settings.digest(key)
        guard let sender = settings.senderOfKey(digest, now.wall) else {
            guard settings.areSendersCurrent(now) else { throw V1Error(Refusal.unavailable) }
            throw settings.isKeySuspended(digest, now.wall) ? .keySuspended : .unknownKey
        }
        markAuthenticated()
        let isOwn =
            settings.accounts.record(sender)?.isProject(project)
            ?? project.elementsEqual(String(sender.number).utf8)
        guard isOwn else { throw .senderMismatch }
        return sender
    }
}

extension V1Error {
    /// The error for a server key that no sender has.
    fileprivate static let unknownKey = V1Error(
        .unauthorized,
        "Request had invalid authentication credentials. Expected the server key of a sender of this server, or an OAuth 2 access token."
    )

    /// The error for the key of a sender that an operator has suspended.
    fileprivate static let keySuspended = V1Error(
        .unauthorized, "The sender that this server key belongs to is suspended.")
}
