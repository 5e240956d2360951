import Basics
import Catalogue
import Client
import Glibc
import Operator
import Wire

/// Makes service accounts: the key here, its public half for the daemon, the file for the app server (http 9.2).
enum ServiceAccountFile {
    /// Where libraries fetch access tokens unless the file says otherwise.
    private static let tokenURI = "https://oauth2.googleapis.com/token"

    /// An account with its file.
    struct Made {
        /// What the daemon answered.
        var answer: AddAccount.Answer
        /// The path of the file.
        var path: String

        /// As programs read it.
        var json: JSONValue {
            .object((answer.json.members ?? []) + [.init("file", .string(path))])
        }

        /// As people read it.
        var text: String {
            AddAccount.text(of: answer) + "key file         \(Report.cell(path))\n\n"
                + "Keep the file: its private key is stored nowhere else.\n"
        }
    }

    /// Does the command: `ask` sends it to the daemon.
    ///
    /// The file is made first, so that no account is left behind that nobody can use.
    static func make(
        _ invocation: Invocation, ask: (AddAccount) throws(Failure) -> AddAccount.Answer
    ) throws(Failure) -> Made {
        let path = invocation.text("--out") ?? ""
        let uri = invocation.text("--token-uri") ?? tokenURI
        guard uri.hasPrefix("https://"), uri.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw Failure(
                .usage, "--token-uri \"\(uri)\" is no https:// address", hint: "such as \(tokenURI)")
        }
        let sender = try sender(invocation)
        guard let key = ServiceAccountKey(), let publicKey = Base64.bytes(Array(key.publicKey.utf8).raw)
        else {
            throw Failure(.software, "no RSA key could be made", hint: "")
        }
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw failure(path) }
        defer { close(descriptor) }
        do throws(Failure) {
            let answer = try ask(AddAccount(sender: sender, publicKey: publicKey))
            guard write(text(answer, key, uri), to: descriptor) else { throw failure(path) }
            return Made(answer: answer, path: path)
        } catch {
            _ = unsafe unlink(path)
            throw error
        }
    }

    private static func sender(_ invocation: Invocation) throws(Failure) -> SenderID {
        let given = CommandArguments.object(.addAccount, for: invocation)
        do throws(FieldProblem) { return try AddAccount.fields.value(\.sender, in: given) } catch {
            throw Failure(.usage, error.text, hint: error.hint)
        }
    }

    /// The file as client libraries read it.
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
