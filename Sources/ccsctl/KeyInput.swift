import Basics
import Catalogue
import Client
import Glibc

/// Reads a server key from a file or standard input, where other users cannot see it.
enum KeyInput {
    /// Returns the key from the file or standard input. Returns `nil` if no option asks for one.
    static func key(_ invocation: Invocation) throws(Failure) -> Redacted<String>? {
        let file = invocation.text("--key-file")
        if file != nil, invocation.has("--key-stdin") {
            throw Failure(.usage, "--key-file and --key-stdin exclude each other", hint: "give one of them")
        }
        if let file { return try KeyFile.read(file) }
        guard invocation.has("--key-stdin") else { return nil }
        if isatty(STDIN_FILENO) == 1 {
            Output.printError("Type the server key and press Enter; the input is visible.")
        }
        return try KeyFile.read(STDIN_FILENO, "standard input")
    }
}
