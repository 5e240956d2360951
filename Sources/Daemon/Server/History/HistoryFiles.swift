import Basics
import Delivery
import Glibc
import History
import Transport

/// The files of the history in their folder: complete ones, and one that is being written. One thread uses them.
final class HistoryFiles {
    /// A complete file.
    private struct Complete {
        var source: HistorySource
        var bytes: Int
    }

    /// The file that is being written.
    private struct OpenFile: ~Copyable {
        var writer: SegmentWriter
        let descriptor: Descriptor
    }

    private let folder: String
    private let limits: HistoryPort.Settings
    /// Oldest first.
    private var complete: [Complete] = []
    private var open: OpenFile
    /// The bytes that are to be written, kept for its storage.
    private var out = ByteBuffer()
    /// While the clock is in doubt, no file is too old.
    var isClockInDoubt = false
    /// From when on the last process has left nothing; `nil` if it was stopped, or there was none.
    let missingFrom: UnixMilliseconds?

    /// Opens the folder, and completes what a crash has left. Files that are not of the history stay.
    init(
        folder: String, keeping limits: HistoryPort.Settings, now: UnixMilliseconds
    ) throws(TransportError) {
        self.folder = folder
        self.limits = limits
        guard unsafe mkdir(folder, 0o700) == 0 || errno == EEXIST else {
            throw SystemCall.failure("make \(folder)")
        }
        var missingFrom: UnixMilliseconds?
        let numbers = try Self.numbers(in: folder)
        for number in numbers {
            let path = Self.path(folder, number)
            if let known = Self.completeFile(number, path) {
                complete.append(known)
            } else if let (known, end) = try Self.repair(number, path) {
                // An older one is damaged: what follows is in the next one.
                if number == numbers.last { missingFrom = end }
                if let known { complete.append(known) }
            }
        }
        self.missingFrom = missingFrom
        open = try Self.start(after: numbers.last ?? 0, in: folder, now)
    }

    /// The bytes of all files.
    var bytes: Int { complete.reduce(open.writer.bytes) { $0 + $1.bytes } }

    /// The size at which a file is completed if the history is small: the oldest part that is dropped is then a small part of it.
    private var mostOpenBytes: Int {
        max(limits.bytes / Int(Limits.History.filesPerAge), Limits.History.leastFileBytes)
    }

    // MARK: Writing

    /// Appends the steps of a batch.
    func append(_ batch: borrowing HistoryBatch, now: UnixMilliseconds) throws(TransportError) {
        var progress = BatchProgress()
        var isOpen = !batch.isEmpty
        while isOpen {
            if open.writer.isFull || open.writer.bytes >= mostOpenBytes { try roll(now) }
            isOpen = open.writer.append(batch, from: &progress, to: &out)
            try write()
        }
    }

    /// Completes the file and starts the next one.
    private func roll(_ now: UnixMilliseconds) throws(TransportError) {
        let number = open.writer.number
        open = try Self.start(after: number, in: folder, now, reusing: try finish())
        try drop(now)
    }

    /// Completes the file; one without steps is removed. Returns its index, for the storage.
    @discardableResult
    func finish() throws(TransportError) -> SegmentIndex {
        guard !open.writer.isEmpty else {
            _ = unsafe unlink(Self.path(folder, open.writer.number))
            return SegmentIndex()
        }
        let index = open.writer.complete(&out)
        try write()
        let path = Self.path(folder, open.writer.number)
        guard let known = Self.completeFile(open.writer.number, path) else {
            throw TransportError("read \(path)", detail: "it is not what was written", code: EIO)
        }
        complete.append(known)
        return index
    }

    private func write() throws(TransportError) {
        defer { out.removeAll(keepingCapacity: true) }
        try SmallFile.write(out.bytes, to: open.descriptor, Self.path(folder, open.writer.number))
    }

    /// Removes the oldest files beyond the limits. A file ends after an eighth of the hours, so that steps do not stay much longer.
    func sweep(_ now: UnixMilliseconds) throws(TransportError) {
        let path = Self.path(folder, open.writer.number)
        guard unsafe access(path, F_OK) == 0 else { throw SystemCall.failure("find \(path)") }
        let end = open.writer.first + limits.milliseconds / Limits.History.filesPerAge
        if !open.writer.isEmpty, end < now { try roll(now) }
        try drop(now)
    }

