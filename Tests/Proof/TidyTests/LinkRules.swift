/// Links between documents lead to files and headings that exist.
enum LinkRules {
    /// A link of a document, outside of code.
    struct Link: Equatable {
        var line: Int
        var target: String
    }

    /// Returns the links of a document, images included.
    static func links(in file: SourceFile) -> [Link] {
        prose(file).flatMap { line, text in
            text.split(separator: "](", omittingEmptySubsequences: false).dropFirst().compactMap { rest in
                rest.firstIndex(of: ")").map { Link(line: line, target: String(rest[..<$0])) }
            }
        }
    }

    /// Returns the anchors of the headings of a document, as GitHub and the site make them.
    static func anchors(in file: SourceFile) -> Set<String> {
        let headings = prose(file, withCode: true).map(\.text).filter { $0.hasPrefix("#") }
        return Set(
            headings.map { heading in
                let title = heading.drop { $0 == "#" }.drop { $0 == " " }.lowercased()
                let kept = title.filter { $0.isLetter || $0.isNumber || " -_".contains($0) }
                return String(kept.map { $0 == " " ? "-" : $0 })
            })
    }

    /// Returns the links of a document that lead nowhere. `read` returns the text of a file, and `exists` also finds folders.
    static func violations(
        _ file: SourceFile, read: (String) -> String?, exists: (String) -> Bool
    ) -> [String] {
        links(in: file).compactMap { link in
            guard !link.target.hasPrefix("https://"), !link.target.hasPrefix("http://") else { return nil }
            let parts = link.target.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
            let path = parts[0].isEmpty ? file.path : resolved(String(parts[0]), from: file.path)
            guard exists(path) else { return "\(file.path):\(link.line): \(link.target) does not exist" }
            guard parts.count == 2, let text = read(path) else { return nil }
            return anchors(in: SourceFile(path: path, text: text)).contains(String(parts[1]))
                ? nil : "\(file.path):\(link.line): \(path) has no heading #\(parts[1])"
        }
    }

    /// Returns the path of a target that is relative to the folder of a document.
    static func resolved(_ target: String, from document: String) -> String {
        var parts = document.split(separator: "/").dropLast().map(String.init)
        for part in target.split(separator: "/") {
            if part == ".." { _ = parts.popLast() } else if part != "." { parts.append(String(part)) }
        }
        return parts.joined(separator: "/")
    }

    /// Returns the lines outside of code blocks with their numbers, and without code spans unless asked for.
    private static func prose(_ file: SourceFile, withCode: Bool = false) -> [(line: Int, text: String)] {
        var isCode = false
        return file.lines.enumerated().compactMap { index, line in
            if line.drop(while: { $0 == " " }).hasPrefix("```") {
                isCode.toggle()
                return nil
            }
            guard !isCode else { return nil }
            guard !withCode else { return (index + 1, String(line)) }
            let spans = line.split(separator: "`", omittingEmptySubsequences: false)
            return (
                index + 1, spans.enumerated().map { $0.offset % 2 == 0 ? String($0.element) : "" }.joined()
            )
        }
    }
}
