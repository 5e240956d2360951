import Basics
import Glibc
import Transport

/// A file that is copied or linked while its digest is computed.
struct FileTransfer {
    /// The result.
    struct Taken: Equatable {
        var bytes = 0
        var sha256: [UInt8] = []
        var isLinked = false
    }

    var source: String
    /// `nil` only reads the source.
    var target: String?
    /// Whether the target may be a link: the source never changes, and may become private.
    var mayLink = false

    /// Errors of a link after which the file is copied: another file system, or one without links.
    private static let copied: Set<Int32> = [EXDEV, EPERM, EMLINK, EOPNOTSUPP, ENOSYS]

    /// Transfers the file and syncs it. Calls `each` with the size of each part; an error that it throws ends the transfer.
    func run(each: (Int) throws(BackupFailure) -> Void) throws(BackupFailure) -> Taken {
        let input = unsafe open(source, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
        guard input >= 0 else { throw .system("read", source) }
        defer { close(input) }
        var taken = Taken()
        taken.isLinked = try link(input)
        var output: Int32 = -1
        if let target, !taken.isLinked { output = try BackupFiles.open(new: target) }
        defer { if output >= 0 { close(output) } }
        try read(input, to: output, &taken, each)
        let synced = output >= 0 ? output : input
        guard target == nil || fsync(synced) == 0 else { throw .system("sync", target ?? source) }
        return taken
    }

    private func link(_ input: Int32) throws(BackupFailure) -> Bool {
        guard mayLink, let target else { return false }
        guard unsafe Glibc.link(source, target) == 0 else {
            guard Self.copied.contains(errno) else { throw .system("link", target) }
            return false
        }
        guard fchmod(input, 0o600) == 0 else { throw .system("protect", target) }
        return true
    }

    private func read(
        _ input: Int32, to output: Int32, _ taken: inout Taken, _ each: (Int) throws(BackupFailure) -> Void
    ) throws(BackupFailure) {
        let digest = RunningDigest()
        var part = [UInt8](repeating: 0, count: Limits.Backup.copyBytes)
        while true {
            let count = unsafe Glibc.read(input, &part, part.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw .system("read", source) }
            guard count > 0 else { break }
            let read = part.raw.extracting(0..<count)
            digest.add(read)
            if output >= 0 { try BackupFiles.write(read, to: output, target ?? source) }
            taken.bytes += count
            try each(count)
        }
        taken.sha256 = digest.finish()
    }
}
