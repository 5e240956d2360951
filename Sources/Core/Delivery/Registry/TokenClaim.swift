public import Basics

/// The proof that a request about a registration comes from the app that it was made for. The token alone does not prove this:
/// it is also in app servers, their logs and their databases (docs/security-evidence.md, "Changes of registrations").
public enum RegistrationProof: Sendable, Equatable {
    /// No proof.
    case none
    /// The check-in pair of its device: the Android id, and the digest of the security token.
    case device(DeviceID, SecretDigest)
    /// A token, verified before, of the Firebase installation that it was made for.
    case installation([UInt8])
}

/// A request of an app to change or end a registration that it names by its token.
public struct TokenClaim: Sendable, Equatable {
    /// The registration.
    public var name: RegistrationName
    /// The proof that the app owns it.
    public var proof: RegistrationProof
    /// The projects that the request names, in its path and in its installation token. At least one must be known here, and each
    /// known one must belong to the registration.
    public var projects: [WebRegistrationRequest.Project]

    /// Creates a claim.
    public init(
        name: RegistrationName, proof: RegistrationProof, projects: [WebRegistrationRequest.Project]
    ) {
        self.name = name
        self.proof = proof
        self.projects = projects
    }
}

extension DeviceHub {
    /// Returns the index of the claimed registration, or `nil` if it does not exist.
    ///
    /// Throws `authenticationFailed` or `notPermitted` if the claim does not entitle to change or end it.
    func index(
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

    /// Whether a proof is valid for a registration of this device.
    func isProved(
        _ registration: Registration, by proof: RegistrationProof, _ entry: DeviceEntry
    ) -> Bool {
        switch proof {
        case .none: false
        case .device(let device, let token): device == entry.device && entry.record?.token == token
        case .installation(let id): registration.installation == id && registration.isProved
        }
    }

    /// Whether at least one of the projects is known here, and each known one may send to the registration.
    private func belongs(
        _ registration: Registration, to projects: [WebRegistrationRequest.Project],
        _ directory: SenderDirectory
    ) -> Bool {
        let known = projects.compactMap { project in try? directory.sender(of: project) }
        return !known.isEmpty && known.allSatisfy { registration.allows($0) }
    }
}
