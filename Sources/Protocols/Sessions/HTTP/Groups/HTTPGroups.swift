import Basics
import Delivery
import Wire

/// `POST` and `GET /fcm/notification`: device groups of app servers (http 6.1, 6.2).
extension HTTPSession {
    /// What a request about groups is answered with.
    enum GroupQuestion {
        /// The notification key.
        case key
        /// The name and the members.
        case members
    }

    /// Creates, changes or deletes a group.
    ///
    /// New members are checked first with dry runs of a send; invalid tokens are left out.
    func changeGroup(
        _ request: HTTPRequest, _ requester: Requester, _ now: Now, _ io: inout SessionIO
    ) -> Outcome {
        do throws(HTTPRefusal) {
            let sender = try groupOwner(request, now)
            do throws(GroupFault) {
                let change = try GroupChange(request.body.raw, sender, settings.seal)
                guard change.kind != .remove else {
                    return try ask(
                        change, members: change.tokens.compactMap { settings.seal.tokenName(of: $0) },
                        requester,
                        &io)
                }
                let check = GroupCheck(change)
                for (index, token) in change.tokens.enumerated() {
                    guard let name = settings.seal.name(of: token.raw) else {
                        io.refuse(.invalidToken, sender: sender, to: token, isMessage: false)
                        check.recordResult(.refused(.invalidToken), at: index)
                        continue
                    }
                    let requestID = RecipientRequestID.make(request: requester.requestID, index: index)
                    let content = MessageContent(messageID: [], isDryRun: true, body: [])
                    io.events.append(
                        SendRequest(sender: sender, recipient: .registration(name), content: content)
                            .event(replyTo: Requester(connection: connection, requestID: requestID)))
                }
                return check.pending == 0
                    ? try submitChecked(check, requester, &io) : .wait(.groupMembers(check))
            } catch { throw HTTPRefusal(.group(error)) }
        } catch { return .answer(error.response) }
    }

    /// Shows the key of a group by its name, or the members by its key.
    func showGroup(
        _ request: HTTPRequest, _ requester: Requester, _ now: Now, _ io: inout SessionIO
    ) -> Outcome {
        do throws(HTTPRefusal) {
            let sender = try groupOwner(request, now)
            guard let query = try? FormBody(request.query.raw) else {
                throw HTTPRefusal(
                    .group(GroupFault("invalid query: expected two hexadecimal digits after %")))
            }
            if let label = query["notification_key_name"], !label.isEmpty {
                io.events.append(
                    .groupRequested(
                        GroupRequest(requester: requester, sender: sender, operation: .find(label: label))))
                return .wait(.group(.key))
            }
            guard let key = query["notification_key"], !key.isEmpty else {
                throw HTTPRefusal(
                    .group(GroupFault("notification_key_name or notification_key must be given")))
            }
            guard let group = settings.seal.group(of: key.raw) else {
                throw HTTPRefusal(.group(.malformedKey))
            }
            guard group.sender == sender else { throw HTTPRefusal(.group(GroupFault(.notFound))) }
            io.events.append(
                .groupRequested(
                    GroupRequest(requester: requester, sender: sender, operation: .show(number: group.number))
                ))
            return .wait(.group(.members))
        } catch { return .answer(error.response) }
    }

    /// Returns the account of a request; the header `project_id` must be its sender ID (http 6.1).
    private func groupOwner(_ request: HTTPRequest, _ now: Now) throws(HTTPRefusal) -> SenderID {
        let sender = try sender(of: request, now)
        guard let project = request.header("project_id"), !project.isEmpty else {
            throw HTTPRefusal(
                .group(GroupFault("missing header project_id: expected the sender ID of the key")))
        }
        guard project == Array(String(sender.number).utf8) else {
            throw HTTPRefusal(
                .group(
                    GroupFault("invalid header project_id: expected the sender ID of the key"), .unauthorized)
            )
        }
        return sender
    }

    /// Passes the change to the core, after all tokens have been checked.
    func submitChecked(
        _ check: GroupCheck, _ requester: Requester, _ io: inout SessionIO
    ) throws(GroupFault) -> Outcome {
        guard !check.mustRetry else { throw GroupFault(.unavailable) }
        return try ask(check.change, members: check.members(settings.seal), requester, &io)
    }

    private func ask(
        _ change: GroupChange, members: [TokenName], _ requester: Requester, _ io: inout SessionIO
    ) throws(GroupFault) -> Outcome {
        guard !members.isEmpty else { throw GroupFault(.noMembers) }
        io.events.append(
            .groupRequested(
                GroupRequest(
                    requester: requester, sender: change.sender, operation: change.operation(members: members)
                )))
        return .wait(.group(.key))
    }

    /// Returns the answer that shows a group.
    func groupResponse(_ group: GroupRecord, _ question: GroupQuestion) -> HTTPResponse {
        var body = ByteBuffer()
        switch question {
        case .key:
            body.append("{\"notification_key\":\"")
            body.append(settings.seal.groupKey(of: group.name))
            body.append("\"}")
        case .members:
            body.append("{\"notification_key_name\":")
            JSONWriter.append(string: group.label.raw, to: &body)
            body.append(",\"registration_ids\":")
            append(group.members, to: &body)
            body.append("}")
        }
        return HTTPResponse(.ok, HTTPResponse.json, body.copied())
    }

    /// Returns the answer to a send to a group; clients distinguish it by the absent `multicast_id` (http 2.5).
    func groupSendResponse(_ answer: GroupAnswer, _ form: HTTPSend.Form) -> HTTPResponse {
        if let refusal = answer.refusal {
            guard !refusal.isRetryable else {
                return .plain(RequestFault(.unavailable, "No member of the group was reached, try again."))
            }
            // As for a token with the same refusal: a retry cannot help.
            let send = HTTPSend(form, recipients: 1)
            send.recordResult(.refused(refusal), at: 0)
            return send.response
        }
        guard case .json = form else {
            // No reply to a form is documented for groups; the count fits in one line.
            return HTTPResponse(.ok, HTTPResponse.text, Array("id=\(answer.success)".utf8))
        }
        var body = ByteBuffer()
        body.append("{\"success\":")
        body.append(decimal: answer.success)
        body.append(",\"failure\":")
        body.append(decimal: answer.failed.count)
        if !answer.failed.isEmpty {
            body.append(",\"failed_registration_ids\":")
            append(answer.failed.map(\.member), to: &body)
        }
        body.append("}")
        return HTTPResponse(.ok, HTTPResponse.json, body.copied())
    }

    private func append(_ members: [TokenName], to body: inout ByteBuffer) {
        body.append("[")
        for (at, member) in members.enumerated() {
            body.append(at == 0 ? "\"" : ",\"")
            body.append(settings.seal.token(for: member))
            body.append("\"")
        }
        body.append("]")
    }
}

extension HTTPResponse {
    /// Returns the answer to an invalid request about groups.
    static func group(_ fault: GroupFault, _ status: HTTPStatus = .badRequest) -> HTTPResponse {
        errorObject(fault.text, status)
    }

    /// Returns the answer to a request about groups that the core refuses.
    static func group(_ refusal: GroupRefusal) -> HTTPResponse {
        switch refusal {
        case .registryFull: registryFull
        case .unavailable, .storeDamaged: group(GroupFault(refusal), .unavailable)
        case .labelTaken, .noMembers, .notFound, .labelMismatch, .tooManyMembers: group(GroupFault(refusal))
        }
    }
}
