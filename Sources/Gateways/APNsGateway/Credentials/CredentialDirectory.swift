import Basics
import Delivery

/// A credential in use: its provider token and its pools.
final class CredentialEntry {
    let credential: APNsCredential
    var clock = ProviderTokenClock()
    /// Whether the operator has removed or replaced it.
    var isRemoved = false
    // The gateway owns the pools, and removes them here first.
    private unowned var production: Pool?
    private unowned var sandbox: Pool?

    init(_ credential: APNsCredential) { self.credential = credential }

    /// The pool of an environment. `nil` before its first request.
    subscript(environment: APNsEnvironment) -> Pool? {
        get { environment == .production ? production : sandbox }
        set { if environment == .production { production = newValue } else { sandbox = newValue } }
    }

    /// Its pools.
    var pools: [Pool] { [production, sandbox].compactMap(\.self) }
}

/// Finds the credential for a message (apns 1.5).
struct CredentialDirectory {
    /// What the choice of a credential depends on.
    private struct Use: Hashable {
        var bundle: [UInt8]
        /// `nil` as well while no credential is for one sender alone.
        var sender: SenderID?
        var environment: APNsEnvironment
    }

    private(set) var entries: [CredentialEntry] = []
    private var known: [Use: CredentialEntry] = [:]
    /// Whether a credential is for one sender alone.
    private var dependsOnSender = false

    /// Returns the entry for messages of a sender to an app, or `nil` if no valid credential serves them. `nil` as the sender stands
    /// for the operator.
    mutating func entry(
        for bundle: [UInt8], of sender: SenderID?, in environment: APNsEnvironment, _ now: Now
    ) -> CredentialEntry? {
        let use = Use(bundle: bundle, sender: dependsOnSender ? sender : nil, environment: environment)
        if let found = known[use], !found.credential.isExpired(now) { return found }
        var best: (entry: CredentialEntry, fitness: Int)?
        for entry in entries {
            guard let fitness = entry.credential.fitness(for: bundle, of: sender, in: environment),
                fitness > best?.fitness ?? 0, !entry.credential.isExpired(now)
            else { continue }
            best = (entry, fitness)
        }
        guard let best else { return nil }
        // The names of apps come from devices: their number has no other limit.
        if known.count >= Limits.APNsGateway.apps { known = [:] }
        known[use] = best.entry
        return best.entry
    }

    /// Returns the entry with a name.
    func entry(_ id: APNsCredentialID) -> CredentialEntry? { entries.first { $0.credential.id == id } }

    /// Replaces all credentials; what has not changed keeps its state. Returns the entries that are gone.
    mutating func replace(with credentials: [APNsCredential]) -> [CredentialEntry] {
        let old = entries
        entries = credentials.sorted { $0.id < $1.id }.map { credential in
            old.first { $0.credential == credential } ?? CredentialEntry(credential)
        }
        known = [:]
        dependsOnSender = credentials.contains { $0.sender != nil }
        let gone = old.filter { entry in !entries.contains { $0 === entry } }
        for entry in gone { entry.isRemoved = true }
        return gone
    }
}
