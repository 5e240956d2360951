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
            try ConsoleBundle.scripts(entry: "js/main.js", modules: modules) { _ in "" }.first == """
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

    @Test(
        "a module that is imported by a call becomes a second script, which has what the first has not, and runs once"
    )
    func late() throws {
        let modules = [
            "js/main.js": "import { a } from './a.js';\nconst more = () => import('./more.js');\na(more);\n",
            "js/more.js":
                "import { a } from './a.js';\nimport { b } from './b.js';\nexport const c = a(b);\n",
            "js/a.js": "export function a(x) {}\n", "js/b.js": "export const b = 1;\n",
        ]
        var texts: [String] = []
        let scripts = try ConsoleBundle.scripts(entry: "js/main.js", modules: modules) {
            texts.append($0)
            return "/late.js"
        }
        #expect(
            scripts.first == """
                const modules = {};
                modules["js/a.js"] = (() => {
                function a(x) {}
                return { a };
                })();
                {
                const { a } = modules["js/a.js"];
                const more = () => import("/late.js").then(({ part }) => part(modules));
                a(more);
                }

                """)
        let text = """
            export const part = (modules) => {
            if (modules["js/more.js"]) return modules["js/more.js"];
            modules["js/b.js"] = (() => {
            const b = 1;
            return { b };
            })();
            modules["js/more.js"] = (() => {
            const { a } = modules["js/a.js"];
            const { b } = modules["js/b.js"];
            const c = a(b);
            return { c };
            })();
            return modules["js/more.js"];
            };

            """
        #expect(scripts.late?.address == "/late.js" && scripts.late?.text == text && texts == [text])
    }

    @Test("a missing module, a cycle and other forms of imports and exports are refused")
    func refused() {
        func failure(_ modules: [String: String]) -> ConsoleBundle.Failure? {
            do throws(ConsoleBundle.Failure) {
                _ = try ConsoleBundle.scripts(entry: "a.js", modules: modules) { _ in "" }
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
        let call = "  import('./b.js');\n"
        #expect(failure(["a.js": call]) == .missing(path: "b.js", importedBy: "a.js"))
        for modules in [["a.js": call, "b.js": call], ["a.js": "\(call)\(call)", "b.js": ""]] {
            #expect(failure(modules) == .unknownForm(line: "import('./b.js')"))
        }
        // What only looks like one.
        #expect(failure(["a.js": "exported();\nimportant();\n"]) == nil)
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
