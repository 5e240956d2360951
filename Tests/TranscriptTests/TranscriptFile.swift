import Glibc

/// A conversation with one session, as a file to read and to run. Notation: Fixtures/transcripts/README.md.
struct Transcript: Sendable {
    /// One line.
    struct Line: Sendable {
        /// `C:`, `S:`, `>>`, `<<`, `@`, `!!` or `%`.
        var mark: String
        /// What follows, as written.
        var text: String
        /// Place in the file, from 1.
        var number: Int
    }

    var name: String
    var lines: [Line]

    /// Reads the text of a transcript; `part` gives the text of a part that it includes.
    init(name: String, text: String, part: (String) throws -> String = { _ in "" }) throws {
        self.name = name
        lines = []
        for (at, raw) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            if raw.hasPrefix("+ ") {
                let included = try Transcript(name: name, text: try part(String(raw.dropFirst(2))))
                lines += included.lines.map { Line(mark: $0.mark, text: $0.text, number: at + 1) }
            } else if !raw.isEmpty, !raw.hasPrefix("#") {
                lines += try Self.lines(of: raw, number: at + 1, in: name)
            }
        }
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
            throw TranscriptFailure(transcript: name, line: number, what: "no such mark: \(mark)")
        }
        let text = end == line.endIndex ? "" : String(line[line.index(after: end)...])
        return (1...max(count ?? 1, 1)).map { index in
            Line(
                mark: mark, text: count == nil ? text : text.replacing("$(n)", with: String(index)),
                number: number)
        }
    }

    /// All transcripts of a folder below Fixtures/transcripts, sorted by name.
    static func all(in folder: String) throws -> [Transcript] {
        let root = "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
        let path = root + "/Fixtures/transcripts/" + folder
        var names: [String] = []
        guard let directory = opendir(path) else {
            throw TranscriptFailure(transcript: path, line: 0, what: "cannot be opened")
        }
        defer { closedir(directory) }
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { start in
                start.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name.hasSuffix(".txt") { names.append(name) }
        }
        return try names.sorted().map { name in
            try Transcript(name: name, text: try content(of: path + "/" + name)) { part in
                try content(of: path + "/parts/" + part + ".part")
            }
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

/// Where a transcript and the session disagree.
struct TranscriptFailure: Error, CustomStringConvertible {
    var transcript: String
    var line: Int
    var what: String
    var description: String { "\(transcript):\(line): \(what)" }
}
