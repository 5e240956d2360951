import Basics
import Delivery
import Wire

/// What the answer needs about one part of a batch.
struct BatchedMessage {
    /// The Content-ID by which the client finds the answer.
    var contentID: [UInt8]?
    /// The answer if the message was refused at once.
    var refusal: HTTPResponse?
    /// The project in the name of the message.
    var project = ""
    /// Whether the message was only validated.
    var isDryRun = false

    /// Returns the answer for the result of the message.
    func response(to result: LegacyReply.Result) -> HTTPResponse {
        refusal ?? V1Reply.response(to: result, project: project, isDryRun: isDryRun)
    }
}

/// `POST /batch`: many messages of HTTP v1 in one request (http 8.8).
extension HTTPSession {
    func sendBatch(
        _ request: HTTPRequest, _ requester: Requester, _ now: Now, _ io: inout SessionIO
    ) -> Outcome {
        do throws(V1Error) {
            guard request.mediaType == "multipart/mixed",
                let boundary = HeaderParameters.value(
                    "boundary", in: request.header("content-type") ?? [])
            else {
                throw V1Error(.badRequest, "invalid Content-Type: expected multipart/mixed with a boundary")
            }
            let batch = try BatchBody(request.body, boundary: boundary)
            var messages: [BatchedMessage] = []
            for (index, part) in batch.parts.enumerated() {
                var message = BatchedMessage(contentID: part.contentID)
                do throws(V1Error) {
                    try submit(
                        part, &message, outer: request, requester, index: index, of: batch.parts.count, now,
                        &io)
                } catch {
                    if error.status == .unauthorized { io.refuse(.unauthorized) }
                    recordRefusal(error, request, now, &io)
                    message.refusal = error.response
                }
                messages.append(message)
            }
            let send = HTTPSend(.batch(messages), recipients: messages.count)
            for index in messages.indices where messages[index].refusal != nil {
                send.recordResult(.refused(.internalError), at: index)
            }
            return send.outcome
        } catch {
            recordRefusal(error, request, now, &io)
            return .answer(error.response)
        }
    }

    /// Submits one message to the core. Clients authorise each part, the whole request or both; the part takes precedence.
    private func submit(
        _ part: BatchBody.Part, _ message: inout BatchedMessage, outer: HTTPRequest, _ requester: Requester,
        index: Int, of count: Int, _ now: Now, _ io: inout SessionIO
    ) throws(V1Error) {
        guard part.method.elementsEqual("POST".utf8), let path = HTTPPath(part.path),
            let project = HTTPEndpoint.services.lazy.filter({ $0.action == .sendMessage })
                .compactMap({ path.captured(by: $0)?.first }).first
        else {
            // Never 404: SDKs take that for a deleted token, and their users delete it.
            throw V1Error(
                .badRequest,
                "invalid request line of a part: expected POST /v1/projects/PROJECT/messages:send, with or without https://HOST before the path and a version behind it"
            )
        }
        let record = try granted(project, part.authorization ?? outer.header("authorization"), now)
        let read = try V1Message(part.body.raw)
        message.project = record.projectID
        message.isDryRun = read.isDryRun
        io.events.append(try event(for: read, record.sender, requester, index: index, of: count, now))
    }
}
