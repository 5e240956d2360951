import BasicsSupport
import Glibc
import Testing

/// One file of Fixtures/hostile/json; its name starts with the outcome and two dashes.
struct HostileJSON: Sendable, CustomTestStringConvertible {
    let name: String

    /// The expected outcome.
    var outcome: String {
        guard let dashes = name.utf8.firstIndexOfDashes else { return name }
        return String(name[..<dashes])
    }

    var testDescription: String { name }

    /// All files, sorted.
    static let all: [HostileJSON] = {
        var names: [String] = []
        guard let folder = opendir(path) else { return [] }
        defer { closedir(folder) }
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { start in
                start.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name.hasSuffix(".json") { names.append(name) }
        }
        return names.sorted().map(HostileJSON.init)
    }()

    /// Reads the bytes of the file.
    func content() throws -> [UInt8] {
        guard let file = fopen(Self.path + "/" + name, "r") else { throw Missing(name: name) }
        defer { fclose(file) }
        var content: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = fread(&part, 1, part.count, file)
            guard count > 0 else { return content }
            content.append(contentsOf: part[..<count])
        }
    }

    /// A file that could not be opened.
    struct Missing: Error { let name: String }

    private static let path = PackageRoot.path + "/Fixtures/hostile/json"
}

extension String.UTF8View {
    /// The start of the first two consecutive dashes.
    fileprivate var firstIndexOfDashes: Index? {
        var at = startIndex
        while at < endIndex {
            let next = index(after: at)
            if self[at] == UInt8(ascii: "-"), next < endIndex, self[next] == UInt8(ascii: "-") { return at }
            at = next
        }
        return nil
    }
}
