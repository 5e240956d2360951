/// Rules about Swift code.
enum CodeRules {
    /// The largest number of lines of a function.
    static let functionLines = 70

    /// Files whose classes may be `@unchecked Sendable`: they wrap C objects or belong to one thread.
    private static let uncheckedFolders = [
        "Server/Webhooks/CURLClient.swift",
        "Transport/", "RocksStore/",
        // The condition variable of pthreads, which Synchronization does not have.
        "Server/Ports/Monitor.swift",
        // A world runs on one thread.
        "Simulation/Machinery/SessionEnd.swift",
    ]

    /// Returns functions and initializers that are too long.
    static func longFunctions(_ file: SourceFile) -> [String] {
        var scanner = FunctionScanner()
        for (index, line) in file.code.enumerated() { scanner.scan(line, number: index + 1) }
        return scanner.functions.filter { $0.count > functionLines }.map {
            "\(file.path):\($0.line): a function of \($0.count) lines, at most \(functionLines) allowed"
        }
    }

    /// Returns lines with a forced unwrap, `try!` or `as!`.
    static func forcing(_ file: SourceFile) -> [String] {
        found(file) { line in
            guard line.utf8.contains(UInt8(ascii: "!")) else { return nil }
            if line.contains("try!") { return "try!" }
            if line.contains("as! ") { return "as!" }
            let characters = Array(line)
            for at in characters.indices.dropFirst() where characters[at] == "!" {
                let before = characters[at - 1]
                let after = at + 1 < characters.count ? characters[at + 1] : " "
                let isPostfix =
                    before.isLetter || before.isNumber || before == ")" || before == "]" || before == "_"
                if isPostfix, after != "=" { return "forced unwrap" }
            }
            return nil
        }
    }

    /// Returns lines with `@unchecked` outside the listed files.
    static func unchecked(_ file: SourceFile) -> [String] {
        guard !uncheckedFolders.contains(where: { file.place.hasPrefix($0) }) else { return [] }
        return found(file) {
            $0.contains("@unchecked") ? "@unchecked outside the files listed in CodeRules.swift" : nil
        }
    }

    /// Returns lines with the access level `package`, which prevents optimization across modules; `public` is as private here, since
    /// the package has no library product.
    static func access(_ file: SourceFile) -> [String] {
        found(file) { line in
            let words = line.split(separator: " ")
            guard let first = words.first(where: { !$0.hasPrefix("@") }), words.count > 1 else { return nil }
            let isAccess = first == "package" || first == "package(set)"
            return isAccess ? "package instead of public (see Package.swift)" : nil
        }
    }

    /// Returns lines with a time limit of Swift Testing: it also counts the wait for a free thread, minutes on a busy machine. Each wait
    /// of a test has a deadline of its own.
    static func timeLimits(_ file: SourceFile) -> [String] {
        found(file) { $0.contains(".timeLimit(") ? "a time limit, which a busy machine exceeds" : nil }
    }

    static func found(_ file: SourceFile, _ problem: (String) -> String?) -> [String] {
        file.code.enumerated().compactMap { index, line in
            problem(line).map { "\(file.path):\(index + 1): \($0)" }
        }
    }
}

/// Finds functions and their lengths by counting braces.
struct FunctionScanner {
    /// The functions so far: the line of the declaration and the number of lines.
    private(set) var functions: [(line: Int, count: Int)] = []
    private var open: [Int?] = []
    private var pending: Int?
    private var parentheses = 0

    private static let starts: Set<String> = ["func", "init", "deinit", "subscript"]
    private static let others: Set<String> = [
        "struct", "class", "enum", "extension", "protocol", "actor", "var", "let", "case", "import",
    ]

    /// Scans one line of code.
    mutating func scan(_ line: String, number: Int) {
        var word = ""
        var before: Character = " "
        for character in line + " " {
            if character.isLetter || character.isNumber || character == "_" {
                word.append(character)
                continue
            }
            if !word.isEmpty { scan(word: word, after: before, number) }
            if !word.isEmpty || character != " " { before = character }
            word = ""
            scan(character, number)
        }
    }

    private mutating func scan(word: String, after before: Character, _ number: Int) {
        guard parentheses == 0, before != "." else { return }
        if Self.starts.contains(word) { pending = number }
        if Self.others.contains(word) { pending = nil }
    }

    private mutating func scan(_ character: Character, _ number: Int) {
        switch character {
        case "(", "[": parentheses += 1
        case ")", "]": parentheses = max(0, parentheses - 1)
        case "{":
            open.append(parentheses == 0 ? pending : nil)
            if parentheses == 0 { pending = nil }
        case "}":
            if let start = open.popLast() ?? nil { functions.append((start, number - start + 1)) }
        default: break
        }
    }
}
