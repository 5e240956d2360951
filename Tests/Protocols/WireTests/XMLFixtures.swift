import BasicsSupport
import Glibc
import Testing
import Wire

/// One file of Fixtures/hostile/xml; its name starts with the expected outcome and two underscores.
struct HostileXML: Sendable, CustomTestStringConvertible {
    let name: String

    var testDescription: String { name }

    /// Whether the file is a whole stream, or else a part of one.
    var isStream: Bool { name.contains("__stream_") }

    /// The expected condition before or after login, or `nil` if the file must be accepted.
    func expected(loggedIn: Bool) -> String? {
        let outcome = name.prefix { $0 != "_" }
        let both = outcome.split(separator: "~")
        let word = (loggedIn ? both.last : both.first) ?? outcome
        return word == "accepted" ? nil : String(word)
    }

    /// Returns the bytes of the connection.
    func content() throws -> [UInt8] {
        guard let file = fopen(Self.path + "/" + name, "r") else { throw Missing(name: name) }
        defer { fclose(file) }
        var content = isStream ? [] : Array(text: HeaderForm.all[1].opening)
        var part = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = fread(&part, 1, part.count, file)
            guard count > 0 else { return content }
            content.append(contentsOf: part[..<count])
        }
    }

    /// A file that could not be opened.
    struct Missing: Error { let name: String }

    /// All files, sorted.
    static let all: [HostileXML] = {
        var names: [String] = []
        guard let folder = opendir(path) else { return [] }
        defer { closedir(folder) }
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { start in
                start.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name.hasSuffix(".xml") { names.append(name) }
        }
        return names.sorted().map(HostileXML.init)
    }()

    private static let path = PackageRoot.path + "/Fixtures/hostile/xml"
}
