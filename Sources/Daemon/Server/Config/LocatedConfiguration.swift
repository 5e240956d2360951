import Catalogue

/// A configuration in use: its values, where they were given, and the values that wait for a restart.
struct LocatedConfiguration {
    var values: Configuration
    /// Where values were given; a key without a location has its default.
    var locations: [ConfigKey: ConfigProblem.Location] = [:]
    /// The configured values of keys that are not in use until a restart.
    var pending: [ConfigKey: ConfigValue] = [:]

    /// Returns this configuration with those changes of a newer one that need no restart.
    func reloaded(from newer: LocatedConfiguration) -> LocatedConfiguration {
        var next = LocatedConfiguration(values: values.reloaded(from: newer.values))
        for key in ConfigKey.allCases {
            let isInUse = next.values[key] == newer.values[key]
            next.locations[key] = isInUse ? newer.locations[key] : locations[key]
            if !isInUse { next.pending[key] = newer.values[key] }
        }
        return next
    }
}
