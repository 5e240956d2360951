import Basics
import CRocksDB
import Store
import Synchronization

/// Lets the engine drop, whenever it compacts, the upstream messages whose repeats need no longer be kept out.
@safe final class SeenMemory: Sendable {
    /// The latest time that a put has told, milliseconds since 1970; the engine asks from threads of its own.
    private let now = Atomic<Int64>(0)
    /// The engine's handle, valid while this object lives.
    nonisolated(unsafe) private(set) var filter: OpaquePointer? = nil

    init() {
        let state = unsafe Unmanaged.passUnretained(self).toOpaque()
        unsafe filter = rocksdb_compactionfilter_create(
            state, { _ in },
            { state, _, _, _, value, length, _, _, _ in
                guard let state = unsafe state, let value = unsafe value, length == 8 else { return 0 }
                let memory = unsafe Unmanaged<SeenMemory>.fromOpaque(state).takeUnretainedValue()
                let bytes = unsafe RawSpan(_unsafeStart: value, byteCount: length)
                return memory.isForgotten(Int64(bitPattern: bytes.bigEndian(at: 0))) ? 1 : 0
            }, { _ in unsafe UnsafeRawPointer(name.utf8Start).assumingMemoryBound(to: CChar.self) })
    }

    deinit { unsafe rocksdb_compactionfilter_destroy(filter) }

    /// Time has come this far.
    func advance(to time: UnixMilliseconds) {
        if time > now.load(ordering: .relaxed) { now.store(time, ordering: .relaxed) }
    }

    private func isForgotten(_ time: UnixMilliseconds) -> Bool {
        !Upstreams.isRemembered(time, at: now.load(ordering: .relaxed))
    }
}

private let name: StaticString = "ccsd.seen"
