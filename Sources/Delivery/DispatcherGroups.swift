import Basics

/// The changes of one sender's groups: one at a time, since each begins from what the one before has left.
struct GroupChanges {
    /// Those that wait, the first one being worked on.
    var queue: [GroupRequest] = []
}

/// Device groups: made, changed and looked up (http 6.1, 6.2).
extension Dispatcher {
    mutating func changeGroup(_ request: GroupRequest, _ effects: inout Effects) {
        guard groupRequests < Limits.groupRequestsWaiting else {
            return refuse(request, .unavailable, &effects)
        }
        groupRequests += 1
        groupChanges[request.sender, default: GroupChanges()].queue.append(request)
        if groupChanges[request.sender]?.queue.count == 1 { ask(request, &effects) }
    }

    private func ask(_ request: GroupRequest, _ effects: inout Effects) {
        switch request.operation {
        case .create(let label, _), .find(let label):
            effects.loads.append(.groupLabelled(request.sender, label))
        case .add(let number, _, _), .remove(let number, _, _), .show(let number), .settle(let number, _, _):
            let name = GroupName(sender: request.sender, number: number)
            effects.loads.append(.group(name, isForChange: true))
        }
    }

    /// The store has said what the first request of a sender begins from.
    mutating func groupLoaded(
        _ sender: SenderID, _ record: GroupRecord?, _ now: Now, _ effects: inout Effects
    ) {
        guard let request = groupChanges[sender]?.queue.first else { return }
        do throws(GroupRefusal) {
            guard let changed = try decide(request, record, now) else {
                guard let record else { throw .notFound }
                answer(request, record, &effects)
                return nextGroupChange(of: sender, &effects)
            }
            if changed.members.isEmpty {
                effects.mutations.append(.removeGroup(changed.name, label: changed.label))
            } else {
                effects.mutations.append(.putGroup(changed))
            }
            turn.waiters.append(.group(request, changed))
        } catch {
            refuse(request, error, &effects)
            nextGroupChange(of: sender, &effects)
        }
    }

    mutating func groupLoadFailed(_ sender: SenderID, _ effects: inout Effects) {
        guard let request = groupChanges[sender]?.queue.first else { return }
        refuse(request, .unavailable, &effects)
        nextGroupChange(of: sender, &effects)
    }

    /// The batch of a change is on disk, or has failed.
    mutating func groupCommitted(
        _ request: GroupRequest, _ record: GroupRecord, hasFailed: Bool, _ effects: inout Effects
    ) {
        if hasFailed { refuse(request, .unavailable, &effects) } else { answer(request, record, &effects) }
        nextGroupChange(of: request.sender, &effects)
    }

    private mutating func nextGroupChange(of sender: SenderID, _ effects: inout Effects) {
        groupRequests -= 1
        groupChanges[sender]?.queue.removeFirst()
        if let next = groupChanges[sender]?.queue.first {
            ask(next, &effects)
        } else {
            groupChanges[sender] = nil
        }
    }

    /// What a request makes of a group; without members: it is to be removed. Nil: nothing changes.
    private mutating func decide(
        _ request: GroupRequest, _ record: GroupRecord?, _ now: Now
    ) throws(GroupRefusal) -> GroupRecord? {
        switch request.operation {
        case .create(let label, let members):
            guard record == nil else { throw .labelTaken }
            guard !members.isEmpty else { throw .noMembers }
            let name = GroupName(sender: request.sender, number: sequences.next(now).number)
            let made = GroupRecord(
                name: name, label: label, members: Self.distinct(members), createdAt: now.wall)
            guard made.members.count <= Limits.groupMembers else { throw .tooManyMembers }
            guard request.origin?.growth != .full else { throw .registryFull }
            return made
        case .add(_, let label, let members):
            var group = try Self.known(record, label)
            guard !members.isEmpty else { throw .noMembers }
            group.members = Self.distinct(group.members + members)
            guard group.members.count <= Limits.groupMembers else { throw .tooManyMembers }
            guard group != record else { return nil }
            guard request.origin?.growth != .full else { throw .registryFull }
            return group
        case .remove(_, let label, let members):
            var group = try Self.known(record, label)
            group.members.removeAll { members.contains($0) }
            return group == record ? nil : group
        case .settle(_, let gone, let replaced):
            var group = try Self.known(record, nil)
            for (old, new) in replaced {
                if let at = group.members.firstIndex(of: old) { group.members[at] = new }
            }
            group.members = Self.distinct(group.members.filter { !gone.contains($0) })
            return group == record ? nil : group
        case .find, .show: return nil
        }
    }

    private static func known(
        _ record: GroupRecord?, _ label: [UInt8]?
    ) throws(GroupRefusal) -> GroupRecord {
        guard let record else { throw .notFound }
        if let label, label != record.label { throw .labelMismatch }
        return record
    }

    private static func distinct(_ members: [RegistrationName]) -> [RegistrationName] {
        var seen: Set<RegistrationName> = []
        return members.filter { seen.insert($0).inserted }
    }

    private func answer(_ request: GroupRequest, _ record: GroupRecord, _ effects: inout Effects) {
        guard let origin = request.origin else { return }
        effects.commands.append((origin.connection, .groupKnown(ticket: origin.ticket, record)))
    }

    private func refuse(_ request: GroupRequest, _ refusal: GroupRefusal, _ effects: inout Effects) {
        guard let origin = request.origin else { return }
        effects.commands.append((origin.connection, .groupRefused(ticket: origin.ticket, refusal)))
    }
}
