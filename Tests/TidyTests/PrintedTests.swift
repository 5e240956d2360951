import Catalogue
import Glibc
import Testing

/// Printed man pages and completions work with groff and bash.
@Suite struct PrintedTests {
    static let hasGroff = access("/usr/bin/groff", X_OK) == 0
    static let hasBash = access("/bin/bash", X_OK) == 0

    /// Returns the output of a command that reads a text from standard input.
    private static func output(of command: String, reading text: String) -> String {
        var template = Array("/tmp/ccsd-printed-XXXXXX".utf8CString)
        let descriptor = mkstemp(&template)
        guard descriptor >= 0 else { return "cannot make a file" }
        let path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        defer { unlink(path) }
        let bytes = Array(text.utf8)
        _ = write(descriptor, bytes, bytes.count)
        close(descriptor)
        return SourceTree.output(of: "\(command) < \(path)").text
    }

    /// Returns the completions of the last word of a line.
    private static func offered(_ line: String) -> [String] {
        let words = line.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        let function = "_" + words[0].map { $0 == "-" ? "_" : "\($0)" }.joined()
        let quoted = words.map { "'\($0)'" }.joined(separator: " ")
        let script =
            Completion.bash()
            + "COMP_WORDS=(\(quoted)); COMP_CWORD=\(words.count - 1); \(function); echo \"${COMPREPLY[*]}\"\n"
        return output(of: "/bin/bash -u", reading: script).split { $0 == " " || $0 == "\n" }.map(String.init)
    }

    @Test("groff formats the manual pages without warnings", .enabled(if: hasGroff, "groff is not installed"))
    func manualPages() {
        for program in Program.all {
            #expect(
                Self.output(of: "groff -man -Tascii -ww -z", reading: ManPage.text(program)) == "",
                "\(program.name)")
        }
    }

    @Test(
        "bash completes commands, options and values", .enabled(if: hasBash, "bash is not installed"))
    func completion() {
        #expect(Self.offered("ccsctl se") == ["sessions", "send", "senders", "service-accounts"])
        #expect(
            Self.offered("ccsctl senders ") == [
                "add", "list", "suspend", "resume", "stats", "rotate-key", "remove",
            ])
        #expect(Self.offered("ccsctl --socket x devices ") == ["list", "show", "trace", "forget"])
        #expect(Self.offered("ccsctl senders add --key") == ["--key-file", "--key-stdin"])
        #expect(Self.offered("ccsctl man ccs-") == ["ccs-device", "ccs-bench"])
        #expect(Self.offered("ccsctl send --priority ") == ["normal", "high"])
        #expect(Self.offered("ccsd --log-level w") == ["warning"])
        #expect(Self.offered("ccsd c") == ["check"])
        #expect(Self.offered("ccsd --nothing") == [])
    }

    @Test(
        "canary: groff and bash report a wrong page and a wrong script",
        .enabled(if: hasGroff && hasBash, "groff or bash is not installed"))
    func canary() {
        #expect(Self.output(of: "groff -man -Tascii -ww -z", reading: ".TH A 1\n.nonsense\n") != "")
        #expect(Self.output(of: "/bin/bash -n", reading: "case x in\n") != "")
    }
}
