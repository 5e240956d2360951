import Catalogue
import Testing

/// One script of modules, and one page with one style sheet.
@Suite struct ConsoleBundleTests {
    @Test("modules become functions in the order of their imports, and the entry a block")
    func script() throws {
        let modules = [
            "js/main.js": "import { b } from './pages/b.js';\nimport { a } from './a.js';\nb(a);\n",
            "js/pages/b.js": "import { a } from '../a.js';\nexport async function b() { return a; }\n",
            "js/a.js":
                "const hidden = 1;\nexport const a = hidden;\nexport class C {}\nexport function f(x) {}\n",
        ]
        #expect(
            try ConsoleBundle.script(entry: "js/main.js", modules: modules) == """
                const modules = {};
                modules["js/a.js"] = (() => {
                const hidden = 1;
                const a = hidden;
                class C {}
                function f(x) {}
                return { a, C, f };
                })();
                modules["js/pages/b.js"] = (() => {
                const { a } = modules["js/a.js"];
                async function b() { return a; }
                return { b };
                })();
                {
                const { b } = modules["js/pages/b.js"];
                const { a } = modules["js/a.js"];
                b(a);
                }

                """)
    }

    @Test("a missing module, a cycle and other forms of imports and exports are refused")
    func refused() {
        func failure(_ modules: [String: String]) -> ConsoleBundle.Failure? {
            do throws(ConsoleBundle.Failure) {
                _ = try ConsoleBundle.script(entry: "a.js", modules: modules)
                return nil
            } catch { return error }
        }
        #expect(
            failure(["a.js": "import { b } from './b.js';\n"]) == .missing(path: "b.js", importedBy: "a.js"))
        #expect(failure([:]) == .missing(path: "a.js", importedBy: "the page"))
        let cycle = ["a.js": "import { b } from './b.js';\n", "b.js": "import { a } from './a.js';\n"]
        #expect(failure(cycle) == .cycle(path: "a.js"))
        for line in [
            "import * as b from './b.js';", "import b from './b.js';", "export default 1;", "export { b };",
        ] {
            #expect(failure(["a.js": "\(line)\n", "b.js": ""]) == .unknownForm(line: line))
        }
        // What only looks like one.
        #expect(failure(["a.js": "  import('./b.js');\nexported();\nimportant();\n"]) == nil)
    }

    @Test("a page keeps its lines but for those of styles and script")
    func page() {
        let text = """
            <head>
            <link rel="icon" href="/console/favicon.svg">
            <link rel="stylesheet" href="/console/css/b.css">
            <link rel="stylesheet" href="/console/css/a.css">
            <script type="module" src="/console/js/main.js"></script>
            </head>
            <body></body>

            """
        let page = ConsoleBundle.page(text, prefix: "/console/")
        #expect(page.styles == ["css/b.css", "css/a.css"] && page.entry == "js/main.js")
        #expect(
            page.with(style: "/s", script: "/j") == """
                <head>
                <link rel="icon" href="/console/favicon.svg">
                <link rel="stylesheet" href="/s">
                <script type="module" src="/j"></script>
                </head>
                <body></body>

                """)
    }
}
