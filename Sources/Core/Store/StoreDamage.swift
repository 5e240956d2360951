public import Delivery

/// A table file of the store with a block that cannot be read.
public struct StoreDamage: Sendable, Equatable, CustomStringConvertible {
    /// The name of the file, such as `000012.sst`.
    public var table: String
    /// The column family whose rows are in the file. Empty if it is unknown.
    public var family: String
    /// The partition of the read that found the damage. `nil` if it was found by a read that concerns no single one.
    public var partition: Int?
    /// What is in the table, such as `waiting messages of devices 17 to 4711`.
    public var concerns: String
    /// What the engine reported.
    public var problem: String

    /// Creates a finding.
    public init(table: String, family: String, partition: Int?, concerns: String, problem: String) {
        self.table = table
        self.family = family
        self.partition = partition
        self.concerns = concerns
        self.problem = problem
    }

    /// The table with its column family, partition and content, in one line.
    public var description: String {
        let place = family.isEmpty ? "column family unknown" : "column family \(family)"
        let part = partition.map { ", found in partition \($0)" } ?? ""
        return "table \(table) (\(place)\(part)): \(concerns)"
    }
}

/// A table file of the store.
public struct StoreTable: Sendable, Equatable {
    /// The name of the file.
    public var name: String
    /// The size in bytes.
    public var bytes: Int

    /// Creates a table.
    public init(name: String, bytes: Int) {
        self.name = name
        self.bytes = bytes
    }
}

extension Store {
    /// A store without files has no damage.
    public var damage: [StoreDamage] { [] }
    /// A store without files calls nothing.
    public func whenDamaged(_ act: @escaping @Sendable (StoreDamage) -> Void) {}
    /// A store without files has no tables.
    public func tables() throws(StoreError) -> [StoreTable] { [] }
    /// A store without files has nothing to read.
    public func verify(_ table: StoreTable) throws(StoreError) {}
}

extension StoreQuery {
    /// Returns the partition that owns what the query asks for. Returns `nil` if that does not follow from the query.
    public func partition(among partitions: Int) -> Int? {
        switch self {
        case .device(let device), .messages(let device, _, _), .gatewayMessage(let device, _),
            .named(let device, _, _):
            PartitionKey.device(device).partition(of: partitions)
        case .upstream(let sender, _, _), .groupLabelled(let sender, _):
            PartitionKey.sender(sender).partition(of: partitions)
        case .installation(let installation, _, _):
            PartitionKey.installation(installation).partition(of: partitions)
        default: partition
        }
    }
}
