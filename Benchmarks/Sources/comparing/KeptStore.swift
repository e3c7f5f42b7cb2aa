import Foundation

/// A store of one side, in a directory of its own.
package protocol KeptStore: AnyObject {
  var url: URL { get }

  func open() throws
  func close() throws
  /// Gives back the space that is not needed.
  func compact() throws
}

extension KeptStore {
  /// The bytes that the files use: neither holes nor space allocated beyond a file's end count.
  var diskBytes: Int {
    let names = (try? FileManager.default.subpathsOfDirectory(atPath: url.path)) ?? []
    return names.reduce(0) { total, name in
      var status = stat()
      guard lstat("\(url.path)/\(name)", &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return total }
      return total + min(Int(status.st_size), Int(status.st_blocks) * 512)
    }
  }
}
