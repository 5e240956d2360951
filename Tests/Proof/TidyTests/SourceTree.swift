import BasicsSupport
import Glibc

/// One file of the tree.
struct SourceFile: Sendable {
    /// The path from the root of the package: `Sources/Foundation/Basics/Bytes/Hex.swift`.
    var path: String
    /// The content; invalid UTF-8 is replaced.
    var text: String
    /// The lines without their ends.
    var lines: [Substring]
    /// The lines of a Swift file without comments and the content of string literals.
    var code: [String]

    init(path: String, text: String) {
        self.path = path
        self.text = text
        lines = SwiftCode.lines(of: Array(text.utf8)).map { Substring($0) }
        code = path.hasSuffix(".swift") ? SwiftCode.stripped(text) : []
    }

    /// The path from the folder of its floor: `Basics/Bytes/Hex.swift`.
    var place: String { path.split(separator: "/").dropFirst(2).joined(separator: "/") }
    /// The module that contains the file.
    var module: String { place.split(separator: "/").first.map(String.init) ?? "" }
    var isSwift: Bool { path.hasSuffix(".swift") }

    /// Whether the text contains `part`.
    func mentions(_ part: String) -> Bool { text.mentions(part) }
}

extension String {
    /// Whether it contains `part`. In a build without optimization much faster than `contains`, so rules use it to skip files.
    func mentions(_ part: String) -> Bool {
        withCString { text in part.withCString { strstr(text, $0) != nil } }
    }
}

/// The files of the package, read once.
enum SourceTree {
    /// The folder that contains Package.swift.
    static let root = PackageRoot.path

    /// All files of sources, tests and scripts, and the top-level texts.
    static let files: [SourceFile] = {
        let paths =
            ["Sources", "Tests", "Scripts", "systemd", "packaging", ".ci"].flatMap { walk($0) }
            + entries("").filter(isTopLevelText)
        return paths.sorted().compactMap { path in read(path).map { SourceFile(path: path, text: $0) } }
    }()

    /// The Swift files of modules and programs.
    static var product: [SourceFile] { files.filter { $0.isSwift && $0.path.hasPrefix("Sources/") } }
    /// The Swift files of tests.
    static var tests: [SourceFile] { files.filter { $0.isSwift && $0.path.hasPrefix("Tests/") } }
    /// All Swift files.
    static var swift: [SourceFile] { files.filter(\.isSwift) }

    /// The floors and modules of Package.swift.
    static let house = House(manifest: read("Package.swift") ?? "")

    /// Documents, and the comments of fixtures.
    static let documents: [SourceFile] = {
        let documents = walk("docs").filter { $0.hasSuffix(".md") }
        let fixtures = ["Fixtures/disk", "Fixtures/faults", "Fixtures/interop", "Fixtures/transcripts"]
            .flatMap(walk)
        let paths = documents + fixtures + ["Fixtures/seeds.txt", "Fixtures/corpus/reach.txt"]
        return paths.compactMap { path in
            read(path).map { text in
                let isWhole = [".md", ".c", "/rows.txt"].contains { path.hasSuffix($0) }
                return SourceFile(path: path, text: isWhole ? text : comments(text))
            }
        }
    }()

    /// Returns the comments of a fixture on their lines, with empty lines in place of the others.
    static func comments(_ text: String) -> String {
        let lines = SwiftCode.lines(of: Array(text.utf8)).map { line in
            let words = line.drop { $0 == " " }
            return words.hasPrefix("#") || words.hasPrefix("equivalent:") ? line : ""
        }
        return lines.joined(separator: "\n")
    }

    private static func isTopLevelText(_ name: String) -> Bool {
        name.hasSuffix(".md") || name.hasSuffix(".swift") || name == "LICENSE" || name == "Containerfile"
    }

    /// Returns all files below a folder, as paths from the root, without linked folders.
    static func walk(_ folder: String) -> [String] {
        entries(folder).flatMap { name -> [String] in
            let path = "\(folder)/\(name)"
            guard name != "__pycache__" else { return [] }
            guard isFolder(path) else { return [path] }
            // The files of a linked folder are listed in their own.
            return isLink(path) ? [] : walk(path)
        }
    }

    /// Returns the names in a folder, except hidden ones.
    static func entries(_ folder: String) -> [String] {
        guard let directory = opendir("\(root)/\(folder)") else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if !name.hasPrefix(".") { names.append(name) }
        }
        return names.sorted()
    }

    /// Returns the text of a file, or `nil` if it cannot be read.
    static func read(_ path: String) -> String? {
        guard let file = fopen("\(root)/\(path)", "r") else { return nil }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while case let count = fread(&chunk, 1, chunk.count, file), count > 0 { bytes += chunk[..<count] }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Returns the mode of a file, or 0 if it does not exist.
    static func mode(_ path: String) -> mode_t {
        var status = stat()
        return stat("\(root)/\(path)", &status) == 0 ? status.st_mode : 0
    }

    private static func isFolder(_ path: String) -> Bool { mode(path) & S_IFMT == S_IFDIR }

    private static func isLink(_ path: String) -> Bool {
        var status = stat()
        return lstat("\(root)/\(path)", &status) == 0 && status.st_mode & S_IFMT == S_IFLNK
    }

    /// Runs a command. Returns its output and exit code.
    static func output(of command: String) -> (text: String, code: Int32) {
        guard let pipe = popen("\(command) 2>&1", "r") else { return ("", -1) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while case let count = fread(&chunk, 1, chunk.count, pipe), count > 0 { bytes += chunk[..<count] }
        let status = pclose(pipe)
        return (String(decoding: bytes, as: UTF8.self), status >> 8 & 255)
    }
}
