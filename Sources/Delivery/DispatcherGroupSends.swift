import Basics

/// A message on its way to the members of a group.
struct GroupSend {
    let submission: GroupSubmission
    let members: [RegistrationName]
    var answers: [MemberAnswer?]
    var pending: Int
}

/// Sends that wait for the members of one group.
struct GroupReads {
    /// Those that the question on its way answers.
    var asked: [GroupSubmission] = []
    /// Those that came after it was asked: what it answers may be older than what their senders know.
    var next: [GroupSubmission] = []
}

/// The sends to groups in one partition.
struct GroupSends {
    /// A ticket is the number of a send and the place of a member: more bits than a group has members.
    private static let placeBits: UInt32 = 8

    private var open: [UInt32: GroupSend] = [:]
    private var nextNumber: UInt32 = 0
    /// Sends that wait for the members of their group, by group.
    var reads: [GroupName: GroupReads] = [:]
    /// Sends that wait for anything.
    private(set) var count = 0

    /// Whether one more may be taken.
    var hasRoom: Bool { count < Limits.groupSendsWaiting }

    /// Counts one that is taken.
    mutating func begin() { count += 1 }

    /// Counts one that has been answered.
    mutating func end() { count -= 1 }

    /// Keeps a send until all of its members have answered; the number for their tickets.
    mutating func insert(_ send: GroupSend) -> UInt32 {
        repeat {
            nextNumber = (nextNumber + 1) & (.max >> Self.placeBits)
        } while open[nextNumber] != nil
        open[nextNumber] = send
        return nextNumber
    }

    /// The ticket of a member.
    static func ticket(_ number: UInt32, _ place: Int) -> UInt32 { number << placeBits | UInt32(place) }

    /// Notes the answer of a member; the send, once all have answered.
    mutating func note(_ ticket: UInt32, _ answer: MemberAnswer) -> GroupSend? {
        let number = ticket >> Self.placeBits
        let place = Int(ticket & (1 << Self.placeBits - 1))
        guard let answers = open[number]?.answers, place < answers.count, answers[place] == nil else {
            return nil
        }
        open[number]?.answers[place] = answer
        open[number]?.pending -= 1
        guard let send = open[number], send.pending == 0 else { return nil }
        open[number] = nil
        return send
    }
}

/// Messages to device groups: one to each member, and one answer for all (http 2.5; ccs-xmpp 3.2, 4.4).
extension Dispatcher {
    mutating func groupSubmitted(_ submission: GroupSubmission, _ now: Now, _ effects: inout Effects) {
        do throws(Refusal) {
            guard submission.group.sender == submission.submission.sender else { throw .senderMismatch }
            if submission.author != nil { try countUpstream(to: submission.group.sender, now) }
            guard groupSends.hasRoom else { throw .unavailable }
        } catch {
            return tell(submission, .failure(error), &effects)
        }
        groupSends.begin()
        guard groupSends.reads[submission.group] == nil else {
            groupSends.reads[submission.group]?.next.append(submission)
            return
        }
        groupSends.reads[submission.group] = GroupReads(asked: [submission])
        effects.loads.append(.group(submission.group, isForChange: false))
    }

    /// Notes a device's message with the rate of its sender.
    private mutating func countUpstream(to sender: SenderID, _ now: Now) throws(Refusal) {
        guard directory[sender] != nil else { throw .notRegistered }
        let entry = senders.entry(sender)
        guard entry.bucket.allows(settings.rates.senderUpstream, now: now.monotonic) else {
            throw .senderRateExceeded
        }
        entry.bucket.take(settings.rates.senderUpstream, now: now.monotonic)
    }

    /// The store has said who the members are; nil: there is no such group.
    mutating func groupRead(_ group: GroupName, _ record: GroupRecord?, _ effects: inout Effects) {
        for submission in takeReads(of: group, &effects) {
            var members = record?.members ?? []
            if let author = submission.author {
                // Who is in none of its groups learns nothing of it.
                guard members.contains(where: { author.own.contains($0) }) else {
                    end(submission, .failure(.notRegistered), &effects)
                    continue
                }
                members.removeAll { author.own.contains($0) }
            }
            guard record != nil else {
                end(submission, .failure(.notRegistered), &effects)
                continue
            }
            guard !members.isEmpty else {
                end(submission, .success(GroupAnswer(success: 0, failed: [])), &effects)
                continue
            }
            let number = groupSends.insert(
                GroupSend(
                    submission: submission, members: members,
                    answers: Array(repeating: nil, count: members.count), pending: members.count))
            for (place, member) in members.enumerated() {
                var message = submission.submission
                message.submitter = message.origin.connection
                message.origin = .core(GroupSends.ticket(number, place))
                message.target = member
                effects.forwards.append(.submitted(message))
            }
        }
    }

