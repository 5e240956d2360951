import Basics
import Crypto
import Operator
import Synchronization
import Transport

/// The credentials for APNs: one file for each in `apns` in the data directory, read at the start and kept in memory.
final class APNsCredentialStore: Sendable {
    /// A file that could not be read.
    struct Unreadable: Sendable, Equatable {
        var file: String
        var problem: String
        var hint: String
    }

    private struct State {
        /// All credentials on the disk, in the order in which they were added.
        var added: [StoredAPNsCredential] = []
        var unreadable: [Unreadable] = []
        var watch = APNsExpiryWatch()
        var observer: (@Sendable ([StoredAPNsCredential]) -> Void)?
        var selfTester: any APNsSelfTester = NoAPNsSelfTester()
    }

    private let folder: String
    private let seal: SecretSeal
    private let log: Log
    private let state: Mutex<State>
    /// Serialises changes of the files.
    private let changes = Mutex(())

    /// Reads all files; one that is not usable is logged, and does not prevent the start.
    init(folder: String, secret: [UInt8], log: Log) {
        self.folder = folder
        self.log = log
        seal = SecretSeal(secret: secret, purpose: "credentials for APNs")
        var read = State()
        let names: [String]
        do throws(TransportError) { names = try SmallFile.names(in: folder) } catch {
            names = []
            read.unreadable.append(
                Unreadable(
                    file: folder, problem: error.description, hint: "check the permissions of the folder"))
        }
        for name in names where name.hasSuffix(Self.suffix) {
            let path = "\(folder)/\(name)"
            do throws(OperatorProblem) { read.added.append(try Self.read(path, seal)) } catch {
                read.unreadable.append(Unreadable(file: path, problem: error.text, hint: error.hint))
            }
        }
        read.added.sort { $0.serial < $1.serial }
        for file in read.unreadable {
            log.error(
                "apns_credential_unreadable",
                ["path": .text(file.file), "problem": .text(file.problem), "hint": .text(file.hint)])
        }
        state = Mutex(read)
    }

    /// The credentials in use, in the order in which they were added, each with the environments in which no later one replaces it.
    var all: [StoredAPNsCredential] { state.withLock { Self.inUse($0.added) } }

    /// Files that could not be read at the start.
    var unreadable: [Unreadable] { state.withLock { $0.unreadable } }

    /// Returns the credential in use with this ID. Throws if there is none.
    func credential(_ id: String) throws(OperatorProblem) -> StoredAPNsCredential {
        guard let found = all.first(where: { $0.id == id }) else {
            throw OperatorProblem(
                "unknown credential \"\(Printable.text(id))\"", hint: "ccsctl apns list shows all credentials"
            )
        }
        return found
    }

    /// Calls `observer` with the credentials in use, now and after each change. There is one observer.
    func observe(_ observer: @escaping @Sendable ([StoredAPNsCredential]) -> Void) {
        changes.withLock { _ in
            state.withLock { $0.observer = observer }
            observer(all)
        }
    }

    /// Sends the test messages of `apns add` and `apns test`.
    var selfTester: any APNsSelfTester {
        get { state.withLock { $0.selfTester } }
        set { state.withLock { $0.selfTester = newValue } }
    }

    /// Stores a credential, whose serial number is assigned here, and removes the files of those that it replaces in all
    /// environments. Returns it and the IDs of the removed ones.
    func add(
        _ credential: StoredAPNsCredential
    ) throws(OperatorProblem) -> (added: StoredAPNsCredential, replaced: [String]) {
        try changes.withLock { _ throws(OperatorProblem) in
            var kept = state.withLock { $0.added }
            var credential = credential
            credential.serial = (kept.last?.serial ?? 0) + 1
            kept.removeAll { $0.id == credential.id }
            guard kept.count < Limits.APNsCredentials.count else {
                throw OperatorProblem(
                    "there are \(kept.count) credentials", hint: "remove one with ccsctl apns remove")
            }
            guard
                let content = credential.content(
                    seal: seal, nonce: SecureRandom.bytes(SecretSeal.nonceBytes))
            else { throw OperatorProblem("OpenSSL failed to encrypt the private key") }
            try writing { () throws(TransportError) in
                try SmallFile.makePrivateDirectory(folder)
                try SmallFile.replace(path(of: credential.id), with: content, mode: 0o600)
            }
            let used = Set(Self.inUse(kept + [credential]).map(\.id))
            // Only now: after a crash the later credential has the slots, regardless of these files.
            let replaced = kept.map(\.id).filter { !used.contains($0) }
            for id in replaced {
                try writing { () throws(TransportError) in try SmallFile.remove(path(of: id)) }
            }
            publish(kept.filter { used.contains($0.id) } + [credential])
            return (credential, replaced)
        }
    }

