import CLZ4

/// Decompresses a sequence of LZ4 frames as their bytes arrive.
@safe struct FrameDecoder: ~Copyable {
  struct Failure: Error, Hashable {
    let reason: String
  }

  static let magic: [UInt8] = [0x04, 0x22, 0x4D, 0x18]

  private let context: OpaquePointer
  private var output = [UInt8](repeating: 0, count: 256 << 10)
  /// Whether the bytes so far end with a whole frame.
  private(set) var isComplete = false

  init() throws(Failure) {
    var context: OpaquePointer?
    try Self.check(unsafe LZ4F_createDecompressionContext(&context, UInt32(LZ4F_VERSION)))
    guard let context = unsafe context else { throw Failure(reason: "no decompression context") }
    unsafe self.context = context
  }

  deinit {
    _ = unsafe LZ4F_freeDecompressionContext(context)
  }

  /// Takes the next compressed bytes, and calls `body` with the decompressed bytes.
  mutating func decode(_ input: Span<UInt8>, _ body: (Span<UInt8>) throws -> Void) throws {
    var consumed = 0
    var outputIsFull = false
    while consumed < input.count || (outputIsFull && !isComplete) {
      let (taken, produced) = try step(input.extracting(droppingFirst: consumed))
      guard taken > 0 || produced > 0 else { break }
      consumed += taken
      outputIsFull = produced == output.count
      try body(output.span.extracting(first: produced))
    }
  }

  private mutating func step(_ input: Span<UInt8>) throws(Failure) -> (taken: Int, produced: Int) {
    var taken = input.count
    var produced = output.count
    let hint = unsafe input.withUnsafeBufferPointer { source in
      unsafe output.withUnsafeMutableBufferPointer { target in
        unsafe LZ4F_decompress(context, target.baseAddress, &produced, source.baseAddress, &taken, nil)
      }
    }
    try Self.check(hint)
    isComplete = hint == 0
    return (taken, produced)
  }

  private static func check(_ code: Int) throws(Failure) {
    guard LZ4F_isError(code) != 0 else { return }
    throw Failure(reason: unsafe String(cString: LZ4F_getErrorName(code)))
  }
}
