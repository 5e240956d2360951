import Basics
import Catalogue
import Client
import Glibc

/// Reads a server key from a file or standard input, where other users cannot see it.
enum KeyInput {
    /// Returns the server key from the file or standard input. Returns `nil` if no option asks for one.
    static func key(_ invocation: Invocation) throws(Failure) -> Redacted<String>? {
        try read(invocation, file: "--key-file", input: "--key-stdin", what: "server key")
    }

    /// Returns the secret of a webhook in the same way.
    static func secret(_ invocation: Invocation) throws(Failure) -> Redacted<String>? {
        try read(invocation, file: "--secret-file", input: "--secret-stdin", what: "secret")
    }

    private static func read(
        _ invocation: Invocation, file: String, input: String, what: String
    ) throws(Failure) -> Redacted<String>? {
        let path = invocation.text(file)
        if path != nil, invocation.has(input) {
            throw Failure(.usage, "\(file) and \(input) exclude each other", hint: "give one of them")
        }
        if let path { return try KeyFile.read(path) }
        guard invocation.has(input) else { return nil }
        if isatty(STDIN_FILENO) == 1 {
            Output.printError("Type the \(what) and press Enter; the input is visible.")
        }
        return try KeyFile.read(STDIN_FILENO, "standard input")
    }
}
