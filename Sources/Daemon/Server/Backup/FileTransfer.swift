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

    /// The folder of the source. `nil` if the source is a path of ccsd's own.
    var folder: HeldFolder?
    var source: String
    /// The folder and the name of the copy. `nil` only reads the source.
    var target: (folder: HeldFolder, name: String)?
    /// Whether the target may be a link: the source never changes, and may become private.
    var mayLink = false

    /// Errors of a link after which the file is copied: another file system, or one without links.
    private static let copied: Set<Int32> = [EXDEV, EPERM, EMLINK, EOPNOTSUPP, ENOSYS]

    /// Transfers the file and syncs it. Calls `each` with the size of each part; an error that it throws ends the transfer.
    func run(each: (Int) throws(BackupFailure) -> Void) throws(BackupFailure) -> Taken {
        let input = try openSource()
        defer { close(input) }
        var taken = Taken()
        taken.isLinked = try link(input)
        var output: Int32 = -1
        if let target, !taken.isLinked { output = try target.folder.create(target.name) }
        defer { if output >= 0 { close(output) } }
        try read(input, to: output, &taken, each)
        let synced = output >= 0 ? output : input
        guard target == nil || fsync(synced) == 0 else { throw .system("sync", shown) }
        return taken
    }

    /// The path of what is written, for messages.
    private var shown: String { target.map { "\($0.folder.path)/\($0.name)" } ?? source }

    private func openSource() throws(BackupFailure) -> Int32 {
        if let folder { return try folder.open(source).file }
        let input = unsafe open(source, BackupFiles.reading)
        _ = try BackupFiles.demandRegular(input, source)
        return input
    }

    private func link(_ input: Int32) throws(BackupFailure) -> Bool {
        guard mayLink, let target else { return false }
        let code = try target.folder.link(source, as: target.name)
        guard code == 0 else {
            errno = code
            guard Self.copied.contains(code) else { throw .system("link", shown) }
            return false
        }
        guard fchmod(input, 0o600) == 0 else { throw .system("protect", shown) }
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
            if output >= 0 { try BackupFiles.write(read, to: output, shown) }
            taken.bytes += count
            try each(count)
        }
        taken.sha256 = digest.finish()
    }
}
