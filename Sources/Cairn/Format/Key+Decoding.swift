extension Key {
  /// Decodes a key as a store has it.
  init(stored key: UnsafeRawBufferPointer) throws(StoreError) {
    do throws(MalformedKey) {
      self = try unsafe Key(validating: key.bytes)
    } catch {
      throw StoreError(.corrupted, "a key is not encoded correctly")
    }
  }

  /// Decodes the result of ``encoded``.
  /// - Throws: `malformed` for any other bytes.
  public init(encoded: RawSpan) throws(StoreError) {
    do throws(MalformedKey) {
      self = try Key(validating: encoded)
    } catch {
      throw StoreError(.malformed, "the bytes are not an encoded key")
    }
  }

  /// Decodes the result of ``encoded``.
  /// - Throws: `malformed` for any other bytes.
  public init(encoded: [UInt8]) throws(StoreError) {
    do throws(MalformedKey) {
      self = try Key(validating: encoded)
    } catch {
      throw StoreError(.malformed, "the bytes are not an encoded key")
    }
  }
}
