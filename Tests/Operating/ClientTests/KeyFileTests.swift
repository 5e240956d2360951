import Basics
import Client
import Glibc
import Testing

/// Reading of a server key from a file.
@Suite struct KeyFileTests {
    /// Reads a file with this text. Returns `nil` if it has no valid key.
    private func key(_ text: String) throws -> String? {
        var ends: [Int32] = [0, 0]
        let made = pipe(&ends)
        try #require(made == 0)
        defer { close(ends[0]) }
        let bytes = Array(text.utf8)
        let count = write(ends[1], bytes, bytes.count)
        close(ends[1])
        try #require(count == bytes.count)
        do throws(Failure) {
            return try KeyFile.read(ends[0], "the file").revealed
        } catch {
            #expect(error.code == .badData)
            return nil
        }
    }

    @Test("The key is the first line without trailing whitespace")
    func firstLine() throws {
        for text in ["KEY", "KEY\n", "KEY\r\n", "KEY \t\n", "KEY\nOTHER\n", "KEY\n\n"] {
            #expect(try key(text) == "KEY", "\(text.debugDescription)")
        }
    }

    @Test("An empty line and one with several words are not keys")
    func noKey() throws {
        for text in ["", "\n", "\nKEY\n", " \n", "TWO WORDS\n", " KEY\n", "K\u{7F}\n", "KÉY\n"] {
            #expect(try key(text) == nil, "\(text.debugDescription)")
        }
    }

    @Test("A key is limited to the length of a credential")
    func longest() throws {
        let longest = String(repeating: "k", count: Limits.Login.credentialBytes)
        #expect(try key(longest) == longest)
        #expect(try key(longest + "\n") == longest)
        #expect(try key(longest + "k") == nil)
    }

    @Test("A missing file is reported with its path")
    func missing() {
        do throws(Failure) {
            _ = try KeyFile.read("/nonexistent/key")
            Issue.record("the file was read")
        } catch { #expect(error.code == .inputOutput) }
    }
}
