import Operator

/// The command for backups.
extension ControlServer {
    func makeBackup(_ command: MakeBackup, _ call: Call) throws(OperatorProblem) -> MakeBackup.Answer {
        do throws(BackupFailure) {
            return try daemon.storage.backups.make(
                to: command.path, in: command.folder, daemon.configuration, file: daemon.source.file
            ) { done, total in call.report(done, total, "bytes read") }
        } catch { throw OperatorProblem(error.text, hint: error.hint) }
    }
}
