import Basics
import CRocksDB
import Glibc
import Store

/// Files of the store that do not belong to the engine.
enum StoreFiles {
    /// Returns the content of a file. Returns `nil` if it does not exist, or is larger than `limit` bytes.
    static func read(_ path: String, limit: Int) throws(StoreError) -> [UInt8]? {
        let file = unsafe Glibc.open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else {
            guard errno == ENOENT else { throw .system("open \(path)") }
            return nil
        }
        defer { Glibc.close(file) }
        let size = lseek(file, 0, SEEK_END)
        guard size >= 0, size <= limit else { return nil }
        var bytes = [UInt8](repeating: 0, count: Int(size))
        let count = unsafe bytes.withUnsafeMutableBytes { bytes in
            unsafe pread(file, bytes.baseAddress, bytes.count, 0)
        }
        guard count == bytes.count else { throw .system("read \(path)") }
        return bytes
    }

    /// Appends bytes to an open file.
    static func append(_ bytes: borrowing RawSpan, to file: Int32, _ path: String) throws(StoreError) {
        let isWritten = unsafe bytes.withUnsafeBytes { bytes in
            var at = 0
            while at < bytes.count {
                let count = unsafe write(file, bytes.baseAddress.unsafelyUnwrapped + at, bytes.count - at)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return false }
                at += count
            }
            return true
        }
        guard isWritten else { throw .system("write \(path)") }
    }

    /// Syncs a folder, so that created and removed files are durable.
    static func sync(folder path: String) throws(StoreError) {
        let folder = unsafe Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { throw .system("open \(path)") }
        defer { Glibc.close(folder) }
        guard fsync(folder) == 0 else { throw .system("sync \(path)") }
    }

    /// Returns the bytes of the files in a folder whose names start with `head`. A file that is removed meanwhile counts as empty.
    static func bytes(in path: String, beginning head: String) throws(StoreError) -> Int {
        try names(in: path, beginning: head).reduce(0) { bytes, name in
            var status = stat()
            guard unsafe stat("\(path)/\(name)", &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
                return bytes
            }
            return bytes + Int(status.st_size)
        }
    }

    /// Returns the sorted names in a folder that start with `head`.
    static func names(in path: String, beginning head: String) throws(StoreError) -> [String] {
        guard let folder = unsafe opendir(path) else { throw .system("list \(path)") }
        defer { unsafe closedir(folder) }
        var names: [String] = []
        while let entry = unsafe readdir(folder) {
            let name = unsafe withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name.hasPrefix(head) { names.append(name) }
        }
        return names.sorted()
    }
}

/// A file descriptor that is closed with its owner.
struct OpenFile: ~Copyable, Sendable {
    let descriptor: Int32
    deinit { Glibc.close(descriptor) }
}

/// The lock of an open store. It is also taken to read a closed one.
@safe struct StoreLock: ~Copyable {
    private let handle: UnsafeMutableRawPointer?

    /// Acquires the lock. Throws `locked` if another process, or another part of this one, has the store open.
    init(_ path: String) throws(StoreError) {
        unsafe handle = try check("open \(path)") { error in unsafe ccs_rocksdb_lock("\(path)/LOCK", error) }
    }

    deinit { unsafe ccs_rocksdb_unlock(handle) }
}
