import Glibc

/// How system calls are made and their failures told.
enum SystemCall {
    /// Repeats a call that a signal interrupted.
    @inline(__always)
    static func retrying(_ call: () -> Int32) -> Int32 {
        while true {
            let result = call()
            if result != -1 || errno != EINTR { return result }
        }
    }

    /// As `retrying`, for calls that return a count.
    @inline(__always)
    static func retrying(_ call: () -> Int) -> Int {
        while true {
            let result = call()
            if result != -1 || errno != EINTR { return result }
        }
    }

    /// The failure that `errno` names now.
    static func failure(_ action: @autoclosure () -> String) -> TransportError {
        let code = errno
        return TransportError(action(), detail: words(for: code), code: code)
    }

    /// The system's words for an error number.
    static func words(for code: Int32) -> String {
        var text = [CChar](repeating: 0, count: 128)
        _ = unsafe strerror_r(code, &text, text.count)
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
