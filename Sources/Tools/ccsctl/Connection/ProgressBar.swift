import Basics
import Glibc
import Operator

/// A progress bar for long commands, shown only if standard error is a terminal.
final class ProgressBar {
    private let isOn = isatty(STDERR_FILENO) == 1
    private var isShown = false

    /// Draws the bar.
    func show(_ progress: OperatorProgress) {
        guard isOn else { return }
        isShown = true
        DescriptorOutput.write("\r\u{1B}[K" + Printable.text(Self.text(progress)), to: STDERR_FILENO)
    }

    /// Erases the bar.
    func finish() {
        guard isShown else { return }
        isShown = false
        DescriptorOutput.write("\r\u{1B}[K", to: STDERR_FILENO)
    }

    /// Returns the text of the bar.
    static func text(_ progress: OperatorProgress) -> String {
        let total = max(progress.total, 1)
        let done = min(max(progress.done, 0), total)
        let filled = Limits.Client.progressBarColumns * done / total
        let bar =
            String(repeating: "#", count: filled)
            + String(repeating: ".", count: Limits.Client.progressBarColumns - filled)
        return "[\(bar)] \(progress.done)/\(progress.total) \(Report.safe(progress.what))"
    }
}
