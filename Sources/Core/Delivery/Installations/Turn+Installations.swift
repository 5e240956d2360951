import Basics

extension Turn {
    /// Refuses a request about an installation.
    mutating func refuseInstallation(_ request: InstallationRequest, _ refusal: RegistrationRefusal) {
        switch request.action {
        case .send: refuseSend(request, refusal == .notRegistered ? .notRegistered : .unavailable)
        default: refuseRequest(request.requester, refusal)
        }
    }

    /// Refuses a message to an installation.
    mutating func refuseSend(_ request: InstallationRequest, _ refusal: Refusal) {
        if case .send(let content) = request.action, let sender = request.sender {
            recordSummary(.downstream, content.messageID, of: sender, .refused, detail: refusal.detail)
        }
        countRefused(refusal, of: request.sender)
        reply(.refused(refusal), to: request.requester)
    }

    /// Returns a request to the partition of its installation after the check-in pair was verified.
    mutating func answerVouch(_ request: InstallationRequest, isProved: Bool) {
        guard case .create(let offer) = request.action else {
            demand(
                false, "a device verified a proof for a request that makes no installation",
                owner: .installation(request.installation))
            return
        }
        var request = request
        request.action = .vouched(offer, isProved: isProved)
        forward(.installation(request))
    }
}

extension InstallationRequest {
    /// Whether a registration belongs to the installation that the request names: it was made with a token of the installation, or,
    /// if the installation has no record because it is older than records, it names the installation.
    func isServed(by registration: Registration) -> Bool {
        registration.installation == installation && (registration.isProved || !isBound)
    }
}
