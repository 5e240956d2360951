import Catalogue
import Glibc
import Store

/// Why a backup or a restore failed, what to do, and the exit code.
struct BackupFailure: Error, Equatable {
    var text: String
    var hint: String
    var exitCode: ExitCode
    /// The error number of a system call. 0 for other failures.
    var code: Int32 = 0

    init(_ text: String, hint: String, _ exitCode: ExitCode) {
        self.text = text
        self.hint = hint
        self.exitCode = exitCode
    }

    /// Creates the failure of a system call from `errno`. Without a hint, the error number determines it.
    static func system(_ action: String, _ path: String, hint: String? = nil) -> BackupFailure {
        let code = errno
        let isForbidden = code == EACCES || code == EPERM || code == EROFS
        let preset =
            switch code {
            case ENOSPC, EDQUOT:
                "free space on the file system of \(path), or give a folder on another one; nothing of the failed attempt is left"
            case EACCES, EPERM, EROFS: "run it as a user that may do this, or give another folder"
            case ENOENT: "create the folder above it"
            default: "check the disk, and try again"
            }
        var failure = BackupFailure(
            "cannot \(action) \(path): \(unsafe String(cString: strerror(code)))", hint: hint ?? preset,
            isForbidden ? .noPermission : .inputOutput)
        failure.code = code
        return failure
    }

    /// Creates the failure of a store that cannot be copied.
    init(_ error: StoreError, copying path: String) {
        self.init(
            "cannot copy the store in \(path): \(error.description)",
            hint: error.kind == .full
                ? "free space on the file system of the data directory" : "see ccsctl status and the log",
            .inputOutput)
    }

    /// Returns the failure of a backup that is not what was written.
    static func damaged(_ text: String) -> BackupFailure {
        BackupFailure(
            "damaged backup: \(text)",
            hint: "nothing was changed: copy the backup again from its source, or use another one", .badData)
    }
}
