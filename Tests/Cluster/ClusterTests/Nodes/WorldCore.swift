import Basics

@testable import Delivery

/// A stand-in for the core of a partition: registrations, ordered messages and sessions of devices, and what partitions ask each other. What
/// it answers waits for what that depends on.
final class WorldCore {
    let partition: Int
    /// Whether each device that is in memory is registered.
    var devices: [UInt64: Bool] = [:]
    /// What waits for devices that the store reads.
    private var waiting: [UInt64: [Event]] = [:]
    var sessions: [UInt64: ConnectionID] = [:]
    /// The sessions of app servers, with their senders.
    var appServers: [ConnectionID: UInt64] = [:]
    private var directory: SenderDirectory
    var elsewhere: WorldElsewhere
    /// The requests whose messages to topics it has.
    var topics: Set<UInt32> = []
    private var changes: [WorldChange] = []
    private var answers: [Answer] = []
    private var open: [(number: UInt64, answers: [Answer])] = []

    enum Answer {
        case command(ConnectionID, SessionCommand)
        case event(Event)
    }

    init(_ partition: Int, _ directory: SenderDirectory, startedAt time: Int64) {
        (self.partition, self.directory) = (partition, directory)
        elsewhere = WorldElsewhere(after: UInt64(time))
    }

    /// Whether the store owes it nothing.
    var isFree: Bool { open.isEmpty && waiting.isEmpty }

    /// Whether a session is logged in as a device or sender.
    func has(_ session: ConnectionID, of key: PartitionKey) -> Bool {
        switch key {
        case .device(let device): sessions[device.number] == session
        default: appServers[session] != nil
        }
    }

    /// Whether nothing waits.
    var isQuiet: Bool { isFree && elsewhere.isEmpty }

    /// Handles an event in place of a partition, whose store has these devices. The partition itself numbers the batches.
    func handle(_ event: Event, _ hosted: HostedPartition, _ stored: Set<UInt64>, _ now: Now) {
        switch event {
        case .partition(.committed(let outcome)):
            hosted.core.handle(event, now: now)
            committed(outcome, stored, &hosted.effects)
        case .partition(.loaded(.device(let state))): loaded(state)
        case .partition(.senders(let directory)): use(directory)
        case .partition(.tick): tick()
        case .device(let device, _): handle(event, of: device, &hosted.effects)
        default: handleOfSender(event)
        }
        guard changes.isEmpty else {
            if hosted.effects.mutations.isEmpty { hosted.effects.mutations.append(.putMark(.clock, 0)) }
            return
        }
        // What may depend on earlier changes waits for them.
        if open.isEmpty {
            letOut(answers, &hosted.effects)
        } else {
            open[open.count - 1].answers += answers
        }
        answers = []
    }

    /// Handles an event of a device at once, or once it is in memory.
    private func handle(_ event: Event, of device: DeviceID, _ effects: inout Effects) {
        guard devices[device.number] == nil else { return handle(event, of: device) }
        if waiting[device.number] == nil { effects.loads.append(.device(device)) }
        waiting[device.number, default: []].append(event)
    }

    private func loaded(_ state: DeviceState) {
        devices[state.device.number] = state.record != nil
        for event in waiting.removeValue(forKey: state.device.number) ?? [] {
            handle(event, of: state.device)
        }
    }

    private func handle(_ event: Event, of device: DeviceID) {
        switch event {
        case .device(_, .submitted(let submission)):
            guard case .session(let requester) = submission.replyTo else { return }
            let isKnown = devices[device.number] == true
            if isKnown, submission.content.lifetimeSeconds > 0 { change(.message, device, requester) }
            answer(
                requester.connection,
                .submission(
                    requestID: requester.requestID,
                    isKnown ? .accepted(id: nil, canonical: nil) : .refused(.notRegistered)))
        case .device(_, .register(let request)):
            devices[device.number] = true
            change(.register, device, request.requester)
            done(request.requester)
        case .device(_, .forget(let requester)):
            devices[device.number] = false
            change(.unregister, device, requester)
            done(requester)
        case .device(_, .login(let login)):
            // The session before ends.
            if let old = sessions.updateValue(login.connection, forKey: device.number) {
                answer(old, .connection(.close(.ownerChanged)))
            }
            answer(login.connection, .device(.loginAccepted))
        case .device(_, .closed(let connection)):
            if sessions[device.number] == connection { sessions[device.number] = nil }
        default: handleOfDevice(event)
        }
    }

