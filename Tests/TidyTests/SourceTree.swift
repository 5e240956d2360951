import Glibc

/// One file of the tree.
struct SourceFile: Sendable {
    /// From the root of the package: `Sources/Basics/Bytes/Hex.swift`.
    var path: String
    /// The content; octets that are not UTF-8 are replaced.
    var text: String
    /// The lines, without their ends.
    var lines: [Substring]
    /// For Swift: the lines without what stands in comments and string literals.
    var code: [String]

    init(path: String, text: String) {
        self.path = path
        self.text = text
        lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        code = path.hasSuffix(".swift") ? SwiftCode.stripped(text) : []
    }

    /// The folder below Sources or Tests that it is in.
    var module: String { path.split(separator: "/").dropFirst().first.map(String.init) ?? "" }
    /// Whether it is Swift.
    var isSwift: Bool { path.hasSuffix(".swift") }
}

/// The files of the package, read once.
enum SourceTree {
    /// The folder of Package.swift.
    static let root: String = {
        var parts = "\(#filePath)".split(separator: "/")
        while let last = parts.popLast(), last != "Tests" {}
        return "/" + parts.joined(separator: "/")
    }()

    /// Everything that people wrote, fixtures apart.
    static let files: [SourceFile] = {
        let paths =
            ["Sources", "Tests", "Scripts", "systemd", ".ci"].flatMap { walk($0) }
            + entries("").filter(isTopLevelText)
        return paths.sorted().compactMap { path in read(path).map { SourceFile(path: path, text: $0) } }
    }()

    /// The Swift files of programs and modules.
    static var product: [SourceFile] { files.filter { $0.isSwift && $0.path.hasPrefix("Sources/") } }
    /// The Swift files of tests.
    static var tests: [SourceFile] { files.filter { $0.isSwift && $0.path.hasPrefix("Tests/") } }
    /// All Swift files.
    static var swift: [SourceFile] { files.filter(\.isSwift) }

    private static func isTopLevelText(_ name: String) -> Bool {
        name.hasSuffix(".md") || name.hasSuffix(".swift") || name == "LICENSE"
    }

    /// All files below a folder, as paths from the root.
    static func walk(_ folder: String) -> [String] {
        entries(folder).flatMap { name -> [String] in
            let path = "\(folder)/\(name)"
            guard name != "__pycache__" else { return [] }
            return isFolder(path) ? walk(path) : [path]
        }
    }

    /// The names in a folder, hidden ones left out.
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

    /// The text of a file; nil where it cannot be read.
    static func read(_ path: String) -> String? {
        guard let file = fopen("\(root)/\(path)", "r") else { return nil }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while case let count = fread(&chunk, 1, chunk.count, file), count > 0 { bytes += chunk[..<count] }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The mode of a file; 0 where there is none.
    static func mode(_ path: String) -> mode_t {
        var status = stat()
        return stat("\(root)/\(path)", &status) == 0 ? status.st_mode : 0
    }

    private static func isFolder(_ path: String) -> Bool { mode(path) & S_IFMT == S_IFDIR }

    /// What a command prints, and its exit code.
    static func output(of command: String) -> (text: String, code: Int32) {
        guard let pipe = popen("\(command) 2>&1", "r") else { return ("", -1) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while case let count = fread(&chunk, 1, chunk.count, pipe), count > 0 { bytes += chunk[..<count] }
        let status = pclose(pipe)
        return (String(decoding: bytes, as: UTF8.self), status >> 8 & 255)
    }
}
