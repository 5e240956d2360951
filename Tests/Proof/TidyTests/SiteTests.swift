import Glibc
import Testing

/// The documentation as a site: it builds without warnings, which include broken links, and needs no other host.
@Suite struct SiteTests {
    static let hasTool = SourceTree.mode(".venv-docs/bin/mkdocs") != 0

    /// Builds the site from a copy of the texts, after a change by `edit`. Returns what the tool printed, its exit code, and the folder.
    private static func build(_ edit: String = "true") -> (text: String, code: Int32, folder: String) {
        let tree = String(SourceTree.output(of: "mktemp -d").text.dropLast())
        let root = SourceTree.root
        let script = """
            (set -e; cd \(tree); cp -r \(root)/docs \(root)/Scripts \(root)/*.md .; for f in \(root)/*; do [ -e $(basename $f) ] || ln -s $f; done
            \(edit)
            export NO_MKDOCS_2_WARNING=1 PYTHONDONTWRITEBYTECODE=1
            \(root)/.venv-docs/bin/mkdocs build --strict --config-file Scripts/site.yml --site-dir \(tree)/site)
            """
        let result = SourceTree.output(of: script)
        return (result.text, result.code, tree)
    }

    /// Returns the addresses of other hosts that the files of a site load: scripts, styles, fonts, images.
    private static func outsideAssets(_ folder: String) -> String {
        let pattern = "(src|srcset)=.(https?:)?//|<link[^>]*href=.(https?:)?//|url\\(.?(https?:)?//|@import"
        return SourceTree.output(
            of: "grep -rohE '\(pattern)' --include='*.html' --include='*.css' \(folder) | sort -u"
        ).text
    }

    @Test(
        "the site builds without warnings and loads nothing from other hosts",
        .enabled(if: hasTool, "run Scripts/bootstrap --docs first"))
    func builds() {
        let site = Self.build()
        defer { _ = SourceTree.output(of: "rm -rf \(site.folder)") }
        #expect(site.code == 0, "\(site.text)")
        #expect(Self.outsideAssets("\(site.folder)/site") == "")
        let index = SourceTree.output(of: "cat \(site.folder)/site/search/search_index.json").text
        #expect(index.contains("pending_window"), "the search finds configuration keys")
    }

    @Test("every page of the folder is in the navigation, also where the site cannot be built")
    func navigation() {
        let (site, pages) = (
            SourceTree.output(of: "cat \(SourceTree.root)/Scripts/site.yml").text,
            SourceTree.output(of: "cd \(SourceTree.root)/docs && find . -name '*.md' | sed 's|^./||'").text
        )
        #expect(pages.contains("operations.md") && pages.contains("protocols/http.md"))
        for page in pages.split(separator: "\n") {
            #expect(site.contains(" \(page)\n"), "Scripts/site.yml: add \(page) to the navigation")
        }
    }

    @Test(
        "canary: a broken link, a broken anchor, a page outside of the navigation and an outside asset are found",
        .enabled(if: hasTool, "run Scripts/bootstrap --docs first"))
    func canary() {
        let edit = """
            echo '[a](nothing.md) [b](../Sources/nothing) [c](faq.md#nothing)' >> docs/operations.md
            echo '<img src="https://example.com/x.png">' >> docs/operations.md; echo '# New' > docs/new.md
            """
        let site = Self.build(edit)
        defer { _ = SourceTree.output(of: "rm -rf \(site.folder)") }
        #expect(site.code == 1)
        for found in ["nothing.md does not exist", "../Sources/nothing does not exist", "#nothing", "new.md"]
        {
            #expect(site.text.contains(found), "\(found): \(site.text)")
        }
        #expect(Self.outsideAssets("\(site.folder)/site") != "")
    }
}