    func login(_ connection: ConnectionID, _ sender: SenderID, _ key: SecretDigest) {
        if let refusal = directory.check(sender, key: key, at: 0) {
            return answer(connection, .appServer(.loginRefused(refusal)))
        }
        appServers[connection] = sender.number
        answer(connection, .appServer(.loginAccepted))
    }

    /// The senders have changed: the sessions of those that are suspended end.
    private func use(_ directory: SenderDirectory) {
        self.directory = directory
        let ended = appServers.filter { directory.suspended.contains(SenderID($0.value)) }.keys
        for connection in ended.sorted(by: { ($0.node, $0.slot) < ($1.node, $1.slot) }) {
            appServers[connection] = nil
            answer(connection, .connection(.close(.senderSuspended)))
        }
    }

    func change(_ kind: WorldChange.Kind, _ device: DeviceID, _ requester: Requester) {
        changes.append(
            WorldChange(
                kind: kind, device: device.number, connection: requester.connection,
                request: requester.requestID))
    }

    private func done(_ requester: Requester) {
        answer(requester.connection, .reply(requestID: requester.requestID, .unregistered))
    }

    /// What is answered may depend on what is not yet confirmed.
    func answer(_ connection: ConnectionID, _ command: SessionCommand) {
        answers.append(.command(connection, command))
    }

    /// Also what is asked of other partitions, and answered to them.
    func forward(_ event: Event) { answers.append(.event(event)) }

    private func letOut(_ answers: [Answer], _ effects: inout Effects) {
        for answer in answers {
            switch answer {
            case .command(let connection, let command): effects.commands.append((connection, command))
            case .event(let event): effects.forwards.append(event)
            }
        }
    }

    /// The changes of a turn are a batch with this number.
    func ended(_ batch: WriteBatch) -> WorldBatch {
        defer { (changes, answers) = ([], []) }
        open.append((batch.batchNumber, answers))
        return WorldBatch(number: batch.batchNumber, changes: changes, core: batch)
    }

    /// A batch has its outcome. If it has failed, the devices are read again, and nothing that depends on it holds; if by itself, all later
    /// ones have failed.
    private func committed(_ outcome: CommitOutcome, _ stored: Set<UInt64>, _ effects: inout Effects) {
        guard let at = open.firstIndex(where: { $0.number == outcome.batchNumber }) else { return }
        guard outcome.hasFailed else { return letOut(open.remove(at: at).answers, &effects) }
        for device in devices.keys { devices[device] = stored.contains(device) }
        topics = []
        guard outcome.failures != nil else {
            return letOut(open.remove(at: at).answers.map(\.failed), &effects)
        }
        let failed = open[at...].flatMap(\.answers) + answers
        open.removeSubrange(at...)
        (changes, answers) = ([], [])
        letOut(failed.map(\.failed), &effects)
    }
}

extension WorldCore.Answer {
    /// The same answer if what it depends on is not stored.
    fileprivate var failed: Self {
        switch self {
        case .command(let connection, .submission(let request, _)):
            .command(connection, .submission(requestID: request, .refused(.unavailable)))
        case .command(let connection, .reply(let request, _)):
            .command(connection, .reply(requestID: request, .registrationRefused(.serviceNotAvailable)))
        case .command(let connection, .device(.upstreamStored(let request))):
            .command(connection, .device(.upstreamRefused(requestID: request, .unavailable)))
        case .event(.topicLog(let source, .copied(let partition, _))):
            .event(.topicLog(source, .copied(by: partition, through: nil)))
        case .command, .event: self
        }
    }
}
