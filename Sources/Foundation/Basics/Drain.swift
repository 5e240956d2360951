extension Array {
    /// Passes all elements on in order, and leaves the array empty, with its storage.
    ///
    /// They are moved: a copy would count the references of each, on memory that may no longer be cached. Only the last element of an
    /// array can be moved out of it, so their order is reversed first, which moves as well.
    @inline(__always)
    public mutating func drain(_ body: (consuming Element) -> Void) {
        unsafe withUnsafeMutableBufferPointer { unsafe $0.reverse() }
        while let element = popLast() { body(consume element) }
    }
}
