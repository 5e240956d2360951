import Basics
import Foundation
import RocksStore
import Store
import StoreSupport

/// The stores that implement the contract.
enum Kind: String, CaseIterable {
    case memory
    case rocks
    /// No recent messages: all messages go to the engine with their commit.
    case moving
    /// Few recent messages, small journal files, and frequent flushes of the engine.
    case rotating

    static let onDisk: [Kind] = [.rocks, .moving, .rotating]

    var sizes: EngineSizes {
        var sizes = EngineSizes()
        switch self {
        case .memory, .rocks: break
        case .moving: sizes.recent = 0
        case .rotating: (sizes.recent, sizes.segment, sizes.journal) = (3_000, 2_000, 6_000)
        }
        return sizes
    }
}

/// A directory that is removed with its owner.
final class ScratchDirectory {
    let path: String

    init() {
        path = NSTemporaryDirectory() + "ccsd-store-\(UUID().uuidString)"
        try? FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// Returns a copy as a killed process would have left it. It is repeated until no file was created or removed meanwhile: the
    /// engine of an open store does so in the background.
    func copied() throws -> ScratchDirectory {
        for _ in 0..<200 {
            let before = try names()
            let copy = ScratchDirectory()
            try FileManager.default.removeItem(atPath: copy.path)
            let isWhole = (try? FileManager.default.copyItem(atPath: path, toPath: copy.path)) != nil
            if isWhole, try names() == before { return copy }
        }
        throw StoreError(.inputOutput, "\(path) changes all the time")
    }

    private func names() throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: path).sorted()
    }
}

/// An open store and its directory.
struct Opened {
    let store: any Store
    let directory: ScratchDirectory
}

func open(_ kind: Kind, partitions: Int = Limits.Partition.count) throws -> Opened {
    let directory = ScratchDirectory()
    switch kind {
    case .memory: return Opened(store: MemoryStore(partitions: partitions), directory: directory)
    case .rocks, .moving, .rotating:
        let store = try RocksStore(
            path: directory.path + "/db", partitions: partitions, sizes: kind.sizes)
        return Opened(store: store, directory: directory)
    }
}