    mutating func groupReadFailed(_ group: GroupName, _ effects: inout Effects) {
        for submission in takeReads(of: group, &effects) {
            end(submission, .failure(.unavailable), &effects)
        }
    }

    private mutating func takeReads(of group: GroupName, _ effects: inout Effects) -> [GroupSubmission] {
        guard let reads = groupSends.reads[group] else { return [] }
        if reads.next.isEmpty {
            groupSends.reads[group] = nil
        } else {
            groupSends.reads[group] = GroupReads(asked: reads.next)
            effects.loads.append(.group(group, isForChange: false))
        }
        return reads.asked
    }

    /// A member's partition has answered.
    mutating func memberAnswered(_ ticket: UInt32, _ answer: MemberAnswer, _ effects: inout Effects) {
        guard let send = groupSends.note(ticket, answer) else { return }
        groupSends.end()
        var told = GroupAnswer(success: 0, failed: [])
        var gone: [RegistrationName] = []
        var replaced: [(old: RegistrationName, new: RegistrationName)] = []
        for (member, answer) in zip(send.members, send.answers) {
            switch answer {
            case .sent(let canonical):
                told.success += 1
                if let canonical { replaced.append((member, canonical)) }
            case .refused(let refusal):
                told.failed.append((member, refusal))
                if refusal == .notRegistered { gone.append(member) }
            case nil: break
            }
        }
        tell(send.submission, .success(told), &effects)
        guard !gone.isEmpty || !replaced.isEmpty, !send.submission.submission.isDryRun else { return }
        let group = send.submission.group
        changeGroup(
            GroupRequest(
                origin: nil, sender: group.sender,
                operation: .settle(number: group.number, gone: gone, replaced: replaced)), &effects)
    }

    /// Answers a message that was sent to nobody.
    private mutating func end(
        _ submission: GroupSubmission, _ outcome: Result<GroupAnswer, Refusal>, _ effects: inout Effects
    ) {
        groupSends.end()
        tell(submission, outcome, &effects)
    }

    /// Tells whoever sent a message to a group what became of it.
    private func tell(
        _ submission: GroupSubmission, _ outcome: Result<GroupAnswer, Refusal>, _ effects: inout Effects
    ) {
        let (connection, ticket) = (
            submission.submission.origin.connection, submission.submission.origin.ticket
        )
        guard let author = submission.author else {
            switch outcome {
            case .success(let told):
                effects.commands.append((connection, .groupAnswered(ticket: ticket, told)))
            case .failure(let refusal):
                effects.commands.append((connection, .refuse(ticket: ticket, refusal)))
            }
            return
        }
        let refusal = Self.upstreamRefusal(outcome)
        if let refusal {
            effects.commands.append((connection, .upstreamRefused(ticket: ticket, refusal)))
            effects.upstream.refused += 1
        } else {
            effects.commands.append((connection, .upstreamStored(ticket: ticket)))
        }
        guard let name = author.own.last else { return }
        effects.forwards.append(.upstreamAnswered(name))
    }

    /// What a device hears of its message to a group; nil: it is with the others, as far as they are there.
    ///
    /// While one of them cannot be stored for, the device sends it again, and the others may get it twice.
    private static func upstreamRefusal(_ outcome: Result<GroupAnswer, Refusal>) -> UpstreamRefusal? {
        switch outcome {
        case .failure(.unavailable): return .unavailable
        case .failure(.senderRateExceeded): return .tooMany
        case .failure: return .invalidParameters
        case .success(let told):
            if told.failed.contains(where: { $0.refusal == .unavailable }) { return .unavailable }
            let isReached = told.success > 0 || told.failed.allSatisfy { $0.refusal == .notRegistered }
            return isReached ? nil : .tooMany
        }
    }

    /// Tells whoever submitted a message what became of it: a session, or the core itself.
    func answer(
        _ origin: Origin, of sender: SenderID, _ id: PersistentID?, canonical: RegistrationName?,
        _ effects: inout Effects
    ) {
        if origin.isTopicJob { return answer(topicJob: origin, of: sender, .reached, &effects) }
        guard origin.isCore else {
            return effects.commands.append(
                (origin.connection, .acknowledge(ticket: origin.ticket, id: id, canonical: canonical)))
        }
        effects.forwards.append(.memberAnswered(sender, ticket: origin.ticket, .sent(canonical: canonical)))
    }

    /// The same for one that is refused.
    func refuse(_ origin: Origin, of sender: SenderID, _ refusal: Refusal, _ effects: inout Effects) {
        if origin.isTopicJob {
            return answer(
                topicJob: origin, of: sender, refusal == .unavailable ? .unavailable : .passedOver, &effects)
        }
        guard origin.isCore else {
            return effects.commands.append((origin.connection, .refuse(ticket: origin.ticket, refusal)))
        }
        effects.forwards.append(.memberAnswered(sender, ticket: origin.ticket, .refused(refusal)))
    }
}