    /// Returns the ID of a credential in use that another one would replace in one of its environments, or `nil` if there is none.
    func displaced(by other: StoredAPNsCredential) -> String? {
        let slots = Set(other.slots)
        return all.first { $0.id == other.id || !slots.isDisjoint(with: $0.slots) }?.id
    }

    /// Removes a credential with its file. An earlier one for both environments gets back the one that this had replaced.
    func remove(_ id: String) throws(OperatorProblem) {
        try changes.withLock { _ throws(OperatorProblem) in
            let known = try credential(id)
            try writing { () throws(TransportError) in try SmallFile.remove(path(of: known.id)) }
            publish(state.withLock { $0.added }.filter { $0.id != id })
        }
    }

    /// Logs a warning for each certificate whose expiry has come closer to one of the limits since the last call.
    func warnOfExpiry(now: UnixMilliseconds) {
        let due = state.withLock { state in state.watch.due(Self.inUse(state.added), now: now) }
        for (credential, days) in due {
            let fields: LogFields = [
                "credential": .text(credential.id), "bundle_id": .text(credential.bundle ?? ""),
                "days_left": LogValue(days),
                "not_after": .text(Timestamp.text(credential.expiresAt ?? 0)),
            ]
            if days < 0 {
                log.error("apns_credential_expired", fields)
            } else {
                log.warning("apns_credential_expires", fields)
            }
        }
    }

    /// When the first certificate expires; `nil` if there is none.
    var firstExpiry: UnixMilliseconds? { all.compactMap(\.expiresAt).min() }

    // MARK: Private parts

    private static let suffix = ".json"

    private func path(of id: String) -> String { "\(folder)/\(id)\(Self.suffix)" }

    /// Returns the credentials with the environments that no later one has, without those that are left with none.
    private static func inUse(_ added: [StoredAPNsCredential]) -> [StoredAPNsCredential] {
        var taken: Set<StoredAPNsCredential.Slot> = []
        var used: [StoredAPNsCredential] = []
        for credential in added.reversed() {
            let free = credential.slots.filter { taken.insert($0).inserted }
            guard !free.isEmpty else { continue }
            var credential = credential
            credential.environments = free.map(\.environment)
            used.append(credential)
        }
        return used.reversed()
    }

    private func publish(_ added: [StoredAPNsCredential]) {
        let observer = state.withLock { state in
            state.added = added
            return state.observer
        }
        observer?(Self.inUse(added))
    }

    private static func read(_ path: String, _ seal: SecretSeal) throws(OperatorProblem)
        -> StoredAPNsCredential
    {
        let content: [UInt8]
        do throws(TransportError) {
            content = try SmallFile.read(path, limit: Limits.APNsCredentials.storedBytes)
        } catch {
            throw OperatorProblem(error.description, hint: "check the permissions of the file")
        }
        let credential = try StoredAPNsCredential(content: content, seal: seal)
        guard path.hasSuffix("/\(credential.id)\(suffix)") else {
            throw OperatorProblem("it belongs to another name: \(credential.id)\(suffix)", hint: "rename it")
        }
        return credential
    }

    private func writing(_ body: () throws(TransportError) -> Void) throws(OperatorProblem) {
        do { try body() } catch {
            throw OperatorProblem(
                error.description, hint: "check the disk and the permissions of the data directory")
        }
    }
}
