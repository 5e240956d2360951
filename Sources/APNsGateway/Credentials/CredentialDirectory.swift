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

/// Finds the credential of an app (apns 1.5).
struct CredentialDirectory {
    private(set) var entries: [CredentialEntry] = []
    private var production: [[UInt8]: CredentialEntry] = [:]
    private var sandbox: [[UInt8]: CredentialEntry] = [:]

    /// Returns the entry for an app, or `nil` if no valid credential serves it.
    mutating func entry(for bundle: [UInt8], in environment: APNsEnvironment, _ now: Now) -> CredentialEntry?
    {
        let known = environment == .production ? production[bundle] : sandbox[bundle]
        if let known, !known.credential.isExpired(now) { return known }
        var best: (entry: CredentialEntry, fitness: Int)?
        for entry in entries {
            guard let fitness = entry.credential.fitness(for: bundle, in: environment),
                fitness > best?.fitness ?? 0, !entry.credential.isExpired(now)
            else { continue }
            best = (entry, fitness)
        }
        guard let best else { return nil }
        remember(best.entry, for: bundle, in: environment)
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
        production = [:]
        sandbox = [:]
        let gone = old.filter { entry in !entries.contains { $0 === entry } }
        for entry in gone { entry.isRemoved = true }
        return gone
    }

    private mutating func remember(
        _ entry: CredentialEntry, for bundle: [UInt8], in environment: APNsEnvironment
    ) {
        // The names of apps come from devices: their number has no other limit.
        if environment == .production {
            if production.count >= Limits.APNsGateway.apps { production = [:] }
            production[bundle] = entry
        } else {
            if sandbox.count >= Limits.APNsGateway.apps { sandbox = [:] }
            sandbox[bundle] = entry
        }
    }
}
