import Glibc
import Testing

/// The lists of planted faults match the source code: a fault that matches nothing would never be planted.
@Suite struct FaultListTests {
    private static let hasPython = SourceTree.output(of: "python3 --version").code == 0

    /// Checks the lists in a folder. Returns the output and the exit code.
    private func fit(_ folder: String? = nil) -> (text: String, code: Int32) {
        let lists = folder.map { "CCS_MUTATE_LISTS='\($0)' " } ?? ""
        return SourceTree.output(of: "\(lists)python3 '\(SourceTree.root)/Scripts/mutate' --fit")
    }

    @Test(
        "every planted fault matches the source code once, and no list is too short",
        .enabled(if: hasPython, "python3 is not installed"))
    func lists() {
        let found = fit()
        #expect(found.code == 0 && found.text.isEmpty, "\n\(found.text)")
    }

    @Test(
        "canary: a fault without or with several matches, or that a switch would break, and a short list are reported",
        .enabled(if: hasPython, "python3 is not installed"))
    func canary() throws {
        var template = Array("/tmp/ccsd-faults-XXXXXX".utf8CString)
        try #require(mkdtemp(&template) != nil)
        let folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        defer { _ = SourceTree.output(of: "rm -r '\(folder)'") }
        let faults = """
            tests --filter ^BasicsTests
            == Hex.swift
            there is no such expression ==> 0
            UInt8 ==> UInt16
            == NoSuchFile.swift
            a ==> b
            == Logging/RepeatedEvents.swift
            do defer { entries[key] = entry } ==>
            """
        let file = try #require(fopen("\(folder)/Basics.txt", "w"))
        fputs(faults + "\n", file)
        fclose(file)
        let found = fit(folder)
        #expect(found.code == 1)
        for number in 1...3 { #expect(found.text.contains("Basics:\(number) "), "\(found.text)") }
        #expect(found.text.contains("broken   Basics:4 "), "\(found.text)")
        #expect(found.text.contains("short    Basics: 4 faults, expected at least 15"), "\(found.text)")
        #expect(found.text.contains("short    Wire: 0 faults"), "\(found.text)")
    }
}
