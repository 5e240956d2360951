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

/// Messages to device groups: one to each member, and one answer for all (http 2.5; ccs-xmpp 3.2).
extension Dispatcher {
    mutating func groupSubmitted(_ submission: GroupSubmission, _ effects: inout Effects) {
        let origin = submission.submission.origin
        guard submission.group.sender == submission.submission.sender else {
            return effects.commands.append(
                (origin.connection, .refuse(ticket: origin.ticket, .senderMismatch)))
        }
        guard groupSends.hasRoom else {
            return effects.commands.append(
                (origin.connection, .refuse(ticket: origin.ticket, .unavailable)))
        }
        groupSends.begin()
        guard groupSends.reads[submission.group] == nil else {
            groupSends.reads[submission.group]?.next.append(submission)
            return
        }
        groupSends.reads[submission.group] = GroupReads(asked: [submission])
        effects.loads.append(.group(submission.group, isForChange: false))
    }

    /// The store has said who the members are; nil: there is no such group.
    mutating func groupRead(_ group: GroupName, _ record: GroupRecord?, _ effects: inout Effects) {
        for submission in takeReads(of: group, &effects) {
            guard let record else {
                answer(submission, refusal: .notRegistered, &effects)
                continue
            }
            let number = groupSends.insert(
                GroupSend(
                    submission: submission, members: record.members,
                    answers: Array(repeating: nil, count: record.members.count), pending: record.members.count
                ))
            for (place, member) in record.members.enumerated() {
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
            answer(submission, refusal: .unavailable, &effects)
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
        let origin = send.submission.submission.origin
        effects.commands.append((origin.connection, .groupAnswered(ticket: origin.ticket, told)))
        guard !gone.isEmpty || !replaced.isEmpty, !send.submission.submission.isDryRun else { return }
        let group = send.submission.group
        changeGroup(
            GroupRequest(
                origin: nil, sender: group.sender,
                operation: .settle(number: group.number, gone: gone, replaced: replaced)), &effects)
    }

    private mutating func answer(
        _ submission: GroupSubmission, refusal: Refusal, _ effects: inout Effects
    ) {
        groupSends.end()
        let origin = submission.submission.origin
        effects.commands.append((origin.connection, .refuse(ticket: origin.ticket, refusal)))
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
