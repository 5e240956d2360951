public import Basics

/// What shows that a request about a registration comes from the app that it was made for; the token alone does not, since
/// app servers, their logs and their databases know it (docs/security.md, "Registrations are changed by their own alone").
public enum RegistrationProof: Sendable, Equatable {
    /// None was shown.
    case none
    /// The check-in pair of its device: the Android id, and the digest of the security token.
    case device(DeviceID, SecretDigest)
    /// A token of the Firebase installation that it was made for, which was verified before.
    case installation([UInt8])
}

/// A registration that is named by its token and that an app wants changed or ended.
public struct TokenClaim: Sendable, Equatable {
    /// The registration.
    public var name: RegistrationName
    /// What shows that it is the app's.
    public var proof: RegistrationProof
    /// The projects that the request names, in its path and in its installation's token: those known here must be the
    /// registration's, and one of them must be known.
    public var projects: [WebRegistrationRequest.Project]

    /// A claim; all parts are the caller's.
    public init(
        name: RegistrationName, proof: RegistrationProof, projects: [WebRegistrationRequest.Project]
    ) {
        self.name = name
        self.proof = proof
        self.projects = projects
    }
}

extension DeviceHub {
    /// The place of a registration that may be changed or ended by who claims it; nil if it is not there, or not any more.
    func place(
        of claim: TokenClaim, _ entry: DeviceEntry, _ turn: borrowing Turn
    ) throws(RegistrationRefusal) -> Int? {
        if case .device(let device, let token) = claim.proof {
            guard entry.record(ofToken: token) != nil, device == entry.device else {
                throw .authenticationFailed
            }
        }
        guard claim.name.device == entry.device, let at = entry.index(of: claim.name.number) else {
            return nil
        }
        let registration = entry.registrations[at].registration
        guard isProved(registration, by: claim.proof, entry),
            belongs(registration, to: claim.projects, turn.directory)
        else { throw .notPermitted }
        return at
    }

    /// Whether a proof is that of a registration of a device.
    func isProved(
        _ registration: Registration, by proof: RegistrationProof, _ entry: DeviceEntry
    ) -> Bool {
        switch proof {
        case .none: false
        case .device(let device, let token): device == entry.device && entry.record?.token == token
        case .installation(let id): registration.installation == id && registration.isProved
        }
    }

    /// Whether a registration is of all those projects that are known here, and one of them is.
    private func belongs(
        _ registration: Registration, to projects: [WebRegistrationRequest.Project],
        _ directory: SenderDirectory
    ) -> Bool {
        let known = projects.compactMap { project in try? directory.sender(of: project) }
        return !known.isEmpty && known.allSatisfy { registration.allows($0) }
    }
}
