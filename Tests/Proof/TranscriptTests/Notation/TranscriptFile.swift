import BasicsSupport
import Glibc

/// A conversation with one session, as a file to read and to run. Notation: Fixtures/transcripts/README.md.
public struct Transcript: Sendable {
    /// One line, split into its mark and text.
    public struct Line: Sendable {
        /// `C:`, `S:`, `>>`, `<<`, `@`, `!!` or `%`.
        public var mark: String
        /// The text after the mark, as written.
        public var text: String
        /// The line number in the file, from 1.
        public var number: Int
    }

    /// The name of the file.
    public var name: String
    /// The lines to play, without remarks and the head.
    public var lines: [Line]
    /// The rows of the spec that it proves, by their names in rows.txt.
    public var proves: [String] = []
    /// The clients that it represents.
    public var clients: [String] = []

    /// Parses a transcript; `part` returns the text of an included part.
    public init(name: String, text: String, part: (String) throws -> String = { _ in "" }) throws {
        self.name = name
        lines = []
        for (at, raw) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            if raw.hasPrefix("Proves: ") {
                proves = Self.list(raw)
            } else if raw.hasPrefix("Clients: ") {
                clients = Self.list(raw)
            } else if raw.hasPrefix("+ ") {
                let included = try Transcript(name: name, text: try part(String(raw.dropFirst(2))))
                lines += included.lines.map { Line(mark: $0.mark, text: $0.text, number: at + 1) }
            } else if !raw.isEmpty, !raw.hasPrefix("#") {
                lines += try Self.lines(of: raw, number: at + 1, in: name)
            }
        }
    }

    private static func list(_ line: Substring) -> [String] {
        let value = line.drop { $0 != " " }.dropFirst()
        return value.split(separator: ",").map { String($0.drop { $0 == " " }) }
    }

    private static func lines(of raw: Substring, number: Int, in name: String) throws -> [Line] {
        var line = raw
        var count: Int?
        if line.hasPrefix("x"), let blank = line.firstIndex(of: " ") {
            count = Int(line[line.index(after: line.startIndex)..<blank])
            line = line[line.index(after: blank)...]
        }
        let end = line.firstIndex(of: " ") ?? line.endIndex
        let mark = String(line[..<end])
        guard ["C:", "S:", ">>", "<<", "@", "!!", "%"].contains(mark) else {
            throw TranscriptFailure(transcript: name, line: number, what: "unknown mark: \(mark)")
        }
        let text = end == line.endIndex ? "" : String(line[line.index(after: end)...])
        return (1...max(count ?? 1, 1)).map { index in
            Line(
                mark: mark, text: count == nil ? text : text.replacing("$(n)", with: String(index)),
                number: number)
        }
    }

    /// Returns all transcripts of a folder below Fixtures/transcripts, sorted by name.
    public static func all(in folder: String) throws -> [Transcript] {
        let path = PackageRoot.path + "/Fixtures/transcripts/" + folder
        var names: [String] = []
        guard let directory = opendir(path) else {
            throw TranscriptFailure(transcript: path, line: 0, what: "cannot be opened")
        }
        defer { closedir(directory) }
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { start in
                start.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name.hasSuffix(".play") || (name.hasSuffix(".txt") && name != "rows.txt") {
                names.append(name)
            }
        }
        return try names.sorted().map { name in
            try Transcript(name: name, text: try content(of: path + "/" + name)) { part in
                try content(of: path + "/parts/" + part + ".part")
            }
        }
    }

    /// Returns the rows of a folder's rows.txt: their names and third columns.
    public static func rows(in folder: String) throws -> [(name: String, elsewhere: String?)] {
        let text = try content(of: PackageRoot.path + "/Fixtures/transcripts/" + folder + "/rows.txt")
        return text.split(separator: "\n").filter { !$0.hasPrefix("#") }.map { line in
            let parts = line.split(separator: "|").map { part in
                String(part.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
            }
            return (parts.first ?? "", parts.count > 2 ? parts[2] : nil)
        }
    }

    private static func content(of path: String) throws -> String {
        guard let file = fopen(path, "r") else {
            throw TranscriptFailure(transcript: path, line: 0, what: "cannot be opened")
        }
        defer { fclose(file) }
        var content: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = fread(&part, 1, part.count, file)
            guard count > 0 else { return String(decoding: content, as: UTF8.self) }
            content.append(contentsOf: part[..<count])
        }
    }
}

/// A difference between a transcript and the session.
public struct TranscriptFailure: Error, CustomStringConvertible {
    public var transcript: String
    /// The line number in the file, from 1.
    public var line: Int
    /// A description of the difference.
    public var what: String
    public var description: String { "\(transcript):\(line): \(what)" }

    public init(transcript: String, line: Int, what: String) {
        self.transcript = transcript
        self.line = line
        self.what = what
    }
}
