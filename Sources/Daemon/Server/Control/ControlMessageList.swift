import Basics
import Delivery
import Operator
import Store

/// The lists of pending messages. Payloads are read, since they are part of the records, and only their sizes are shown.
extension ControlServer {
    func listMessages(_ command: ListMessages) throws(OperatorProblem) -> ListMessages.Answer {
        let rows: [(sequence: SequenceNumber, row: ListMessages.Row)]
        switch command.mailbox {
        case .device(let target): rows = try downstream(target, command)
        case .sender(let sender): rows = try upstream(sender, command)
        case nil: rows = []
        }
        // A topic message that is for two apps of a device has one position, and is on one page.
        let last = rows.prefix(command.limit).last?.sequence
        let page = rows.prefix { $0.sequence <= last ?? $0.sequence }
        return ListMessages.Answer(
            messages: page.map(\.row), nextAfter: rows.count > page.count ? last : nil)
    }

    /// Returns the rows of the page, and of one position more.
    private func downstream(
        _ target: DeviceTarget, _ command: ListMessages
    ) throws(OperatorProblem) -> [(sequence: SequenceNumber, row: ListMessages.Row)] {
        let (device, only) = try resolved(target)
        let loaded = try reading { () throws(StoreError) in try daemon.storage.store.load(.device(device)) }
        guard case .device(let state) = loaded, state.record != nil else { throw unknown(device) }
        let apps = Dictionary(
            state.registrations.map { ($0.name.number, $0.category) }, uniquingKeysWith: { first, _ in first }
        )
        let states = try ask { $0.messageStates(of: device) }.compactMap { $0 }.first ?? [:]
        let scheduled = Set(state.mailbox.filter { $0.dueAt != nil }.map(\.sequence))
        var rows: [(sequence: SequenceNumber, row: ListMessages.Row)] = []
        var after = command.after ?? SequenceNumber(0)
        while rows.count <= command.limit {
            let start = after
            let loaded = try reading { () throws(StoreError) in
                try daemon.storage.store.load(
                    .messages(device, after: start, limit: Limits.Operator.messagesPerRead))
            }
            guard case .messages(_, let messages, let isLast) = loaded else { break }
            for message in messages where only == nil || message.registration == only {
                let app = apps[message.registration] ?? []
                let state =
                    states[message.sequence] ?? (scheduled.contains(message.sequence) ? .scheduled : nil)
                rows.append((message.sequence, ListMessages.Row(message, app: app, state)))
            }
            guard !isLast, let last = messages.last else { break }
            after = last.sequence
        }
        guard rows.count <= command.limit else { return rows }
        return try rows + topicMessages(state, only, command, after: rows.last?.sequence)
    }

    /// Returns the topic messages that have not entered the mailbox yet: all are newer than what has.
    private func topicMessages(
        _ state: DeviceState, _ only: RegistrationNumber?, _ command: ListMessages,
        after last: SequenceNumber?
    ) throws(OperatorProblem) -> [(sequence: SequenceNumber, row: ListMessages.Row)] {
        let after = last ?? command.after ?? SequenceNumber(0)
        let limit = command.limit + 1
        let found = try ask { $0.topicMessages(for: state, only: only, after: after, limit: limit) }
        return found.compactMap { $0 }.joined().map { ($0.entry.sequence, ListMessages.Row($0)) }
    }

    private func upstream(
        _ sender: SenderID, _ command: ListMessages
    ) throws(OperatorProblem) -> [(sequence: SequenceNumber, row: ListMessages.Row)] {
        try requireSender(sender)
        let sent = try ask { $0.unacknowledged(of: sender) }.compactMap { $0 }.first ?? []
        let after = command.after ?? SequenceNumber(0)
        var rows: [(sequence: SequenceNumber, row: ListMessages.Row)] = []
        try forEachUpstream(of: sender, after: after) { message in
            rows.append(
                (message.sequence, ListMessages.Row(message, isSent: sent.contains(message.sequence))))
            return rows.count <= command.limit
        }
        return rows
    }

    /// Reads the pending messages of devices to a sender, in steps, until a closure returns `false`.
    func forEachUpstream(
        of sender: SenderID, after start: SequenceNumber = SequenceNumber(0),
        _ body: (StoredUpstream) -> Bool
    ) throws(OperatorProblem) {
        var after = start
        while true {
            let start = after
            let loaded = try reading { () throws(StoreError) in
                try daemon.storage.store.load(
                    .upstream(sender, after: start, limit: Limits.Operator.messagesPerRead))
            }
            guard case .upstream(_, let messages, let isLast) = loaded else { return }
            for message in messages where !body(message) { return }
            guard !isLast, let last = messages.last else { return }
            after = last.sequence
        }
    }
}

