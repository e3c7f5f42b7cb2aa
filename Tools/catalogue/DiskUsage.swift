import Foundation

/// The bytes that a directory's files take on the disk, as `du` counts them: including allocated space that is not
/// written yet, without holes.
func diskUsage(of directory: String) -> Int {
  let names = (try? FileManager.default.subpathsOfDirectory(atPath: directory)) ?? []
  return names.reduce(0) { total, name in
    var status = stat()
    let isKnown = unsafe lstat("\(directory)/\(name)", &status) == 0
    return isKnown ? total + Int(status.st_blocks) * 512 : total
  }
}
