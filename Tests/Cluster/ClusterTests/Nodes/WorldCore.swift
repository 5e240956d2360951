import Basics
import Delivery

/// A stand-in for the core of a partition: registrations, ordered messages and sessions of devices, and what partitions ask each other. What
/// it answers waits for what that depends on.
final class WorldCore {
    let partition: Int
    let lease: WorldLease
    var gate: OutputGate
    var effects = Effects()
    var isLeaving = false
    var hasSurrendered = false
    /// Whether each device that is in memory is registered.
    var devices: [UInt64: Bool] = [:]
    /// What waits for devices that the store reads.
    private var waiting: [UInt64: [Event]] = [:]
    /// The devices to be read from the store.
    var wanted: [UInt64] = []
    var sessions: [UInt64: ConnectionID] = [:]
    /// The sessions of app servers, with their senders.
    var appServers: [ConnectionID: UInt64] = [:]
    private var directory: SenderDirectory
    var events: [Event] = []
    /// Whether it is looked at in this turn.
    var isActive = false
    var elsewhere: WorldElsewhere
    private var changes: [WorldChange] = []
    private var answers: [Answer] = []
    private var open: [(number: UInt64, answers: [Answer])] = []

    enum Answer {
        case command(ConnectionID, SessionCommand)
        case event(Event)
    }

    init(_ partition: Int, _ lease: WorldLease, _ directory: SenderDirectory, firstRun: UInt32) {
        (self.partition, self.lease, self.directory) = (partition, lease, directory)
        elsewhere = WorldElsewhere(lastRun: firstRun)
        gate = OutputGate(partition: partition, of: NodeWorld.partitions)
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
    var isQuiet: Bool { isFree && !gate.isHolding && elsewhere.isEmpty }

    /// Handles an event at once, or once its device is in memory.
    func handle(_ event: Event) {
        guard gate.lets(in: event) else { return }
        guard case .device(let device, _) = event else { return handleOfSender(event) }
        guard devices[device.number] == nil else { return handle(event, of: device) }
        if waiting[device.number] == nil { wanted.append(device.number) }
        waiting[device.number, default: []].append(event)
    }

    func loaded(_ device: UInt64, isRegistered: Bool) {
        devices[device] = isRegistered
        for event in waiting.removeValue(forKey: device) ?? [] { handle(event, of: DeviceID(device)) }
    }

    private func handle(_ event: Event, of device: DeviceID) {
        switch event {
        case .device(_, .submitted(let submission)):
            guard case .session(let requester) = submission.replyTo else {
                return submitted(submission, device)
            }
            let isKnown = devices[device.number] == true
            if isKnown { change(.message, device, requester) }
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
    func use(_ directory: SenderDirectory) {
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

    private func letOut(_ answers: [Answer]) {
        for answer in answers {
            switch answer {
            case .command(let connection, let command): effects.commands.append((connection, command))
            case .event(let event): effects.forwards.append(event)
            }
        }
    }

    /// Ends a turn: its changes become a batch.
    func endTurn(_ number: UInt64) -> WorldBatch? {
        defer { (changes, answers) = ([], []) }
        guard !changes.isEmpty else {
            if open.isEmpty {
                letOut(answers)
            } else {
                open[open.count - 1].answers += answers
            }
            return nil
        }
        open.append((number, answers))
        return WorldBatch(number: number, changes: changes)
    }

    func committed(_ number: UInt64) {
        guard let at = open.firstIndex(where: { $0.number == number }) else { return }
        letOut(open.remove(at: at).answers)
    }

    /// A batch has failed: the devices are read again, and nothing that depends on it holds.
    func failed(_ number: UInt64, _ stored: Set<UInt64>) {
        guard let at = open.firstIndex(where: { $0.number == number }) else { return }
        for device in devices.keys { devices[device] = stored.contains(device) }
        letOut(open.remove(at: at).answers.map(\.failed))
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
        case .event(.topic(let sender, .answered(let run, _))):
            .event(.topic(sender, .answered(run: run, .unavailable)))
        case .command, .event: self
        }
    }
}
