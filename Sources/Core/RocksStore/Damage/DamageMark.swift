import Basics
import Glibc
import Store

/// The mark of a damaged store: a file in its folder, beside the engine, with a line for each damaged table.
///
/// It survives restarts, and ends with `ccsd check --store` (`RocksStore.check`) or with a restored store, which has none.
enum DamageMark {
    /// The name of the file. The engine ignores unknown files.
    static let name = "DAMAGED"
    private static let draft = "DAMAGED.tmp"
    private static let head = "ccsd damaged store 1"

    /// Reads the mark. A mark that cannot be read is damage as well. Returns no tables if there is no mark.
    static func read(_ path: String) throws(StoreError) -> [StoreDamage] {
        let file = "\(path)/\(name)"
        guard unsafe access(file, F_OK) == 0 else { return [] }
        let bytes = try StoreFiles.read(file, limit: Limits.Store.damageMarkBytes)
        return bytes.flatMap { tables(in: String(decoding: $0, as: UTF8.self)) } ?? [unreadable]
    }

    /// Writes the mark durably.
    static func write(_ tables: [StoreDamage], to path: String) throws(StoreError) {
        let file = unsafe Glibc.open(
            "\(path)/\(draft)", O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw .system("create \(path)/\(draft)") }
        defer { Glibc.close(file) }
        try StoreFiles.append([UInt8](text(of: tables).utf8).raw, to: file, "\(path)/\(draft)")
        guard fsync(file) == 0, unsafe rename("\(path)/\(draft)", "\(path)/\(name)") == 0 else {
            throw .system("write \(path)/\(name)")
        }
        try StoreFiles.sync(folder: path)
    }

    /// Adds a table to the mark, unless it is there or the mark is full.
    static func add(_ damage: StoreDamage, to path: String) throws(StoreError) {
        var state = DamageState(tables: try read(path))
        if state.add(damage) { try write(state.tables, to: path) }
    }

    /// Removes the mark durably, if there is one.
    static func remove(from path: String) throws(StoreError) {
        guard unsafe unlink("\(path)/\(name)") == 0 || errno == ENOENT else {
            throw .system("remove \(path)/\(name)")
        }
        try StoreFiles.sync(folder: path)
    }

    static func text(of tables: [StoreDamage]) -> String {
        var text = head + "\n"
        for table in tables {
            let fields = [
                table.table, table.family, table.partition.map { "\($0)" } ?? "", table.concerns,
                table.problem,
            ]
            text += fields.map(oneField).joined(separator: "\t") + "\n"
        }
        return text
    }

    /// Returns the tables in a mark. Returns `nil` if it is not one.
    static func tables(in text: String) -> [StoreDamage]? {
        let lines = text.split(separator: "\n")
        guard lines.first == Substring(head), lines.count > 1 else { return nil }
        var tables: [StoreDamage] = []
        for line in lines.dropFirst().prefix(Limits.Store.damagedTables) {
            let fields = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
            guard fields.count == 5 else { return nil }
            tables.append(
                StoreDamage(
                    table: fields[0], family: fields[1], partition: Int(fields[2]), concerns: fields[3],
                    problem: fields[4]))
        }
        return tables
    }

    private static func oneField(_ text: String) -> String {
        String(decoding: text.utf8.map { $0 < 0x20 ? 0x20 : $0 }, as: UTF8.self)
    }

    /// The content of a mark that is itself damaged.
    private static let unreadable = StoreDamage(
        table: name, family: "", partition: nil, concerns: "the mark of the damage cannot be read itself",
        problem: "expected the line \"\(head)\" and a line for each table")
}
