import Glibc

/// Helpers for system calls and their errors.
public enum SystemCall {
    /// Repeats a call until no signal interrupts it.
    @inline(__always)
    public static func retrying(_ call: () -> Int32) -> Int32 {
        while true {
            let result = call()
            if result != -1 || errno != EINTR { return result }
        }
    }

    /// Like the other `retrying`, for calls that return a count.
    @inline(__always)
    public static func retrying(_ call: () -> Int) -> Int {
        while true {
            let result = call()
            if result != -1 || errno != EINTR { return result }
        }
    }

    /// Returns an error with the current `errno`.
    public static func failure(_ action: @autoclosure () -> String) -> TransportError {
        let code = errno
        return TransportError(action(), detail: words(for: code), code: code)
    }

    /// Returns the system's text for an error number.
    static func words(for code: Int32) -> String {
        var text = [CChar](repeating: 0, count: 128)
        _ = unsafe strerror_r(code, &text, text.count)
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
