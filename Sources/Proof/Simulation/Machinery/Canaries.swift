import Basics
import Delivery

/// Planted faults of the shell: it changes the core's commands, or the events that the core gets.
struct Canaries {
    /// Sequence numbers that were delivered to each connection.
    private var delivered: [ConnectionID: [SequenceNumber]] = [:]
    /// The device of each connection that was sent a message.
    private var devices: [ConnectionID: DeviceID] = [:]
    /// Devices that were asked to reconnect.
    private var reconnected: Set<DeviceID> = []
    /// See `TopicCanaries`.
    var topics = TopicCanaries()

    /// Returns the settings for the core.
    func settings(_ wanted: DeliverySettings, _ world: World) -> DeliverySettings {
        var settings = wanted
        switch world.canary {
        case .ignoresDeviceRate:
            settings.rates.deviceShort = .unlimited
            settings.rates.deviceLong = .unlimited
        case .ignoresSenderRate: settings.rates.sender = .unlimited
        case .ignoresCollapsibleRate: settings.rates.collapsible = .unlimited
        case .ignoresDeviceUpstreamRate: settings.rates.deviceUpstream = .unlimited
        case .ignoresSenderUpstreamRate: settings.rates.senderUpstream = .unlimited
        case .ignoresTopicRate: settings.rates.topicChanges = .unlimited
        case .refusesTooEarly:
            settings.rates.deviceShort.seconds *= 3
            settings.rates.sender.seconds *= 3
            settings.rates.deviceUpstream.seconds *= 3
        case .believesClock: settings.clockGraceSeconds = 1
        case .agesReceiptsEarly: settings.receiptAckSeconds = 0
        case .expiresDevicesEarly: settings.deviceExpirySeconds /= 4
        case .ignoresCaps:
            settings.storedMessages *= 10
            settings.collapseKeys += 4
        default: break
        }
        return settings
    }

    /// Returns the events for the core in place of a session's event.
    func alter(_ event: Event, _ world: World) -> [Event] {
        switch (world.canary, event) {
        case (.losesLogins, .device(_, .login(let login))):
            return world.isLoginStorm && login.connection.generation % 2 == 1 ? [] : [event]
        case (.losesAppServerLogins, .sender(_, .login(let connection, _))):
            return world.isLoginStorm && connection.generation % 2 == 1 ? [] : [event]
        case (.losesDisconnect, .sender(_, .closed)), (.losesDrain, .sender(_, .draining)),
            (.losesCongestion, .sender(_, .congested)), (.losesIdleness, .device(_, .idleChanged)),
            (.losesStream, .sender(_, .streamDetached)):
            return []
        case (.forgetsAnswers, .sender(let sender, .streamDetached(let connection, var remains))):
            remains.unconfirmed = []
            return [.appServerStreamDetached(connection, sender, remains)]
        case (.acknowledgesTooMuch, .device(let device, .acknowledged(let connection, let sequences))):
            return [.deviceAcknowledged(connection, device, sequences + (delivered[connection] ?? []))]
        case (
            .acknowledgesTooMuchUpstream,
            .sender(let sender, .upstreamFinished(let connection, _, let outcome))
        ):
            let all = delivered[connection] ?? []
            return [event] + all.map { .upstreamFinished(connection, sender, $0, outcome) }
        case (.forgetsReplaced, .device(let device, .submitted(var submission))):
            submission.content.replaces = nil
            return [.device(device, .submitted(submission))]
        case (.replacesForStrangers, .device(let device, .submitted(var submission))):
            guard let owner = world.owner(replacedBy: submission) else { return [event] }
            submission.entitlement = .account(owner)
            return [.device(device, .submitted(submission))]
        case (.forgetsRepeats, .device(_, .upstreamReceived(var upstream))):
            upstream.persistentID = []
            return [.upstreamReceived(upstream)]
        default: return [event]
        }
    }

    /// Returns the steps to record in place of the core's.
    func alter(_ steps: ArraySlice<HistoryStep>, _ world: World) -> ArraySlice<HistoryStep> {
        guard world.canary == .recordsUnacknowledged else { return steps }
        return ArraySlice(
            steps.map { step in
                var step = step
                if step.step == .sent { step.step = .delivered }
                return step
            })
    }

    /// Returns the commands to perform in place of the core's.
    mutating func tamper(
        _ commands: [(ConnectionID, SessionCommand)], _ world: World
    ) -> [(ConnectionID, SessionCommand)] {
        guard let canary = world.canary else { return commands }
        var changed: [(ConnectionID, SessionCommand)] = []
        for (id, command) in commands {
            switch command {
            case .device(.deliver(let delivery)):
                delivered[id, default: []].append(delivery.message.sequence)
                devices[id] = delivery.message.device
                tamper(delivery, id, canary, &changed, world)
            case .appServer(.deliver(let message)):
                delivered[id, default: []].append(message.sequence)
                if canary == .dropsNowOrNeverUpstream, message.kind == .message, message.lifetimeSeconds == 0
                {
                    continue
                }
                changed.append((id, command))
                if canary == .floodsAppServer { changed.append((id, command)) }
            default:
                if case .connection(.close(.tooManyUnacknowledged)) = command, let device = devices[id] {
                    reconnected.insert(device)
                }
                if let other = replacement(of: command, canary, world) { changed.append((id, other)) }
            }
        }
        return changed
    }

