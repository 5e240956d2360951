import Glibc

extension Configuration {
    /// Directory of the store.
    var storePath: String { "\(dataDirectory)/store" }

    /// Reactor threads there will be.
    var reactorCount: Int { reactors > 0 ? reactors : max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))) }

    /// How long the parts of a drain take.
    var drainPace: Drainer.Pace {
        Drainer.Pace(
            graceMilliseconds: Int64(drainGraceSeconds) * 1_000,
            spreadMilliseconds: Int64(drainSpreadSeconds) * 1_000)
    }
}
