/// The floors of the package and their modules, as Package.swift has them.
struct House {
    struct Module: Equatable {
        var name: String
        /// The number of its floor; 0 is the ground.
        var floor: Int
        var dependencies: Set<String>
    }

    /// The names of the floors, from the ground up.
    private(set) var floors: [String] = []
    private(set) var modules: [String: Module] = [:]
    /// The targets below Tests that are no tests, and their folders: a release build compiles them too.
    private var supports: Set<String> = []
    private(set) var released: [String] = []

    init(manifest: String) {
        let code = manifest.split(separator: "\n").filter { !$0.drop { $0 == " " }.hasPrefix("//") }
        for part in code.joined(separator: "\n").split(separator: " floor(").dropFirst() {
            guard let name = Self.literals(part).first, name != part else { continue }
            // The function itself has no name of a floor.
            guard part.drop(while: { $0 == " " || $0 == "\n" }).hasPrefix("\"") else { continue }
            if !floors.contains(name) { floors.append(name) }
            readTargets(part, floor: floors.firstIndex(of: name) ?? 0)
        }
    }

    private mutating func readTargets(_ part: Substring, floor: Int) {
        for form in ["module(", "program(", ".target(", ".executableTarget(", ".systemLibrary(", "support("] {
            for call in part.split(separator: " " + form).dropFirst() {
                // It ends before the next one.
                let end =
                    [
                        " module(", " program(", " .target(", " .executableTarget(", " .systemLibrary(",
                        " support(", " tests(",
                    ]
                    .compactMap { call.firstRange(of: $0)?.lowerBound }.min() ?? call.endIndex
                readTarget(call[..<end], isOurs: !form.hasPrefix("."), floor)
            }
        }
    }

    private mutating func readTarget(_ call: Substring, isOurs: Bool, _ floor: Int) {
        let literals = Self.literals(call)
        guard let name = literals.first else { return }
        if let place = call.firstRange(of: "path: ") ?? call.firstRange(of: "in: ") {
            let folder = Self.literals(call[place.upperBound...]).first ?? ""
            supports.insert(name)
            released.append("Tests/\(floors[floor])/\(folder)/")
            return
        }
        // Targets of ours have only dependencies in brackets, others name them.
        let start = isOurs ? call.startIndex : call.firstRange(of: "dependencies: ")?.upperBound
        let list = start.map { call[$0...].drop { $0 != "[" }.prefix { $0 != "]" } } ?? ""
        let dependencies = Self.literals(list)
        modules[name] = Module(name: name, floor: floor, dependencies: Set(dependencies))
    }

    /// Returns the string literals of a text.
    private static func literals(_ text: Substring) -> [String] {
        text.split(separator: "\"", omittingEmptySubsequences: false).enumerated()
            .filter { $0.offset % 2 == 1 }.map { String($0.element) }
    }

    /// Returns the dependencies that lead to a floor above.
    var climbing: [String] {
        modules.values.sorted { $0.name < $1.name }.flatMap { module in
            module.dependencies.subtracting(supports).sorted().compactMap { name in
                guard let other = modules[name] else {
                    return "\(module.name) needs \(name), which is on no floor"
                }
                return other.floor <= module.floor
                    ? nil
                    : "\(module.name) (\(floors[module.floor])) needs \(name) (\(floors[other.floor])), a floor above"
            }
        }
    }

    /// The floors and their modules, the highest first, as docs/architecture.md shows them.
    var picture: String {
        let width = floors.map(\.count).max() ?? 0
        let rows = floors.indices.reversed().map { floor in
            let names = modules.values.filter { $0.floor == floor }.map(\.name).sorted()
            return floors[floor] + String(repeating: " ", count: width + 3 - floors[floor].count)
                + names.joined(separator: "  ")
        }
        return rows.joined(separator: "\n")
    }
}
