import Basics

/// App servers that ask about a registration of their sender, or subscribe it to topics (http 7, 8.7).
extension Dispatcher {
    mutating func address(_ request: TokenRequest, _ now: Now, _ effects: inout Effects) {
        guard let entry = ready(request.name.device, orWait: .address(request), &effects) else { return }
        defer { devices.rest(entry) }
        do throws(TokenRefusal) {
            guard let at = publishedTo(request.name.number, entry, for: request.sender) else {
                throw .notRegistered
            }
            guard entry.registrations[at].registration.allows(request.sender) else {
                throw .senderMismatch
            }
            let report = try perform(
                request.action, entry, at, request.sender, request.origin, now, &effects)
            answer(report, entry, request.origin, &effects)
        } catch {
            refuseToken(request.origin, error, &effects)
        }
    }

    /// The same for the newest registration that an installation has with the sender, on any of its devices.
    mutating func address(
        _ action: TokenRequest.Action, _ names: [RegistrationName], of entry: DeviceEntry,
        _ request: InstallationRequest, _ now: Now, _ effects: inout Effects
    ) {
        let found = entry.registrations.lastIndex {
            serves($0.registration, request) && $0.registration.allows(request.sender)
        }
        let others = names.filter { $0.device != entry.device }
        do throws(TokenRefusal) {
            guard let at = found else {
                guard let next = others.first else { throw .notRegistered }
                effects.forwards.append(.installationFound(request, others, at: next.device))
                return
            }
            let report = try perform(action, entry, at, request.sender, request.origin, now, &effects)
            answer(report, entry, request.origin, &effects)
        } catch {
            refuseToken(request.origin, error, &effects)
        }
    }

    private mutating func perform(
        _ action: TokenRequest.Action, _ entry: DeviceEntry, _ at: Int, _ sender: SenderID, _ origin: Origin,
        _ now: Now, _ effects: inout Effects
    ) throws(TokenRefusal) -> TokenReport {
        let registration = entry.registrations[at].registration
        if action != .describe {
            guard topicBuckets.allows(sender, now: now.monotonic) else { throw .rateExceeded }
            topicBuckets.take(sender, now: now.monotonic)
        }
        switch action {
        case .describe:
            let topics = entry.registrations[at].topics.all(of: registration.name)
            return TokenReport(registration: registration, topics: topics.filter { $0.sender == sender })
        case .subscribe(let topic):
            guard origin.growth != .full || entry.registrations[at].hasSubscription(sender, topic) else {
                throw .registryFull
            }
            guard let made = makeSubscription(entry, at, sender, topic, now, &effects) else {
                throw .tooManyTopics
            }
            return TokenReport(
                registration: registration, topics: [made.subscription], wasThere: made.wasThere)
        case .unsubscribe(let topic):
            let gone = endSubscription(entry, at, sender, topic, &effects)
            return TokenReport(
                registration: registration, topics: gone.map { [$0] } ?? [], wasThere: gone != nil)
        }
    }

    private mutating func answer(
        _ report: TokenReport, _ entry: DeviceEntry, _ origin: Origin, _ effects: inout Effects
    ) {
        answerOnceSettled(
            .tokenKnown(ticket: origin.ticket, report),
            orFailed: .tokenRefused(ticket: origin.ticket, .unavailable), entry, origin, &effects)
    }

    func refuseToken(_ origin: Origin, _ refusal: TokenRefusal, _ effects: inout Effects) {
        effects.commands.append((origin.connection, .tokenRefused(ticket: origin.ticket, refusal)))
    }
}
