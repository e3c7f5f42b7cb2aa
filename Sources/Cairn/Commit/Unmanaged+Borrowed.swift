extension Unmanaged {
  /// Calls `body` with the object without counting a reference; the caller makes sure that something else keeps it
  /// alive.
  @inline(__always)
  func withBorrowed<R, E>(_ body: (Instance) throws(E) -> R) throws(E) -> R {
    let result: Result<R, E> = unsafe _withUnsafeGuaranteedRef { object in
      do throws(E) { return .success(try body(object)) } catch { return .failure(error) }
    }
    return try result.get()
  }
}
