import Basics

/// The changes of one sender's groups: applied one at a time, since each starts from the result of the previous one.
struct GroupChanges {
    /// Unfinished changes; the first one is in progress.
    var queue: [GroupRequest] = []
    /// Whether a query for the current state of that change's group is unanswered.
    var isAsking = false
}

/// Creates, changes and reads the device groups of a partition's senders (http 6.1, 6.2).
struct GroupHub: ~Copyable {
    /// Unfinished changes, by sender.
    private var changes: [SenderID: GroupChanges] = [:]
    /// Number of unfinished changes.
    private var waitingChanges = 0
    /// Group messages that are not answered yet.
    var sends: GroupSends

    init(salt: UInt32) { sends = GroupSends(after: salt) }

    /// What is wrong with the state; `nil` if nothing is wrong.
    var violation: String? {
        if changes.values.reduce(0, { $0 + $1.queue.count }) != waitingChanges {
            return "wrong count of group changes"
        }
        return changes.values.contains { $0.queue.isEmpty } ? "a queue of changes is empty" : sends.violation
    }

    mutating func handle(_ event: consuming GroupEvent, of sender: SenderID, _ turn: inout Turn) {
        guard turn.demand(event.isFor(sender), "an event of another sender's groups", owner: .sender(sender))
        else { return refuse(event, &turn) }
        switch consume event {
        case .requested(let request): change(request, &turn)
        case .submitted(let submission): submit(submission, &turn)
        case .memberAnswered(let member, let answer): memberAnswered(member, answer, &turn)
        }
    }

    /// Refuses an event that cannot be handled, if its sender waits for an answer.
    func refuse(_ event: GroupEvent, _ turn: inout Turn) {
        switch event {
        case .requested(let request): refuseRequest(request, .unavailable, &turn)
        case .submitted(let submission): turn.answer(submission, .failure(.unavailable))
        case .memberAnswered: break
        }
    }

    mutating func change(_ request: GroupRequest, _ turn: inout Turn) {
        guard waitingChanges < turn.shares.groupRequests else {
            return refuseRequest(request, .unavailable, &turn)
        }
        waitingChanges += 1
        changes[request.sender, default: GroupChanges()].queue.append(request)
        if changes[request.sender]?.queue.count == 1 { ask(request, &turn) }
    }

    private mutating func ask(_ request: GroupRequest, _ turn: inout Turn) {
        turn.demand(
            changes[request.sender]?.isAsking == false, "the store was queried twice for a group change",
            owner: .sender(request.sender))
        changes[request.sender]?.isAsking = true
        switch request.operation {
        case .imported(let group, _):
            turn.load(.groupLabelled(request.sender, group.label))
        case .create(let label, _), .find(let label):
            turn.load(.groupLabelled(request.sender, label))
        case .add(let number, _, _), .remove(let number, _, _), .show(let number),
            .reconcile(let number, _, _):
            let name = GroupName(sender: request.sender, number: number)
            turn.load(.group(name, isForChange: true))
        }
    }

    /// Applies a sender's first change to the current state of its group, as read from the store.
    mutating func changeLoaded(
        _ sender: SenderID, _ record: GroupRecord?, _ turn: inout Turn
    ) {
        guard let request = changeAnswered(sender, &turn) else { return }
        do throws(GroupRefusal) {
            switch try decide(request, record, &turn) {
            case .keep:
                guard let record else { throw .notFound }
                answer(request, record, &turn)
                nextGroupChange(of: sender, &turn)
            case .put(let changed):
                let isMatch =
                    changed.name.sender == sender && record.map { $0.name == changed.name } ?? true
                guard turn.demand(isMatch, "a change replaced one group by another", owner: .sender(sender))
                else { throw .unavailable }
                turn.write(.putGroup(changed))
                turn.wait(.group(request, changed))
            case .replace(let old, let made):
                turn.write(.removeGroup(old.name, label: old.label))
                turn.write(.putGroup(made))
                turn.wait(.group(request, made))
            case .delete(let group):
                turn.write(.removeGroup(group.name, label: group.label))
                turn.wait(.group(request, group))
            }
        } catch {
            refuseRequest(request, error, &turn)
            nextGroupChange(of: sender, &turn)
        }
    }

    mutating func changeLoadFailed(_ sender: SenderID, isDamage: Bool, _ turn: inout Turn) {
        guard let request = changeAnswered(sender, &turn) else { return }
        refuseRequest(request, isDamage ? .storeDamaged : .unavailable, &turn)
        nextGroupChange(of: sender, &turn)
    }

    /// Marks the query of a sender's first change as answered and returns the change.
    private mutating func changeAnswered(_ sender: SenderID, _ turn: inout Turn) -> GroupRequest? {
        let isAsked = changes[sender]?.isAsking == true
        turn.demand(isAsked, "a group was read for a change without a query", owner: .sender(sender))
        changes[sender]?.isAsking = false
        return isAsked ? changes[sender]?.queue.first : nil
    }

