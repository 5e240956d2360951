import Basics
import Catalogue
import Client
import Glibc
import Operator
import Wire

extension ShowAuthority: ReportedCommand {
    /// The certificate alone, so that the output can be written to a file.
    static func text(of answer: Answer) -> String { answer.certificate }
}

/// The certificate of the authority, as an invocation asks for it.
struct ShownAuthority {
    let answer: ShowAuthority.Answer
    /// The file to write; `nil` prints the certificate.
    private let path: String?
    private let showsFingerprint: Bool

    init(answer: ShowAuthority.Answer, _ invocation: Invocation) {
        self.answer = answer
        path = invocation.text("--out")
        showsFingerprint = invocation.has("--fingerprint")
    }

    /// The answer for programs, with the path of the file.
    var json: JSONValue {
        .object((answer.json.members ?? []) + (path.map { [.init("file", .string($0))] } ?? []))
    }

    /// The answer as text.
    var text: String {
        if showsFingerprint { return Report.cell(answer.fingerprint) + "\n" }
        guard let path else { return ShowAuthority.text(of: answer) }
        return
            "file         \(Report.cell(path))\nfingerprint  \(Report.cell(answer.fingerprint))\nexpires      \(Report.time(answer.notAfter))\n"
    }

    /// Writes the certificate to the file, if one is given. An existing file is not replaced.
    func writeFile() throws(Failure) {
        guard let path else { return }
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o644)
        guard descriptor >= 0 else { throw failure(path) }
        defer { close(descriptor) }
        let bytes = Array(answer.certificate.utf8)
        DescriptorOutput.write(bytes, to: descriptor)
        guard lseek(descriptor, 0, SEEK_CUR) == bytes.count, fsync(descriptor) == 0 else {
            let failure = failure(path)
            _ = unsafe unlink(path)
            throw failure
        }
    }

    private func failure(_ path: String) -> Failure {
        unsafe Failure(
            .inputOutput, "\(path): \(String(cString: strerror(errno)))", hint: "give a new file with --out")
    }
}
