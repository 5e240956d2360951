import Basics
import COpenSSL
import Glibc

/// Memory of one reactor that all its TLS connections share.
///
/// OpenSSL reads and writes it through a custom BIO, so that one `recv` can bring many records, one `send` can carry many
/// records, and no connection owns a network buffer.
@safe final class TLSStaging {
    /// Bytes received from the socket at once.
    static let receiveBytes = 65_536
    /// Bytes decrypted at once: the largest plaintext of one TLS record (RFC 8446, 5.1), or some dozens of short ones.
    static let plainBytes = 16_384

    /// The buffer for `recv`.
    let received = UnsafeMutableRawBufferPointer.allocate(byteCount: receiveBytes, alignment: 64)
    /// The buffer for `SSL_read`.
    let plain = UnsafeMutableRawBufferPointer.allocate(byteCount: plainBytes, alignment: 64)
    /// The part of `received` that OpenSSL has not read yet.
    var unread = unsafe UnsafeRawBufferPointer(start: nil, count: 0)
    /// The bytes of the current connection's record that OpenSSL has read in part and that are still to come.
    var restOfRecord = 0
    /// Encrypted bytes of the current connection.
    var sealed = ByteBuffer()
    private let method: OpaquePointer

    init() throws(TransportError) {
        guard let method = unsafe BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "reactor staging")
        else {
            throw OpenSSLErrors.failure("make a BIO")
        }
        unsafe self.method = method
        _ = unsafe BIO_meth_set_create(method) { bio in
            unsafe BIO_set_init(bio, 1)
            return 1
        }
        _ = unsafe BIO_meth_set_ctrl(method) { _, command, _, _ in command == BIO_CTRL_FLUSH ? 1 : 0 }
        _ = unsafe BIO_meth_set_write(method) { bio, bytes, count in
            unsafe TLSStaging.of(bio) {
                unsafe $0.sealed.append(UnsafeRawBufferPointer(start: bytes, count: Int(count)))
            }
            return count
        }
        _ = unsafe BIO_meth_set_read(method) { bio, room, count in
            unsafe BIO_clear_flags(bio, BIO_FLAGS_READ | BIO_FLAGS_WRITE | BIO_FLAGS_SHOULD_RETRY)
            let taken = unsafe TLSStaging.of(bio) { unsafe $0.read(into: room, atMost: Int(count)) }
            if taken > 0 { return Int32(taken) }
            unsafe BIO_set_flags(bio, BIO_FLAGS_READ | BIO_FLAGS_SHOULD_RETRY)
            return -1
        }
    }

    deinit {
        unsafe BIO_meth_free(method)
        unsafe received.deallocate()
        unsafe plain.deallocate()
    }

    /// Creates a BIO over this memory; the reactor, and so the memory, outlives its connections.
    func makeBIO() -> OpaquePointer? {
        guard let bio = unsafe BIO_new(method) else { return nil }
        unsafe BIO_set_data(bio, Unmanaged.passUnretained(self).toOpaque())
        return unsafe bio
    }

    /// Reads no further than to the end of a record: of several, OpenSSL would move the rest to the front of its buffer for each one.
    @inline(__always)
    private func read(into room: UnsafeMutablePointer<CChar>?, atMost count: Int) -> Int {
        let record = restOfRecord > 0 ? restOfRecord : unsafe Self.recordLength(unread) ?? unread.count
        let taken = unsafe min(count, record, unread.count)
        guard taken > 0, let room = unsafe room, let start = unsafe unread.baseAddress else { return 0 }
        restOfRecord = record - taken
        unsafe memcpy(room, start, taken)
        unsafe unread = UnsafeRawBufferPointer(rebasing: unread.dropFirst(taken))
        return taken
    }

    /// Returns the length of the record that bytes start with (RFC 8446, 5.1), or `nil` if they do not start with a header.
    @inline(__always)
    private static func recordLength(_ bytes: UnsafeRawBufferPointer) -> Int? {
        guard bytes.count >= 5, unsafe (20...24).contains(bytes[0]), unsafe bytes[1] == 3 else { return nil }
        return unsafe 5 + Int(bytes[3]) << 8 + Int(bytes[4])
    }

    @inline(__always)
    private static func of<R>(_ bio: OpaquePointer?, _ body: (TLSStaging) -> R) -> R {
        unsafe Unmanaged<TLSStaging>.fromOpaque(BIO_get_data(bio).unsafelyUnwrapped)._withUnsafeGuaranteedRef(
            body)
    }
}
