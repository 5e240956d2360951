import Basics
import Catalogue
import Client
import ClusterSetup
import Operator
import Wire

/// A file of `ccsctl export`.
struct ExportSource {
    private let path: String

    init(_ path: String) { self.path = path }

    /// Checks the first and the last line before anything is imported. Returns the number of rows.
    func check(_ file: inout LineFile) throws(Failure) -> Int {
        guard let first = try file.next() else { throw bad("\(path) is empty", Self.notExport) }
        try checkHeader(first)
        var (last, count): ([UInt8], Int) = ([], 0)
        while let line = try file.next() { (last, count) = (line, count + 1) }
        let json = try? JSONValue(parsing: last.raw)
        guard let json, (try? ExportedRow.kind(of: json)) == .end,
            let end: ExportEnd = try? ExportedRow.strict(json)
        else {
            throw bad(
                "\(path) is truncated: its last line is not the end of an export",
                "export again, or copy the file again")
        }
        guard end.rows == count - 1 else {
            throw bad(
                "\(path) is incomplete: it has \(count - 1) rows, expected \(end.rows)",
                "export again, or copy the file again")
        }
        return end.rows
    }

    private static let notExport = "give a file of ccsctl export"

    private func checkHeader(_ line: [UInt8]) throws(Failure) {
        guard let json = try? JSONValue(parsing: line.raw), (try? ExportedRow.kind(of: json)) == .header
        else { throw bad("\(path) is not an export: its first line is not a header", Self.notExport) }
        guard let format = json["format"]?.integer else {
            throw bad("\(path):1: missing format: expected \(ExportHeader.formatNow)", Self.notExport)
        }
        guard format == ExportHeader.formatNow else {
            let version = json["ccsd"]?.text.map { " of ccsctl \(Report.safe($0))" } ?? ""
            throw bad(
                "\(path) has export format \(format)\(version), expected format \(ExportHeader.formatNow)",
                "import it with \(format > ExportHeader.formatNow ? "a newer" : "an older") ccsd, or export it with this version"
            )
        }
    }

    private func bad(_ text: String, _ hint: String) -> Failure { Failure(.badData, text, hint: hint) }

    // MARK: Secrets

    /// Returns the secrets of the file by their names: the first rows after the header.
    func secrets() throws(Failure) -> [String: Redacted<[UInt8]>] {
        var file = try LineFile(path)
        _ = try check(&file)
        try file.rewind()
        _ = try file.next()
        var secrets: [String: Redacted<[UInt8]>] = [:]
        while let line = try file.next(), let json = try? JSONValue(parsing: line.raw),
            (try? ExportedRow.kind(of: json)) == .secret
        {
            let row: ExportedSecret
            do throws(FieldProblem) { row = try ExportedRow.strict(json) } catch {
                throw bad(
                    "\(path) has a secret that cannot be read: \(Report.safe(error.text))", "export again")
            }
            guard row.value.revealed.count == ClusterFile.secretBytes else {
                throw bad(
                    "\(path) has a secret of \(row.value.revealed.count) bytes, expected \(ClusterFile.secretBytes)",
                    "export again")
            }
            secrets[row.name.rawValue] = row.value
        }
        guard !secrets.isEmpty else {
            throw bad("\(path) has no secret", "give a whole export, without a filter")
        }
        return secrets
    }
}
