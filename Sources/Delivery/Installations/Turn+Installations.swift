import Basics

extension Turn {
    /// Refuses a request about an installation.
    mutating func refuse(_ request: InstallationRequest, _ refusal: RegistrationRefusal) {
        switch request.action {
        case .send: refuseSend(request, refusal == .notRegistered ? .notRegistered : .unavailable)
        default: refuse(request.origin, refusal)
        }
    }

    /// Refuses a message to an installation.
    mutating func refuseSend(_ request: InstallationRequest, _ refusal: Refusal) {
        reply(.refused(refusal), to: request.origin)
        effects.downstream.refused += 1
    }

    /// Has a request for an installation go on where it has its turn.
    mutating func answerVouch(_ request: InstallationRequest, isProved: Bool) {
        guard case .create(let offer) = request.action else {
            demand(
                false, "a device vouches for what is no new installation",
                owner: .installation(request.installation))
            return
        }
        var request = request
        request.action = .vouched(offer, isProved: isProved)
        forward(.installation(request))
    }
}

extension InstallationRequest {
    /// Whether a registration is that of the installation which the request names: one that was made with a token of it, or,
    /// where it is from the time before installations had records, one that names it.
    func isServed(by registration: Registration) -> Bool {
        registration.installation == installation && (registration.isProved || !isBound)
    }
}