    private func tamper(
        _ given: DeviceDelivery, _ id: ConnectionID, _ canary: WorldSettings.Canary,
        _ changed: inout [(ConnectionID, SessionCommand)], _ world: World
    ) {
        var (message, from) = (given.message, given.from)
        var at = changed.count
        switch canary {
        case .dropsDelivery where world.chance(1, in: 5): return
        case .dropsNowOrNever where !given.isStored: return
        case .forgetsReconnected where !given.isStored && reconnected.contains(message.device):
            return
        case .changesPersistentID: message.salt ^= UInt32(world.random(0...1))
        case .hidesTopic where message.topicMessage != nil:
            from = Array("\(message.sender?.number ?? 0)".utf8)
        case .changesSender: from += [UInt8(ascii: "0")]
        case .miscountsDiscarded:
            if case .discardedMarker(let count) = message.kind {
                message.kind = .discardedMarker(count: count + 1)
            }
        case .swapsDeliveries:
            if let last = changed.last, last.0 == id, case .device(.deliver) = last.1 { at -= 1 }
        default: break
        }
        let delivery = DeviceDelivery(
            message: message, app: given.app, from: from, isStored: given.isStored)
        changed.insert((id, .device(.deliver(delivery))), at: at)
    }

    private func replacement(
        of command: SessionCommand, _ canary: WorldSettings.Canary, _ world: World
    ) -> SessionCommand? {
        switch (canary, command) {
        case (.miscountsGroup, .submission(let requestID, .group(var answer))):
            miscounted(requestID, &answer)
        case (.dropsAnswer, .submission(_, .accepted)) where world.chance(1, in: 5): nil
        case (.replacesSent, .submission(let requestID, .refused(.messageSent))):
            .submission(requestID: requestID, .accepted(id: nil, canonical: nil))
        case (.hidesCanonical, .submission(let requestID, .accepted(let id, _))):
            .submission(requestID: requestID, .accepted(id: id, canonical: nil))
        case (.endsReplacedToken, .submission(let requestID, .accepted(_, .some))):
            .submission(requestID: requestID, .refused(.notRegistered))
        case (.acceptsStranger, .submission(let requestID, .refused(.senderMismatch))):
            .submission(requestID: requestID, .accepted(id: nil, canonical: nil))
        case (.reusesRegistrations, .reply(let requestID, .registered(let token))):
            .reply(
                requestID: requestID,
                .registered(
                    world.checkers.truth.gone.keys.first { $0.device == token.registration.device }
                        .map { TokenName($0) } ?? token))
        case (.keepsReplaced, .connection(.close(.replacedByNewerLogin))): nil
        case (.acceptsGroupStranger, .device(.upstreamRefused(let requestID, .invalidParameters))):
            .device(.upstreamStored(requestID: requestID))
        case (.acceptsWrongKey, .appServer(.loginRefused(.wrongCredentials))): .appServer(.loginAccepted)
        default: command
        }
    }

    private func miscounted(_ requestID: UInt32, _ answer: inout GroupAnswer) -> SessionCommand {
        answer.success += 1
        return .submission(requestID: requestID, .group(answer))
    }

    /// Returns the answer for the core in place of the store's.
    func alter(_ loaded: StoreResult, _ world: World) -> StoreResult {
        switch (world.canary, loaded) {
        case (.losesGroupMember, .group(let name, .some(var record), false)):
            record.members = Array(record.members.dropLast())
            return .group(name, record, isForChange: false)
        case (.hidesInstallations, .installation(let place, _, _, let isForChange)):
            return .installation(place, nil, [], isForChange: isForChange)
        case (.forgetsSchedule, .device(var state)):
            for at in state.mailbox.indices { state.mailbox[at].dueAt = nil }
            return .device(state)
        case (.findsNothing, .named(let device, _, let lookup)):
            return .named(device, [], lookup: lookup)
        case (.losesDue, .expired(let entries)):
            return .expired(entries.filter { if case .scheduled = $0 { false } else { true } })
        case (.leavesOutSubscriber, .device(var state)):
            state.subscriptions = Array(state.subscriptions.dropFirst())
            return .device(state)
        default: return world.canary == nil ? loaded : alterTopics(loaded, world)
        }
    }
}

extension World {
    /// Whether a mutation puts a message that takes the place of others.
    func isReplacement(_ mutation: Mutation) -> Bool {
        guard case .putMessage(let message) = mutation, let number = Number.of(message.messageID) else {
            return false
        }
        return checkers.truth.downstream[number]?.draft.replaces != nil
    }

    /// The sender of the message that a submission of another one is to replace.
    fileprivate func owner(replacedBy submission: Submission) -> SenderID? {
        guard let number = Number.of(submission.content.messageID), let id = submission.content.replaces,
            checkers.truth.downstream[number]?.draft.replaces?.isOfOther == true
        else { return nil }
        return checkers.cancellable.first { $0.isNamed(id) }?.sender
    }
}