    /// Handles the outcome of a change's batch.
    mutating func changeCommitted(
        _ request: GroupRequest, _ record: GroupRecord, hasFailed: Bool, _ turn: inout Turn
    ) {
        turn.demand(
            changes[request.sender]?.isAsking == false, "a group change was stored that is not in progress",
            owner: .sender(request.sender))
        if hasFailed { refuseRequest(request, .unavailable, &turn) } else { answer(request, record, &turn) }
        nextGroupChange(of: request.sender, &turn)
    }

    private mutating func nextGroupChange(of sender: SenderID, _ turn: inout Turn) {
        let isThere = changes[sender]?.queue.isEmpty == false && waitingChanges > 0
        guard turn.demand(isThere, "a group change ended that was not started", owner: .sender(sender))
        else {
            return
        }
        waitingChanges -= 1
        changes[sender]?.queue.removeFirst()
        if let next = changes[sender]?.queue.first {
            ask(next, &turn)
        } else {
            changes[sender] = nil
        }
    }

    /// What a request does with the stored group.
    private enum Decision {
        /// Nothing changes.
        case keep
        /// Store the group as changed.
        case put(GroupRecord)
        /// Store a new group instead of one without members that has the same label.
        case replace(GroupRecord, by: GroupRecord)
        /// Delete the group.
        case delete(GroupRecord)

        /// Returns the decision to store a group, unless it is stored already.
        static func change(_ record: GroupRecord?, to group: GroupRecord) -> Decision {
            group == record ? .keep : .put(group)
        }
    }

    /// Returns what a request does with the stored group. A group without members lives on (http 2.5), until its owner removes
    /// members from it once more or creates another group of its name.
    private mutating func decide(
        _ request: GroupRequest, _ record: GroupRecord?, _ turn: inout Turn
    ) throws(GroupRefusal) -> Decision {
        switch request.operation {
        case .create(let label, let members):
            guard record?.members.isEmpty ?? true else { throw .labelTaken }
            guard !members.isEmpty else { throw .noMembers }
            let name = GroupName(sender: request.sender, number: turn.nextSequence().number)
            let made = GroupRecord(
                name: name, label: label, members: Self.distinct(members), createdAt: turn.now.wall)
            guard made.members.count <= Limits.Group.members else { throw .tooManyMembers }
            guard request.requester?.growth != .full else { throw .registryFull }
            guard let record else { return .put(made) }
            return .replace(record, by: made)
        case .add(_, let label, let members):
            var group = try Self.existing(record, label)
            guard !members.isEmpty else { throw .noMembers }
            group.members = Self.distinct(group.members + members)
            guard group.members.count <= Limits.Group.members else { throw .tooManyMembers }
            guard group != record else { return .keep }
            guard request.requester?.growth != .full else { throw .registryFull }
            return .put(group)
        case .remove(_, let label, let members):
            var group = try Self.existing(record, label)
            guard !group.members.isEmpty else { return .delete(group) }
            group.members.removeAll { member in members.contains { $0.registration == member.registration } }
            return .change(record, to: group)
        case .reconcile(_, let gone, let replaced):
            var group = try Self.existing(record, nil)
            for (old, new) in replaced {
                if let at = group.members.firstIndex(where: { $0.registration == old }) {
                    group.members[at] = new
                }
            }
            group.members = Self.distinct(group.members.filter { !gone.contains($0.registration) })
            return .change(record, to: group)
        case .imported(let group, let replaces):
            guard let record, record != group else { return .change(record, to: group) }
            guard replaces, record.name == group.name else { throw .labelTaken }
            return .put(group)
        case .find, .show: return .keep
        }
    }

    private static func existing(
        _ record: GroupRecord?, _ label: [UInt8]?
    ) throws(GroupRefusal) -> GroupRecord {
        guard let record else { throw .notFound }
        if let label, label != record.label { throw .labelMismatch }
        return record
    }

    /// Returns each registration once, at its first place and with the token that was given last.
    private static func distinct(_ members: [TokenName]) -> [TokenName] {
        var places: [RegistrationName: Int] = [:]
        var distinct: [TokenName] = []
        for member in members {
            if let at = places[member.registration] {
                distinct[at] = member
            } else {
                places[member.registration] = distinct.count
                distinct.append(member)
            }
        }
        return distinct
    }

    private func answer(_ request: GroupRequest, _ record: GroupRecord, _ turn: inout Turn) {
        guard let requester = request.requester else { return }
        turn.reply(.group(record), to: requester)
    }

    private func refuseRequest(_ request: GroupRequest, _ refusal: GroupRefusal, _ turn: inout Turn) {
        guard let requester = request.requester else { return }
        turn.reply(.groupRefused(refusal), to: requester)
    }
}
