import Basics

/// Messages to device groups: one message to each member, and one answer for all (http 2.5; ccs-xmpp 3.2, 4.4).
extension GroupHub {
    mutating func submit(_ submission: GroupSubmission, _ turn: inout Turn) {
        do throws(Refusal) {
            guard submission.group.sender == submission.sender else { throw .senderMismatch }
            guard sends.count < turn.shares.groupSends else { throw .unavailable }
        } catch {
            return turn.answer(submission, .failure(error))
        }
        sends.begin()
        guard sends.reads[submission.group] == nil else {
            sends.reads[submission.group]?.next.append(submission)
            return
        }
        sends.reads[submission.group] = GroupReads(asked: [submission])
        turn.load(.group(submission.group, isForChange: false))
    }

    /// Sends the messages that wait for a group's members; `record` is `nil` if the group does not exist.
    mutating func membersLoaded(_ group: GroupName, _ record: GroupRecord?, _ turn: inout Turn) {
        for submission in takeReads(of: group, &turn) {
            turn.demand(
                submission.group == group, "a message waits for another group", owner: .sender(group.sender))
            var members = record?.members ?? []
            if let author = submission.author {
                // A sender that is not a member must not learn whether the group exists.
                guard members.contains(where: { author.own.contains($0.registration) }) else {
                    end(submission, .failure(.notRegistered), &turn)
                    continue
                }
                members.removeAll { author.own.contains($0.registration) }
            }
            guard record != nil else {
                end(submission, .failure(.notRegistered), &turn)
                continue
            }
            guard !members.isEmpty else {
                end(submission, .success(GroupAnswer(success: 0, failed: [])), &turn)
                continue
            }
            let number = sends.insert(
                GroupSend(
                    submission: submission, members: members,
                    answers: Array(repeating: nil, count: members.count), pending: members.count))
            var content = submission.content
            content.isForSeveral = members.count > 1
            for (index, member) in members.enumerated() {
                turn.forward(
                    .submitted(
                        Submission(
                            replyTo: .group(group.sender, GroupSendMember(send: number, index: index)),
                            submitter: submission.requester.connection, sender: group.sender,
                            target: member.registration, content: content)))
            }
        }
    }

    mutating func membersLoadFailed(_ group: GroupName, isDamage: Bool, _ turn: inout Turn) {
        for submission in takeReads(of: group, &turn) {
            end(submission, .failure(isDamage ? .storeDamaged : .unavailable), &turn)
        }
    }

    private mutating func takeReads(of group: GroupName, _ turn: inout Turn) -> [GroupSubmission] {
        let found = turn.demand(
            sends.reads[group], "the members of a group were read without a query",
            owner: .sender(group.sender))
        guard let reads = found else { return [] }
        turn.demand(
            !reads.asked.isEmpty, "the members of a group were read for no message",
            owner: .sender(group.sender))
        if reads.next.isEmpty {
            sends.reads[group] = nil
        } else {
            sends.reads[group] = GroupReads(asked: reads.next)
            turn.load(.group(group, isForChange: false))
        }
        return reads.asked
    }

    /// Records a member's answer, and answers the message once all members have answered.
    mutating func memberAnswered(_ member: GroupSendMember, _ answer: MemberAnswer, _ turn: inout Turn) {
        guard turn.demand(sends.isWaiting(for: member), "a group member answered twice"),
            let send = sends.record(member, answer)
        else { return }
        turn.demand(sends.end(), "more group messages ended than started")
        var result = GroupAnswer(success: 0, failed: [])
        var gone: [RegistrationName] = []
        var replaced: [(old: RegistrationName, new: TokenName)] = []
        for (member, answer) in zip(send.members, send.answers) {
            switch answer {
            case .sent(let canonical):
                result.success += 1
                if let canonical { replaced.append((member.registration, canonical)) }
            case .refused(let refusal):
                result.failed.append((member, refusal))
                if refusal == .notRegistered { gone.append(member.registration) }
            case nil: turn.demand(false, "a group message ended before its members answered")
            }
        }
        // Members that are all gone leave a group without any, which is answered as such from now on.
        if gone.count == send.members.count { result.failed = [] }
        turn.answer(send.submission, .success(result))
        guard !gone.isEmpty || !replaced.isEmpty, !send.submission.content.isDryRun else { return }
        let group = send.submission.group
        change(
            GroupRequest(
                requester: nil, sender: group.sender,
                operation: .reconcile(number: group.number, gone: gone, replaced: replaced)), &turn)
    }

    /// Answers a message that was sent to no member.
    private mutating func end(
        _ submission: GroupSubmission, _ outcome: Result<GroupAnswer, Refusal>, _ turn: inout Turn
    ) {
        turn.demand(sends.end(), "more group messages ended than started")
        turn.answer(submission, outcome)
    }
}

extension Turn {
    /// Reports the result of a group message to its submitter.
    mutating func answer(_ submission: GroupSubmission, _ outcome: Result<GroupAnswer, Refusal>) {
        let requester = submission.requester
        record(submission, outcome)
        guard let author = submission.author else {
            switch outcome {
            case .success(let result):
                reply(.group(result), to: requester)
            case .failure(let refusal):
                reply(.refused(refusal), to: requester)
            }
            return
        }
        let refusal = Self.upstreamRefusal(outcome)
        if let refusal {
            send(.upstreamRefused(requestID: requester.requestID, refusal), to: requester.connection)
            effects.upstream.refused += 1
        } else {
            send(.upstreamStored(requestID: requester.requestID), to: requester.connection)
        }
        let own = demand(
            author.own.last, "a group message has an author without a registration",
            owner: .sender(submission.sender))
        guard let name = own else { return }
        forward(.upstreamAnswered(name, requester))
    }

    private mutating func record(
        _ submission: GroupSubmission, _ outcome: Result<GroupAnswer, Refusal>
    ) {
        let (id, sender) = (submission.content.messageID, submission.group.sender)
        switch outcome {
        case .success(let result):
            recordSummary(
                .group, id, of: sender, .accepted,
                detail: "success \(result.success), failure \(result.failed.count)")
        case .failure(let refusal):
            recordSummary(.group, id, of: sender, .refused, detail: refusal.detail)
        }
    }

    /// Returns the refusal to send to the device that submitted a group message; `nil` if all registered members have the message.
    ///
    /// While the store cannot take it for one of them, the refusal makes the device send it again, and the others may get it twice.
    private static func upstreamRefusal(_ outcome: Result<GroupAnswer, Refusal>) -> UpstreamRefusal? {
        switch outcome {
        case .failure(.unavailable), .failure(.storeDamaged): return .unavailable
        case .failure(.senderRateExceeded): return .tooMany
        case .failure: return .invalidParameters
        case .success(let result):
            if result.failed.contains(where: { $0.refusal == .unavailable || $0.refusal == .storeDamaged }) {
                return .unavailable
            }
            let isReached = result.success > 0 || result.failed.allSatisfy { $0.refusal == .notRegistered }
            return isReached ? nil : .tooMany
        }
    }
}
