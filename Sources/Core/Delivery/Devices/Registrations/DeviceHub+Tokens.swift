import Basics

/// Requests of app servers about a registration of their sender, and about its subscriptions (http 7, 8.7).
extension DeviceHub {
    mutating func token(_ request: TokenRequest, _ entry: DeviceEntry, _ turn: inout Turn) {
        do throws(TokenRefusal) {
            guard let at = subscriber(to: request.name.number, entry, for: request.sender, &turn) else {
                throw .notRegistered
            }
            guard entry.registrations[at].registration.allows(request.sender) else {
                throw .senderMismatch
            }
            let report = try perform(
                request.action, entry, at: at, of: request.sender, for: request.requester, &turn)
            answer(report, entry, to: request.requester, &turn)
        } catch {
            turn.reply(.tokenRefused(error), to: request.requester)
        }
    }

    /// Performs the same on the installation's newest registration with the sender, on any of its devices.
    mutating func token(
        _ action: TokenRequest.Action, _ names: [RegistrationName], of entry: DeviceEntry,
        for request: InstallationRequest, _ turn: inout Turn
    ) {
        do throws(TokenRefusal) {
            guard let found = entry.serving(request), let sender = request.sender else {
                guard let next = request.next(names, after: entry) else { throw .notRegistered }
                return turn.forward(next)
            }
            guard let at = canonical(of: found, entry, &turn) else { throw .notRegistered }
            let report = try perform(action, entry, at: at, of: sender, for: request.requester, &turn)
            answer(report, entry, to: request.requester, &turn)
        } catch {
            turn.reply(.tokenRefused(error), to: request.requester)
        }
    }

    private mutating func perform(
        _ action: TokenRequest.Action, _ entry: DeviceEntry, at: Int, of sender: SenderID,
        for requester: Requester, _ turn: inout Turn
    ) throws(TokenRefusal) -> TokenReport {
        let registration = entry.registrations[at].registration
        if action != .describe {
            guard topicBuckets.allows(sender, now: turn.now.monotonic) else { throw .rateExceeded }
            topicBuckets.consume(sender, now: turn.now.monotonic)
        }
        switch action {
        case .describe:
            let topics = entry.registrations[at].topics.all(of: registration.name)
            return TokenReport(registration: registration, topics: topics.filter { $0.sender == sender })
        case .subscribe(let topic):
            guard requester.growth != .full || entry.registrations[at].topics.contains(sender, topic) else {
                throw .registryFull
            }
            guard let made = makeSubscription(to: topic, of: sender, at: at, entry, &turn) else {
                throw .tooManyTopics
            }
            return TokenReport(
                registration: registration, topics: [made.subscription], wasThere: made.wasThere)
        case .unsubscribe(let topic):
            let gone = endSubscription(to: topic, of: sender, at: at, entry, &turn)
            return TokenReport(
                registration: registration, topics: gone.map { [$0] } ?? [], wasThere: gone != nil)
        }
    }

    private mutating func answer(
        _ report: TokenReport, _ entry: DeviceEntry, to requester: Requester, _ turn: inout Turn
    ) {
        answerOnceCommitted(
            .token(report), orFailed: .tokenRefused(.unavailable), entry, to: requester, &turn)
    }
}
