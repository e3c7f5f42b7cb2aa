/// A type whose instances can be the value of a row: bytes or a string.
///
/// A type of your own conforms by giving its bytes and by reading them again.
public protocol RowValue {
  /// Calls `body` with the bytes to store, which are valid until it returns.
  func withRowBytes<Result>(
    _ body: (RawSpan) throws(StoreError) -> Result
  ) throws(StoreError) -> Result

  /// Reads the bytes of a row.
  /// - Throws: `malformed` if they are not of this type.
  init(rowBytes: RawSpan) throws(StoreError)
}

extension [UInt8]: RowValue {
  /// Calls `body` with the bytes themselves.
  public func withRowBytes<Result>(
    _ body: (RawSpan) throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    try unsafe withUnsafeBufferPointer { (bytes) throws(StoreError) in
      try unsafe body(UnsafeRawBufferPointer(bytes).bytes)
    }
  }

  /// Makes a copy of the bytes.
  public init(rowBytes: RawSpan) { self = unsafe rowBytes.withUnsafeBytes { unsafe [UInt8]($0) } }
}

extension String: RowValue {
  /// Calls `body` with its UTF-8.
  public func withRowBytes<Result>(
    _ body: (RawSpan) throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    var text = self
    var outcome: Swift.Result<Result, StoreError>?
    text.withUTF8 { bytes in
      do throws(StoreError) {
        outcome = .success(try unsafe body(UnsafeRawBufferPointer(bytes).bytes))
      } catch {
        outcome = .failure(error)
      }
    }
    guard let outcome else { fatalError("a string did not give its bytes") }
    return try outcome.get()
  }

  /// Makes the text.
  /// - Throws: `malformed` if the bytes are not UTF-8.
  public init(rowBytes: RawSpan) throws(StoreError) {
    let text = unsafe rowBytes.withUnsafeBytes { unsafe String(validating: $0, as: UTF8.self) }
    guard let text else { throw StoreError(.malformed, "the value of a row is not UTF-8") }
    self = text
  }
}
