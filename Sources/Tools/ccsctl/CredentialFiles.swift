import Basics
import Catalogue
import Client
import Glibc
import Operator
import Wire

/// Reads the files of a credential for APNs, and its password from where other users cannot see it.
enum CredentialFiles {
    /// Returns the members of the request that come from files.
    static func members(_ invocation: Invocation) throws(Failure) -> [JSONValue.Member] {
        let path = invocation.arguments.first ?? ""
        var members = [JSONValue.Member("file", try content(path))]
        if let keyPath = invocation.text("--private-key") {
            members.append(.init("private_key", try content(keyPath)))
        }
        if let password = try password(invocation), !password.revealed.isEmpty {
            members.append(.init("password", .string(password.revealed)))
        }
        if invocation.text("--key-id") == nil, let keyID = keyID(inNameOf: path) {
            members.append(.init("key_id", .string(keyID)))
        }
        return members
    }

    /// Returns the key ID in a file name of Apple: `AuthKey_ABC123DEFG.p8`. Returns `nil` for any other name.
    static func keyID(inNameOf path: String) -> String? {
        let name = path.split(separator: "/").last ?? ""
        guard name.hasPrefix("AuthKey_"), name.hasSuffix(".p8") else { return nil }
        let keyID = name.dropFirst("AuthKey_".count).dropLast(".p8".count)
        return AppleNames.isIdentifier(keyID) ? String(keyID) : nil
    }

    private static func content(_ path: String) throws(Failure) -> JSONValue {
        let content = try SecretFile.read(path, limit: Limits.APNsCredentials.fileBytes)
        return .string(Base64.text(content.revealed))
    }

    private static func password(_ invocation: Invocation) throws(Failure) -> Redacted<String>? {
        let file = invocation.text("--password-file")
        if file != nil, invocation.has("--password-stdin") {
            throw Failure(
                .usage, "--password-file and --password-stdin exclude each other", hint: "give one of them")
        }
        if let file { return try KeyFile.readPassword(file) }
        guard invocation.has("--password-stdin") else { return nil }
        if isatty(STDIN_FILENO) == 1 {
            Output.printError("Type the password and press Enter; the input is visible.")
        }
        return try KeyFile.readPassword(STDIN_FILENO, "standard input")
    }
}
