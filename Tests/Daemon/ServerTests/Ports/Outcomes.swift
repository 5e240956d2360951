import Delivery
import Foundation
import Synchronization

/// Collects the outcomes of batches in order.
final class OutcomeList: Sendable {
    private let outcomes = Mutex<[CommitOutcome]>([])

    var all: [CommitOutcome] { outcomes.withLock { $0 } }

    func add(_ events: [Event]) {
        for case .partition(.committed(let outcome)) in events { outcomes.withLock { $0.append(outcome) } }
    }
}

/// A temporary folder that is removed with its owner.
final class TemporaryFolder: Sendable {
    let path: String

    init() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            "ccsd-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        path = folder.path
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}