/// The list of messages that are sent later.
extension ControlServer {
    func listScheduled(_ command: ListScheduled) throws(OperatorProblem) -> ListScheduled.Answer {
        var after: ScheduledMessage?
        if let text = command.after {
            after = ScheduledMessage(position: text)
            guard after != nil else {
                throw OperatorProblem(
                    "invalid after \"\(text)\": expected a position of the list",
                    hint: "use next_after of the previous page")
            }
        }
        let (start, store) = (after, daemon.storage.store)
        let page = try reading { () throws(StoreError) in
            try ScheduleReader.page(of: command.sender, after: start, limit: command.limit, from: store)
        }
        return ListScheduled.Answer(
            messages: page.rows.map {
                ListMessages.Row($0.message, app: $0.registration?.category ?? [], .scheduled)
            }, nextAfter: page.next?.position)
    }
}

/// The cancellation of messages, on which their partition decides.
extension ControlServer {
    func cancelMessages(
        _ command: CancelMessages, _ call: Call
    ) throws(OperatorProblem) -> CancelMessages.Answer {
        let (device, only) = try resolved(command.device)
        let answer = try submit(from: call.connection) {
            .cancel(
                Cancellation(
                    requester: $0, device: device, registration: only, sender: nil,
                    messageID: Array(command.messageID.utf8)))
        }
        guard case .reply(_, .cancelled(let count, let late)) = answer else {
            throw OperatorProblem(
                "the change was not confirmed, and may still take effect",
                hint: "see the log of ccsd for the reason, then repeat the command")
        }
        guard count > 0 else {
            throw OperatorProblem(
                late > 0
                    ? "too late: the message was sent to the device"
                    : "no message with this ID waits for the device",
                hint: "ccsctl messages find shows what became of it")
        }
        return CancelMessages.Answer(cancelled: count, tooLate: late)
    }
}

extension ListMessages.Row {
    /// Describes a message to a device.
    fileprivate init(_ message: StoredMessage, app: [UInt8], _ state: PendingState?) {
        let kind: ListMessages.Kind =
            switch message.kind {
            case .message: .message
            case .discardedMarker: .deletedMessages
            case .sendError: .sendError
            }
        self.init(
            kind: kind, messageID: String(decoding: message.messageID, as: UTF8.self),
            persistentID: message.persistentID.text, sender: message.sender, device: message.device,
            registration: Int(message.registration.number), app: String(decoding: app, as: UTF8.self),
            bytes: message.body.count + (message.apns?.count ?? 0),
            collapseKey: message.collapseKey.map { String(decoding: $0, as: UTF8.self) },
            priority: message.priority == .high ? .high : .normal, storedAt: message.acceptedAt,
            expiresAt: message.expiresAt, sendAt: state == .scheduled ? message.dueAt : nil,
            state: ListMessages.State(state ?? .waiting))
    }

    /// Describes a topic message that has not entered the mailbox.
    fileprivate init(_ waiting: WaitingTopicMessage) {
        let (message, name) = (waiting.entry.message, waiting.registration.name)
        self.init(
            kind: waiting.entry.kind == .message ? .message : .deletedMessages,
            messageID: String(decoding: message.messageID, as: UTF8.self), persistentID: nil,
            sender: message.name.sender, device: name.device, registration: Int(name.number.number),
            app: String(decoding: waiting.registration.category, as: UTF8.self), bytes: nil,
            collapseKey: message.collapseKey.map { String(decoding: $0, as: UTF8.self) },
            priority: message.priority == .high ? .high : .normal, storedAt: message.acceptedAt,
            expiresAt: message.expiresAt, state: .atLogin)
    }

    /// Describes a message of a device.
    fileprivate init(_ message: StoredUpstream, isSent: Bool) {
        self.init(
            kind: message.kind == .message ? .message : .receipt,
            messageID: String(decoding: message.messageID, as: UTF8.self), persistentID: nil,
            sender: message.sender, device: message.from.device,
            registration: Int(message.from.number.number),
            app: String(decoding: message.category, as: UTF8.self), bytes: message.body.count,
            collapseKey: nil, priority: nil,
            // The sequence is the time in microseconds.
            storedAt: UnixMilliseconds(message.sequence.number / 1_000), expiresAt: message.expiresAt,
            state: isSent ? .sent : .waiting)
    }
}

extension ListMessages.State {
    fileprivate init(_ state: PendingState) {
        switch state {
        case .waiting: self = .waiting
        case .delayed: self = .delayed
        case .scheduled: self = .scheduled
        case .throttled: self = .throttled
        case .sent: self = .sent
        case .atGateway: self = .atGateway
        case .owingReceipt: self = .owingReceipt
        }
    }
}
