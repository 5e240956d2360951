import Basics
import Catalogue
import Client
import Glibc
import Wire

/// Makes service accounts: the key here, its public half for the daemon, the file for the app server (http 9.2).
enum ServiceAccountFile {
    /// Where libraries fetch access tokens unless the file says otherwise.
    private static let tokenURI = "https://oauth2.googleapis.com/token"

    /// Does the command: `ask` sends the daemon its arguments. The result is the daemon's answer and the file.
    ///
    /// The file is made first, so that no account is left behind that nobody can use.
    static func make(
        _ invocation: Invocation, _ arguments: JSONValue,
        ask: (JSONValue) throws(Failure) -> JSONValue
    ) throws(Failure) -> JSONValue {
        let path = invocation.text("--out") ?? ""
        let uri = invocation.text("--token-uri") ?? tokenURI
        guard uri.hasPrefix("https://"), uri.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw Failure(
                .usage, "--token-uri \"\(uri)\" is no https:// address", hint: "such as \(tokenURI)")
        }
        guard let key = ServiceAccountKey() else {
            throw Failure(.software, "no RSA key could be made", hint: "")
        }
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw failure(path) }
        defer { close(descriptor) }
        do throws(Failure) {
            var members = arguments.members ?? []
            members.append(.init("public_key", .string(key.publicKey)))
            let answer = try ask(.object(members))
            guard write(text(answer, key, uri), to: descriptor) else { throw failure(path) }
            return .object((answer.members ?? []) + [.init("file", .string(path))])
        } catch {
            _ = unsafe unlink(path)
            throw error
        }
    }

    /// The file as client libraries read it.
    private static func text(
        _ account: JSONValue, _ key: ServiceAccountKey, _ uri: String
    ) -> Redacted<String> {
        func member(_ name: String) -> JSONValue { account[name] ?? "" }
        let email = account["email"]?.text ?? ""
        let file: JSONValue = .object([
            .init("type", "service_account"), .init("project_id", member("project")),
            .init("private_key_id", member("key_id")),
            .init("private_key", .string(key.privateKey.revealed)), .init("client_email", .string(email)),
            .init("client_id", member("sender_id")),
            .init("auth_uri", "https://accounts.google.com/o/oauth2/auth"),
            .init("token_uri", .string(uri)),
            .init("auth_provider_x509_cert_url", "https://www.googleapis.com/oauth2/v1/certs"),
            .init(
                "client_x509_cert_url",
                .string(
                    "https://www.googleapis.com/robot/v1/metadata/x509/"
                        + email.split(separator: "@").joined(separator: "%40"))),
            .init("universe_domain", "googleapis.com"),
        ])
        return Redacted(file.pretty + "\n")
    }

    /// Writes all of it to the disk, or says that it could not.
    private static func write(_ text: Redacted<String>, to descriptor: Int32) -> Bool {
        let octets = Array(text.revealed.utf8)
        DescriptorOutput.write(octets, to: descriptor)
        return lseek(descriptor, 0, SEEK_CUR) == octets.count && fsync(descriptor) == 0
    }

    private static func failure(_ path: String) -> Failure {
        unsafe Failure(
            .inputOutput, "\(path): \(String(cString: strerror(errno)))",
            hint: "--out names a file that does not exist yet")
    }
}
