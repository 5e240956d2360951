import Basics
import Glibc
import Store

/// Repairs a manifest of the engine (`MANIFEST-…`) that a power cut has torn in a way that the engine cannot handle.
///
/// The engine skips an unsynced record at the end of the manifest if the start of the record is missing, or the file ends before
/// the record does. But if a power cut has left some sectors of a record and not others, the missing ones are zeros, and the engine
/// reports damage. It relies on no record before that is synced, so that the manifest is valid without this record and all after
/// it.
enum TornManifest {
    private static let block = 32_768
    private static let sector = 512
    /// Checksum (4), length (2), type (1).
    private static let head = 7

    /// Truncates the manifest before a torn record, and keeps the original under another name. Returns the name of the manifest.
    ///
    /// Returns `nil` and changes nothing if the manifest is not torn in this way.
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
        try demand(end < list.count, "the manifest is truncated after its end", name)
        try write(list, to: "\(path)/\(name).torn", keeping: list.count)
        try write([], to: "\(path)/\(name)", keeping: end)
        return name
    }

    /// Returns the offset of the torn record. Returns `nil` if the first bad record is not torn in this way, or not at the end.
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
                // The engine writes little before it syncs. Damage may be anywhere.
                return list.count - at <= Limits.Journal.manifestTailBytes && isTorn(list, at, end) ? at : nil
            }
            at = end
        }
        return nil
    }

    /// Returns whether one of the sectors of a record is missing, which reads as zeros. The first one contains its header.
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

    /// Returns the CRC-32C of type and content, masked as the engine does it (rotated, plus a constant).
    static func checksum(_ bytes: ArraySlice<UInt8>) -> UInt32 {
        var crc = ~(0 as UInt32)
        for byte in bytes {
            crc ^= UInt32(byte)
            for _ in 0..<8 { crc = crc >> 1 ^ (crc & 1 == 0 ? 0 : 0x82f6_3b78) }
        }
        crc = ~crc
        return (crc >> 15 | crc << 17) &+ 0xa282_ead8
    }

    /// Writes bytes at the start of a file, truncates it to a size, and syncs it.
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
