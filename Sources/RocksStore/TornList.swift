import Basics
import Glibc
import Store

/// The engine's list of its files (`MANIFEST-…`), torn by a power cut in one of the ways that the engine does not get over.
///
/// A change of the list that was not synced is passed over by the engine where its begin is missing, or the list ends before its
/// end. But where a power cut has left some sectors of a change and not others, those are zeros, and the engine takes the change
/// for damage. It acts on no change before that is synced, so the list is good without this one and those behind it.
enum TornList {
    private static let block = 32_768
    private static let sector = 512
    /// Checksum (4), length (2), type (1).
    private static let head = 7

    /// Cuts the torn change off, where that is what is wrong, and keeps the list as it was under another name; the name of
    /// the list, nil: that is not what is wrong, and nothing was changed.
    static func mend(_ path: String) throws(StoreError) -> String? {
        let lock = try StoreLock(path)
        defer { extendLifetime(lock) }
        guard let current = try StoreFiles.read("\(path)/CURRENT", limit: Limits.Store.manifestBytes) else {
            return nil
        }
        let name = String(decoding: current.prefix { $0 != 10 }, as: UTF8.self)
        guard name.hasPrefix("MANIFEST-"),
            let list = try StoreFiles.read("\(path)/\(name)", limit: Limits.Store.manifestBytes),
            let end = tornEnd(of: list)
        else { return nil }
        try demand(end < list.count, "the list of files is cut behind its end", name)
        try write(list, to: "\(path)/\(name).torn", keeping: list.count)
        try write([], to: "\(path)/\(name)", keeping: end)
        return name
    }

    /// Where the list is to end; nil where its first bad record is not torn in this way, or is not at its end.
    static func tornEnd(of list: [UInt8]) -> Int? {
        var at = 0
        while at + head <= list.count {
            let left = block - at % block
            guard left >= head else {
                at += left
                continue
            }
            let length = Int(list[at + 4]) | Int(list[at + 5]) << 8
            let end = at + head + length
            guard head + length <= left, end <= list.count, isWhole(list[at..<end]) else {
                // What the engine writes before it syncs is short. Damage is anywhere.
                return list.count - at <= Limits.Journal.manifestTailBytes && isTorn(list, at, end) ? at : nil
            }
            at = end
        }
        return nil
    }

    /// Whether a change lacks one of its sectors: what was not written reads as zeros. Without the first one it lacks its head too.
    private static func isTorn(_ list: [UInt8], _ at: Int, _ end: Int) -> Bool {
        var from = at
        while from < max(at + 1, min(end, list.count)) {
            let next = min((from / sector + 1) * sector, list.count)
            if list[from..<next].allSatisfy({ $0 == 0 }) { return true }
            from = next
        }
        return false
    }

    private static func isWhole(_ record: ArraySlice<UInt8>) -> Bool {
        let stored = record.prefix(4).reversed().reduce(0 as UInt32) { $0 << 8 | UInt32($1) }
        return stored == checksum(record.dropFirst(6))
    }

    /// CRC-32C of type and content, turned and shifted as the engine does it, so that it is no checksum of itself.
    static func checksum(_ bytes: ArraySlice<UInt8>) -> UInt32 {
        var crc = ~(0 as UInt32)
        for byte in bytes {
            crc ^= UInt32(byte)
            for _ in 0..<8 { crc = crc >> 1 ^ (crc & 1 == 0 ? 0 : 0x82f6_3b78) }
        }
        crc = ~crc
        return (crc >> 15 | crc << 17) &+ 0xa282_ead8
    }

    /// Writes bytes at the start of a file, cuts it to a size, and syncs it.
    private static func write(_ bytes: [UInt8], to path: String, keeping size: Int) throws(StoreError) {
        let file = unsafe Glibc.open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw .system("open \(path)") }
        defer { Glibc.close(file) }
        let count = unsafe bytes.raw.withUnsafeBytes { bytes in
            unsafe pwrite(file, bytes.baseAddress, bytes.count, 0)
        }
        guard count == bytes.count, ftruncate(file, off_t(size)) == 0, fsync(file) == 0 else {
            throw .system("write \(path)")
        }
    }
}
