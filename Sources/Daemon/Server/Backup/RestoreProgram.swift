import Basics
import Catalogue
import Glibc
import Operator
import Store

/// The command `ccsd restore`: its output.
struct RestoreProgram {
    let restore: Restore

    /// Restores and prints the result. Returns the exit code.
    func run() -> ExitCode {
        let bar = RestoreProgress()
        do throws(BackupFailure) {
            let restored = try restore.run { bar.show($0, $1) }
            for line in Self.lines(restored, restore) { Console.print(line) }
            return .success
        } catch {
            Console.error("ccsd: \(error.text)")
            Console.error("      \(error.hint)")
            return error.exitCode
        }
    }

    /// Returns the report.
    static func lines(_ restored: Restore.Restored, _ restore: Restore) -> [String] {
        let manifest = restored.backup.manifest
        var lines = [
            "\(restored.backup.folder): made at \(Timestamp.text(manifest.createdAt)) by ccsd \(Printable.text(manifest.version)), commit \(manifest.commit), \(manifest.files.count) files, \(manifest.files.reduce(0) { $0 + $1.bytes }) bytes"
        ]
        guard let audit = restored.audit else { return lines + ["The backup is complete and undamaged."] }
        lines.append("It is restored to \(restore.dataDirectory).")
        if let replaced = restored.replaced { lines.append("The previous content is in \(replaced).") }
        lines.append(
            "The store has \(audit.devices) devices, \(audit.registrations) registrations, \(audit.senders) senders, and \(audit.downstreamPending) downstream and \(audit.upstreamPending) upstream messages."
        )
        lines.append(
            audit.holds
                ? "Every message of the backup is accounted for."
                : "THE CHECK OF ITS MESSAGES FAILED, as it did in the server that was backed up: see ccsctl audit."
        )
        for file in manifest.notIncluded {
            lines.append("Not in the backup: \(Printable.text(file))")
        }
        return lines
    }
}

/// Shows the progress of a restore, if standard error is a terminal.
private final class RestoreProgress {
    private let isOn = isatty(STDERR_FILENO) == 1
    private var shown = -1

    func show(_ done: Int, _ total: Int) {
        let percent = total == 0 ? 100 : done * 100 / total
        guard isOn, percent != shown else { return }
        shown = percent
        DescriptorOutput.write(
            "\r\(percent) % of the backup is read" + (percent == 100 ? "\n" : ""), to: STDERR_FILENO)
    }
}
