import Foundation
import Testing

@testable import ccs_power_cut

/// Power cuts during a backup of the real daemon: a backup under its final name is whole, any other one is refused by name.
@Suite("Power cuts during a backup", .enabled(if: DiskLibrary.canBeBuilt, "gcc is missing"))
struct BackupCutTests {
    /// What a restore reports for the folders after the cuts.
    private struct Verdicts {
        var whole = 0
        var interrupted = 0
        /// Interrupted backups that were given another name.
        var damaged = 0
        var wrong: [String] = []
    }

    /// Makes a backup with a recorded disk. `lies` are parts of file names whose syncs do nothing. Returns the root and the trace.
    private func record(lies: String = "") throws -> (root: String, trace: Trace) {
        let (scratch, outside) = (try Scratch(), try Scratch())
        let trace = outside.url.appendingPathComponent("trace").path
        let daemon = try RunningDaemon(
            continuing: scratch,
            environment: [
                "LD_PRELOAD": try DiskLibrary.preload, "FAULTY_DISK_ROOT": scratch.url.path,
                "FAULTY_DISK_TRACE": trace, "FAULTY_DISK_LIES": lies,
            ])
        let device = try TestDevice(daemon, sender: try daemon.firstSender.id)
        device.stop()
        let server = try TestAppServer(daemon, sender: try daemon.firstSender)
        for number in 1...5 { #expect(try server.send("m\(number)", to: device.token) == "ACK") }
        _ = try daemon.ctl("backup", scratch.url.appendingPathComponent("backup").path)
        return (scratch.url.path, try Trace(path: trace))
    }

    private func verify(_ folder: String) throws -> Tool {
        try Tool.run("ccsd", ["restore", "--verify", folder, "--data-directory", folder + "-none"])
    }

    /// Judges what a cut has left of the backup.
    private func judge(_ tree: FolderTree, _ cut: String, _ verdicts: inout Verdicts) throws {
        let scratch = try Scratch()
        let backup = scratch.url.appendingPathComponent("backup").path
        let partial = backup + ".partial"
        for (name, path) in [("backup", backup), ("backup.partial", partial)] {
            try tree.write(name, to: path)
        }
        let files = FileManager.default
        if files.fileExists(atPath: backup) {
            let tool = try verify(backup)
            if tool.code == 0 { verdicts.whole += 1 } else { verdicts.wrong.append("\(cut): \(tool)") }
        }
        guard files.fileExists(atPath: partial) else { return }
        let named = try verify(partial)
        if named.code == 65, named.errors.contains("is a backup that was interrupted") {
            verdicts.interrupted += 1
        } else {
            verdicts.wrong.append("\(cut): \(named)")
        }
        try files.moveItem(atPath: partial, toPath: partial + "-renamed")
        let renamed = try verify(partial + "-renamed")
        if renamed.code == 65 { verdicts.damaged += 1 }
        // With a digest of every file, one that is accepted is whole.
        if ![0, 65].contains(renamed.code) { verdicts.wrong.append("\(cut), renamed: \(renamed)") }
    }

    /// Cuts the power at up to `count` points between the start and the end of the backup, and after it.
    private func cut(_ count: Int, _ recorded: (root: String, trace: Trace)) throws -> Verdicts {
        let (root, steps) = (recorded.root, recorded.trace.steps)
        let start = steps.firstIndex {
            if case .makeFolder(let path) = $0 { path.hasSuffix("/backup.partial") } else { false }
        }
        let begin = try #require(start)
        let last = try #require(
            steps.lastIndex {
                if case .rename(_, let path) = $0 { path == root + "/backup" } else { false }
            })
        var points = Set((0..<count).map { _ in Int.random(in: begin...last) })
        // The last steps are the ones in question: manifest, digests, syncs, the name, the sync of the folder above.
        points.formUnion(max(begin, last - 12)...min(last + 2, steps.count - 1))
        points.insert(steps.count - 1)
        var (verdicts, tree) = (Verdicts(), FolderTree(root: root))
        for (at, step) in steps.enumerated() {
            tree.apply(step)
            guard points.contains(at) else { continue }
            for loses in [true, false] {
                let left = loses ? tree.synced : tree
                try judge(left, "step \(at) of \(begin)...\(last), loses: \(loses)", &verdicts)
            }
        }
        return verdicts
    }