    private func drop(_ now: UnixMilliseconds) throws(TransportError) {
        var sum = bytes
        func isTooOld(_ file: Complete) -> Bool {
            !isClockInDoubt && file.source.last < now - limits.milliseconds
        }
        while let first = complete.first, sum > limits.bytes || isTooOld(first) {
            let path = Self.path(folder, first.source.number)
            guard unsafe unlink(path) == 0 || errno == ENOENT else {
                throw SystemCall.failure("remove \(path)")
            }
            sum -= first.bytes
            complete.removeFirst()
        }
    }

    /// Removes the files of a history that is switched off.
    static func removeAll(in folder: String) {
        for number in (try? numbers(in: folder)) ?? [] { _ = unsafe unlink(path(folder, number)) }
        HourlyFile.remove(in: folder)
        _ = unsafe rmdir(folder)
    }

    // MARK: Reading

    /// The files for a search, on any thread. What was dropped meanwhile cannot be read.
    func sources() -> [HistorySource] {
        let path = Self.path(folder, open.writer.number)
        return complete.map(\.source) + [HistorySource(open.writer) { FileReader.read(path, $0, $1) }]
    }

    private static func completeFile(_ number: UInt64, _ path: String) -> Complete? {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else { return nil }
        let bytes = Int(status.st_size)
        let source = HistorySource(number: number, length: bytes) { FileReader.read(path, $0, $1) }
        return source.map { Complete(source: $0, bytes: bytes) }
    }

    // MARK: The folder

    private static func path(_ folder: String, _ number: UInt64) -> String { "\(folder)/\(number).history" }

    /// The numbers of the files, ascending.
    private static func numbers(in folder: String) throws(TransportError) -> [UInt64] {
        try SmallFile.names(in: folder).compactMap { name in
            name.hasSuffix(".history") ? UInt64(name.dropLast(".history".utf8.count)) : nil
        }.sorted()
    }

    /// Completes a file that was not completed, up to its last undamaged block. Returns it, and the time of its last step. A file without
    /// steps, or that is none of ours, is removed.
    private static func repair(
        _ number: UInt64, _ path: String
    ) throws(TransportError) -> (file: Complete?, end: UnixMilliseconds)? {
        guard let content = try? SmallFile.read(path, limit: Limits.History.mostFileBytes),
            var writer = SegmentWriter(number: number, reading: content.raw)
        else {
            guard unsafe unlink(path) == 0 else { throw SystemCall.failure("remove \(path)") }
            return nil
        }
        guard !writer.isEmpty else {
            guard unsafe unlink(path) == 0 else { throw SystemCall.failure("remove \(path)") }
            return (nil, writer.last)
        }
        let file = try openFile(path, O_WRONLY)
        guard ftruncate(file.number, writer.bytes) == 0, lseek(file.number, 0, SEEK_END) >= 0 else {
            throw SystemCall.failure("truncate \(path)")
        }
        var out = ByteBuffer()
        writer.complete(&out)
        try SmallFile.write(out.bytes, to: file, path)
        return (completeFile(number, path), writer.last)
    }

    /// Starts the next file, whose existence shows that the process was not stopped.
    private static func start(
        after number: UInt64, in folder: String, _ now: UnixMilliseconds,
        reusing index: consuming SegmentIndex = SegmentIndex()
    ) throws(TransportError) -> OpenFile {
        var header = ByteBuffer()
        let writer = SegmentWriter(number: number + 1, at: now, reusing: index, header: &header)
        let path = path(folder, number + 1)
        let file = try openFile(path, O_WRONLY | O_CREAT | O_EXCL)
        try SmallFile.write(header.bytes, to: file, path)
        return OpenFile(writer: writer, descriptor: file)
    }

    private static func openFile(_ path: String, _ flags: Int32) throws(TransportError) -> Descriptor {
        let number = SystemCall.retrying { unsafe Glibc.open(path, flags | O_CLOEXEC | O_NOFOLLOW, 0o600) }
        guard number >= 0 else { throw SystemCall.failure("open \(path)") }
        return Descriptor(owning: number)
    }
}

/// Reads parts of files.
private enum FileReader {
    /// Returns `nil` if there are fewer bytes, or they cannot be read.
    static func read(_ path: String, _ offset: Int, _ count: Int) -> [UInt8]? {
        let number = SystemCall.retrying { unsafe Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW) }
        guard number >= 0 else { return nil }
        let file = Descriptor(owning: number)
        guard offset >= 0, count >= 0, offset + count <= Limits.History.mostFileBytes else { return nil }
        var bytes = [UInt8](repeating: 0, count: count)
        let read = unsafe bytes.withUnsafeMutableBytes { room in
            SystemCall.retrying { unsafe pread(file.number, room.baseAddress, room.count, offset) }
        }
        return read == count ? bytes : nil
    }
}
