import Basics

/// The effect of a power cut on unsynced data.
enum Loss: String, CaseIterable {
    /// All unsynced data is lost.
    case all
    /// Nothing is lost: only the process was killed.
    case nothing
    /// Each file keeps its first unsynced changes and a part of the next write; the folder keeps its first changes of names.
    case tail
    /// Each page of a file has its content of some moment, independent of other pages; missing pages read as zeros.
    case pages
}

/// A model of a folder on disk: its synced state and its unsynced changes.
///
/// Names are content of the folder: they are synced with the folder, not with the file. Changes of names reach the disk in
/// order, as with every journaling file system; writes to different files reach it in any order.
struct Disk {
    private enum Change {
        case write(Int, ArraySlice<UInt8>)
        case truncate(Int)
    }
    private final class File {
        /// The durable content, and the content that the system shows to readers.
        var synced: [UInt8] = []
        var shown: [UInt8] = []
        /// Changes since the last sync.
        var changes: [Change] = []
        /// Changes whose sync failed: the kernel marks their pages clean, so no later sync writes them.
        var doomed: [Change] = []

        func record(_ change: Change) {
            Disk.apply(change, to: &shown)
            changes.append(change)
        }
    }
    private enum Naming {
        case put(String, File)
        case remove(String)
        case move(String, String)
    }

    private let folder: String
    private var synced: [String: File] = [:]
    private var names: [String: File] = [:]
    private var namings: [Naming] = []
    /// Open files by descriptor; `nil` is the folder.
    private var open: [Int32: File?] = [:]

    /// Creates a folder whose initial files are durable.
    init(folder: String, files: [String: [UInt8]]) {
        self.folder = folder
        for (name, bytes) in files {
            let file = File()
            file.synced = bytes
            file.shown = bytes
            synced[name] = file
        }
        names = synced
    }

    mutating func apply(_ step: Step) {
        switch step {
        case .open(let descriptor, let path, let isNew, let isEmptied):
            open(descriptor, path, isNew, isEmptied)
        case .write(let descriptor, let offset, let bytes):
            file(descriptor)?.record(.write(offset, bytes))
        case .truncate(let descriptor, let size): file(descriptor)?.record(.truncate(size))
        case .sync(let descriptor): sync(descriptor)
        case .syncFailed(let descriptor):
            guard let file = file(descriptor) else { return }
            file.doomed += file.changes
            file.changes = []
        case .close(let descriptor): open[descriptor] = nil
        case .rename(let from, let to): change(.move(name(from), name(to)))
        case .unlink(let path): change(.remove(name(path)))
        case .link(let from, let to): if let file = names[name(from)] { change(.put(name(to), file)) }
        case .makeFolder, .note: break
        }
    }

    private mutating func open(_ descriptor: Int32, _ path: String, _ isNew: Bool, _ isEmptied: Bool) {
        guard path != folder else { return open[descriptor] = .some(nil) }
        let name = name(path)
        if isNew || names[name] == nil { change(.put(name, File())) }
        open[descriptor] = names[name]
        if isEmptied { names[name]?.record(.truncate(0)) }
    }

    private mutating func sync(_ descriptor: Int32) {
        guard let entry = open[descriptor] else { return }
        guard let file = entry else {
            for naming in namings { Self.apply(naming, to: &synced) }
            return namings = []
        }
        for change in file.changes { Self.apply(change, to: &file.synced) }
        file.changes = []
    }

    private func file(_ descriptor: Int32) -> File? { open[descriptor] ?? nil }

    private func name(_ path: String) -> String { String(path.dropFirst(folder.count + 1)) }

    private mutating func change(_ naming: Naming) {
        Self.apply(naming, to: &names)
        namings.append(naming)
    }

    private static func apply(_ naming: Naming, to names: inout [String: File]) {
        switch naming {
        case .put(let name, let file): names[name] = file
        case .remove(let name): names[name] = nil
        case .move(let from, let to): names[to] = names.removeValue(forKey: from)
        }
    }

    private static func apply(_ change: Change, to bytes: inout [UInt8]) {
        switch change {
        case .write(let offset, let written):
            if bytes.count < offset + written.count { resize(&bytes, offset + written.count) }
            bytes.replaceSubrange(offset..<offset + written.count, with: written)
        case .truncate(let size): resize(&bytes, size)
        }
    }

    private static func resize(_ bytes: inout [UInt8], _ size: Int) {
        if size <= bytes.count {
            bytes.removeLast(bytes.count - size)
        } else {
            bytes += [UInt8](repeating: 0, count: size - bytes.count)
        }
    }

    // MARK: The cut

    /// Returns the files after a power cut at this point.
    func cut(_ loss: Loss, _ random: inout SeededRandom) -> [String: [UInt8]] {
        var left = synced
        let kept =
            switch loss {
            case .all: 0
            case .nothing: namings.count
            case .tail, .pages: Int.random(in: 0...namings.count, using: &random)
            }
        for naming in namings.prefix(kept) { Self.apply(naming, to: &left) }
        // In the order of names, so that a seed reproduces the cut.
        var files: [String: [UInt8]] = [:]
        for name in left.keys.sorted() {
            if let file = left[name] { files[name] = Self.content(of: file, loss, &random) }
        }
        return files
    }

    private static func content(of file: File, _ loss: Loss, _ random: inout SeededRandom) -> [UInt8] {
        var bytes = file.synced
        switch loss {
        case .all: break
        case .nothing: bytes = file.shown
        case .tail:
            let kept = Int.random(in: 0...file.changes.count, using: &random)
            for change in file.changes.prefix(kept) { apply(change, to: &bytes) }
            guard kept < file.changes.count, case .write(let offset, let written) = file.changes[kept] else {
                break
            }
            apply(
                .write(offset, written.prefix(Int.random(in: 0...written.count, using: &random))), to: &bytes
            )
        case .pages: scatter(file.doomed + file.changes, into: &bytes, &random)
        }
        return bytes
    }

    /// Restores each page to a random moment: it has all writes up to then and none after.
    private static func scatter(
        _ changes: [Change], into bytes: inout [UInt8], _ random: inout SeededRandom
    ) {
        // A disk writes sectors atomically, a system writes pages.
        let unit = Bool.random(using: &random) ? 512 : 4_096
        var pages: [Int: [(offset: Int, bytes: ArraySlice<UInt8>)]] = [:]
        for case .write(let offset, let written) in changes {
            var at = written.startIndex
            while at < written.endIndex {
                let place = offset + (at - written.startIndex)
                let end = min(written.endIndex, at + unit - place % unit)
                pages[place / unit, default: []].append((place, written[at..<end]))
                at = end
            }
        }
        for (_, parts) in pages.sorted(by: { $0.key < $1.key }) {
            for part in parts.prefix(Int.random(in: 0...parts.count, using: &random)) {
                apply(.write(part.offset, part.bytes), to: &bytes)
            }
        }
        for case .truncate(let size) in changes where Bool.random(using: &random) {
            resize(&bytes, size)
        }
    }
}
