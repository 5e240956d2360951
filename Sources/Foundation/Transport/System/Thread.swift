import CLinux
import Glibc

/// A system thread, for a reactor or the store; join or detach it, otherwise its stack leaks.
public struct Thread: Sendable {
    /// The arguments of the new thread.
    private final class Start {
        let name: String
        let body: () -> Void

        init(name: String, body: @escaping () -> Void) {
            self.name = name
            self.body = body
        }
    }

    private let handle: pthread_t

    /// Starts a thread; its name (at most 15 bytes) shows in `top -H` and `perf`.
    public init(name: String, _ body: sending @escaping () -> Void) throws(TransportError) {
        let start = Start(name: name, body: body)
        var handle = pthread_t()
        let pointer = unsafe Unmanaged.passRetained(start).toOpaque()
        let result = unsafe pthread_create(
            &handle, nil,
            { pointer in
                guard let pointer = unsafe pointer else { return nil }
                let start = unsafe Unmanaged<Start>.fromOpaque(pointer).takeRetainedValue()
                unsafe clinux_name_thread(start.name)
                start.body()
                return nil
            }, pointer)
        guard result == 0 else {
            unsafe Unmanaged<Start>.fromOpaque(pointer).release()
            throw TransportError("start thread \(name)", detail: SystemCall.words(for: result), code: result)
        }
        self.handle = handle
    }

    /// Detaches the thread: its stack is freed when it ends.
    public func detach() { _ = pthread_detach(handle) }

    /// Waits for the end of the thread; call it only once.
    public func join() { _ = pthread_join(handle, nil) }
}
