import Basics
import CRocksDB
import Store
import Synchronization

/// A compaction filter that drops the IDs of upstream messages whose repeats no longer need to be suppressed.
@safe final class SeenFilter: Sendable {
    /// The latest time of a put. The engine reads it from its own threads.
    private let now = Atomic<Int64>(0)
    /// The handle of the filter, valid as long as this object.
    nonisolated(unsafe) private(set) var filter: OpaquePointer? = nil

    init() {
        let state = unsafe Unmanaged.passUnretained(self).toOpaque()
        unsafe filter = rocksdb_compactionfilter_create(
            state, { _ in },
            { state, _, _, _, value, length, _, _, _ in
                guard let state = unsafe state, let value = unsafe value, length == 8 else { return 0 }
                let memory = unsafe Unmanaged<SeenFilter>.fromOpaque(state).takeUnretainedValue()
                let bytes = unsafe RawSpan(_unsafeStart: value, byteCount: length)
                return memory.isForgotten(Int64(bitPattern: bytes.bigEndian(at: 0))) ? 1 : 0
            }, { _ in unsafe UnsafeRawPointer(name.utf8Start).assumingMemoryBound(to: CChar.self) })
    }

    deinit { unsafe rocksdb_compactionfilter_destroy(filter) }

    /// Moves the time forward. An earlier time is ignored.
    func advance(to time: UnixMilliseconds) {
        if time > now.load(ordering: .relaxed) { now.store(time, ordering: .relaxed) }
    }

    private func isForgotten(_ time: UnixMilliseconds) -> Bool {
        !Upstreams.isRemembered(time, at: now.load(ordering: .relaxed))
    }
}

private let name: StaticString = "ccsd.seen"
