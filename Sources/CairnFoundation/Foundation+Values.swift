public import Cairn
public import Foundation

extension Data: RowValue {
  /// Calls `body` with the bytes.
  public func withRowBytes<Result>(
    _ body: (RawSpan) throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    try [UInt8](self).withRowBytes(body)
  }

  /// Makes a copy of the bytes.
  public init(rowBytes: RawSpan) { self = unsafe rowBytes.withUnsafeBytes { unsafe Data($0) } }
}

extension UUID: RowValue {
  /// Calls `body` with the 16 bytes.
  public func withRowBytes<Result>(
    _ body: (RawSpan) throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    try unsafe withUnsafeBytes(of: uuid) { unsafe [UInt8]($0) }.withRowBytes(body)
  }

  /// Makes the UUID.
  /// - Throws: `malformed` if there are not 16 bytes.
  public init(rowBytes: RawSpan) throws(StoreError) {
    guard rowBytes.byteCount == 16 else { throw .notA("UUID") }
    self.init(unsafe rowBytes.withUnsafeBytes { unsafe $0.reduce(0) { $0 << 8 | UInt128($1) } })
  }
}

extension URL: RowValue {
  /// Calls `body` with the UTF-8 of the absolute URL.
  public func withRowBytes<Result>(
    _ body: (RawSpan) throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    try absoluteString.withRowBytes(body)
  }

  /// Makes the URL.
  /// - Throws: `malformed` if the bytes are no URL.
  public init(rowBytes: RawSpan) throws(StoreError) {
    guard let url = URL(string: try String(rowBytes: rowBytes)) else { throw .notA("URL") }
    self = url
  }
}

extension StoreError {
  static func notA(_ type: String) -> StoreError { StoreError(.malformed, "the value of a row is no \(type)") }
}
