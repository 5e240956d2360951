import Basics
import Glibc

/// A screen of the terminal beside the normal one, which is left as it was.
///
/// Signals are blocked while it is shown and taken between two drawings, so that none ends the process on the other screen.
final class TerminalScreen {
    /// What to do after a wait.
    enum Step {
        case redraw
        case end
    }

    private var settings = termios()
    private var hasSettings = false
    private var mask = sigset_t()
    private var isShown = false
    private static let taken = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGWINCH]

    /// The size of the terminal; a usual one if it is unknown.
    static var size: (columns: Int, rows: Int) {
        var size = winsize()
        guard unsafe ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0
        else { return (80, 24) }
        return (Int(size.ws_col), Int(size.ws_row))
    }

    /// Shows an empty screen without cursor and echo.
    func enter() {
        guard !isShown else { return }
        var signals = Self.set
        unsafe sigprocmask(SIG_BLOCK, &signals, &mask)
        hasSettings = unsafe tcgetattr(STDIN_FILENO, &settings) == 0
        show()
    }

    /// Shows the normal screen again, with the settings that it had.
    func leave() {
        guard isShown else { return }
        hide()
        unsafe sigprocmask(SIG_SETMASK, &mask, nil)
    }

    /// Draws lines, and a note in the last one.
    func draw(_ lines: [String], _ note: String) {
        let rows = Self.size.rows
        let blank = Array(repeating: "", count: max(0, rows - 1 - lines.count))
        let text = (lines + blank + [note]).map { "\u{1B}[K\(Printable.text($0))" }.joined(separator: "\r\n")
        DescriptorOutput.write("\u{1B}[H\(text)", to: STDOUT_FILENO)
    }

    /// Waits for a time or a signal.
    func wait(seconds: Int) -> Step {
        var signals = Self.set
        var time = timespec(tv_sec: seconds, tv_nsec: 0)
        let signal = unsafe sigtimedwait(&signals, nil, &time)
        switch signal {
        case SIGINT, SIGTERM, SIGHUP, SIGQUIT: return .end
        case SIGTSTP:
            hide()
            raise(SIGSTOP)
            show()
            return .redraw
        // The time is over, the size has changed, or a debugger has interrupted the wait.
        default: return .redraw
        }
    }

    private func show() {
        isShown = true
        if hasSettings {
            var quiet = settings
            quiet.c_lflag &= ~tcflag_t(ECHO)
            unsafe tcsetattr(STDIN_FILENO, TCSANOW, &quiet)
        }
        DescriptorOutput.write("\u{1B}[?1049h\u{1B}[?25l\u{1B}[H\u{1B}[2J", to: STDOUT_FILENO)
    }

    private func hide() {
        isShown = false
        DescriptorOutput.write("\u{1B}[?25h\u{1B}[?1049l", to: STDOUT_FILENO)
        guard hasSettings else { return }
        // What was typed meanwhile was not meant for the shell.
        tcflush(STDIN_FILENO, TCIFLUSH)
        unsafe tcsetattr(STDIN_FILENO, TCSANOW, &settings)
    }

    private static var set: sigset_t {
        var signals = sigset_t()
        unsafe sigemptyset(&signals)
        for signal in taken { unsafe sigaddset(&signals, signal) }
        return signals
    }
}
