public import Basics
public import Store

/// The size of the registry: devices, registrations, topics, groups and installations.
extension RocksStore {
    public func topics(from position: SubscriberPosition?, examine: Int) throws(StoreError) -> TopicCounts {
        try withEngine { (engine) throws(StoreError) in
            let page = try SnapshotReader(engine.snapshot()).topics(from: position, examine: examine)
            try ListChecks.demandCounted(page, examined: examine)
            return page
        }
    }

    public func subscribers(from position: SubscriberPosition, limit: Int) throws(StoreError) -> [TokenName] {
        let found = try withEngine { (engine) throws(StoreError) in
            try SnapshotReader(engine.snapshot()).subscribers(from: position, limit: limit)
        }
        try ListChecks.demandOrdered(found, after: position.after, limit: limit)
        return found
    }

    public func registryBytes() throws(StoreError) -> UInt64 {
        try withEngine { (engine) throws(StoreError) in
            var bytes: UInt64 = 0
            for family in Family.allCases where family.isRegistry { bytes += try engine.size(of: family) }
            return bytes
        }
    }

    public func census(after: DeviceID?, examine: Int) throws(StoreError) -> RegistryCensus {
        try withEngine { (engine) throws(StoreError) in
            try SnapshotReader(engine.snapshot()).census(after: after, examine: examine)
        }
    }

    public func reclaimRegistry() throws(StoreError) {
        try withEngine { (engine) throws(StoreError) in
            for family in Family.allCases where family.isRegistry { try engine.suggestCompaction(of: family) }
        }
    }
}

/// Values by name, beside the registry.
extension RocksStore {
    public func setting(_ name: String) throws(StoreError) -> [UInt8]? {
        try withEngine { (engine) throws(StoreError) in
            try engine.get(.meta, MetaKey.setting(name).raw) { (bytes) throws(StoreError) in
                [UInt8](copying: bytes)
            }
        }
    }
}
