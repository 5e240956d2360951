import Basics

/// Messages to a Firebase installation, which SDKs of today name in place of a token (http 8.2).
extension Dispatcher {
    /// Sends to the newest registration that the installation has with the sender, on any of its devices: the message goes on
    /// as if the token of that registration had been named.
    func send(
        _ submission: Submission, _ names: [RegistrationName], of entry: DeviceEntry,
        _ request: InstallationRequest, _ effects: inout Effects
    ) {
        let found = entry.registrations.lastIndex {
            serves($0.registration, request) && $0.registration.allows(request.sender)
        }
        if let found {
            var submission = submission
            submission.target = entry.registrations[found].registration.name
            return effects.forwards.append(.submitted(submission))
        }
        let others = names.filter { $0.device != entry.device }
        if let next = others.first {
            return effects.forwards.append(.installationFound(request, others, at: next.device))
        }
        let isForeign = entry.registrations.contains { serves($0.registration, request) }
        refuseSend(request, isForeign ? .senderMismatch : .notRegistered, &effects)
    }

    /// Answers a message that does not come to a registration.
    func refuseSend(_ request: InstallationRequest, _ refusal: Refusal, _ effects: inout Effects) {
        refuse(request.origin, of: request.sender, refusal, &effects)
        effects.downstream.refused += 1
    }
}
