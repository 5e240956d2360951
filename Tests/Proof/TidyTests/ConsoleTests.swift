import Catalogue
import Testing

/// The files of the console: all embedded, short, without markup from data and without anything from other servers.
@Suite struct ConsoleTests {
    private static let folder = "Sources/Operating/Console/files/"
    private static let files = SourceTree.files.filter { $0.path.hasPrefix(folder) }

    /// Ways in which text becomes markup or code, and the only addresses of other servers: names, which nothing loads.
    private static let banned = [
        "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function",
        "DOMParser",
        "srcdoc", "createContextualFragment", " style=", "onclick", "javascript:",
    ]
    private static let names = [
        "http://www.w3.org/2000/svg", "https://oauth2.googleapis.com/token",
        "https://accounts.google.com/o/oauth2/auth",
        "https://www.googleapis.com/",
    ]

    private static func violations(_ file: SourceFile) -> [String] {
        let used = banned.filter(file.mentions).map { "\(file.path) uses \($0)" }
        let addresses = file.text.matches(of: /https?:\/\/[^'"`\s]*/).map { String($0.output) }
        let foreign = addresses.filter { address in !names.contains { address.hasPrefix($0) } }
        return used + foreign.map { "\(file.path) names \($0)" } + TextRules.length(file)
    }

    @Test("no file makes markup of text, runs text as code, or loads anything from another server")
    func rules() {
        #expect(Self.files.count > 30)
        expectNone(Self.files.flatMap(Self.violations))
    }

    @Test("console.c embeds every file")
    func embedded() throws {
        let source = try #require(SourceTree.read("Sources/Operating/Console/console.c"))
        let listed = source.matches(of: /FILE\("([^"]+)",/).map { String($0.1) }
        let embedded = source.matches(of: /#embed "files\/([^"]+)"/).map { String($0.1) }
        let present = Self.files.map { String($0.path.dropFirst(Self.folder.count)) }
        #expect(Set(listed) == Set(present) && listed.count == present.count)
        #expect(Set(embedded) == Set(present) && embedded.count == present.count)
    }

    @Test("every import of a script, and every style of the page, is a file")
    func imports() {
        let present = Set(Self.files.map(\.path) + ["\(Self.folder)js/tables.js"])
        for file in Self.files where file.path.hasSuffix(".js") {
            let parts = file.path.split(separator: "/").dropLast()
            for found in file.text.matches(of: /(?:from |import\()'([^']+)'/) {
                var place = parts.map(String.init)
                for step in found.1.split(separator: "/") where step != "." {
                    if step == ".." { place.removeLast() } else { place.append(String(step)) }
                }
                #expect(present.contains(place.joined(separator: "/")), "\(file.path) imports \(found.1)")
            }
        }
        let page = SourceTree.read("\(Self.folder)index.html") ?? ""
        for found in page.matches(of: /(href|src)="\/console\/([^"]+)"/) {
            #expect(present.contains(Self.folder + found.2), "index.html names \(found.2)")
        }
    }

    /// The path of a module that another one imports as `./a.js` or `../lib/a.js`.
    private static func path(_ name: String, from importer: String) -> String {
        var parts = importer.split(separator: "/").dropLast()
        for part in name.split(separator: "/") where part != "." {
            if part == ".." { parts = parts.dropLast() } else { parts.append(part) }
        }
        return parts.joined(separator: "/")
    }

    @Test("the modules become two scripts, in which none is missing, and the page one with one style sheet")
    func bundle() throws {
        let texts = Dictionary(
            uniqueKeysWithValues: Self.files.map { (String($0.path.dropFirst(Self.folder.count)), $0.text) })
        let page = ConsoleBundle.page(try #require(texts["index.html"]), prefix: "/console/")
        #expect(page.styles.count == texts.keys.count { $0.hasSuffix(".css") })
        var modules = texts.filter { $0.key.hasSuffix(".js") }
        modules["js/tables.js"] = ConsoleTables.script(errors: [])
        let scripts = try ConsoleBundle.scripts(entry: page.entry, modules: modules) { _ in "/late.js" }
        let late = try #require(scripts.late?.text)
        let lines = (scripts.first + late).split(separator: "\n")
            .filter { $0 != "export const part = (modules) => {" }
        #expect(!lines.contains { $0.hasPrefix("import ") || $0.hasPrefix("export ") })
        #expect(lines.count { $0.hasPrefix("modules[") } == modules.count - 1)
        for (path, text) in modules {
            for found in text.matches(of: /\nimport \{ ([^}]+) \} from '([^']+)'/) {
                for name in found.1.split(separator: ", ") {
                    let target = modules[Self.path(String(found.2), from: path)]
                    let forms = ["function", "async function", "const", "class"].map {
                        "export \($0) \(name)"
                    }
                    #expect(forms.contains { target?.contains($0) == true }, "\(path) imports \(name)")
                }
            }
        }
    }

    @Test("canary: markup from text and an address of another server are found")
    func canary() {
        let file = SourceFile(
            path: "\(Self.folder)js/a.js", text: "x.innerHTML = y;\nload('https://example.com/a.js');\n")
        #expect(Self.violations(file).count == 2)
    }
}
