import Basics
import Catalogue
import Glibc
import NodeProtocol
import RocksStore
import Transport

/// Gives a copy of the store to another node, on a thread of its own.
struct StoreGiver: Sendable {
    let backups: Backups
    /// The node, for operators who want a backup meanwhile.
    let name: String
    /// Begins the copy. The latch has `false` if it cannot be sent.
    let begin: @Sendable (CopyDescription, Latch<Bool>) -> Void
    /// Sends the next bytes. The latch has `true` once the link has taken them, and `false` if the copy is over.
    let send: @Sendable ([UInt8], Latch<Bool>) -> Void

    /// Makes a checkpoint and sends its files.
    func run() throws(BackupFailure) {
        try backups.give(to: name) { (checkpoint) throws(BackupFailure) in
            let files = checkpoint.files.map { ($0, BackupFiles.size("\(checkpoint.path)/\($0)") ?? 0) }
            let description = CopyDescription(
                layout: UInt32(RocksStore.layout), files: UInt32(files.count),
                bytes: UInt64(files.reduce(0) { $0 + $1.1 }))
            let begun = Latch<Bool>()
            begin(description, begun)
            try wait(begun)
            for (name, bytes) in files { try give(name, bytes, of: checkpoint) }
            try give(CopyContent.end)
        }
    }

    private func give(_ name: String, _ bytes: Int, of checkpoint: StoreCheckpoint) throws(BackupFailure) {
        let path = "\(checkpoint.path)/\(name)"
        guard let head = CopyContent.file(name, bytes: UInt64(bytes)) else {
            throw BackupFailure(
                "\(path) is no file of a store", hint: "remove what is none from the folder of the store",
                .inputOutput)
        }
        let file = unsafe open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
        guard file >= 0 else { throw .system("read", path) }
        defer { close(file) }
        try give(head)
        let digest = RunningDigest()
        var left = bytes
        while left > 0 {
            var part = [UInt8](repeating: 0, count: min(left, Limits.StoreCopy.partBytes))
            let count = unsafe read(file, &part, part.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw .system("read", path) }
            part.removeLast(part.count - count)
            digest.add(part.raw)
            left -= count
            try give(part)
        }
        try give(digest.finish())
    }

    private func give(_ bytes: [UInt8]) throws(BackupFailure) {
        let sent = Latch<Bool>()
        send(bytes, sent)
        try wait(sent)
    }

    /// Waits for the link, and looks now and then whether the daemon stops.
    private func wait(_ latch: Latch<Bool>) throws(BackupFailure) {
        let end = Now.read().monotonic.advanced(milliseconds: Limits.StoreCopy.stallMilliseconds)
        while Now.read().monotonic < end {
            try backups.demandRunning()
            guard let isSent = latch.wait(milliseconds: Limits.StoreCopy.sliceMilliseconds) else { continue }
            guard isSent else { throw Self.ended("the other node has ended it, or its link is lost") }
            return
        }
        throw Self.ended(
            "the other node has taken nothing for \(Limits.StoreCopy.stallMilliseconds / 1_000) s")
    }

    private static func ended(_ text: String) -> BackupFailure {
        BackupFailure(text, hint: "", .unavailable)
    }
}
