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

    /// A copy as a killed process would have left it.
    func copied() throws -> ScratchDirectory {
        let copy = ScratchDirectory()
        try FileManager.default.removeItem(atPath: copy.path)
        try FileManager.default.copyItem(atPath: path, toPath: copy.path)
        return copy
    }
}

extension ScratchDirectory {
    /// The same while the engine may be writing files out in the background, and removing others: not as one moment has left it,
    /// but as a moment in which nothing came or went.
    func copiedWhileOpen() throws -> ScratchDirectory {
        func names() throws -> [String] {
            try FileManager.default.contentsOfDirectory(atPath: path + "/db").sorted()
        }
        for _ in 0..<200 {
            let before = try names()
            if let copy = try? copied(), try names() == before { return copy }
        }
        throw StoreError(.inputOutput, "\(path) never stays as it is")
    }
}

/// A store of a kind with the directory that it lives in.
struct Opened {
    let store: any Store
    let directory: ScratchDirectory
}

func open(_ kind: Kind) throws -> Opened {
    let directory = ScratchDirectory()
    switch kind {
    case .memory: return Opened(store: MemoryStore(), directory: directory)
    case .rocks, .settling, .rotating:
        let store = try RocksStore(path: directory.path + "/db", sizes: kind.sizes)
        return Opened(store: store, directory: directory)
    }
}
