import Basics
import Delivery
import Foundation
import Operator
import RocksStore
import Store
import Wire

@testable import Server

/// A store with a few records in a data directory, and backups of it.
final class BackupBench {
    let root: String
    let configuration: Configuration
    let store: RocksStore
    let backups: Backups

    var data: String { "\(root)/data" }
    /// A folder for the next backup.
    var target: String { "\(root)/backup" }

    init() throws {
        root = NSTemporaryDirectory() + "ccsd-backup-\(UUID().uuidString)"
        try FileManager.default.createDirectory(
            atPath: "\(root)/data/apns", withIntermediateDirectories: true)
        var configuration = Configuration()
        configuration.dataDirectory = "\(root)/data"
        self.configuration = configuration
        store = try RocksStore(path: configuration.storePath)
        backups = Backups(store: store, log: Log(level: .error, write: { _ in }))
        for (name, content) in [
            ("ca.pem", "CA"), ("ca.key", "CA KEY"), ("server.pem", "CERTIFICATE"), ("server.key", "KEY"),
            ("first-sender.key", "AIza"), ("apns/team.json", "{}"), ("apns/team.json.new", "draft"),
        ] {
            try Data(content.utf8).write(to: URL(fileURLWithPath: "\(root)/data/\(name)"))
        }
        for sequence in 1...20 as ClosedRange<UInt64> { try put(sequence) }
        try store.setSetting("token_secret", [1, 2, 3])
    }

    deinit { try? FileManager.default.removeItem(atPath: root) }

    /// Stores a message.
    func put(_ sequence: UInt64) throws {
        let message = StoredMessage(
            device: DeviceID(5), sequence: SequenceNumber(sequence), salt: 1,
            registration: RegistrationNumber(7), sender: SenderID(42), kind: .message,
            messageID: Array("m-\(sequence)".utf8), collapseKey: nil, acceptedAt: 1_700_000_000_000,
            expiresAt: 1_700_086_400_000, priority: .high, wantsReceipt: false, delaysWhileIdle: false,
            body: [UInt8](repeating: 7, count: 2_000))
        _ = try store.commit([
            WriteBatch(batchNumber: 1, mutations: [.putMessage(message)], isDurable: true)
        ])
    }

    @discardableResult
    func make(_ path: String? = nil, report: @escaping (Int, Int) -> Void = { _, _ in }) throws
        -> MakeBackup.Answer
    {
        try backups.make(to: path ?? target, configuration, file: "/etc/ccsd.yaml", report: report)
    }

    /// Returns a restore of the backup to a folder.
    func restore(_ folder: String, from backup: String? = nil, replaces: Bool = false) -> Restore {
        Restore(
            folder: backup ?? target, dataDirectory: folder, replaces: replaces, now: 1_700_000_000_000)
    }

    /// Returns all files below a folder with their sizes and modes.
    func files(_ folder: String) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: folder).sorted()
    }
}
