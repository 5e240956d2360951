public import Basics
import Glibc

/// Reads and writes whole files: certificates, keys, secrets.
public enum SmallFile {
    /// Identifies a version of a file without reading it.
    public struct Stamp: Hashable, Sendable {
        var device: UInt64
        var inode: UInt64
        var size: Int64
        var changed: Int64
    }

    /// Returns the content. Throws if the file is missing or larger than `limit`. With `waits: false` also if it is no regular file, such as
    /// a pipe, whose writer may never come.
    public static func read(
        _ path: String, limit: Int = Limits.Certificate.fileBytes, waits: Bool = true
    ) throws(TransportError) -> [UInt8] {
        let flags = O_RDONLY | O_CLOEXEC | (waits ? 0 : O_NONBLOCK)
        let number = SystemCall.retrying { unsafe open(path, flags) }
        guard number >= 0 else { throw SystemCall.failure("read \(path)") }
        let file = Descriptor(owning: number)
        guard waits || isRegular(file) else {
            throw TransportError("read \(path)", detail: "it is not a regular file", code: EINVAL)
        }
        var content: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 16_384)
        while true {
            let count = SystemCall.retrying { unsafe Glibc.read(file.number, &part, part.count) }
            guard count >= 0 else { throw SystemCall.failure("read \(path)") }
            guard count > 0 else { return content }
            content += part[..<count]
            guard content.count <= limit else {
                throw TransportError("read \(path)", detail: "it is larger than \(limit) bytes", code: EFBIG)
            }
        }
    }

    private static func isRegular(_ file: borrowing Descriptor) -> Bool {
        var status = stat()
        return unsafe fstat(file.number, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    }

    /// Replaces the content of a file atomically and durably: readers see the old or the new content, also after a crash.
    public static func replace(_ path: String, with content: [UInt8], mode: UInt32) throws(TransportError) {
        let draft = path + ".new"
        _ = unsafe unlink(draft)
        let number = unsafe open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode_t(mode))
        guard number >= 0 else { throw SystemCall.failure("write \(draft)") }
        let file = Descriptor(owning: number)
        try write(content.raw, to: file, draft)
        guard fchmod(file.number, mode_t(mode)) == 0, fsync(file.number) == 0 else {
            throw SystemCall.failure("write \(draft)")
        }
        guard unsafe rename(draft, path) == 0 else { throw SystemCall.failure("replace \(path)") }
        syncDirectory(of: path)
    }

    /// Writes all bytes to an open file; `path` names it in errors.
    public static func write(
        _ bytes: borrowing RawSpan, to file: borrowing Descriptor, _ path: String
    ) throws(TransportError) {
        var written = 0
        while written < bytes.byteCount {
            let rest = bytes.extracting(written..<bytes.byteCount)
            let count = unsafe rest.withUnsafeBytes { rest in
                SystemCall.retrying { unsafe Glibc.write(file.number, rest.baseAddress, rest.count) }
            }
            guard count > 0 else { throw SystemCall.failure("write \(path)") }
            written += count
        }
    }

    /// Removes a file durably. Throws if it exists and cannot be removed.
    public static func remove(_ path: String) throws(TransportError) {
        guard unsafe unlink(path) == 0 || errno == ENOENT else { throw SystemCall.failure("remove \(path)") }
        syncDirectory(of: path)
    }

    /// Returns the names of the entries of a directory in order, except hidden ones; none if it does not exist.
    public static func names(in directory: String) throws(TransportError) -> [String] {
        guard let folder = unsafe opendir(directory) else {
            guard errno == ENOENT else { throw SystemCall.failure("list \(directory)") }
            return []
        }
        defer { unsafe closedir(folder) }
        var names: [String] = []
        while let entry = unsafe readdir(folder) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { start in
                unsafe start.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            if !name.hasPrefix(".") { names.append(name) }
        }
        return names.sorted()
    }

    /// Makes a directory that only its owner can access, and gives an existing one this mode.
    public static func makePrivateDirectory(_ path: String) throws(TransportError) {
        guard unsafe mkdir(path, 0o700) == 0 || errno == EEXIST, unsafe chmod(path, 0o700) == 0 else {
            throw SystemCall.failure("make the folder \(path)")
        }
        syncDirectory(of: path)
    }

    /// Makes changes to a directory durable; errors of file systems that do not support it are ignored.
    private static func syncDirectory(of path: String) {
        let directory = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
        let number = unsafe open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard number >= 0 else { return }
        let descriptor = Descriptor(owning: number)
        _ = fsync(descriptor.number)
    }

    /// Returns the version of a file, or `nil` if it does not exist.
    public static func stamp(_ path: String) -> Stamp? {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { return nil }
        let changed = Int64(status.st_mtim.tv_sec) &* 1_000_000_000 &+ Int64(status.st_mtim.tv_nsec)
        return Stamp(
            device: UInt64(status.st_dev), inode: UInt64(status.st_ino), size: Int64(status.st_size),
            changed: changed)
    }
}
