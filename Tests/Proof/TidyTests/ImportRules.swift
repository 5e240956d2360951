/// A module imports what Package.swift names: SwiftPM does not reject imports of indirect dependencies.
enum ImportRules {
    /// The modules that call the system. All others are pure, or leave that to them.
    private static let system: [String: Set<String>] = [
        "Basics": ["Glibc", "Synchronization"],
        "Transport": ["Glibc", "Synchronization"],
        "RocksStore": ["Glibc", "Synchronization"],
        "Client": ["Glibc", "Synchronization"],
        "Server": ["Glibc", "Synchronization"],
        "ccsd": ["Glibc"],
        "ccsctl": ["Glibc"],
        "ccs-device": ["Glibc", "Synchronization"],
        "ccs-bench": ["Glibc", "Synchronization"],
        "ccs-fuzz": ["Glibc"],
    ]

    /// Returns the imports of a product file that are not allowed, and a place on another floor than that of its module.
    static func violations(_ file: SourceFile, in house: House) -> [String] {
        guard let module = house.modules[file.module] else {
            return ["\(file.path): Package.swift has no module \(file.module)"]
        }
        let folder = "Sources/\(house.floors[module.floor])/"
        let misplaced = file.path.hasPrefix(folder) ? [] : ["\(file.path) is not in \(folder)"]
        let allowed = module.dependencies.union(system[file.module] ?? [])
        return misplaced
            + imports(file).compactMap { name, line in
                allowed.contains(name) ? nil : "\(file.path):\(line): \(file.module) may not import \(name)"
            }
    }

    /// Returns the testable imports in these folders: in a release build they are errors.
    static func testable(_ file: SourceFile, in folders: [String]) -> [String] {
        guard folders.contains(where: file.path.hasPrefix) else { return [] }
        return file.code.indices.filter { file.code[$0].hasPrefix("@testable") }.map {
            "\(file.path):\($0 + 1): a release build has no testable imports"
        }
    }

    /// Returns the modules that a file imports, with their lines.
    static func imports(_ file: SourceFile) -> [(name: String, line: Int)] {
        file.code.enumerated().compactMap { index, line in
            let words = line.split(separator: " ")
            guard let place = words.firstIndex(of: "import"),
                words[..<place].allSatisfy({
                    $0.hasPrefix("@") || $0 == "private" || $0 == "internal" || $0 == "public"
                }),
                let name = words[(place + 1)...].first(where: {
                    !["struct", "class", "func", "enum", "protocol", "let", "var", "typealias"].contains($0)
                })
            else { return nil }
            return (String(name.prefix { $0 != "." }), index + 1)
        }
    }
}
