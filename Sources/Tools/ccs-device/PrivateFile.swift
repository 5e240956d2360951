import Basics
import Client
import Glibc

/// Files that only their owner may read.
enum PrivateFile {
    /// Writes a file atomically: readers see its whole content.
    static func write(_ text: String, to path: String) throws(Failure) {
        let draft = path + ".new"
        let flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW
        let descriptor = unsafe open(draft, flags, 0o600)
        guard descriptor >= 0 else { throw failure(draft) }
        _ = fchmod(descriptor, 0o600)
        let isSynced = DescriptorOutput.write(text, to: descriptor) == 0 && fsync(descriptor) == 0
        close(descriptor)
        guard isSynced, unsafe rename(draft, path) == 0 else { throw failure(path) }
    }

    private static func failure(_ path: String) -> Failure {
        unsafe Failure(.inputOutput, "\(path): \(String(cString: strerror(errno)))")
    }
}