    @Test(
        "after a cut at any point, a backup with its name is whole, and an interrupted one is refused by name"
    )
    func cuts() throws {
        let verdicts = try cut(12, try record())
        #expect(verdicts.wrong == [])
        #expect(verdicts.whole >= 3 && verdicts.interrupted >= 12 && verdicts.damaged >= 6, "\(verdicts)")
    }

    @Test("canary: a backup whose files were not synced before it got its name is found")
    func canary() throws {
        let verdicts = try cut(1, try record(lies: "backup.partial/"))
        #expect(!verdicts.wrong.isEmpty)
    }
}

/// A folder on a disk with the folders in it, rebuilt from a trace: what is shown, and what a power cut leaves.
///
/// A file is durable as of its last sync, a name as of the last sync of its folder.
private struct FolderTree {
    private final class Node {
        let isFolder: Bool
        var bytes: [UInt8] = []
        var syncedBytes: [UInt8] = []
        var names: [String: Node] = [:]
        var syncedNames: [String: Node] = [:]

        init(isFolder: Bool) { self.isFolder = isFolder }

        /// A copy of what is durable.
        var synced: Node {
            let node = Node(isFolder: isFolder)
            node.bytes = syncedBytes
            node.names = syncedNames.mapValues(\.synced)
            return node
        }
    }

    private let root: String
    private var top = Node(isFolder: true)
    private var open: [Int32: Node] = [:]

    init(root: String) { self.root = root }

    /// The folder after a power cut that loses all that is not durable.
    var synced: FolderTree {
        var tree = FolderTree(root: root)
        tree.top = top.synced
        return tree
    }

    private func node(_ path: String) -> Node? {
        path.dropFirst(root.count).split(separator: "/").reduce(top as Node?) { $0?.names[String($1)] }
    }

    private func folder(of path: String) -> (Node, String)? {
        let url = URL(fileURLWithPath: path)
        return node(url.deletingLastPathComponent().path).map { ($0, url.lastPathComponent) }
    }

    private func put(_ node: Node, at path: String) {
        if let (folder, name) = folder(of: path) { folder.names[name] = node }
    }

    private func remove(_ path: String) {
        if let (folder, name) = folder(of: path) { folder.names[name] = nil }
    }

    mutating func apply(_ step: Step) {
        switch step {
        case .makeFolder(let path): put(Node(isFolder: true), at: path)
        case .open(let descriptor, let path, let isNew, let isEmptied):
            if isNew || node(path) == nil { put(Node(isFolder: false), at: path) }
            open[descriptor] = node(path)
            if isEmptied { open[descriptor]?.bytes = [] }
        case .write(let descriptor, let offset, let bytes):
            guard let node = open[descriptor] else { return }
            resize(node, to: max(node.bytes.count, offset + bytes.count))
            node.bytes.replaceSubrange(offset..<offset + bytes.count, with: bytes)
        case .truncate(let descriptor, let size): if let node = open[descriptor] { resize(node, to: size) }
        case .sync(let descriptor):
            guard let node = open[descriptor] else { return }
            node.syncedBytes = node.bytes
            node.syncedNames = node.names
        case .close(let descriptor): open[descriptor] = nil
        case .rename(let from, let to):
            guard let node = node(from) else { return }
            remove(from)
            put(node, at: to)
        case .unlink(let path): remove(path)
        case .link(let from, let to): if let node = node(from) { put(node, at: to) }
        case .syncFailed, .note: break
        }
    }

    private func resize(_ node: Node, to size: Int) {
        let missing = size - node.bytes.count
        if missing < 0 {
            node.bytes.removeLast(-missing)
        } else {
            node.bytes += Array(repeating: 0, count: missing)
        }
    }

    /// Writes a folder of the tree to a path. Does nothing if it does not exist.
    func write(_ name: String, to path: String) throws {
        if let node = top.names[name] { try write(node, to: path) }
    }

    private func write(_ node: Node, to path: String) throws {
        guard node.isFolder else { return try Data(node.bytes).write(to: URL(fileURLWithPath: path)) }
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        for (name, inner) in node.names { try write(inner, to: "\(path)/\(name)") }
    }
}
