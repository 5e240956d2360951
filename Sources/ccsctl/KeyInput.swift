import Basics
import Catalogue
import Glibc

/// Reads a server key from where no other user can see it.
enum KeyInput {
    /// The key that the options name; nil where there is none.
    static func key(_ invocation: Invocation) throws(Failure) -> Redacted<String>? {
        let file = invocation.text("--key-file")
        if file != nil, invocation.has("--key-stdin") {
            throw Failure(.usage, "--key-file and --key-stdin exclude each other", hint: "give one of them")
        }
        if let file {
            let descriptor = unsafe open(file, O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else {
                throw unsafe Failure(.inputOutput, "\(file): \(String(cString: strerror(errno)))")
            }
            defer { close(descriptor) }
            return try read(descriptor, file)
        }
        guard invocation.has("--key-stdin") else { return nil }
        if isatty(STDIN_FILENO) == 1 {
            Output.complain("Type the server key and press Enter; it is shown while you type.")
        }
        return try read(STDIN_FILENO, "standard input")
    }

    /// The first line of a file.
    static func read(_ descriptor: Int32, _ name: String) throws(Failure) -> Redacted<String> {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: Limits.keyFileBytes)
        while bytes.count <= Limits.keyFileBytes, !bytes.contains(0x0A) {
            let count = unsafe chunk.withUnsafeMutableBytes {
                unsafe Glibc.read(descriptor, $0.baseAddress, $0.count)
            }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else {
                throw unsafe Failure(.inputOutput, "\(name): \(String(cString: strerror(errno)))")
            }
            if count == 0 { break }
            bytes += chunk[..<count]
        }
        var line = bytes.prefix { $0 != 0x0A }
        while let last = line.last, last == 0x0D || last == 0x20 || last == 0x09 { line.removeLast() }
        guard !line.isEmpty, line.count <= Limits.credentialBytes,
            line.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
        else {
            throw Failure(
                .badData, "\(name): the first line is no server key",
                hint: "a key is one word of at most \(Limits.credentialBytes) printable ASCII characters")
        }
        return Redacted(String(decoding: line, as: UTF8.self))
    }
}
