/// Every bound of the server, with its reason, by domain: `Limits.Store.waitingWrites` is in `Limits+Store.swift`.
///
/// A queue, buffer, loop or wait without a line here is a defect. What an operator may change is the default of a configuration
/// key (`ConfigKeyTable`).
public enum Limits {}
