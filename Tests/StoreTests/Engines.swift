import Basics
import Foundation
import RocksStore
import Store

/// The stores that keep the contract.
enum Kind: String, CaseIterable {
    case memory
    case rocks
    /// Nothing stays young: all goes to the engine with its commit.
    case settling
    /// Some stays young, files of the journal come and go, and the engine writes out all the time.
    case rotating

    static let onDisk: [Kind] = [.rocks, .settling, .rotating]

    var sizes: EngineSizes {
        var sizes = EngineSizes()
        switch self {
        case .memory, .rocks: break
        case .settling: sizes.young = 0
        case .rotating: (sizes.young, sizes.segment, sizes.journal) = (3_000, 2_000, 6_000)
        }
        return sizes
    }
}

/// A directory that vanishes with its owner.
final class ScratchDirectory {
    let path: String

    init() {
        path = NSTemporaryDirectory() + "ccsd-store-\(UUID().uuidString)"
        try? FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// A copy as a killed process would have left it: of a moment in which no file came or went, since the engine of an open store
    /// writes files out in the background, and removes others.
    func copied() throws -> ScratchDirectory {
        for _ in 0..<200 {
            let before = try names()
            let copy = ScratchDirectory()
            try FileManager.default.removeItem(atPath: copy.path)
            let isWhole = (try? FileManager.default.copyItem(atPath: path, toPath: copy.path)) != nil
            if isWhole, try names() == before { return copy }
        }
        throw StoreError(.inputOutput, "\(path) never stays as it is")
    }

    private func names() throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: path).sorted()
    }
}

/// A store of a kind with the directory that it lives in.
struct Opened {
    let store: any Store
    let directory: ScratchDirectory
}

func open(_ kind: Kind, partitions: Int = Limits.Partition.count) throws -> Opened {
    let directory = ScratchDirectory()
    switch kind {
    case .memory: return Opened(store: MemoryStore(partitions: partitions), directory: directory)
    case .rocks, .settling, .rotating:
        let store = try RocksStore(
            path: directory.path + "/db", partitions: partitions, sizes: kind.sizes)
        return Opened(store: store, directory: directory)
    }
}
