import CLinux
import Glibc

/// A thread of the system, for a reactor or the store; it is joined or detached, else it leaves its stack behind.
public struct Thread: Sendable {
    /// What the new thread takes over.
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

    /// Lets go of the thread: nobody waits for it, and its stack goes with it.
    public func detach() { _ = pthread_detach(handle) }

    /// Waits for the thread's end; once only.
    public func join() { _ = pthread_join(handle, nil) }
}
