import CForking
import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// A child process that acknowledges numbered saves until it is killed.
struct SavingProcess {
  private static let size = MemoryLayout<Int>.size
  private let process: pid_t
  private let acknowledgements: FileHandle

  /// - Parameter save: Runs in the child, and calls the closure that it is given after each save.
  init(_ save: ((Int) -> Void) throws -> Void) {
    let pipe = Pipe()
    process = forking_fork()
    if process == 0 {
      do {
        try save { number in
          var number = number
          _ = unsafe write(pipe.fileHandleForWriting.fileDescriptor, &number, Self.size)
        }
      } catch {
        fatalError("\(error)")
      }
    }
    try? pipe.fileHandleForWriting.close()
    acknowledgements = pipe.fileHandleForReading
  }

  /// Kills the child after it has acknowledged some saves. Returns the last number that it has acknowledged.
  func kill(after count: Int) -> Int {
    var last = 0
    for _ in 0..<count { last = next() ?? last }
    _ = Foundation.kill(process, SIGKILL)
    while let number = next() { last = number }
    var status: Int32 = 0
    _ = unsafe waitpid(process, &status, 0)
    precondition(status == SIGKILL, "the child ended by itself")
    return last
  }

  private func next() -> Int? {
    var number = 0
    let count = unsafe read(acknowledgements.fileDescriptor, &number, Self.size)
    return count == Self.size ? number : nil
  }
}
