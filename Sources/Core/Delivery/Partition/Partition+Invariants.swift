import Basics

/// Invariants between events. Tests, the simulation and debug builds check them after every event, for the owner of the event.
extension Partition {
    /// Returns what is wrong with the state of `key`, or with the partition as a whole if that is `nil`. Returns `nil` if nothing
    /// is wrong.
    public func violation(of key: PartitionKey?) -> String? {
        switch key {
        case .device(let device): devices.table[device]?.violation.map { "device \(device.number): \($0)" }
        case .sender(let sender):
            senders.table[sender]?.violation.map { "sender \(sender.number): \($0)" } ?? groups.violation
                ?? topics.violation
        case .installation: installations.violation
        case .partition: devices.feed.log.violation ?? topics.violation
        case nil: turn.violation
        }
    }
}

extension Turn {
    fileprivate var violation: String? {
        if let entry = batch.devices.first(where: { !$0.batches.isTouched }) {
            return "device \(entry.device.number) has changes but is not marked as touched"
        }
        return nil
    }
}

extension DeviceEntry {
    /// What is wrong with the state; `nil` if nothing is wrong.
    var violation: String? {
        let slots = mailbox.slots
        if zip(slots, slots.dropFirst()).contains(where: { $0.entry.sequence >= $1.entry.sequence }) {
            return "the mailbox is out of order"
        }
        if slots.count(where: { $0.state.isDelayed }) != mailbox.delayed {
            return "wrong count of delayed messages"
        }
        if slots.count(where: { $0.state.isScheduled }) != mailbox.scheduled {
            return "wrong count of scheduled messages"
        }
        if slots.count(where: \.isUnacknowledged) != mailbox.unacknowledged {
            return "wrong count of unacknowledged messages"
        }
        if state.isReady, link == nil,
            slots.contains(where: { $0.state != $0.state.unsent })
        {
            return "a message is marked as sent without a connection"
        }
        if busyQueues != expectedBusyQueues { return "wrong count of registrations at the gateway" }
        if case .idle = residence.state, !isIdle { return "listed as idle while active" }
        return violationOfRegistrations
    }

    private var violationOfRegistrations: String? {
        for registration in registrations {
            let number = registration.registration.name.number
            let slots = mailbox.slots.filter { $0.entry.registration == number }
            let atGateway = slots.filter { $0.state == .atGateway }.map(\.entry.sequence)
            if state.isReady, atGateway.contains(where: { $0 != registration.queue.sent }) {
                return "a message of registration \(number.number) is at the gateway unknown to its queue"
            }
            if state.isReady, registration.queue.isOpen, slots.contains(where: \.isReadyForGateway) {
                return "registration \(number.number) offers nothing to the gateway"
            }
            let (plain, counts) = (slots.filter(\.isPlain), registration.counts)
            if plain.count(where: \.state.isWaiting) != counts.plainWaiting
                || plain.count(where: \.state.isDelayed) != counts.plainDelayed
                || slots.count(where: { $0.entry.isForGateway && $0.state.isWaiting })
                    != counts.gatewayWaiting
                || slots.count(where: { $0.entry.collapseKey != nil }) != counts.keyed
            {
                return "wrong counts of registration \(number.number)"
            }
        }
        let numbers = registrations.map(\.registration.name.number)
        return zip(numbers, numbers.dropFirst()).allSatisfy { $0 < $1 } ? nil : "registrations out of order"
    }
}

extension SenderEntry {
    /// What is wrong with the state; `nil` if nothing is wrong.
    var violation: String? {
        if zip(backlog, backlog.dropFirst()).contains(where: { $0.sequence >= $1.sequence }) {
            return "the backlog is out of order"
        }
        if let last = backlog.last, last.sequence > cursor {
            return "the backlog extends past the read cursor"
        }
        var outstanding: [UInt64: Int] = [:]
        for session in sessions {
            for item in session.window.messages { outstanding[item.device, default: 0] += 1 }
        }
        if outstanding != sticky.mapValues(\.count) {
            return "wrong counts of outstanding messages by device"
        }
        if Set(sessions.map(\.connection)).count != sessions.count {
            return "two sessions share a connection"
        }
        if !leaving.isSuperset(of: returning.keys) { return "a message is returned that does not leave" }
        return nil
    }
}
