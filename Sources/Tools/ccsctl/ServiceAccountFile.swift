import Basics
import Catalogue
import Client
import Glibc
import Operator
import Wire

/// Creates service accounts: generates the key pair, sends the public key to the daemon, and writes the key file (http 9.2).
enum ServiceAccountFile {
    /// The default address at which libraries fetch access tokens.
    private static let tokenURI = "https://oauth2.googleapis.com/token"

    /// A new account with its key file.
    struct CreatedAccount {
        var answer: AddAccount.Answer
        var path: String

        /// The answer for programs, with the path of the file.
        var json: JSONValue {
            .object((answer.json.members ?? []) + [.init("file", .string(path))])
        }

        /// The answer as text.
        var text: String {
            AddAccount.text(of: answer) + "key file         \(Report.cell(path))\n\n"
                + "Keep the file: its private key is stored nowhere else.\n"
        }
    }

    /// Runs the command, which `ask` sends to the daemon.
    ///
    /// The file is created first, so that a failure does not leave an account without a key file.
    static func make(
        _ invocation: Invocation, ask: (AddAccount) throws(Failure) -> AddAccount.Answer
    ) throws(Failure) -> CreatedAccount {
        let path = invocation.text("--out") ?? ""
        let uri = invocation.text("--token-uri") ?? tokenURI
        guard uri.hasPrefix("https://"), uri.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw Failure(
                .usage, "invalid --token-uri \"\(uri)\"",
                hint: "expected an https:// address, such as \(tokenURI)")
        }
        let sender = try sender(invocation)
        guard let key = ServiceAccountKey(), let publicKey = Base64.bytes(Array(key.publicKey.utf8).raw)
        else {
            throw Failure(.software, "cannot generate an RSA key", hint: "")
        }
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw failure(path) }
        defer { close(descriptor) }
        do throws(Failure) {
            let answer = try ask(AddAccount(sender: sender, publicKey: publicKey))
            guard write(text(answer, key, uri), to: descriptor) else { throw failure(path) }
            return CreatedAccount(answer: answer, path: path)
        } catch {
            _ = unsafe unlink(path)
            throw error
        }
    }

    private static func sender(_ invocation: Invocation) throws(Failure) -> SenderID {
        let given = CommandArguments.object(AddAccount.self, for: invocation)
        do throws(FieldProblem) { return try AddAccount.fields.value(\.sender, in: given) } catch {
            throw Failure(.usage, error.text, hint: error.hint)
        }
    }

    /// Returns the content of the key file in the format of Google's.
    private static func text(
        _ account: AddAccount.Answer, _ key: ServiceAccountKey, _ uri: String
    ) -> Redacted<String> {
        let file: JSONValue = .object([
            .init("type", "service_account"), .init("project_id", .string(account.project)),
            .init("private_key_id", .string(account.keyID)),
            .init("private_key", .string(key.privateKey.revealed)),
            .init("client_email", .string(account.email)),
            .init("client_id", .string(String(account.sender.number))),
            .init("auth_uri", "https://accounts.google.com/o/oauth2/auth"),
            .init("token_uri", .string(uri)),
            .init("auth_provider_x509_cert_url", "https://www.googleapis.com/oauth2/v1/certs"),
            .init(
                "client_x509_cert_url",
                .string(
                    "https://www.googleapis.com/robot/v1/metadata/x509/"
                        + account.email.split(separator: "@").joined(separator: "%40"))),
            .init("universe_domain", "googleapis.com"),
        ])
        return Redacted(file.pretty + "\n")
    }

    /// Writes text to the disk. Returns whether all of it was written.
    private static func write(_ text: Redacted<String>, to descriptor: Int32) -> Bool {
        let bytes = Array(text.revealed.utf8)
        DescriptorOutput.write(bytes, to: descriptor)
        return lseek(descriptor, 0, SEEK_CUR) == bytes.count && fsync(descriptor) == 0
    }

    private static func failure(_ path: String) -> Failure {
        unsafe Failure(
            .inputOutput, "\(path): \(String(cString: strerror(errno)))",
            hint: "give a new file with --out")
    }
}
