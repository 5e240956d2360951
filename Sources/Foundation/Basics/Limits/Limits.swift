/// All limits of the server, each with its reason, by domain: `Limits.Store.waitingWrites` is in `Limits+Store.swift`.
///
/// A queue, buffer, loop or wait without a limit here is a defect. Limits that an operator may change are the defaults of
/// configuration keys (`ConfigKeyTable`).
public enum Limits {}
