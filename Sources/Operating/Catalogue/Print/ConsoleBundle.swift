/// Makes two scripts of the console's modules, what the first page needs and the rest, and one page with one style sheet: a browser far away
/// asks three times instead of fifty.
///
/// The modules have only imports and exports by name, one on a line, and no cycles; a test holds them to that.
public enum ConsoleBundle {
    /// Why modules cannot become one script.
    public enum Failure: Error, Equatable {
        /// A module imports one that does not exist.
        case missing(path: String, importedBy: String)
        /// A module imports itself, by way of others.
        case cycle(path: String)
        /// A line is an import or export in another form, or a second call that imports.
        case unknownForm(line: String)
    }

    /// A page whose styles and script are left out, with what they were.
    public struct Page: Sendable, Equatable {
        /// The paths of the style sheets, in their order.
        public var styles: [String] = []
        /// The path of the first module.
        public var entry = ""
        /// The lines before the end of the head.
        var head: [Substring] = []
        /// The lines from there.
        var rest: [Substring] = []

        /// Returns the page with one style sheet and one script.
        public func with(style: String, script: String) -> String {
            let links = [
                #"<link rel="stylesheet" href="\#(style)">"#,
                #"<script type="module" src="\#(script)"></script>"#,
            ]
            return (head.map(String.init) + links + rest.map(String.init)).joined(separator: "\n")
        }
    }

    /// Reads a page whose links to styles and script have lines of their own and begin with `prefix`.
    public static func page(_ text: String, prefix: String) -> Page {
        var page = Page()
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if let path = between(line, #"<link rel="stylesheet" href="\#(prefix)"#, "\">") {
                page.styles.append(path)
            } else if let path = between(line, #"<script type="module" src="\#(prefix)"#, "\"></script>") {
                page.entry = path
            } else if page.rest.isEmpty && line != "</head>" {
                page.head.append(line)
            } else {
                page.rest.append(line)
            }
        }
        return page
    }

    /// The scripts of the console.
    public struct Scripts: Sendable, Equatable {
        /// What the page begins with.
        public var first: String
        /// What it imports when it is needed.
        public var late: Late?

        /// A script that is imported by its address.
        public struct Late: Sendable, Equatable {
            public var address: String
            public var text: String
        }
    }

    /// Returns one script of the entry and the modules that it imports, each as a function that returns its exports; and a second one of the
    /// module that is imported by a call, with what that adds. `address` returns the address of a script with this text.
    public static func scripts(
        entry: String, modules: [String: String], address: (String) -> String
    ) throws(Failure) -> Scripts {
        var state = Progress()
        try state.add(entry, importedBy: "the page", from: modules)
        var scripts = Scripts(first: "const modules = {};\n" + state.parts.joined())
        guard let late = state.late.first else { return scripts }
        state.parts = []
        try state.add(late.path, importedBy: entry, from: modules, isLate: true)
        guard state.late.count == 1 else { throw .unknownForm(line: state.late[1].call) }
        // It runs once, as a module does.
        let text = """
            export const part = (modules) => {
            if (modules["\(late.path)"]) return modules["\(late.path)"];
            \(state.parts.joined())return modules["\(late.path)"];
            };

            """
        let name = address(text)
        scripts.late = Scripts.Late(address: name, text: text)
        scripts.first.replace(late.call, with: "import(\"\(name)\").then(({ part }) => part(modules))")
        return scripts
    }

    private struct Progress {
        var parts: [String] = []
        /// The calls that import a module, and its path: one at most.
        var late: [(call: String, path: String)] = []
        private var done: Set<String> = []
        private var open: Set<String> = []

        mutating func add(
            _ path: String, importedBy importer: String, from modules: [String: String], isLate: Bool = false
        ) throws(Failure) {
            guard !done.contains(path) else { return }
            guard let text = modules[path] else { throw .missing(path: path, importedBy: importer) }
            guard open.insert(path).inserted else { throw .cycle(path: path) }
            let isEntry = open.count == 1 && !isLate
            var (body, exports): ([String], [String]) = ([], [])
            for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
                if line.hasPrefix("import ") {
                    let (names, target) = try imported(line, in: path)
                    try add(target, importedBy: path, from: modules)
                    body.append("const {\(names)} = modules[\"\(target)\"];")
                } else if line.hasPrefix("export ") {
                    exports.append(try exported(line))
                    body.append(String(line.dropFirst("export ".count)))
                } else {
                    if let target = between(line, "import('", "')") {
                        late.append(("import('\(target)')", resolved(target, in: path)))
                    }
                    body.append(String(line))
                }
            }
            open.remove(path)
            done.insert(path)
            // The entry may wait at its top level, so it is a block of the script itself.
            let code = body.joined(separator: "\n")
            parts.append(
                isEntry
                    ? "{\n\(code)}\n"
                    : "modules[\"\(path)\"] = (() => {\n\(code)return { \(exports.joined(separator: ", ")) };\n})();\n"
            )
        }
    }

    /// Returns the names and the path of an import.
    private static func imported(_ line: Substring, in path: String) throws(Failure) -> (String, String) {
        guard let names = between(line, "import {", "} from '"), let from = between(line, "} from '", "';")
        else {
            throw .unknownForm(line: String(line))
        }
        return (names, resolved(from, in: path))
    }

    /// Returns the path of a module that another one names.
    private static func resolved(_ name: String, in path: String) -> String {
        var place = path.split(separator: "/").dropLast().map(String.init)
        for step in name.split(separator: "/") where step != "." {
            if step == ".." { _ = place.popLast() } else { place.append(String(step)) }
        }
        return place.joined(separator: "/")
    }

    /// Returns the name that a line exports.
    private static func exported(_ line: Substring) throws(Failure) -> String {
        let kinds = ["export async function ", "export function ", "export class ", "export const "]
        guard let kind = kinds.first(where: line.hasPrefix) else { throw .unknownForm(line: String(line)) }
        return String(line.dropFirst(kind.count).prefix { $0.isLetter || $0.isNumber || $0 == "_" })
    }

    /// Returns the text between two parts of a line, or `nil` without them.
    private static func between(_ line: Substring, _ start: String, _ end: String) -> String? {
        guard let first = line.firstRange(of: start)?.upperBound,
            let last = line[first...].firstRange(of: end)?.lowerBound
        else { return nil }
        return String(line[first..<last])
    }
}
