import Basics

/// Import of devices with their registrations and subscriptions.
extension DeviceHub {
    /// Imports rows in order, and answers with the outcome of each when all changes are on disk.
    mutating func imported(_ rows: DeviceImport, _ entry: DeviceEntry, _ turn: inout Turn) {
        if let refusal = turn.refusalToAdd(for: entry.record ?? rows.record, rows.requester) {
            return turn.refuseRequest(rows.requester, refusal)
        }
        var outcomes: [ImportOutcome] = []
        if let record = rows.record { outcomes.append(importDevice(record, rows.replaces, entry, &turn)) }
        for registration in rows.registrations {
            outcomes.append(importRegistration(registration, rows, entry, &turn))
        }
        for subscription in rows.subscriptions {
            outcomes.append(importSubscription(subscription, entry, &turn))
        }
        answerOnceCommitted(.imported(outcomes), entry, to: rows.requester, &turn)
    }

    private mutating func importDevice(
        _ record: DeviceRecord, _ replaces: Bool, _ entry: DeviceEntry, _ turn: inout Turn
    ) -> ImportOutcome {
        guard let known = entry.record else {
            entry.write(record, &turn)
            return .added
        }
        let isSame = known.token == record.token && known.createdAt == record.createdAt
        guard isSame || replaces else { return .differs }
        // What only increases is never set back: a number would be given out twice.
        var merged = isSame ? known : record
        merged.nextRegistration = max(known.nextRegistration, record.nextRegistration)
        merged.hasLoggedIn = known.hasLoggedIn || record.hasLoggedIn
        merged.seenAt = max(known.seenAt, record.seenAt)
        guard merged != known else { return .unchanged }
        entry.write(merged, &turn)
        return isSame ? .unchanged : .replaced
    }

    private mutating func importRegistration(
        _ registration: Registration, _ rows: DeviceImport, _ entry: DeviceEntry,
        _ turn: inout Turn
    ) -> ImportOutcome {
        guard let record = entry.record else { return .noDevice }
        let number = registration.name.number
        guard number.number < record.nextRegistration else { return .beyondDevice }
        if let at = entry.index(of: number) {
            var fresh = registration
            // What APNs has reported here is newer.
            fresh.apnsState = entry.registrations[at].registration.apnsState
            guard fresh != entry.registrations[at].registration else { return .unchanged }
            guard rows.replaces else { return .differs }
            change(at, of: entry, to: fresh, seal: rows.seal, &turn)
            return .replaced
        }
        guard entry.registrations.count < turn.settings.registrationsPerDevice else { return .full }
        let at = entry.registrations.firstIndex { $0.registration.name.number > number }
        insert(registration, at: at ?? entry.registrations.count, entry, seal: rows.seal, &turn)
        return .added
    }

    private mutating func importSubscription(
        _ subscription: Subscription, _ entry: DeviceEntry, _ turn: inout Turn
    ) -> ImportOutcome {
        guard let named = entry.index(of: subscription.name.number),
            let at = canonical(of: named, entry, &turn)
        else { return .noRegistration }
        var subscription = subscription
        subscription.name = entry.registrations[at].registration.name
        guard !entry.registrations[at].topics.contains(subscription.sender, subscription.topic) else {
            return .unchanged
        }
        guard entry.registrations[at].topics.count < turn.settings.subscriptionsPerRegistration else {
            return .full
        }
        add(subscription, at: at, entry, &turn)
        return .added
    }
}
