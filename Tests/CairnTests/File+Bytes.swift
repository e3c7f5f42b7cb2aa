import Cairn

extension File {
  func write(_ bytes: [UInt8], at offset: Int) throws {
    try unsafe bytes.withUnsafeBytes { try unsafe write($0, at: offset) }
  }

  func bytes(_ offset: Int, _ count: Int) throws -> [UInt8] {
    var bytes = [UInt8](repeating: 0xEE, count: count)
    let read = try unsafe bytes.withUnsafeMutableBytes { try unsafe self.read(into: $0, at: offset) }
    return Array(bytes.prefix(read))
  }
}
